//! Relations between estimates of related runs: better hardware, more memory, more work, another order of the
//! same.
//!
//! Responsible for: relations that hold for any valid plan, over random plans of all models and machines of
//! the catalogue. Excludes the values themselves; validation compares these with measured runs.

use proptest::prelude::*;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::estimate::{Estimate, EstimateOptions, Part, estimate};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::model_flop::Convention;
use railwright_spec::cluster::{self, Cluster, preset_names};
use railwright_spec::model::{self, Model, catalogue};
use railwright_spec::plan::{
    ContextKind, Plan, PlanSpec, RankOrder, Recompute, Schedule, Sharding, validate,
};
use railwright_spec::quantity::{Bytes, BytesPerSecond, FlopPerSecond, Watts};
use railwright_spec::software;

/// Maximum relative difference of sums in a different order.
const ROUNDING: f64 = 1e-9;

/// Maximum relative increase of a step that should not be longer. Generations that reduce in hooks
/// (`nanotron-2024`) are excluded: with selective recompute their steps have counterexamples of up to 1%,
/// whose cause is open.
const TOLERANCE: f64 = 0.005;

/// A valid run with its settings.
#[derive(Clone)]
struct Run {
    model: Model,
    cluster: Cluster,
    plan: Plan,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {} x {}: {:?}", self.model.name, self.cluster.devices, self.cluster.name, self.plan)
    }
}

impl Run {
    fn estimate(&self) -> Estimate {
        estimate(&self.model, &self.cluster, &self.plan, &EstimateOptions::default()).expect("a valid run")
    }

    /// The step time on changed hardware, by the code path of `estimate`.
    fn time_on(&self, change: impl FnOnce(&mut Cluster)) -> f64 {
        let mut cluster = self.cluster.clone();
        change(&mut cluster);
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&self.model, &cluster, &self.plan, &machine).expect("known software");
        evaluate(&costing).expect("possible").time.total.get()
    }

    /// The same run under a changed plan. `None` if that is invalid.
    fn with(&self, change: impl FnOnce(&mut Plan)) -> Option<Self> {
        let mut other = self.clone();
        change(&mut other.plan);
        validate(&other.model, &other.cluster, &other.plan).is_empty().then_some(other)
    }
}

/// A plan from random settings. `None` if they contradict each other.
fn run_of(name: &str, preset: &str, choices: &[u8; 20]) -> Option<Run> {
    let pick = |i: usize, list: &[u64]| list[usize::from(choices[i]) % list.len()];
    let flag = |i: usize| choices[i].is_multiple_of(2);
    let model = model::by_name(name).ok()?;
    let cluster = cluster::by_name(preset, pick(0, &[8, 16, 64, 128, 512])).ok()?;
    let schedules = [
        Schedule::OneForwardOneBackward,
        Schedule::OneForwardOneBackward,
        Schedule::Gpipe,
        Schedule::ZbH1,
        Schedule::ZbH2,
        Schedule::ZbV,
        Schedule::DualPipe,
    ];
    let schedule = schedules[usize::from(choices[1]) % schedules.len()];
    let tensor_parallel = pick(2, &[1, 2, 4, 8]);
    let is_sparse = model.is_mixture_of_experts();
    let zero_stage = pick(3, &[0, 1, 2, 3]) as u8;
    let spec = PlanSpec {
        tensor_parallel: Some(tensor_parallel),
        sequence_parallel: Some(tensor_parallel > 1 && !choices[4].is_multiple_of(4)),
        pipeline_parallel: Some(pick(5, &[1, 1, 2, 4, 8])),
        context_parallel: Some(pick(6, &[1, 1, 1, 2, 4])),
        context_kind: Some(
            [ContextKind::Ring, ContextKind::AllGather, ContextKind::Ulysses][usize::from(choices[7]) % 3],
        ),
        expert_parallel: is_sparse.then(|| pick(8, &[1, 2, 4, 8])),
        virtual_stages: Some(match schedule {
            Schedule::OneForwardOneBackward => pick(9, &[1, 1, 2, 4]),
            Schedule::ZbV => 2,
            _ => 1,
        }),
        schedule: Some(schedule),
        uneven_stages: Some(true),
        micro_batch: Some(pick(10, &[1, 2, 4])),
        micro_batches: Some(pick(11, &[1, 2, 8, 16])),
        sequence_length: Some(pick(12, &[512, 2048, 4096])),
        sharding: Some(Sharding {
            zero_stage,
            group: [None, None, Some(2), Some(8)][usize::from(choices[13]) % 4].filter(|_| zero_stage > 0),
            reshard_after_forward: flag(14) && zero_stage == 3,
        }),
        rank_order: flag(15).then_some(RankOrder::TensorContextPipelineData),
        recompute: Some(
            [Recompute::None, Recompute::core_attention(), Recompute::Full { layers: None }]
                [usize::from(choices[16]) % 3]
                .clone(),
        ),
        overlap_gradient_reduce: [None, Some(true), Some(false)][usize::from(choices[17]) % 3],
        overlap_parameter_gather: [None, Some(true), Some(false)][usize::from(choices[18]) % 3],
        overlap_pipeline: [None, Some(true), Some(false)][usize::from(choices[19]) % 3],
        overlap_tensor: [None, None, Some(false)][usize::from(choices[19] / 3) % 3],
        software: [None, None, None, Some("megatron-lm-2022"), Some("torchtitan-2025")]
            [usize::from(choices[19] / 9) % 5]
            .map(str::to_owned),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).ok()?;
    validate(&model, &cluster, &plan).is_empty().then_some(Run { model, cluster, plan })
}

