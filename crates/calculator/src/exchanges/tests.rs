//! The exchanges of the estimate's critical stage are the rows of its table.

use super::*;
use crate::collectives::Collective;
use crate::costing::Machine;
use crate::estimate::{EstimateOptions, of_evaluation};
use crate::evaluate::evaluate;
use railwright_spec::plan::{
    ContextKind, FrozenWeights, Layout, Optimizer, Plan, PlanSpec, Schedule, Sharding,
};
use railwright_spec::precision::DataType;
use railwright_spec::{cluster, model};
use railwright_step::Phase;
use std::collections::BTreeMap;

/// Bytes times count by dimension, operation and ranks, of the estimate's table and of the exchanges of the
/// same stage.
type Sums = BTreeMap<(&'static str, &'static str, u64), f64>;

fn exchanges_of(
    name: &str,
    devices: u64,
    change: &dyn Fn(&mut PlanSpec),
) -> (Plan, Vec<StageExchange>, [Sums; 2]) {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("possible");
    let estimate = of_evaluation(&costing, &evaluation, &EstimateOptions::default()).expect("priced");
    let all = of_step(&costing, &evaluation);
    let mut sums = [Sums::new(), Sums::new()];
    for row in &estimate.communication {
        let dimension = if row.dimension == "shard" { "data" } else { row.dimension };
        *sums[0].entry((dimension, row.operation, row.ranks)).or_default() += row.bytes.get() * row.count;
    }
    let critical = evaluation.critical_stage as u32;
    // Two stages share a reduction, and the earlier one begins it.
    let is_second = |e: &&StageExchange| match (e.operation, e.process_group) {
        (Collective::AllReduce, ProcessGroup::Stages(offset)) => {
            u32::try_from(i64::from(critical) - offset).is_ok_and(|first| e.stages.contains(&first))
        }
        _ => false,
    };
    for exchange in all.iter().filter(|e| e.stages.contains(&critical) || is_second(e)) {
        if exchange.purpose != "gradient norm" {
            let ranks = match exchange.process_group {
                ProcessGroup::Stages(_) => 2,
                process_group => process_group.group(&costing.layout).ranks,
            };
            let (operation, _) = crate::estimate::communication::operation(exchange.operation, ranks);
            let key = (exchange.dimension.name(), operation, ranks);
            *sums[1].entry(key).or_default() += exchange.bytes.get() * exchange.count;
        }
    }
    (plan, all, sums)
}

/// A model, accelerators, and plan settings.
type Case<'a> = (&'a str, u64, &'a dyn Fn(&mut PlanSpec));

fn degrees(p: &mut PlanSpec, tensor: u64, pipeline: u64, context: u64) {
    p.tensor_parallel = Some(tensor);
    p.pipeline_parallel = Some(pipeline);
    p.context_parallel = Some(context);
}

