//! Model compared with published peaks of real runs: anchors for the constants.

use super::sum::{prepare, stage_sum};
use super::{MemoryInput, MemorySoftware, SoftwareCatalogue, peak, published_peak, testing};
use railwright_spec::model::{Dimensions, Model, by_name, from_dimensions};
use railwright_spec::plan::{Lora, LoraTarget, Optimizer, Plan, Recompute, RecomputeModule, Schedule};
use railwright_spec::precision::DataType;
use std::collections::BTreeSet;

/// Error of the predicted peak, as a share of the measured one in bytes.
fn error(model: &Model, plan: &Plan, software: &str, measured: f64) -> f64 {
    let catalogue = SoftwareCatalogue::built_in().expect("reads");
    let mut cluster = testing::cluster(80.0);
    cluster.accelerator.architecture = "Ampere".into();
    let plan = &Plan { software: software.into(), ..plan.clone() };
    let software = catalogue.get(software);
    let input = MemoryInput { model, cluster: &cluster, plan, software, in_flight: None };
    published_peak(&input).get() / measured - 1.0
}

fn gpt(layers: u64, hidden: u64, heads: u64, vocab: u64, positions: u64) -> Model {
    let dimensions = Dimensions {
        layers,
        hidden,
        heads,
        vocab: Some(vocab),
        gated_mlp: Some(false),
        tied: Some(true),
        max_positions: Some(positions),
        ..Dimensions::default()
    };
    from_dimensions(dimensions).expect("a model")
}

/// Zero Bubble Pipeline Parallelism (Qi 2023, tables 3 and 4): gigabytes of the device with the largest peak,
/// no recompute, unfused attention with dropout, fp16; the ends have one layer fewer.
#[test]
fn zero_bubble_schedules() {
    let small = gpt(30, 4096, 32, 50257, 1024);
    let large = gpt(62, 6144, 48, 50257, 1024);
    let runs = [
        (&small, 8, 1, 3, Schedule::OneForwardOneBackward, 39e9),
        (&small, 8, 4, 3, Schedule::OneForwardOneBackward, 48e9),
        (&small, 8, 1, 3, Schedule::ZbH1, 42e9),
        (&small, 8, 1, 3, Schedule::ZbH2, 70e9),
        (&large, 32, 1, 1, Schedule::OneForwardOneBackward, 43e9),
        (&large, 32, 2, 1, Schedule::OneForwardOneBackward, 58e9),
        (&large, 32, 1, 1, Schedule::ZbH1, 44e9),
        (&large, 32, 1, 1, Schedule::ZbH2, 74e9),
    ];
    for (model, stages, virtual_stages, micro_batch, schedule, measured) in runs {
        let mut plan = testing::plan();
        plan.pipeline_parallel = stages;
        plan.virtual_stages = virtual_stages;
        plan.schedule = schedule;
        plan.micro_batch = micro_batch;
        plan.global_batch = micro_batch * stages * 4;
        plan.precision.gradients = DataType::Fp16;
        plan.dropout = true;
        plan.vocabulary_multiple = 128;
        let parts = (stages * virtual_stages) as usize;
        let mut layers = vec![(model.num_layers() + 2) / parts as u64; parts];
        layers[0] -= 1;
        layers[parts - 1] -= 1;
        plan.layers_per_stage = Some(layers);
        let e = error(model, &plan, "megatron-zero-bubble-2023", measured);
        assert!(e.abs() < 0.05, "{stages} {virtual_stages} {schedule:?}: {e:+.3}");
    }
}

