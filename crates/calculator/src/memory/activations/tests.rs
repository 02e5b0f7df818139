//! Saved activations compared with the published formulas.

use super::*;
use crate::memory::testing;
use railwright_spec::model::by_name;
use railwright_spec::plan::{AttentionKernel, Lora, LoraTarget, Optimizer};
use railwright_spec::precision::DataType;
use std::collections::BTreeSet;

/// Korthikanti 2022, table 2: bytes per layer of a GPT with s 2048, b 1, h 12288, 96 heads.
fn korthikanti(tp: u64, sp: bool, recompute: Recompute) -> f64 {
    let model = testing::gpt(12288, 96, 96, 51200);
    let mut plan = testing::plan();
    plan.sequence_length = 2048;
    plan.tensor_parallel = tp;
    plan.sequence_parallel = sp;
    plan.dropout = true;
    plan.attention_kernel = AttentionKernel::Unfused;
    plan.recompute = recompute;
    let software = testing::neutral();
    let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &software);
    let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
    layer_bytes(&saving, model.layer(0), true).saved
}

#[test]
fn korthikantis_table_of_activations() {
    let (s, h, heads) = (2048.0, 12288.0, 96.0);
    let sbh = s * h;
    let scores = 5.0 * heads * s / h;
    let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
    near(korthikanti(1, false, Recompute::None), sbh * (34.0 + scores));
    near(korthikanti(8, false, Recompute::None), sbh * (10.0 + 24.0 / 8.0 + scores / 8.0));
    near(korthikanti(8, true, Recompute::None), sbh * (34.0 / 8.0 + scores / 8.0));
    near(korthikanti(8, false, Recompute::core_attention()), sbh * (10.0 + 24.0 / 8.0));
    near(korthikanti(8, true, Recompute::core_attention()), sbh * 34.0 / 8.0);
    near(korthikanti(8, false, Recompute::Full { layers: None }), sbh * 2.0);
}

#[test]
fn flash_attention_keeps_no_scores() {
    let model = testing::gpt(12288, 96, 96, 51200);
    let mut plan = testing::plan();
    plan.sequence_length = 2048;
    plan.dropout = true;
    plan.attention_kernel = AttentionKernel::Flash2;
    let software = testing::neutral();
    let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &software);
    let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
    let got = layer_bytes(&saving, model.layer(0), true).saved;
    let want = 2048.0 * (34.0 * 12288.0 + 4.0 * 96.0);
    assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
}

#[test]
fn grouped_queries_keep_less() {
    let mut plan = testing::plan();
    plan.sequence_length = 4096;
    let software = testing::neutral();
    let of = |kv| {
        let model = testing::llama(4096, 14336, 32, kv, 2, 32000);
        let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &software);
        let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
        layer_bytes(&saving, model.layer(0), false).saved
    };
    // 32 against 8 key-value heads: keys and values of 24 heads of 128 fewer.
    assert_eq!(of(32) - of(8), 4096.0 * 2.0 * 2.0 * 24.0 * 128.0);
}

#[test]
fn recompute_orders_as_it_should() {
    let model = testing::llama(4096, 14336, 32, 8, 2, 32000);
    let mut plan = testing::plan();
    plan.sequence_length = 8192;
    let software = testing::neutral();
    let mut of = |recompute| {
        plan.recompute = recompute;
        let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &software);
        let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
        layer_bytes(&saving, model.layer(0), true)
    };
    let some = |modules: &[RecomputeModule]| Recompute::Selective {
        modules: modules.iter().copied().collect::<BTreeSet<_>>(),
        layers: None,
    };
    let none = of(Recompute::None);
    let full = of(Recompute::Full { layers: None });
    let operators = of(some(&[RecomputeModule::Operators]));
    let mlp = of(some(&[RecomputeModule::Mlp]));
    let norm = of(some(&[RecomputeModule::Norm]));
    assert!(full.saved < operators.saved && operators.saved < none.saved);
    assert!(full.saved < mlp.saved && mlp.saved < norm.saved && norm.saved < none.saved);
    assert!(full.working > operators.working && operators.working > none.working);
    // The sum is constant: dropped tensors are recomputed.
    assert_eq!(full.saved + full.working, none.saved + none.working);
    // torch's policy keeps the input, q, v, attention's output, one inner product and the output of the down
    // projection.
    let want = 8192.0 * (2.0 * (4096.0 + 4096.0 + 1024.0 + 4096.0 + 14336.0 + 4096.0) + 4.0 * 32.0);
    assert_eq!(operators.saved, want);
}

