//! The model as flags.

use super::super::lists;
use super::Group;
use super::choices::expert_tensor_parallel;
use super::structure::{self, Structure};
use super::weights::{has, has_biases};
use railwright_spec::model::{
    Activation, Attention, FeedForward, LatentAttention, Layer, Mixer, MixtureOfExperts, Mlp, Model, Norm,
    Position, Span, Weight,
};
use railwright_spec::run::Run;

/// Shapes of all layers except experts.
pub(super) fn shape(run: &Run, structure: &Structure, per_chunk: &[u64]) -> Group {
    let model = &run.model;
    let mut group = Group::new("MODEL_ARGS");
    group.flag("--use-mcore-models");
    if !matches!(structure, Structure::Hybrid(_)) {
        group.value("--num-layers", model.num_layers());
    }
    group.value("--hidden-size", model.hidden_size);
    if let Some(attention) = first(model, attention) {
        group.value("--num-attention-heads", attention.heads);
        if attention.kv_heads != attention.heads {
            group.flag("--group-query-attention");
            group.value("--num-query-groups", attention.kv_heads);
        }
        group.value("--kv-channels", attention.head_dim);
        group.flag_if(attention.qk_norm, "--qk-layernorm");
        window(model, &mut group);
    } else if let Some(latent) = first(model, latent) {
        latent_flags(latent, &mut group);
    }
    if let Some(mlp) = widths(model) {
        group.value("--ffn-hidden-size", mlp.intermediate_size);
        match (mlp.gated, mlp.activation) {
            (_, Activation::ClampedQuickGelu) => {
                group.flag("--quick-geglu");
                group.value("--glu-linear-offset", "1.0");
                group.value("--activation-func-clamp-value", "7.0");
            }
            (true, Activation::Silu) => group.flag("--swiglu"),
            (true, _) => group.flag("--quick-geglu"),
            (false, Activation::SquaredRelu | Activation::Relu) => group.flag("--squared-relu"),
            (false, _) => {}
        }
    }
    if first(model, |layer| Some(layer.norm)) == Some(Norm::RmsNorm) {
        group.value("--normalization", "RMSNorm");
    }
    let biases = has_biases(model);
    if has(model, SINKS) {
        group.value("--softmax-type", "learnable");
    }
    group.flag_if(!biases, "--disable-bias-linear");
    group.flag_if(!biases && has(model, &["q_proj.bias", "qkv.bias"]), "--add-qkv-bias");
    // Rotary positions extend as far as needed, and Megatron-LM rejects longer sequences.
    group.value("--max-position-embeddings", model.max_positions.max(run.plan.sequence_length).max(1));
    let position = match model.position {
        Position::Rotary => "rope",
        Position::Learned => "learned_absolute",
        // ALiBi was rejected before.
        Position::Alibi | Position::None => "none",
    };
    group.value("--position-embedding-type", position);
    group.flag_if(!model.tied_embeddings, "--untie-embeddings-and-output-weights");
    if let Some(prediction) = &model.multi_token_prediction {
        group.value("--mtp-num-layers", prediction.depth);
    }
    structure::flags(structure, model, per_chunk, &mut group);
    group
}

/// Experts, if the model has any.
pub(super) fn experts(run: &Run, structure: &Structure) -> Option<Group> {
    let (model, plan) = (&run.model, &run.plan);
    let moe = first(model, experts_of)?;
    let mut group = Group::new("MOE_ARGS");
    group.value("--num-experts", moe.experts);
    group.value("--moe-router-topk", moe.top_k);
    // A softmax over one expert has no gradient: Megatron-LM then requires it over all of them.
    group.flag_if(moe.top_k == 1, "--moe-router-pre-softmax");
    group.value("--moe-ffn-hidden-size", moe.expert.intermediate_size);
    if moe.shared_intermediate_size > 0 {
        group.value("--moe-shared-expert-intermediate-size", moe.shared_intermediate_size);
        group.flag_if(has(model, &["shared_expert_gate"]), "--moe-shared-expert-gate");
    }
    if let Some(latent) = structure::rows(model, "fc1_latent_proj") {
        group.value("--moe-latent-size", latent);
    }
    if moe.routing_groups > 1 {
        group.value("--moe-router-num-groups", moe.routing_groups);
        group.value("--moe-router-group-topk", moe.top_k_groups);
    }
    let with: Vec<u64> =
        (0..model.layers.len()).map(|i| u64::from(experts_of(model.layer(i)).is_some())).collect();
    if with.contains(&0) && !matches!(structure, Structure::Hybrid(_)) {
        group.value("--moe-layer-freq", format!("'{}'", lists::write(&with)));
    }
    if let Some(factor) = plan.expert_capacity {
        group.value("--moe-expert-capacity-factor", factor);
    }
    group.flag("--moe-grouped-gemm");
    group.value("--expert-model-parallel-size", plan.expert_parallel);
    group.value("--expert-tensor-parallel-size", expert_tensor_parallel(run));
    Some(group)
}