fn runs() -> impl Strategy<Value = Run> {
    let models = prop::sample::select(catalogue().iter().map(|entry| entry.name).collect::<Vec<_>>());
    let presets = prop::sample::select(preset_names());
    (models, presets, any::<[u8; 20]>())
        .prop_filter_map("a valid plan", |(model, preset, choices)| run_of(model, preset, &choices))
}

/// Runs whose step time is monotonic. Two kinds of schedule are approximations that are not, by up to 6.5% in
/// the observed cases. Zero-bubble schedules repeat at the longest time of a stage from its first pass to its
/// last. A faster first stage starts the others earlier, by more than it may end them earlier. Passes of
/// `DualPipe` run for half of the micro-batches and hide communication of the other direction, but count in
/// full as cover of their own.
fn monotonic_runs() -> impl Strategy<Value = Run> {
    runs().prop_filter("an approximated schedule", |run| {
        let schedule = run.plan.schedule;
        !schedule.validates_afterwards() && !schedule.has_two_directions()
    })
}

/// Most random settings contradict each other, so a large number of rejected ones is not a failure.
/// `PROPTEST_CASES` sets another number of cases.
fn some(cases: u32) -> ProptestConfig {
    // The default reads the environment.
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases },
        max_local_rejects: u32::MAX,
        max_global_rejects: u32::MAX,
        failure_persistence: None,
        ..default
    }
}

/// Checks that a changed time is not longer.
fn no_longer(run: &Run, before: f64, after: f64, what: &str) -> Result<(), TestCaseError> {
    prop_assert!(after <= before * (1.0 + TOLERANCE), "{what}: {before} s become {after} s, {run:?}");
    Ok(())
}

fn times(rate: &mut BytesPerSecond, factor: f64) {
    *rate = *rate * factor;
}

/// Multiplies all data-sheet rates of an accelerator by `factor`, including its power.
fn accelerate(cluster: &mut Cluster, factor: f64) {
    let accelerator = &mut cluster.accelerator;
    for rate in accelerator.peak.values_mut().chain(&mut accelerator.measured_matmul) {
        *rate = FlopPerSecond::new(rate.get() * factor);
    }
    times(&mut accelerator.memory_bandwidth, factor);
    accelerator.power = accelerator.power.map(|power| Watts::new(power.get() * factor));
}

