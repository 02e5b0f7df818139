//! Properties of adapters under any model: more of them never need less time or memory, and adapters never
//! need more memory than training all weights.

use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::memory::{MemoryInput, SoftwareCatalogue, peak};
use railwright_spec::plan::{
    FrozenWeights, Lora, LoraTarget, NF4_BYTES, Optimizer, Plan, PlanSpec, Recompute, Sharding, validate,
};
use railwright_spec::{cluster, model};

/// Selective recompute launches kernels in proportion to its share of the forward pass's time, which falls
/// with the size of adapters. If the host is the bottleneck, the effect is at most a few thousandths.
const SHARE: f64 = 0.998;

/// Step time in seconds and peak in bytes.
fn need(model: &model::Model, cluster: &cluster::Cluster, plan: &Plan) -> (f64, f64) {
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine).expect("known software");
    let software = SoftwareCatalogue::shared().expect("reads").get(&plan.software);
    let input = MemoryInput { model, cluster, plan, software, in_flight: None };
    (evaluate(&costing).expect("runs").time.total.get(), peak(&input).allocated.get())
}

/// Plans over models, parallel sizes, sharding and recompute, with LoRA.
fn plans() -> Vec<(model::Model, cluster::Cluster, Plan)> {
    let mut list = Vec::new();
    for name in ["llama-3-8b", "llama-2-70b", "qwen3-30b-a3b", "deepseek-v3-671b", "gpt2"] {
        let model = model::by_name(name).expect(name);
        let cluster = cluster::by_name("dgx-h100", 16).expect("known");
        for (tensor, pipeline, expert, zero, software) in [
            (1, 1, 1, 3, "torchtitan-2025"),
            (4, 2, 1, 1, "megatron-core-2025"),
            (2, 1, 8, 0, "megatron-core-2025"),
            (1, 2, 8, 2, "megatron-core-2025"),
        ] {
            for recompute in [Recompute::None, Recompute::core_attention(), Recompute::Full { layers: None }]
            {
                let spec = PlanSpec {
                    tensor_parallel: Some(tensor),
                    pipeline_parallel: Some(pipeline),
                    expert_parallel: Some(if model.is_mixture_of_experts() { expert } else { 1 }),
                    sharding: Some(Sharding {
                        zero_stage: zero,
                        group: None,
                        reshard_after_forward: zero == 3,
                    }),
                    uneven_stages: Some(true),
                    sequence_length: Some(1024),
                    micro_batches: Some(4),
                    optimizer: Some(Optimizer::Lora),
                    software: Some(software.to_owned()),
                    recompute: Some(recompute),
                    ..PlanSpec::default()
                };
                let plan = spec.resolve(&model, &cluster).expect("resolves");
                if validate(&model, &cluster, &plan).is_empty() {
                    list.push((model.clone(), cluster.clone(), plan));
                }
            }
        }
    }
    assert!(list.len() > 40, "{}", list.len());
    list
}

#[test]
fn a_higher_rank_never_needs_less() {
    for (model, cluster, mut plan) in plans() {
        let mut last = (0.0, 0.0);
        for rank in [1, 8, 16, 64, 256, 1024] {
            plan.lora = Some(Lora { rank, ..Lora::default() });
            let next = need(&model, &cluster, &plan);
            assert!(
                next.0 >= last.0 * SHARE && next.1 > last.1,
                "{} rank {rank}: {next:?} {last:?}",
                model.name
            );
            last = next;
        }
    }
}

#[test]
fn more_targets_never_need_less() {
    let attention = [LoraTarget::Query, LoraTarget::Key, LoraTarget::Value, LoraTarget::Output];
    for (model, cluster, mut plan) in plans() {
        let mut of = |targets: &[LoraTarget]| {
            plan.lora = Some(Lora { rank: 16, targets: targets.iter().copied().collect() });
            need(&model, &cluster, &plan)
        };
        let (one, some, all) = (of(&attention[3..]), of(&attention), of(&[LoraTarget::AllLinear]));
        assert!(one.0 <= some.0 && some.0 <= all.0, "{}: {one:?} {some:?} {all:?}", model.name);
        assert!(one.1 <= some.1 && some.1 < all.1, "{}: {one:?} {some:?} {all:?}", model.name);
    }
}

#[test]
fn adapters_on_attention_need_less_memory_than_training_everything() {
    for (model, cluster, mut plan) in plans() {
        plan.lora = Some(Lora { rank: 16, targets: [LoraTarget::Query, LoraTarget::Output].into() });
        let (time, memory) = need(&model, &cluster, &plan);
        (plan.optimizer, plan.lora) = (Optimizer::Adam, None);
        let full = need(&model, &cluster, &plan);
        assert!(memory < full.1, "{}: {memory} {full:?}", model.name);
        // Adapters add kernels, whose launches count where the host limits the step: much for small models, a
        // fiftieth at most for others.
        assert!(time < 1.02 * full.0 || model.hidden_size < 2048, "{}: {time} {full:?}", model.name);
    }
}

/// Weights in four bits need less memory and more time than the same weights in 16 bits.
#[test]
fn weights_in_four_bits_need_less_memory_and_more_time() {
    for (model, cluster, mut plan) in plans() {
        let whole = need(&model, &cluster, &plan);
        plan.frozen_weights = FrozenWeights::Nf4;
        let (time, memory) = need(&model, &cluster, &plan);
        assert!(memory < whole.1, "{}: {memory} {whole:?}", model.name);
        // Gathers of full sharding have a quarter of the bytes, which can outweigh the kernels.
        let gathers = plan.sharding.zero_stage == 3;
        assert!(time > whole.0 || gathers, "{}: {time} {whole:?}", model.name);
    }
}

/// "Finetune a 65B parameter model on a single 48GB GPU" (Dettmers 2023, abstract), at the paper's batch of
/// one sequence of 512 tokens with recompute. In 16 bits, its weights alone need 130 GB.
#[test]
fn qlora_of_65b_fits_48_gb() {
    let model = model::by_name("llama-1-65b").expect("known");
    let cluster = cluster::by_name("dgx-a100", 1).expect("known");
    let spec = PlanSpec {
        optimizer: Some(Optimizer::Lora),
        frozen_weights: Some(FrozenWeights::Nf4),
        sequence_length: Some(512),
        micro_batch: Some(1),
        global_batch: Some(16),
        recompute: Some(Recompute::Full { layers: None }),
        software: Some("deepspeed-2024".to_owned()),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let (_, memory) = need(&model, &cluster, &plan);
    assert!(memory > 65.2e9 * NF4_BYTES && memory < 48.0 * 1024.0 * 1024.0 * 1024.0, "{memory}");
}