#[test]
fn the_critical_stage_exchanges_what_the_estimate_reports() {
    let plans: [Case; 11] = [
        ("llama-3.1-405b", 1024, &|p| {
            degrees(p, 8, 16, 1);
            p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
        }),
        ("llama-3.1-70b", 256, &|p| {
            degrees(p, 4, 4, 2);
            p.virtual_stages = Some(2);
            p.context_kind = Some(ContextKind::AllGather);
        }),
        ("llama-3.1-70b", 256, &|p| {
            degrees(p, 8, 4, 2);
            p.sequence_parallel = Some(false);
            p.schedule = Some(Schedule::ZbH1);
        }),
        ("llama-3.1-70b", 256, &|p| {
            degrees(p, 2, 8, 1);
            p.schedule = Some(Schedule::DualPipe);
        }),
        ("llama-3-8b", 64, &|p| {
            degrees(p, 1, 1, 1);
            p.sharding = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
        }),
        ("llama-3-8b", 64, &|p| {
            degrees(p, 2, 1, 4);
            p.context_kind = Some(ContextKind::Ulysses);
            p.sharding = Some(Sharding { zero_stage: 3, group: Some(8), reshard_after_forward: false });
        }),
        ("llama-3-8b", 64, &|p| {
            degrees(p, 2, 2, 1);
            p.sharding = Some(Sharding { zero_stage: 0, group: None, reshard_after_forward: false });
        }),
        ("mixtral-8x7b", 128, &|p| {
            degrees(p, 2, 4, 1);
            p.expert_parallel = Some(4);
            p.expert_tensor_parallel = Some(2);
        }),
        ("deepseek-v3", 256, &|p| {
            p.pipeline_parallel = Some(4);
            p.expert_parallel = Some(8);
            p.layers_per_stage = Some(vec![15, 16, 15, 15]);
        }),
        ("llama-3-8b", 8, &|p| {
            degrees(p, 1, 1, 1);
            p.sharding = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
            p.optimizer = Some(Optimizer::Lora);
            p.frozen_weights = Some(FrozenWeights::Nf4);
        }),
        ("wan2.1-t2v-14b", 64, &|p| {
            degrees(p, 4, 1, 2);
            p.sequence_length = Some(32_768);
        }),
    ];
    for (index, (name, devices, change)) in plans.into_iter().enumerate() {
        let (_, _, [reported, found]) = exchanges_of(name, devices, change);
        assert_eq!(reported.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "{index}");
        for (key, sum) in &reported {
            assert!((found[key] / sum - 1.0).abs() < 1e-9, "{index} {key:?}: {} against {sum}", found[key]);
        }
    }
}

/// Counted by hand: Korthikanti et al. (2022, section 4.2.1) gather twice and scatter twice in each layer of
/// a forward pass. The backward pass has the same, and two further gathers for the weights' gradients. Table
/// and exchanges share one list of calls; this count does not.
#[test]
fn a_middle_stage_exchanges_what_a_layer_is_known_to() {
    let (plan, all, _) = exchanges_of("llama-3.1-405b", 1024, &|p| {
        degrees(p, 8, 16, 1);
        p.micro_batch = Some(1);
        p.sequence_length = Some(8192);
        p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
    });
    let micro_batches = plan.micro_batches() as f64;
    let layers = 8.0;
    let count = |operation, phase| -> (f64, f64) {
        let of = |e: &&StageExchange| {
            e.stages.contains(&3)
                && e.process_group == ProcessGroup::Tensor
                && e.operation == operation
                && e.phase == phase
        };
        let calls = all.iter().filter(of).map(|e| e.count).sum::<f64>() / micro_batches / layers;
        (calls, all.iter().find(of).map_or(0.0, |e| e.bytes.get()))
    };
    // One sequence of 8,192 tokens, 16,384 wide, in bf16.
    let bytes = 8192.0 * 16_384.0 * 2.0;
    for phase in [Phase::Forward, Phase::BackwardInput] {
        assert_eq!(count(Collective::AllGather, phase), (2.0, bytes), "{phase:?}");
        assert_eq!(count(Collective::ReduceScatter, phase), (2.0, bytes), "{phase:?}");
    }
    assert_eq!(count(Collective::AllGather, Phase::BackwardWeight), (2.0, bytes));
    let sends = all.iter().filter(|e| e.stages.contains(&3) && e.operation == Collective::SendReceive);
    assert_eq!(sends.map(|e| e.count * e.bytes.get()).sum::<f64>(), 2.0 * micro_batches * bytes / 8.0);
}

#[test]
fn interleaved_stages_send_around_and_a_v_turns_without_sending() {
    let sends = |all: &[StageExchange], stages: u64| -> f64 {
        let of = |e: &&StageExchange| e.operation == Collective::SendReceive;
        all.iter().filter(of).map(|e| e.count * e.stages.len() as f64).sum::<f64>() / stages as f64
    };
    let (plan, all, _) = exchanges_of("llama-3.1-70b", 256, &|p| {
        degrees(p, 8, 4, 1);
        p.virtual_stages = Some(5);
    });
    let m = plan.micro_batches() as f64;
    // 20 chunks: 19 messages forward and 19 backward, among them 4 from the last stage to the first.
    assert_eq!(sends(&all, 1), 38.0 * m);
    let wraps = all
        .iter()
        .find(|e| e.process_group == ProcessGroup::Stages(-3))
        .expect("from the last stage to the first");
    assert_eq!((wraps.count, &wraps.stages, wraps.phase), (4.0 * m, &vec![3], Phase::Forward));
    let (plan, all, _) = exchanges_of("llama-3.1-70b", 256, &|p| {
        degrees(p, 8, 4, 1);
        p.schedule = Some(Schedule::ZbV);
    });
    // 8 chunks; the fourth and the fifth are on one stage.
    assert_eq!(sends(&all, 1), 2.0 * 6.0 * plan.micro_batches() as f64);
}