#[test]
fn experts_keep_by_visits_and_imbalance() {
    let model = testing::mixture(2048, 1024, 64, 8);
    let mut plan = testing::plan();
    plan.sequence_length = 4096;
    let software = testing::neutral();
    let mut of = |imbalance, capacity| {
        plan.expert_parallel = 8;
        plan.expert_imbalance = imbalance;
        plan.expert_capacity = capacity;
        let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &software);
        let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
        layer_bytes(&saving, model.layer(0), false).saved
    };
    // A visit keeps its input, gate, up, product and output: 2 (2h + 3f) bytes.
    let visit = 2.0 * (2.0 * 2048.0 + 3.0 * 1024.0);
    let layers = model.num_layers() as f64;
    let more = of(1.5, None) - of(1.0, None);
    assert!((more / (0.5 / layers.sqrt() * 8.0 * 4096.0 * visit) - 1.0).abs() < 1e-12, "{more}");
    assert_eq!(of(1.5, Some(1.0)), of(1.0, None));
}

/// Bytes per token of the last layer of a catalogue model, under constants without additions.
fn per_token(name: &str, change: impl Fn(&mut Plan)) -> f64 {
    let model = by_name(name).expect("in the catalogue");
    let mut plan = testing::plan();
    plan.sequence_length = 4096;
    change(&mut plan);
    let mut software = testing::neutral();
    // Router weights enter at the activation function, and 16-bit tensors that attention and router keep
    // serve others as well.
    software.expert_output = 0.0;
    software.narrow_attention_output = false;
    let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &software);
    let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
    let last = model.layer(model.num_layers() as usize - 1);
    layer_bytes(&saving, last, true).saved / 4096.0
}

#[test]
fn a_token_in_a_layer_of_eight_experts_by_hand() {
    // Mixtral: h 4,096, 32 heads, 8 of keys, two visits to experts of 14,336.
    let hidden = 2.0 * 4096.0;
    // Inputs of both norms and their outputs, queries, attention's output; keys and values; log-sum-exp.
    let attention = 6.0 * hidden + 2.0 * 2.0 * 1024.0 + 4.0 * 32.0;
    // Scores and masks of the router; then each visit's input, gate and up, and the down projection's input.
    let experts = 9.0 * 8.0 + 2.0 * (hidden + 3.0 * 2.0 * 14_336.0);
    assert_eq!(per_token("mixtral-8x7b", |_| ()), attention + experts);
}

#[test]
fn a_token_in_a_layer_of_latent_attention_by_hand() {
    // DeepSeek-V3: h 7,168; latents of 1,536 and 512 and a rotated key of 64; 128 heads of 192 and 128; 8 of
    // 256 experts of 2,048, and one shared expert.
    let hidden = 2.0 * 7168.0;
    let latents = 2.0 * (2.0 * (1536.0 + 512.0) + 64.0);
    let up_projected = 2.0 * 128.0 * (192.0 + 192.0 + 128.0);
    let output = 128.0 * (2.0 * 128.0 + 4.0);
    let experts = 8.0 * (hidden + 3.0 * 2.0 * 2048.0) + 3.0 * 2.0 * 2048.0;
    let wide = 4.0 * hidden + latents + up_projected + output + 9.0 * 256.0 + experts;
    assert_eq!(wide, 457_600.0);
    assert_eq!(per_token("deepseek-v3", |_| ()), wide);

    // In fp8, with recompute of norms, up-projections and the activation function: half of the experts'
    // inputs remain, both norms' inputs, the latents, attention's output, and gate and up in 16 bits.
    let narrow = per_token("deepseek-v3", |plan| {
        plan.precision.compute = DataType::Fp8;
        let modules =
            [RecomputeModule::Norm, RecomputeModule::LatentUpProjection, RecomputeModule::Activation];
        plan.recompute = Recompute::Selective { modules: BTreeSet::from(modules), layers: None };
    });
    let visits = 8.0 * 7168.0 + 9.0 * 2.0 * 2.0 * 2048.0;
    assert_eq!(narrow, 2.0 * hidden + 2.0 * (1536.0 + 512.0 + 64.0) + output + 9.0 * 256.0 + visits);
}