/// The training chronicles of a 176-billion-parameter model (BigScience 2022): gigabytes reported by the
/// device, 8 x A100 80 GB nodes, full recompute, ZeRO stage 1, fp16 gradients.
#[test]
fn deepspeed_zero_one_with_full_recompute() {
    for (layers, hidden, heads, tp, pp, dp, micro_batch, measured, tolerance) in [
        (8, 14400, 32, 8, 1, 1, 1, 67e9, 0.03),
        (80, 14400, 96, 8, 10, 1, 1, 73e9, 0.03),
        (80, 14400, 96, 8, 10, 4, 1, 35e9, 0.03),
        (80, 14400, 96, 8, 10, 4, 4, 55e9, 0.03),
        (72, 14336, 64, 8, 6, 8, 4, 56e9, 0.07),
        (72, 14336, 64, 4, 12, 8, 4, 60e9, 0.03),
        (72, 14336, 64, 2, 24, 8, 1, 44e9, 0.07),
        (72, 14336, 64, 8, 2, 24, 1, 65e9, 0.03),
    ] {
        let model = gpt(layers, hidden, heads, 250_880, 2048);
        let mut plan = testing::plan();
        plan.tensor_parallel = tp;
        plan.pipeline_parallel = pp;
        plan.data_parallel = dp;
        plan.micro_batch = micro_batch;
        plan.global_batch = 2048;
        plan.sequence_length = 2048;
        plan.sharding.zero_stage = 1;
        plan.precision.gradients = DataType::Fp16;
        plan.recompute = Recompute::Full { layers: None };
        plan.dropout = true;
        plan.vocabulary_multiple = 128;
        let e = error(&model, &plan, "megatron-deepspeed-2022", measured);
        assert!(e.abs() < tolerance, "TP{tp} PP{pp} DP{dp} micro-batch {micro_batch}: {e:+.3}");
    }
}

fn llama3_8b() -> Model {
    testing::llama(4096, 14336, 32, 8, 32, 128_256)
}

/// torchtitan's pages of December 2024: GiB reserved on H100, fully sharded, operators recomputed by its
/// policy.
#[test]
fn fully_sharded_llama_3_8b() {
    for (software, dp, micro_batch, measured, tolerance) in [
        ("torchtitan-2024-eager", 8, 2, 82.4, 0.04),
        ("torchtitan-2024-eager", 128, 2, 67.0, 0.04),
        ("torchtitan-2024-compile", 8, 2, 77.0, 0.03),
        ("torchtitan-2024-compile", 8, 1, 47.65, 0.05),
        ("torchtitan-2024-eager", 8, 1, 49.41, 0.05),
    ] {
        let mut plan = testing::plan();
        plan.data_parallel = dp;
        plan.micro_batch = micro_batch;
        plan.global_batch = micro_batch * dp;
        plan.sequence_length = 8192;
        plan.sharding.zero_stage = 3;
        plan.recompute =
            Recompute::Selective { modules: BTreeSet::from([RecomputeModule::Operators]), layers: None };
        let e = error(&llama3_8b(), &plan, software, measured * 1_073_741_824.0);
        assert!(e.abs() < tolerance, "{software} DP{dp} micro-batch {micro_batch}: {e:+.3}");
    }
}

/// A sample line of NVIDIA's DGX Cloud benchmark log: Llama 3 8B on 8 H100, 70.83 GB allocated at the peak,
/// gradients in bf16.
#[test]
fn megatron_core_llama_3_8b() {
    let mut plan = testing::plan();
    plan.data_parallel = 4;
    plan.context_parallel = 2;
    plan.global_batch = 128;
    plan.sequence_length = 8192;
    plan.sharding.zero_stage = 1;
    plan.precision.gradients = DataType::Bf16;
    plan.vocabulary_multiple = 128;
    let e = error(&llama3_8b(), &plan, "megatron-core-2024", 70.83e9);
    assert!(e.abs() < 0.05, "{e:+.3}");
}

