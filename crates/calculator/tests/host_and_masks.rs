//! Published pairs of runs that differ in one thing: the micro-batch, the tensor-parallel size or the number
//! of micro-batches of a step that waits for its host, and the mask of attention.

use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_spec::plan::{PlanSpec, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::FlopPerSecond;
use railwright_spec::{cluster, model};

/// Seconds of a step.
fn step(name: &str, preset: &str, devices: u64, spec: &PlanSpec) -> f64 {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name(preset, devices).expect("a preset");
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    evaluate(&costing).expect("runs").time.total.get()
}

fn sharded(zero_stage: u8) -> Sharding {
    Sharding { zero_stage, group: None, reshard_after_forward: zero_stage == 3 }
}

/// 256 sequences of 4,096 tokens through a model of 128 experts on four GB300 of expert parallelism 4, plain
/// all-to-all: 53.1 s with micro-batches of 1 and 26.4 s with those of 2 in fp8. A step whose experts are
/// launched one by one costs as much per micro-batch for any number of tokens, so half as many take half of
/// the time. Before, the ratio was 1.4.
#[test]
fn launches_of_local_experts_do_not_depend_on_tokens() {
    let of = |micro_batch, software: &str| {
        let spec = PlanSpec {
            expert_parallel: Some(4),
            sharding: Some(sharded(1)),
            sequence_length: Some(4096),
            micro_batch: Some(micro_batch),
            global_batch: Some(256),
            precision_compute: Some(DataType::Fp8),
            recompute: Some(Recompute::None),
            software: Some(software.to_owned()),
            ..PlanSpec::default()
        };
        step("qwen3-30b-a3b", "gb300-nvl72", 4, &spec)
    };
    let looped = "megatron-core-2026-06+alltoall-dispatch+partial-cuda-graphs";
    let (one, two) = (of(1, looped), of(2, looped));
    assert!((one / two / (53.1 / 26.4) - 1.0).abs() < 0.2, "{one} s and {two} s");
    // One kernel for all groups, or graphs, have no such cost.
    assert!(of(1, "megatron-core-2026-06+cuda-graphs") < 0.5 * one);
}

/// A dense model of 36 layers on 16 H100, 64 sequences in micro-batches of 1: 2.60 s at TP 4 and 5.06 s at TP
/// 8 (half as many replicas). A layer takes 4.5 and 4.4 ms: the device has half of the work, the host all of
/// it. Before, the ratio was 1.40.
#[test]
fn tensor_parallelism_does_not_divide_the_time_of_modules_on_the_host() {
    let of = |tensor: u64| {
        let spec = PlanSpec {
            tensor_parallel: Some(tensor),
            data_parallel: Some(16 / tensor),
            sequence_parallel: Some(false),
            sharding: Some(sharded(1)),
            sequence_length: Some(4096),
            micro_batch: Some(1),
            global_batch: Some(64),
            recompute: Some(Recompute::None),
            software: Some("megatron-core-2025".to_owned()),
            ..PlanSpec::default()
        };
        step("qwen3-8b", "dgx-h100", 16, &spec)
    };
    let (four, eight) = (of(4), of(8));
    assert!((eight / four / (5.06 / 2.60) - 1.0).abs() < 0.15, "{four} s and {eight} s");
    assert!((four / 2.60 - 1.0).abs() < 0.25 && (eight / 5.06 - 1.0).abs() < 0.25, "{four} s and {eight} s");
}

/// Low-rank adapters on a 7B model: 3,247 tokens/s without a mask and 2,483 with one at 4,096 tokens, 3,083
/// and 1,918 at 8,192 (huggingface/transformers issue 30461, where version 4.40 began to pass one). A mask
/// costs time that grows with the square of the sequence.
#[test]
fn a_mask_of_all_pairs_costs_the_square_of_the_sequence() {
    let of = |sequence: u64, software: &str| {
        let spec = PlanSpec {
            sequence_length: Some(sequence),
            micro_batch: Some(1),
            global_batch: Some(1),
            lora_rank: Some(16),
            sharding: Some(sharded(0)),
            recompute: Some(Recompute::Full { layers: None }),
            software: Some(software.to_owned()),
            ..PlanSpec::default()
        };
        step("mistral-7b-v0.3", "dgx-a100", 1, &spec)
    };
    for (sequence, published) in [(4096, 3247.0 / 2483.0), (8192, 3083.0 / 1918.0)] {
        let ratio = of(sequence, "transformers-2026+masked-attention") / of(sequence, "transformers-2026");
        assert!((ratio / published - 1.0).abs() < 0.15, "{sequence}: {ratio} of {published}");
    }
}

/// Full sharding with full recompute, and a step that waits for its host: a faster device must not make it
/// slower. Before, the transfers that a shorter recompute pass no longer covered were added to the backward
/// pass, and the step was 1.8% longer.
#[test]
fn a_recompute_pass_that_waits_for_its_host_covers_transfers() {
    let model = model::by_name("llama-2-7b").expect("in the catalogue");
    let spec = PlanSpec {
        tensor_parallel: Some(2),
        sharding: Some(sharded(3)),
        sequence_length: Some(512),
        micro_batch: Some(1),
        global_batch: Some(32),
        recompute: Some(Recompute::Full { layers: None }),
        software: Some("megatron-core-2025".to_owned()),
        ..PlanSpec::default()
    };
    let time = |factor: f64| {
        let mut cluster = cluster::by_name("dgx-a100", 8).expect("a preset");
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        for rate in cluster.accelerator.peak.values_mut().chain(&mut cluster.accelerator.measured_matmul) {
            *rate = FlopPerSecond::new(rate.get() * factor);
        }
        cluster.accelerator.memory_bandwidth = cluster.accelerator.memory_bandwidth * factor;
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        evaluate(&costing).expect("runs").time.total.get()
    };
    let before = time(1.0);
    for factor in [1.1, 1.5, 2.0, 4.0] {
        assert!(time(factor) <= before * 1.001, "{factor}: {} after {before}", time(factor));
    }
}