proptest! {
    #![proptest_config(some(96))]

    #[test]
    fn faster_hardware_is_never_slower(run in monotonic_runs(), factor in 1.01..4.0f64) {
        let before = run.time_on(|_| {});
        let check = |what: &str, change: &dyn Fn(&mut Cluster)| no_longer(&run, before, run.time_on(change), what);
        // Over more than two racks of NVLink, NCCL selects trees up to larger messages with faster NVLink, and its trees are slower than
        // rings there.
        let domain = run.cluster.scale_up.domain_size;
        if domain <= 8 || run.cluster.devices <= 2 * domain {
            check("scale-up bandwidth", &|c| times(&mut c.scale_up.bandwidth, factor))?;
        }
        check("network bandwidth", &|c| times(&mut c.network.bandwidth, factor))?;
        check("network latency", &|c| c.network.latency = c.network.latency / factor)?;
        check("oversubscription", &|c| {
            for tier in &mut c.network.tiers {
                tier.oversubscription = (tier.oversubscription / factor).max(1.0);
            }
        })?;
        check("host link", &|c| c.accelerator.host_bandwidth = c.accelerator.host_bandwidth.map(|rate| rate * factor))?;
        check("memory bandwidth", &|c| times(&mut c.accelerator.memory_bandwidth, factor))?;
        check("accelerator", &|c| accelerate(c, factor))?;
    }

    /// Premise of a search, which selects fused dispatch if the generation offers it. Messages of a few kilobytes are bound by the latency
    /// of the kernels, which is slightly higher.
    #[test]
    fn fused_dispatch_is_hardly_slower(run in runs().prop_filter("experts", |run| run.model.is_mixture_of_experts())) {
        let architecture = run.cluster.accelerator.architecture.clone();
        let own = software::by_id("megatron-core-2025").expect("known");
        if let Some(fused) = own.with_fused_dispatch(&architecture) {
            let on = |software: &str| {
                let mut run = run.clone();
                run.plan.software = software.to_owned();
                run.time_on(|_| {})
            };
            let (fused, own) = (on(&fused.id), on(&own.id));
            prop_assert!(fused <= own * 1.03, "{own} s become {fused} s, {run:?}");
        }
    }

    #[test]
    fn more_memory_never_unfits(run in runs(), factor in 1.0..4.0f64) {
        let before = run.estimate();
        let mut larger = run.clone();
        larger.cluster.accelerator.memory = Bytes::new(run.cluster.accelerator.memory.get() * factor);
        let after = larger.estimate();
        prop_assert!(after.memory.fit <= before.memory.fit, "{:?} {:?} {run:?}", before.memory.fit, after.memory.fit);
        prop_assert!(after.memory.probability_of_fitting >= before.memory.probability_of_fitting, "{run:?}");
        prop_assert!(after.step_time <= before.step_time, "{run:?}");
    }

    #[test]
    fn parts_add_up_and_no_rate_exceeds_its_peak(run in runs()) {
        let estimate = run.estimate();
        let total = estimate.step_time.get();
        prop_assert!((estimate.time.time.get() / total - 1.0).abs() < ROUNDING, "{run:?}");
        adds_up(&estimate.time, total).map_err(|why| TestCaseError::fail(format!("{why}, {run:?}")))?;
        let founded: f64 = estimate.provenance.iter().map(|part| part.share).sum();
        prop_assert!((founded - 1.0).abs() < 1e-6, "{founded} {run:?}");
        for stage in &estimate.memory.stages {
            let kinds: f64 = stage.kinds.iter().map(|kind| kind.bytes.get()).sum();
            prop_assert!((kinds / stage.device.get() - 1.0).abs() < 1e-6, "stage {}: {kinds} {stage:?} {run:?}", stage.stage);
        }
        let shares = estimate.efficiency.model_flop.iter().flat_map(|one| &one.utilisation).chain(&estimate.efficiency.hardware);
        for one in shares {
            prop_assert!(one.share > 0.0 && one.share <= 1.0, "{one:?} {run:?}");
        }
        let causal = estimate.efficiency.mfu(Convention::CausalAttention);
        let full = estimate.efficiency.mfu(Convention::FullAttention);
        prop_assert!(causal <= full, "{causal:?} {full:?} {run:?}");
    }

    #[test]
    fn more_work_is_never_faster(run in monotonic_runs()) {
        let before = run.time_on(|_| {});
        let longer = |what: &str, other: Option<Run>| match other {
            Some(other) => no_longer(&run, other.time_on(|_| {}), before, what),
            None => Ok(()),
        };
        longer("twice the micro-batches", run.with(|p| p.global_batch *= 2))?;
        longer("twice the micro-batch size", run.with(|p| { p.micro_batch *= 2; p.global_batch *= 2; }))?;
        longer("twice the sequence", run.with(|p| p.sequence_length *= 2))?;
        longer("full recompute", run.with(|p| p.recompute = Recompute::Full { layers: None }))?;
        longer("no overlap of the pipeline", run.with(|p| p.overlap.pipeline = false))?;
        longer("no overlap of gradients", run.with(|p| p.overlap.gradient_reduce = false))?;
        longer("no overlap of parameters", run.with(|p| p.overlap.parameter_gather = false))?;
        longer("no overlap of tensor parallelism", run.with(|p| p.overlap.tensor = false))?;
    }

    #[test]
    fn order_and_names_mean_nothing(run in runs(), turn in 1_usize..8) {
        let before = run.estimate();
        let mut other = run.clone();
        let kinds = other.model.layer_kinds.len();
        other.model.layer_kinds.reverse();
        other.model.layers.iter_mut().for_each(|kind| *kind = kinds - 1 - *kind);
        if let Some(mtp) = &mut other.model.multi_token_prediction {
            mtp.layer_kind = kinds - 1 - mtp.layer_kind;
        }
        for layer in &mut other.model.layer_kinds {
            "x".clone_into(&mut layer.name);
        }
        other.model.notes.reverse();
        other.cluster.source.clear();
        other.cluster.accelerator.notes.clear();
        let turned = turn % other.cluster.accelerator.device_name_patterns.len().max(1);
        other.cluster.accelerator.device_name_patterns.rotate_left(turned);
        let after = other.estimate();
        prop_assert!((after.step_time / before.step_time - 1.0).abs() < ROUNDING, "{run:?}");
        prop_assert!((after.memory.peak / before.memory.peak - 1.0).abs() < ROUNDING, "{run:?}");
        prop_assert_eq!(after.memory.fit, before.memory.fit);
    }
}

/// Checks that the children of every part sum to it and none is negative.
fn adds_up(part: &Part, total: f64) -> Result<(), String> {
    let time = part.time.get();
    if time < -ROUNDING * total {
        return Err(format!("{} takes {time} s", part.id));
    }
    let sum: f64 = part.children.iter().map(|child| child.time.get()).sum();
    if !part.children.is_empty() && (sum - time).abs() > ROUNDING * total {
        return Err(format!("{} takes {time} s, its parts {sum} s", part.id));
    }
    part.children.iter().try_for_each(|child| adds_up(child, total))
}