/// The published sweep of the Ultrascale playbook: GiB on the rank that logs, Llama-shaped, 4,096 tokens.
#[test]
fn nanotron_sweep() {
    let make = |layers, hidden, ffn, tied| {
        from_dimensions(Dimensions {
            layers,
            hidden,
            heads: 32,
            kv_heads: Some(32),
            ffn: Some(ffn),
            vocab: Some(131_072),
            gated_mlp: Some(true),
            tied: Some(tied),
            ..Dimensions::default()
        })
        .expect("a model")
    };
    let (small, middle, large) =
        (make(16, 2048, 8192, true), make(28, 3072, 8192, true), make(32, 4096, 14336, false));
    for (model, dp, tp, pp, zero_stage, micro_batch, measured) in [
        (&small, 64, 1, 1, 1, 1, 23.76),
        (&small, 16, 4, 1, 0, 1, 10.39),
        (&small, 16, 8, 1, 1, 8, 20.02),
        (&middle, 64, 2, 1, 1, 2, 34.35),
        (&middle, 16, 8, 1, 1, 4, 18.04),
        (&large, 16, 8, 1, 1, 4, 30.91),
        (&large, 8, 16, 1, 1, 4, 19.74),
        (&large, 4, 2, 8, 1, 2, 46.70),
        (&large, 4, 2, 32, 1, 1, 33.44),
    ] {
        let mut plan = testing::plan();
        plan.data_parallel = dp;
        plan.tensor_parallel = tp;
        plan.pipeline_parallel = pp;
        plan.sharding.zero_stage = zero_stage;
        plan.sequence_parallel = tp > 1;
        plan.micro_batch = micro_batch;
        plan.global_batch = 256;
        plan.sequence_length = 4096;
        let e = error(model, &plan, "nanotron-2024", measured * 1_073_741_824.0);
        assert!(e.abs() < 0.15, "h {} DP{dp} TP{tp} PP{pp} {micro_batch}: {e:+.3}", model.hidden_size);
    }
}

/// The DeepSeek-V3 report (arXiv 2412.19437, sections 3.2 and 4.2): 2,048 H800 of 80 GB, 16 stages of
/// DualPipe, experts over 64 ranks, ZeRO-1, no tensor parallelism. Norms, up-projections and SwiGLU's output
/// are recomputed, moments have 16 bits. It ran.
#[test]
fn deepseek_v3_trains_in_80_gb() {
    let model = by_name("deepseek-v3").expect("in the catalogue");
    let mut plan = testing::plan();
    plan.pipeline_parallel = 16;
    plan.data_parallel = 128;
    plan.expert_parallel = 64;
    plan.schedule = Schedule::DualPipe;
    plan.layers_per_stage = Some([vec![3], vec![4; 13], vec![3, 3]].concat());
    plan.global_batch = 15_360;
    plan.sequence_length = 4096;
    plan.sharding.zero_stage = 1;
    plan.precision.compute = DataType::Fp8;
    plan.precision.moments = DataType::Bf16;
    plan.recompute = Recompute::Selective {
        modules: BTreeSet::from([
            RecomputeModule::Norm,
            RecomputeModule::LatentUpProjection,
            RecomputeModule::Activation,
        ]),
        layers: None,
    };
    let cluster = testing::cluster(79.1);
    let mut software = SoftwareCatalogue::built_in().expect("reads").get("megatron-core-2025").clone();
    let peak_of = |software: &MemorySoftware| {
        peak(&MemoryInput { model: &model, cluster: &cluster, plan: &plan, software, in_flight: None })
    };
    let wide = peak_of(&software);
    assert!(wide.least().gib() < 79.1, "{}", wide.least().gib());
    // Their own kernels store SwiGLU's input in fp8 (section 3.3.3): 17 micro-batches of four layers, 8 + 1
    // experts of 2 x 2,048.
    software.narrow_inner = true;
    let narrow = peak_of(&software);
    let saved = 17.0 * 4.0 * 4096.0 * 9.0 * 4096.0;
    let found = wide.allocated.get() - narrow.allocated.get();
    assert!((found / saved - 1.0).abs() < 0.03, "{found} {saved}");
}

