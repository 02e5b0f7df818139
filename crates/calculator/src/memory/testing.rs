//! Models, plans and constants for the tests of this module.

use super::software::{MemorySoftware, Published, StageSplit};
use railwright_spec::cluster::{Accelerator, Cluster, Host, Network, ScaleUp};
use railwright_spec::model::{
    Activation, Attention, Cut, FeedForward, Layer, Mixer, MixtureOfExperts, Mlp, Model, Module, Norm,
    Position, Span, Usage, Weight,
};
use railwright_spec::plan::{
    AttentionKernel, ContextKind, FrozenWeights, Offload, Optimizer, Overlap, Plan, Precision, RankOrder,
    Recompute, Schedule, Sharding,
};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds, Watts};
use std::collections::BTreeMap;

fn matmul(name: &str, module: Module, rows: u64, columns: u64, cut: Cut) -> Weight {
    let usage = Usage::Matmul { fused: name.to_owned(), positions: None };
    Weight { name: name.to_owned(), module, rows, columns, copies: 1, cut, usage }
}

fn attention(h: u64, heads: u64, kv: u64) -> (Attention, Vec<Weight>) {
    let d = h / heads;
    let at = Attention {
        heads,
        kv_heads: kv,
        head_dim: d,
        value_dim: d,
        span: Span::Causal,
        qk_norm: false,
        sparse_top_k: None,
        index: [0; 2],
        compress_rate: 0,
    };
    let weights = vec![
        matmul("q_proj", Module::AttentionInput, h, h, Cut::Heads(heads)),
        matmul("k_proj", Module::AttentionInput, kv * d, h, Cut::Heads(kv)),
        matmul("v_proj", Module::AttentionInput, kv * d, h, Cut::Heads(kv)),
        matmul("o_proj", Module::AttentionOutput, h, h, Cut::Row),
    ];
    (at, weights)
}

fn model(h: u64, vocabulary: u64, layer: Layer, layers: usize, tied: bool) -> Model {
    let embed = Weight {
        usage: Usage::Table,
        ..matmul("embed_tokens", Module::Embedding, vocabulary, h, Cut::Vocabulary)
    };
    let head = matmul("lm_head", Module::Head, vocabulary, h, Cut::Vocabulary);
    Model {
        name: "test".to_owned(),
        family: "custom".to_owned(),
        hidden_size: h,
        vocabulary,
        max_positions: 0,
        tied_embeddings: tied,
        position: Position::Rotary,
        layer_kinds: vec![layer],
        layers: vec![0; layers],
        embedding: vec![embed],
        final_norm: Vec::new(),
        head: if tied { Vec::new() } else { vec![head] },
        multi_token_prediction: None,
        towers: Vec::new(),
        left_out: Vec::new(),
        notes: Vec::new(),
    }
}

/// A Llama-shaped decoder.
pub(crate) fn llama(h: u64, f: u64, heads: u64, kv: u64, layers: usize, vocabulary: u64) -> Model {
    let (at, mut weights) = attention(h, heads, kv);
    weights.push(matmul("gate_proj", Module::Mlp, f, h, Cut::Column));
    weights.push(matmul("up_proj", Module::Mlp, f, h, Cut::Column));
    weights.push(matmul("down_proj", Module::Mlp, h, f, Cut::Row));
    let layer = Layer {
        name: "decoder".to_owned(),
        mixer: Mixer::Attention(at),
        feed_forward: FeedForward::Dense(Mlp {
            intermediate_size: f,
            gated: true,
            activation: Activation::Silu,
            biases: false,
        }),
        norms: 2,
        norm: Norm::RmsNorm,
        parallel_residual: false,
        weights,
    };
    model(h, vocabulary, layer, layers, false)
}

/// A GPT-shaped decoder with inner width 4h and tied embedding.
pub(crate) fn gpt(h: u64, heads: u64, layers: usize, vocabulary: u64) -> Model {
    let (at, mut weights) = attention(h, heads, heads);
    weights.push(matmul("up_proj", Module::Mlp, 4 * h, h, Cut::Column));
    weights.push(matmul("down_proj", Module::Mlp, h, 4 * h, Cut::Row));
    let layer = Layer {
        name: "decoder".to_owned(),
        mixer: Mixer::Attention(at),
        feed_forward: FeedForward::Dense(Mlp {
            intermediate_size: 4 * h,
            gated: false,
            activation: Activation::Gelu,
            biases: true,
        }),
        norms: 2,
        norm: Norm::LayerNorm,
        parallel_residual: false,
        weights,
    };
    model(h, vocabulary, layer, layers, true)
}

/// A mixture of gated experts, 16 layers.
pub(crate) fn mixture(h: u64, f: u64, experts: u64, top_k: u64) -> Model {
    let (at, mut weights) = attention(h, 16, 16);
    weights.push(matmul("router", Module::Router, experts, h, Cut::Replicated));
    for (name, rows, columns, cut) in
        [("gate", f, h, Cut::Column), ("up", f, h, Cut::Column), ("down", h, f, Cut::Row)]
    {
        weights.push(Weight { copies: experts, ..matmul(name, Module::Experts, rows, columns, cut) });
    }
    let layer = Layer {
        name: "moe".to_owned(),
        mixer: Mixer::Attention(at),
        feed_forward: FeedForward::MixtureOfExperts(MixtureOfExperts {
            experts,
            top_k,
            expert: Mlp { intermediate_size: f, gated: true, activation: Activation::Silu, biases: false },
            shared_intermediate_size: 0,
            routing_groups: 1,
            top_k_groups: 1,
        }),
        norms: 2,
        norm: Norm::RmsNorm,
        parallel_residual: false,
        weights,
    };
    model(h, 32000, layer, 16, false)
}

