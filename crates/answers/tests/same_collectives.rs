//! One step has one set of collectives. The table of an estimate, the spans of a timeline and the traffic
//! between ranks agree: every stage has equal kinds, process groups, bytes and counts.

#[path = "support/plans.rs"]
mod plans;

use railwright_calculator::collectives::Collective;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::estimate::{EstimateOptions, of_evaluation};
use railwright_calculator::evaluate::{Evaluation, evaluate, local_chunks, on_stage};
use railwright_calculator::exchanges::of_chunk;
use railwright_calculator::timeline::{self, Detail};
use railwright_calculator::update::{self, PricedCollective, Purpose};
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{self, Model};
use railwright_spec::plan::{Plan, PlanSpec, Sharding};
use railwright_spec::precision::DataType;
use railwright_step::{Activity, CollectiveKind, Dimension, Phase, Step};
use railwright_tuner::exchanges::traffic;
use std::collections::BTreeMap;

/// Parallel dimension, kind, ranks of the process group, bytes of one collective.
type Key = (&'static str, &'static str, u64, u64);

/// Number of collectives per step and group.
type Counts = BTreeMap<Key, f64>;

/// A collective in the traffic only: a few bytes, without an effect on step time.
const NOT_PRICED: &str = "gradient norm";

/// Kind without its algorithm.
fn kind(name: &'static str) -> &'static str {
    match name {
        "expert_dispatch" => "all_to_all",
        "send_receive" => "send",
        other => other,
    }
}

fn rounded(bytes: f64) -> u64 {
    bytes.round() as u64
}

fn of_estimate(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize) -> Counts {
    let seen = on_stage(costing, evaluation, stage);
    let estimate = of_evaluation(costing, &seen, &EstimateOptions::default()).expect("priced");
    let mut counts = Counts::new();
    for row in &estimate.communication {
        let dimension = if row.dimension == "shard" { "data" } else { row.dimension };
        let key = (dimension, kind(row.operation), row.ranks, rounded(row.bytes.get()));
        *counts.entry(key).or_default() += row.count;
    }
    counts
}

/// Exchanges of a stage's ranks, of all phases or of one.
fn of_traffic(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize, phase: Option<Phase>) -> Counts {
    let plan = costing.plan;
    let stage_ranks = (plan.tensor_parallel * plan.context_parallel * plan.data_parallel).cast_signed();
    let mut counts = Counts::new();
    for exchange in traffic(costing, evaluation).exchanges {
        // A reduction between two stages is theirs, and a message is its sender's.
        let beyond = exchange.groups.members.stride / stage_ranks;
        let first = u32::try_from(stage as i64 - beyond);
        let is_second = beyond > 0
            && exchange.kind == CollectiveKind::AllReduce
            && first.is_ok_and(|first| exchange.groups.stages.contains(&first));
        let is_own = exchange.groups.stages.contains(&(stage as u32)) || is_second;
        let is_asked = phase.is_none_or(|phase| exchange.phase == phase);
        if is_own && is_asked && exchange.purpose != NOT_PRICED {
            let ranks = exchange.groups.members.extent;
            let bytes = rounded(exchange.bytes.get());
            let key = (exchange.dimension.name(), kind(exchange.kind.name()), ranks, bytes);
            *counts.entry(key).or_default() += exchange.count;
        }
    }
    counts
}

/// A part of the step: the update, the messages between stages, or one kind of passes of a chunk.
type Part = (Option<u32>, Phase, Dimension);

/// Some schedules divide backward passes and others do not.
fn undivided(phase: Phase) -> Phase {
    if matches!(phase, Phase::BackwardInput | Phase::BackwardWeight) { Phase::Backward } else { phase }
}

/// Collectives in the spans of a stage's rank, by part of the step.
fn of_timeline(step: &Step, stage: usize) -> BTreeMap<Part, Counts> {
    let mut parts: BTreeMap<Part, Counts> = BTreeMap::new();
    for span in step.ranks[stage].streams.iter().flat_map(|stream| stream.spans.iter()) {
        let (Some(id), Activity::Communication(dimension)) = (span.collective, span.activity) else {
            continue;
        };
        let collective = &step.collectives[id.0 as usize];
        if collective.kind == CollectiveKind::Receive {
            continue;
        }
        let part = match dimension {
            Dimension::Pipeline => (None, Phase::Other, dimension),
            _ => (span.chunk, undivided(span.phase), dimension),
        };
        let ranks = step.groups[collective.group.0 as usize].len() as u64;
        let bytes = collective.bytes.get();
        let key = (dimension.name(), kind(collective.kind.name()), ranks, rounded(bytes));
        *parts.entry(part).or_default().entry(key).or_default() += span.bytes as f64 / bytes;
    }
    parts
}

fn is_like(a: &Counts, b: &Counts) -> bool {
    // Spans hold whole bytes, so a count derived from them is not exact.
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-3 * x.max(y);
    a.len() == b.len() && a.iter().zip(b).all(|((k, x), (l, y))| k == l && near(*x, *y))
}

/// Checks every stage of a step.
fn check(model: &Model, cluster: &Cluster, plan: &Plan) {
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("possible");
    let step = timeline::of_evaluation(&costing, &evaluation, Detail::Operators, &|| Ok(())).expect("shown");
    for stage in 0..plan.pipeline_parallel as usize {
        let sent = of_traffic(&costing, &evaluation, stage, None);
        let reported = of_estimate(&costing, &evaluation, stage);
        assert!(
            is_like(&reported, &sent),
            "stage {stage}: estimate {reported:#?} and traffic {sent:#?}\n{plan:?}"
        );
        let shown = of_timeline(&step, stage);
        let of_dimension = |name: &str| -> Counts {
            let own = sent.iter().filter(|((dimension, ..), _)| *dimension == name);
            own.map(|(key, count)| (*key, *count)).collect()
        };
        let none = Counts::new();
        let messages = shown.get(&(None, Phase::Other, Dimension::Pipeline)).unwrap_or(&none);
        assert!(
            is_like(messages, &of_dimension("pipeline")),
            "stage {stage}: timeline {messages:#?} and traffic {sent:#?}\n{plan:?}"
        );
        let update = shown.get(&(None, Phase::Optimizer, Dimension::Data)).unwrap_or(&none);
        let around = of_traffic(&costing, &evaluation, stage, Some(Phase::Optimizer));
        assert!(
            is_like(update, &around),
            "stage {stage}: timeline {update:#?} and traffic {around:#?}\n{plan:?}"
        );
        passes(&costing, &evaluation, stage, &shown);
        sums(&costing, &evaluation, stage);
    }
}

/// Collectives of the update add up to their time in the step.
fn sums(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize) {
    let update = &evaluation.updates[stage];
    let all = update::of_stage(costing, evaluation, stage);
    for (purpose, time, exposed) in [
        (Purpose::Gradients, update.gradient_reduce, update.gradient_exposed),
        (Purpose::Parameters, update.parameter_gather, update.parameter_exposed),
        (Purpose::EmbeddingGradients, update.between_stages, update.between_stages),
        (Purpose::MirrorGradients, update.between_stages, update.between_stages),
    ] {
        let own = || all.iter().filter(|one| one.collective.purpose == purpose);
        let is_between = matches!(purpose, Purpose::EmbeddingGradients | Purpose::MirrorGradients);
        // Either kind is all of the reductions between stages.
        if is_between && own().next().is_none() {
            continue;
        }
        let near = |sum: f64, whole: f64| (sum - whole).abs() <= 1e-9 * whole;
        let sum = |of: fn(&PricedCollective) -> f64| own().map(of).sum::<f64>();
        assert!(near(sum(|one| one.time.get()), time.get()), "stage {stage} {purpose:?}: {all:#?}");
        assert!(near(sum(|one| one.exposed.get()), exposed.get()), "stage {stage} {purpose:?}: {all:#?}");
    }
}

/// Collectives inside passes, exposed and overlapped together, equal those of the chunk.
fn passes(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize, shown: &BTreeMap<Part, Counts>) {
    let plan = costing.plan;
    let two_ways = if plan.schedule.has_two_directions() { 0.5 } else { 1.0 };
    let runs = plan.micro_batches().max(1) as f64 * two_ways;
    let mut expected: BTreeMap<Part, Counts> = BTreeMap::new();
    for chunk in local_chunks(plan, stage) {
        for exchange in of_chunk(costing, evaluation, stage, chunk) {
            let part = (Some(chunk as u32), undivided(exchange.phase), exchange.dimension);
            let ranks = exchange.process_group.group(&costing.layout).ranks;
            let bytes = rounded(exchange.bytes.get());
            let name = match exchange.operation {
                Collective::AllReduce => "all_reduce",
                Collective::AllGather => "all_gather",
                Collective::ReduceScatter => "reduce_scatter",
                Collective::Broadcast => "broadcast",
                Collective::SendReceive => "send",
                _ => "all_to_all",
            };
            let key = (exchange.dimension.name(), name, ranks, bytes);
            *expected.entry(part).or_default().entry(key).or_default() += exchange.count * runs;
        }
    }
    let own: BTreeMap<Part, Counts> = shown
        .iter()
        .filter(|((chunk, ..), _)| chunk.is_some())
        .map(|(part, counts)| (*part, counts.clone()))
        .collect();
    assert_eq!(
        own.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "stage {stage}: parts of a timeline and of traffic\n{plan:?}"
    );
    for (part, counts) in &own {
        assert!(
            is_like(counts, &expected[part]),
            "stage {stage} {part:?}: timeline {counts:#?} and traffic {:#?}\n{plan:?}",
            expected[part]
        );
    }
}

fn on(name: &str, devices: u64, change: impl FnOnce(&mut PlanSpec)) -> (Model, Cluster, Plan) {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    (model, cluster, plan)
}

fn mixtral() -> (Model, Cluster, Plan) {
    on("mixtral-8x7b", 64, |p| {
        p.tensor_parallel = Some(2);
        p.pipeline_parallel = Some(2);
        p.expert_parallel = Some(8);
        p.global_batch = Some(256);
        p.precision_gradient_reduce = Some(DataType::Bf16);
        p.sharding = Some(Sharding { zero_stage: 1, group: None, reshard_after_forward: false });
    })
}

fn hybrid() -> (Model, Cluster, Plan) {
    on("llama-3-8b", 64, |p| {
        p.tensor_parallel = Some(1);
        p.pipeline_parallel = Some(1);
        p.precision_gradient_reduce = Some(DataType::Bf16);
        p.sharding = Some(Sharding { zero_stage: 1, group: Some(8), reshard_after_forward: false });
    })
}

/// Reductions of a step as in the table of an estimate, largest first: bytes in GB to two digits, and ranks.
fn reductions((model, cluster, plan): &(Model, Cluster, Plan)) -> Vec<(&'static str, u64, f64, f64)> {
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("possible");
    let estimate = of_evaluation(&costing, &evaluation, &EstimateOptions::default()).expect("priced");
    let mut rows: Vec<_> = estimate
        .communication
        .iter()
        .filter(|row| row.dimension == "data" && row.operation != "all_gather")
        .map(|row| {
            let bytes = (row.bytes.get() / 1e7).round() / 100.0;
            (row.operation, row.ranks, bytes, row.bus_bandwidth.gb())
        })
        .collect();
    rows.sort_by(|a, b| b.2.total_cmp(&a.2));
    rows
}

/// 45.1 of 46.7 billion parameters are experts: 8 of 8 experts on 8 ranks, two stages, 2 bytes, so 5.64 GB on
/// each rank. The same expert is on 64 / (2 stages x 8 ranks) = 4 ranks. The other 1.6 billion are sharded by
/// 2 and by 2: 0.80 GB among 16.
#[test]
fn experts_are_reduced_among_their_own_replicas() {
    let run = mixtral();
    let [first, second] = reductions(&run)[..] else { panic!("{:?}", reductions(&run)) };
    assert_eq!((first.0, first.1, first.2), ("reduce_scatter", 4, 5.64));
    assert_eq!((second.0, second.1, second.2), ("reduce_scatter", 16, 0.8));
    check(&run.0, &run.1, &run.2);
}

/// Hybrid sharding reduces inside a node first, at NVLink speed, and then an eighth of the bytes across
/// nodes.
#[test]
fn hybrid_sharding_reduces_inside_and_then_across() {
    let run = hybrid();
    let [inside, across] = reductions(&run)[..] else { panic!("{:?}", reductions(&run)) };
    assert_eq!((inside.0, inside.1, inside.2), ("reduce_scatter", 8, 16.06));
    assert_eq!((across.0, across.1, across.2), ("all_reduce", 8, 2.01));
    // NVSwitch of an H100 node (450 GB/s per GPU), and a NIC of 50 GB/s (400 Gbit/s) per rank, at the rate of
    // collectives within a run.
    assert!(inside.3 > 200.0 && across.3 < 50.0, "{} {}", inside.3, across.3);
    check(&run.0, &run.1, &run.2);
}

#[test]
fn bundled_runs_show_the_same_collectives_everywhere() {
    for (_, run) in plans::bundled() {
        check(&run.model, &run.cluster, &run.plan);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 200,
        max_global_rejects: 100_000,
        failure_persistence: None,
        ..Default::default()
    })]
    #[test]
    fn random_plans_show_the_same_collectives_everywhere(choices: [u8; 20]) {
        let run = plans::random(&choices);
        proptest::prop_assume!(run.is_some());
        if let Some((model, cluster, plan)) = run {
            check(&model, &cluster, &plan);
        }
    }
}