#[test]
fn a_state_space_keeps_its_projections_once() {
    // The kernel recomputes the convolved projections. Per token it keeps the projection's output, and the
    // scan's output, which the gate and the output projection read.
    let model = by_name("nemotron-3-nano-30b-a3b").expect("in the catalogue");
    let plan = testing::plan();
    let software = testing::neutral();
    let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &software);
    let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
    let layer = model.layer_kinds.iter().find(|l| matches!(l.mixer, Mixer::StateSpace(_))).expect("one");
    let rows =
        |module| layer.weights.iter().filter(|w| w.module == module).map(|w| w.rows as f64).sum::<f64>();
    let mut core = 0.0;
    tensors(&saving, layer, &Recompute::None, &mut |module, bytes, _| {
        core += if module == Module::AttentionCore { bytes } else { 0.0 };
    });
    let inner = match &layer.mixer {
        Mixer::StateSpace(s) => (s.heads * s.head_dim) as f64,
        _ => 0.0,
    };
    assert!(core <= 1024.0 * 2.0 * (rows(Module::AttentionInput) + inner), "{core}");
}

#[test]
fn frozen_weights_keep_no_inputs() {
    // Llama 2 70B with adapters of rank 16 on attention: both norms' inputs, the adapters' input, queries,
    // keys and values, attention's output, gate and up, and the outputs of both `A`. The inputs of gate,
    // up and down are not kept.
    let per_token_of = |names: &[&str]| {
        per_token("llama-2-70b", |plan| {
            let targets = names.iter().map(|name| LoraTarget::by_name(name).expect("known")).collect();
            plan.optimizer = Optimizer::Lora;
            plan.lora = Some(Lora { rank: 16, targets });
            plan.precision.compute = DataType::Fp8;
        })
    };
    let rest = 2.0 * (2.0 * 8192.0 + 8192.0 + 2.0 * 1024.0 + 8192.0 + 2.0 * 28_672.0) + 4.0 * 64.0;
    assert_eq!(per_token_of(&["linear_qkv", "linear_proj"]), rest + 2.0 * (8192.0 + 16.0 + 16.0));
    assert_eq!(per_token_of(&["linear_proj"]), rest + 2.0 * 16.0);
    // The down projection's input is the activation's output.
    assert_eq!(per_token_of(&["down_proj"]), rest + 2.0 * (28_672.0 + 16.0));
    assert_eq!(per_token_of(&["gate_proj", "up_proj"]), rest + 2.0 * (8192.0 + 2.0 * 16.0));
}

/// Without a named kernel, memory has the one of the generation's times on the accelerator.
#[test]
fn memory_has_the_kernel_of_the_time() {
    let model = testing::llama(4096, 11008, 32, 32, 2, 32000);
    let of = |software: &str, kernel| {
        let mut plan = testing::plan();
        plan.sequence_length = 4096;
        plan.software = software.into();
        plan.attention_kernel = kernel;
        let cluster = railwright_spec::cluster::by_name("dgx-a100", 8).expect("a preset");
        let software = testing::neutral();
        let sizes = SavedSizes::new(&model, &cluster, &plan, &software);
        let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
        layer_bytes(&saving, model.layer(0), true).saved
    };
    for generation in railwright_spec::software::generations() {
        let kernel = generation.attention_kernel("Ampere");
        assert_eq!(
            of(&generation.id, AttentionKernel::Auto),
            of(&generation.id, kernel),
            "{}",
            generation.id
        );
    }
    assert!(
        of("torch-3d-2023", AttentionKernel::Auto) < of("megatron-zero-bubble-2023", AttentionKernel::Auto)
    );
}

/// torchtitan kept what the all-to-alls of experts deliver from September 2025 on. Its commit c4e229115
/// prints both peaks of a 16B DeepSeek on four A100: 4.5 GiB apart.
#[test]
fn the_exchange_of_experts_is_kept_as_published() {
    let model = by_name("deepseek-v2-lite").expect("in the catalogue");
    let of = |software: &str| {
        let plan = Plan {
            expert_parallel: 4,
            micro_batch: 2,
            sequence_length: 2048,
            recompute: Recompute::Selective {
                modules: BTreeSet::from([RecomputeModule::Operators]),
                layers: None,
            },
            software: software.to_owned(),
            ..testing::plan()
        };
        let constants = testing::neutral();
        let sizes = SavedSizes::new(&model, &testing::cluster(80.0), &plan, &constants);
        let saving = Saving { plan: &plan, software: &constants, sizes: &sizes };
        (0..model.num_layers())
            .map(|at| layer_bytes(&saving, model.layer(at as usize), true).saved)
            .sum::<f64>()
    };
    let difference = of("torchtitan-2024-eager") - of("torchtitan-2024-eager+recomputed-exchange");
    let gib = difference / 1024_f64.powi(3);
    assert!((gib / 4.5 - 1.0).abs() < 0.12, "{gib}");
}
