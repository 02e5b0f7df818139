//! Runs for tests of agreement between entry points: the bundled run files, and random valid plans.

use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{self, Model};
use railwright_spec::plan::{ContextKind, Optimizer, Plan, PlanSpec, RankOrder, Schedule, Sharding};
use railwright_spec::problem::Problem;
use railwright_spec::run::{self, Run, RunSpec};

/// All run files of `examples/runs`, as specified and as resolved.
pub(crate) fn bundled() -> Vec<(RunSpec, Run)> {
    let none = |path: &str| Err(Problem::new("no file is read here").in_file(path));
    let read = |(name, text): (&str, &str)| {
        let spec = run::parse(text, name).expect("reads");
        let (run, _) = spec.resolve_valid(none).expect("resolves");
        (spec, run)
    };
    [
        ("deepseek-v3", include_str!("../../../../examples/runs/deepseek-v3.toml")),
        ("gpt3-175b", include_str!("../../../../examples/runs/gpt3-175b.toml")),
        ("llama-3-8b-fsdp", include_str!("../../../../examples/runs/llama-3-8b-fsdp.toml")),
        ("llama-3.1-405b", include_str!("../../../../examples/runs/llama-3.1-405b.toml")),
    ]
    .map(read)
    .into()
}

/// A plan for 64 devices from random choices; `None` if they contradict each other.
pub(crate) fn random(choices: &[u8; 20]) -> Option<(Model, Cluster, Plan)> {
    let pick = |i: usize, list: &[u64]| list[usize::from(choices[i]) % list.len()];
    let flag = |i: usize| choices[i].is_multiple_of(2);
    let name =
        ["mixtral-8x7b", "llama-3-8b", "llama-3.2-1b", "deepseek-v2-lite"][usize::from(choices[0]) % 4];
    let model = model::by_name(name).or_else(|_| model::by_name("llama-3-8b")).ok()?;
    let cluster = cluster::by_name("dgx-h100", 64).ok()?;
    let schedules = [
        Schedule::OneForwardOneBackward,
        Schedule::Gpipe,
        Schedule::OneForwardOneBackward,
        Schedule::ZbH1,
        Schedule::ZbV,
        Schedule::DualPipe,
    ];
    let schedule = schedules[usize::from(choices[1]) % schedules.len()];
    let tensor_parallel = pick(2, &[1, 2, 4, 8]);
    let is_sparse = model.is_mixture_of_experts();
    let spec = PlanSpec {
        tensor_parallel: Some(tensor_parallel),
        sequence_parallel: Some(tensor_parallel > 1 && !choices[3].is_multiple_of(4)),
        pipeline_parallel: Some(pick(4, &[1, 2, 4, 8])),
        context_parallel: Some(pick(5, &[1, 1, 2])),
        context_kind: Some(
            [ContextKind::Ring, ContextKind::AllGather, ContextKind::Ulysses][pick(6, &[0, 1, 2]) as usize],
        ),
        expert_parallel: is_sparse.then(|| pick(7, &[1, 2, 4, 8])),
        expert_tensor_parallel: is_sparse.then(|| pick(8, &[1, 1, 2])),
        virtual_stages: Some(match schedule {
            Schedule::OneForwardOneBackward => pick(9, &[1, 1, 2, 4]),
            Schedule::ZbV => 2,
            _ => 1,
        }),
        schedule: Some(schedule),
        uneven_stages: Some(true),
        micro_batches: Some(pick(10, &[8, 16])),
        sequence_length: Some(pick(11, &[1024, 4096])),
        sharding: Some(Sharding {
            zero_stage: pick(12, &[0, 1, 2, 3]) as u8,
            // Without sharding, no group shares a copy.
            group: [None, None, Some(2), Some(4), Some(8)][usize::from(choices[13]) % 5]
                .filter(|_| pick(12, &[0, 1, 2, 3]) > 0),
            reshard_after_forward: flag(14) && pick(12, &[0, 1, 2, 3]) == 3,
        }),
        rank_order: Some(if flag(15) {
            RankOrder::TensorContextDataPipeline
        } else {
            RankOrder::TensorContextPipelineData
        }),
        overlap_gradient_reduce: Some(flag(16)),
        overlap_parameter_gather: Some(flag(17)),
        overlap_pipeline: Some(flag(18)),
        optimizer: choices[19].is_multiple_of(9).then_some(Optimizer::Lora),
        software: (choices[19] % 9 == 1).then(|| "nanotron-2024".to_owned()),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).ok()?;
    railwright_spec::plan::validate(&model, &cluster, &plan).is_empty().then_some((model, cluster, plan))
}