/// Property of the first layer that has it.
fn first<'a, T>(model: &'a Model, find: impl Fn(&'a Layer) -> Option<T>) -> Option<T> {
    model.layers.iter().find_map(|kind| model.layer_kinds.get(*kind).and_then(&find))
}

fn attention(layer: &Layer) -> Option<&Attention> {
    match &layer.mixer {
        Mixer::Attention(attention) => Some(attention),
        _ => None,
    }
}

fn latent(layer: &Layer) -> Option<&LatentAttention> {
    match &layer.mixer {
        Mixer::Latent(latent) => Some(latent),
        _ => None,
    }
}

fn experts_of(layer: &Layer) -> Option<&MixtureOfExperts> {
    match &layer.feed_forward {
        FeedForward::MixtureOfExperts(moe) => Some(moe),
        _ => None,
    }
}

/// The dense MLP, or an expert if all layers have experts.
fn widths(model: &Model) -> Option<&Mlp> {
    let dense = first(model, |layer| match &layer.feed_forward {
        FeedForward::Dense(mlp) => Some(mlp),
        _ => None,
    });
    dense.or_else(|| first(model, experts_of).map(|moe| &moe.expert))
}

fn latent_flags(latent: &LatentAttention, group: &mut Group) {
    group.value("--num-attention-heads", latent.heads);
    group.flag("--multi-latent-attention");
    if let Some(rank) = latent.q_lora_rank {
        group.value("--q-lora-rank", rank);
    }
    group.value("--kv-lora-rank", latent.kv_lora_rank);
    group.value("--qk-head-dim", latent.qk_nope_head_dim);
    group.value("--qk-pos-emb-head-dim", latent.qk_rope_head_dim);
    group.value("--v-head-dim", latent.v_head_dim);
    group.flag("--qk-layernorm");
}

/// Windows, if all layers have one, or all except for global layers at an interval.
fn window(model: &Model, group: &mut Group) {
    let span =
        |kind: &usize| model.layer_kinds.get(*kind).and_then(attention).map(|attention| attention.span);
    let spans: Vec<Option<Span>> = model.layers.iter().map(span).collect();
    let Some(tokens) =
        spans.iter().find_map(|span| if let Some(Span::Window(n)) = span { Some(*n) } else { None })
    else {
        return;
    };
    group.value("--window-size", format!("{},0", tokens.saturating_sub(1)));
    if spans.contains(&Some(Span::Causal)) {
        let list: Vec<u64> = spans.iter().map(|span| u64::from(*span != Some(Span::Causal))).collect();
        group.value("--window-attn-skip-freq", format!("'{}'", lists::write(&list)));
    }
}

/// A scalar a head that softmax can attend to: `--softmax-type learnable`.
const SINKS: &[&str] = &["sinks"];

/// Weights implied by flags, for which a run file has no key: sinks, and a router's bias if all matrices have
/// one.
fn is_implied(weight: &Weight) -> bool {
    matches!(weight.name.as_str(), "sinks" | "router.bias")
}

/// The shapes of every layer and of the other modules, sorted, except those implied by flags.
pub(super) fn shapes(model: &Model) -> Vec<Vec<(u64, u64, u64)>> {
    let sorted = |weights: &[Weight]| {
        let weights = weights.iter().filter(|weight| !is_implied(weight));
        let mut shapes: Vec<_> = weights.map(|w| (w.rows, w.columns, w.copies)).collect();
        shapes.sort_unstable();
        shapes
    };
    let around =
        [&model.embedding, &model.final_norm, &model.head].into_iter().map(|weights| sorted(weights));
    around.chain((0..model.layers.len()).map(|index| sorted(&model.layer(index).weights))).collect()
}
