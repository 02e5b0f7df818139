//! Attention that no kernel of FlashAttention computes, and stacks that a row's model and framework tell.

use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::validation::cases;
use railwright_calculator::work::Family;
use railwright_spec::plan::{PlanSpec, Sharding};
use railwright_spec::{cluster, model};

/// Seconds of attention and of the step.
fn times(name: &str, software: &str) -> (f64, f64) {
    let spec = PlanSpec {
        expert_parallel: Some(8),
        sharding: Some(Sharding { zero_stage: 1, group: None, reshard_after_forward: false }),
        sequence_length: Some(8192),
        micro_batch: Some(1),
        global_batch: Some(8),
        software: Some(software.to_owned()),
        ..PlanSpec::default()
    };
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name("dgx-b200", 8).expect("a preset");
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let time = evaluate(&costing).expect("runs").time;
    let attention = time.compute.iter().find(|(family, _)| *family == Family::AttentionCore);
    (attention.expect("attention").1.get(), time.total.get())
}

/// Heads of 576 and their index: kernels of TileLang took four times as long as those made for such heads
/// (VeOmni pull request 1012 and flash-attention pull request 2621). Heads of 128 have the same kernel.
#[test]
fn wide_heads_are_slow_without_a_kernel_of_their_own() {
    let stack = "megatron-core-2026-06+no-cuda-graphs";
    let fused = format!("{stack}+wide-attention-kernel");
    let (slow, fast) = (times("glm-5", stack), times("glm-5", &fused));
    assert!((slow.0 / fast.0 - 4.0).abs() < 0.05, "{slow:?} {fast:?}");
    assert!(slow.1 > fast.1);
    assert_eq!(times("qwen3-30b-a3b", stack), times("qwen3-30b-a3b", &fused));
}

/// torchtitan's Qwen3 repeated its all-to-alls until spring 2026, Llama's did not since September 2025.
/// Megatron-LM by itself has no CUDA graphs.
#[test]
fn the_model_and_the_framework_of_a_row_tell_its_stack() {
    let of = |model: &str, framework: &str| {
        let header =
            "gpu,n_gpus,gpus_per_node,model_name,framework,tp,pp,seq_len,micro_batch,global_batch_seqs";
        let text = format!("{header}\nH100,8,8,{model},{framework},1,1,2048,1,8\n");
        let rows = cases(&text, "runs.csv").expect("a table");
        rows.into_iter().next().expect("a row").1.expect("a case").plan.software
    };
    let titan = "\"torchtitan (2025-12, torch.compile)\"";
    assert_eq!(of("Qwen3-30B-A3B", titan), "torchtitan-2025+recomputed-exchange");
    assert_eq!(of("Llama-3-8B", titan), "torchtitan-2025");
    assert_eq!(of("Llama-3-8B", "Megatron-LM (2026-07)"), "megatron-core-2026-06+no-cuda-graphs");
    assert_eq!(of("Llama-3-8B", "Megatron-Bridge (2026-07)"), "megatron-core-2026-06");
    assert_eq!(of("Qwen3-30B-A3B", "Levanter (JAX)"), "levanter-2026");
}