/// HPN (SIGCOMM 2024, section 2): GPT-3 175B with TP 8, PP 8, DP 512 has 5.5 GB of gradients per
/// data-parallel group. A message between stages has 6 MB.
#[test]
fn traffic_of_gpt_3_is_what_was_published() {
    let (_, all, _) = exchanges_of("gpt3-175b", 32_768, &|p| {
        degrees(p, 8, 8, 1);
        p.micro_batch = Some(1);
        p.sequence_length = Some(2048);
        p.global_batch = Some(512 * 16);
    });
    let send = all.iter().find(|e| e.operation == Collective::SendReceive).expect("a pipeline");
    assert!((send.bytes.get() / 6e6 - 1.0).abs() < 0.05, "{:?}", send.bytes);
    let gathers = all.iter().find(|e| e.purpose == "parameters" && e.stages.contains(&1)).expect("shards");
    assert!((gathers.bytes.get() / 5.5e9 - 1.0).abs() < 0.05, "{:?}", gathers.bytes);
    // 560 MB of tensor-parallel traffic: see the guide.
}

/// The gradient of a tied word embedding in fp32: 50,257 rows are padded to 51,200, without learned
/// positions.
#[test]
fn a_tied_embedding_is_reduced_without_positions() {
    let (plan, all, _) = exchanges_of("gpt3-175b", 64, &|p| degrees(p, 8, 8, 1));
    assert_eq!((plan.vocabulary_multiple, plan.precision.gradient_reduce), (128, DataType::Fp32));
    let reduced = all.iter().find(|e| e.purpose == "gradients of the embedding").expect("it is held twice");
    assert_eq!(reduced.bytes.get(), 51_200.0 / 8.0 * 12_288.0 * 4.0);
}

/// Data that a rank sends and receives in a step per parameter of its `parameters`, in parameters. An
/// all-reduce counts twice, as a reduce-scatter and an all-gather (Rajbhandari et al. 2020, section 7.1).
fn volume(zero_stage: u8) -> f64 {
    let (plan, all, _) = exchanges_of("llama-3-8b", 64, &|p| {
        degrees(p, 1, 1, 1);
        p.micro_batch = Some(1);
        p.global_batch = Some(64);
        p.precision_gradient_reduce = Some(DataType::Bf16);
        p.sharding = Some(Sharding { zero_stage, group: None, reshard_after_forward: true });
    });
    assert_eq!(plan.micro_batches(), 1);
    let own = all.iter().filter(|e| matches!(e.purpose, "gradients" | "parameters"));
    let bytes: f64 = own
        .map(|e| {
            let times = if e.operation == Collective::AllReduce { 2.0 } else { 1.0 };
            assert_eq!(e.process_group.group(&Layout::new(&plan, 8)).ranks, 64, "{e:?}");
            e.bytes.get() * e.count * times
        })
        .sum();
    let parameters = model::by_name("llama-3-8b").expect("in the catalogue").parameters().total as f64;
    bytes / 2.0 / parameters
}

/// Rajbhandari et al. (2020, section 7): sharding optimizer states and gradients adds no traffic, 2 times the
/// parameters as in plain data parallelism; sharded parameters add half as much again, 3 times.
#[test]
fn sharding_moves_what_the_zero_paper_counts() {
    for (zero_stage, published) in [(0, 2.0), (1, 2.0), (2, 2.0), (3, 3.0)] {
        let found = volume(zero_stage);
        assert!((found / published - 1.0).abs() < 1e-3, "stage {zero_stage}: {found} against {published}");
    }
}