/// One device, one sequence of 1,024 tokens, bf16 with fp32 master weights, without sharding and recompute.
pub(crate) fn plan() -> Plan {
    Plan {
        tensor_parallel: 1,
        sequence_parallel: false,
        pipeline_parallel: 1,
        virtual_stages: 1,
        context_parallel: 1,
        context_kind: ContextKind::Ring,
        data_parallel: 1,
        expert_parallel: 1,
        expert_tensor_parallel: 1,
        sharding: Sharding { zero_stage: 0, group: None, reshard_after_forward: true },
        segment: None,
        rank_order: RankOrder::TensorContextDataPipeline,
        micro_batch: 1,
        global_batch: 1,
        sequence_length: 1024,
        precision: Precision {
            compute: DataType::Bf16,
            parameters: DataType::Bf16,
            gradients: DataType::Fp32,
            gradient_reduce: DataType::Fp32,
            master: Some(DataType::Fp32),
            moments: DataType::Fp32,
            activations: DataType::Bf16,
            narrow_attention: false,
        },
        lora: None,
        frozen_weights: FrozenWeights::Parameters,
        optimizer: Optimizer::Adam,
        recompute: Recompute::None,
        stage_recompute: None,
        offload: Offload::default(),
        schedule: Schedule::OneForwardOneBackward,
        layers_per_stage: None,
        overlap: Overlap {
            gradient_reduce: true,
            parameter_gather: true,
            tensor: false,
            pipeline: false,
            expert: false,
        },
        attention_kernel: AttentionKernel::Auto,
        software: "megatron-core-2025".to_owned(),
        dropout: false,
        expert_imbalance: 1.0,
        expert_capacity: None,
        document_length: None,
        document_length_cv: 0.0,
        vocabulary_multiple: 1,
    }
}

/// Constants without additions to the operators' own tensors.
pub(crate) fn neutral() -> MemorySoftware {
    MemorySoftware {
        id: "neutral".to_owned(),
        source: "tests".to_owned(),
        stage_split: StageSplit::Even,
        score_extra: 0.0,
        hidden_extra: 0.0,
        autocast_hidden_extra: None,
        query_norm_extra: 0.0,
        hidden_replicated: 0.0,
        qkv_extra: 0.0,
        inner_extra: 0.0,
        composed_gelu_extra: None,
        layer_norm_extra: None,
        expert_output: 2.0,
        gathered_inputs: false,
        narrow_inputs: true,
        narrow_attention_output: true,
        narrow_inner: false,
        narrow_weight_bytes: 0.0,
        stage_replicated: 0.0,
        stage_replicated_across: 0.0,
        keeps_stage_output: false,
        logit_bytes: 0.0,
        logit_saved_bytes: 0.0,
        gathered_logits: false,
        logit_chunks: 1.0,
        loss_hidden: 0.0,
        waiting_hidden: 0.0,
        whole_gradients: false,
        lazy_gradients: false,
        gradient_bucket: 0.0,
        copies_gradients: false,
        optimizer_extra: 0.0,
        optimizer_temporary: 0.0,
        casts_weights: false,
        keeps_low_precision_shard: true,
        shards_frozen_as_loaded: false,
        gathered_layers: 2.0,
        live_parameters: 0.0,
        gradient_layers: 1.0,
        gathers_root: false,
        workspace_mib: 0.0,
        context_mib: 0.0,
        communicator_mib: 0.0,
        reserved_over_allocated: 1.0,
        published: Published::Allocated,
        published_by_first_stage: false,
        sigma: 0.1,
    }
}

/// One device with an amount of memory in GiB.
pub(crate) fn cluster(gib: f64) -> Cluster {
    let accelerator = Accelerator {
        id: "test".to_owned(),
        name: "test".to_owned(),
        vendor: "test".to_owned(),
        architecture: "test".to_owned(),
        year: 2024,
        compute_units: None,
        memory: Bytes::from_gib(gib),
        memory_bandwidth: BytesPerSecond::from_gb(3350.0),
        peak: BTreeMap::new(),
        measured_matmul: None,
        scale_up_link: String::new(),
        scale_up_bandwidth: BytesPerSecond::from_gb(450.0),
        scale_up_domain: 8,
        network_bandwidth: None,
        host_bandwidth: None,
        port_bandwidth: None,
        power: None,
        price: None,
        device_name_patterns: Vec::new(),
        source: String::new(),
        notes: String::new(),
    };
    Cluster {
        name: "test".to_owned(),
        accelerator,
        devices_per_node: 8,
        devices: 8,
        scale_up: ScaleUp {
            domain_size: 8,
            bandwidth: BytesPerSecond::from_gb(450.0),
            link: String::new(),
            in_network_reduction: false,
        },
        network: Network {
            bandwidth: BytesPerSecond::from_gb(50.0),
            kind: "InfiniBand".to_owned(),
            latency: Seconds::from_micros(2.0),
            tiers: Vec::new(),
            in_network_reduction: false,
            is_assumed: false,
            rail_forwarding: 1.0,
        },
        host: Host {
            memory_per_device: Bytes::from_gib(256.0),
            memory_bandwidth_per_device: BytesPerSecond::from_gb(50.0),
            power_per_device: Watts::new(500.0),
            power_usage_effectiveness: 1.2,
        },
        source: String::new(),
        calibration: None,
        pools: Vec::new(),
    }
}