/// Sample submissions of MLPerf's Llama 2 70B fine-tuning round: fp8, 8,192 tokens, adapters on attention;
/// they ran on 8 H200 without tensor parallelism (context parallel 2) and on 8 H100 with TP 4.
#[test]
fn adapters_of_a_70b_model_train_on_one_node() {
    let model = testing::llama(8192, 28672, 64, 8, 80, 32000);
    for (gib, tp, cp) in [(140.4, 1, 2), (140.4, 2, 1), (79.1, 4, 1)] {
        let mut plan = testing::plan();
        plan.optimizer = Optimizer::Lora;
        plan.lora = Some(Lora { rank: 16, targets: [LoraTarget::FusedQkv, LoraTarget::Output].into() });
        plan.tensor_parallel = tp;
        plan.sequence_parallel = tp > 1;
        plan.context_parallel = cp;
        plan.data_parallel = 8 / (tp * cp);
        plan.global_batch = 8;
        plan.sequence_length = 8192;
        plan.sharding.zero_stage = 1;
        plan.precision.compute = DataType::Fp8;
        let catalogue = SoftwareCatalogue::built_in().expect("reads");
        let (cluster, software) = (testing::cluster(gib), catalogue.get("megatron-mlperf"));
        let mut fits = |optimizer| {
            plan.optimizer = optimizer;
            let peak = peak(&MemoryInput {
                model: &model,
                cluster: &cluster,
                plan: &plan,
                software,
                in_flight: None,
            });
            peak.least().gib() < gib
        };
        assert!(fits(Optimizer::Lora) && !fits(Optimizer::Adam), "TP{tp} CP{cp}");
    }
}

/// The allocation table in llm.q's README (IST-DASLab, 2025): Qwen2.5-0.5B on one card, 8 x 1,024 tokens, fp8
/// GEMMs on 16-bit states, blocks recomputed: moments 2 x 942, gradients 942, activations 4,505, weights 682
/// + 601 MiB.
#[test]
fn planned_buffers_of_a_small_model() {
    let model = from_dimensions(Dimensions {
        layers: 24,
        hidden: 896,
        heads: 14,
        kv_heads: Some(2),
        ffn: Some(4864),
        vocab: Some(151_936),
        gated_mlp: Some(true),
        tied: Some(true),
        ..Dimensions::default()
    })
    .expect("a model");
    let mut plan = testing::plan();
    plan.micro_batch = 8;
    plan.global_batch = 64;
    plan.sequence_length = 1024;
    plan.precision.compute = DataType::Fp8;
    plan.precision.gradients = DataType::Bf16;
    plan.precision.gradient_reduce = DataType::Bf16;
    plan.precision.master = None;
    plan.precision.moments = DataType::Bf16;
    plan.recompute = Recompute::Full { layers: None };
    let catalogue = SoftwareCatalogue::built_in().expect("reads");
    let cluster = testing::cluster(24.0);
    let software = catalogue.get("fused-cards-2025");
    let input = MemoryInput { model: &model, cluster: &cluster, plan: &plan, software, in_flight: None };
    let stage = stage_sum(&input, &prepare(&input), 0);
    let states = f64::from(3 * 942 + 682 + 601) * 1_048_576.0;
    assert!((stage.resident / states - 1.0).abs() < 0.02, "{}", stage.resident / states);
    // 1.5 GiB of the activations are unexplained: they include workspaces of attention's backward pass.
    let e = peak(&input).allocated.get() / (states + 4505.0 * 1_048_576.0) - 1.0;
    assert!((-0.2..0.0).contains(&e), "{e:+.3}");
}

/// Qwen3 4B on one H100, 65,536 tokens, adapters of rank 16 on every projection, blocks recomputed, head and
/// loss fused (prime-rl's baselines, January 2026): 41.99 GiB reserved; whole logits alone would take 130
/// GiB.
#[test]
fn a_fused_loss_holds_no_logits() {
    let model = by_name("qwen3-4b").expect("in the catalogue");
    let mut plan = testing::plan();
    plan.sequence_length = 65_536;
    plan.optimizer = Optimizer::Lora;
    plan.sharding.zero_stage = 3;
    plan.recompute = Recompute::Full { layers: None };
    let measured = 41.994 * 1_073_741_824.0;
    assert!(error(&model, &plan, "torchtitan-2024-compile", measured) > 1.5);
    let e = error(&model, &plan, "torchtitan-2024-compile+fused-loss", measured);
    assert!(e.abs() < 0.10, "{e:+.3}");
}
