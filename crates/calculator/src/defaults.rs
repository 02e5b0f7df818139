//! Default layout if no parallel size is set.
//!
//! Responsible for: the layout of a plan with all parallel sizes open, which requires prices. Never overrides
//! specified values and does not search: the result is the fastest of a few common layouts, not an optimum.

pub mod recompute;
mod run;

pub use run::{resolve_but_plan, resolve_run};

use crate::costing::{Costing, Machine};
use crate::evaluate::evaluate_with;
use crate::memory::{MemoryInput, SoftwareCatalogue, peak};
use crate::schedule::Workspace;
use crate::software;
use railwright_spec::Portable as _;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::{FeedForward, Model};
use railwright_spec::plan::{
    AutoSize, Chunks, Plan, PlanSpec, Recompute, Schedule, is_offered, is_within_limits, validate,
};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::software::Software;

/// Tests whether no parallel size is set, or some are left to the program.
pub fn is_open(spec: &PlanSpec) -> bool {
    if spec.has_auto() {
        return true;
    }
    let degrees = [
        spec.tensor_parallel,
        spec.pipeline_parallel,
        spec.context_parallel,
        spec.data_parallel,
        spec.expert_parallel,
    ];
    degrees.iter().all(Option::is_none)
}

/// Origin of a default layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Number of valid layouts.
    pub possible: usize,
    /// Number of valid layouts that fit with sufficient free memory; 0 if the layout is the one with the
    /// least memory.
    pub fitting: usize,
}

/// Tests whether the layout of such a plan is selected from common ones. A fully sharded generation has no
/// other layout unless sizes are left to the program.
pub fn is_searchable(spec: &PlanSpec) -> bool {
    let by_software = spec.software.as_deref().and_then(|id| software::by_id(id).ok());
    let stage = spec.sharding.map(|sharding| sharding.zero_stage);
    spec.has_auto()
        || is_open(spec) && stage.or(by_software.map(|software| software.zero_stage)).unwrap_or(1) < 3
}

/// The plan of a specification, and the choice among common layouts if no parallel size is set.
pub fn resolve_plan(
    spec: &PlanSpec,
    model: &Model,
    cluster: &Cluster,
) -> Result<(Plan, Option<Start>), Problem> {
    let start = if is_searchable(spec) { start(spec, model, cluster)? } else { None };
    match start {
        Some((plan, start)) => Ok((plan, Some(start))),
        None if is_searchable(spec) => match closest(spec, model, cluster)? {
            Some((plan, possible)) => Ok((plan, Some(Start { possible, fitting: 0 }))),
            None => Ok((resolve_layout(&with_stages(spec), model, cluster)?, None)),
        },
        None => Ok((resolve_layout(spec, model, cluster)?, None)),
    }
}

/// The plan whose problems are reported if no layout is valid: that of the fewest stages that its schedule
/// has. One stage would be refused for the schedule instead.
fn with_stages(spec: &PlanSpec) -> PlanSpec {
    let has_chunks = |schedule: Schedule| matches!(schedule.facts().chunks, Chunks::Exactly(_));
    let is_pipeline =
        spec.virtual_stages.is_some_and(|stages| stages > 1) || spec.schedule.is_some_and(has_chunks);
    let mut with = spec.clone();
    if is_pipeline && spec.is_auto(AutoSize::Pipeline) {
        with = spec.with_other_sizes_set();
        with.pipeline_parallel = Some(2);
        with.auto = None;
    }
    with
}

/// The common layout with the least memory if none fits, and their number: the first stages of a pipeline of
/// all devices would need far more.
fn closest(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Option<(Plan, usize)>, Problem> {
    let catalogue = SoftwareCatalogue::shared()?;
    let mut possible = 0;
    let mut best: Option<(bool, Bytes, Plan)> = None;
    for layout in layouts(spec, model, cluster) {
        let mut plans = plans(&layout, model, cluster).peekable();
        possible += usize::from(plans.peek().is_some());
        for plan in plans {
            let software = catalogue.get(&plan.software);
            let need = peak(&MemoryInput { model, cluster, plan: &plan, software, in_flight: None }).least();
            // A layout that the framework runs comes first.
            let is_other = !(is_offered(model, &plan) && shards(spec, &plan));
            if best.as_ref().is_none_or(|(other, least, _)| (is_other, need.get()) < (*other, least.get())) {
                best = Some((is_other, need, plan));
            }
        }
    }
    Ok(best.map(|(_, _, plan)| (plan, possible)))
}

/// Tests whether a specification resolves to a valid plan, regardless of memory.
pub fn is_possible(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> bool {
    let is_sound = |specified: &PlanSpec| {
        specified.resolve(model, cluster).is_ok_and(|plan| validate(model, cluster, &plan).is_empty())
    };
    // An open layout is one of the common ones, if one of them fits.
    is_sound(spec)
        || is_searchable(spec)
            && SoftwareCatalogue::shared().is_ok_and(|catalogue| {
                layouts(spec, model, cluster)
                    .iter()
                    .any(|layout| fitting_plan(layout, model, cluster, catalogue, ROOM).1.is_some())
            })
}

/// Minimum tokens of a sequence for a useful context-parallel rank: published layouts shard sequences of
/// 8,192 tokens over two ranks (Llama 3 70B and 405B recipes of Megatron-Bridge), not shorter ones.
pub const FEWEST_TOKENS: u64 = 4096;
/// Maximum share of a device's memory for a default layout: the allocator needs the rest.
const ROOM: f64 = 0.90;
/// Maximum number of timed layouts; those with the least model parallelism come first.
const TIMED: usize = 240;

/// The fastest common layout that fits, for a specification without parallel sizes. `None` if none fits.
pub fn start(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Option<(Plan, Start)>, Problem> {
    let catalogue = SoftwareCatalogue::shared()?;
    let machine = Machine::new(cluster);
    let mut workspace = Workspace::default();
    let mut possible = 0;
    let mut fitting = Vec::new();
    let layouts = layouts(spec, model, cluster);
    for layout in &layouts {
        let (is_possible, plan) = fitting_plan(layout, model, cluster, catalogue, ROOM);
        possible += usize::from(is_possible);
        fitting.extend(plan);
    }
    // A layout that the framework cannot run is chosen only if no other fits, even without room.
    let suits = |plan: &Plan| is_offered(model, plan) && shards(spec, plan);
    let mut offered: Vec<Plan> = fitting.iter().filter(|plan| suits(plan)).cloned().collect();
    if offered.is_empty() {
        let plans =
            layouts.iter().filter_map(|layout| fitting_plan(layout, model, cluster, catalogue, 1.0).1);
        offered.extend(plans.filter(suits));
    }
    if !offered.is_empty() {
        fitting = offered;
    } else if fitting.iter().any(|plan| shards(spec, plan)) {
        fitting.retain(|plan| shards(spec, plan));
    }
    let mut best: Option<(Seconds, &Plan)> = None;
    for plan in fitting.iter().take(TIMED) {
        let Ok(costing) = Costing::new(model, cluster, plan, &machine) else { continue };
        let Ok(evaluation) = evaluate_with(&costing, &mut workspace) else { continue };
        let total = evaluation.time.total;
        if total.is_finite() && best.is_none_or(|(least, _)| total < least) {
            best = Some((total, plan));
        }
    }
    Ok(best.map(|(_, plan)| (plan.clone(), Start { possible, fitting: fitting.len() })))
}

/// Resolves a specified layout. If recompute is unspecified and the plan clearly does not fit without, it
/// gets the first of a few policies that fits ([`recompute`]), or none if none is sufficient. Changed runs
/// use it too, so that a change compares like with like.
///
/// A peak that exceeds the memory by less than the model's own error may fit, so it needs no recompute;
/// `validate` assumes the same of runs that do not specify it.
pub fn resolve_layout(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Plan, Problem> {
    let bare = spec.resolve(model, cluster)?;
    // The memory of a plan with absurd numbers is not computed: `validate` refuses it.
    if spec.recompute.is_some() || spec.stage_recompute.is_some() || !is_within_limits(&bare) {
        return Ok(bare);
    }
    let catalogue = SoftwareCatalogue::shared()?;
    let software = catalogue.get(&bare.software);
    let need = peak(&MemoryInput { model, cluster, plan: &bare, software, in_flight: None });
    let doubtful = software.sigma.portable_exp();
    if need.least() <= need.available * doubtful {
        return Ok(bare);
    }
    let fitting = [ROOM, 1.0, doubtful]
        .into_iter()
        .find_map(|room| fitting_plan(spec, model, cluster, catalogue, room).1);
    Ok(fitting.unwrap_or(bare))
}

/// Tests whether specified sharding has ranks to shard over: a layout without replicas would avoid what the
/// framework lacks, not choose it.
fn shards(spec: &PlanSpec, plan: &Plan) -> bool {
    let replicas = plan.data_parallel.saturating_mul(plan.context_parallel);
    spec.sharding.is_none_or(|sharding| sharding.zero_stage == 0) || replicas > 1 || plan.world_size() == 1
}

/// Returns true if a layout is valid, and its plan with the least recompute that fits into a share of the
/// device's memory.
fn fitting_plan(
    layout: &PlanSpec,
    model: &Model,
    cluster: &Cluster,
    catalogue: &SoftwareCatalogue,
    room: f64,
) -> (bool, Option<Plan>) {
    let mut plans = plans(layout, model, cluster).peekable();
    let is_possible = plans.peek().is_some();
    let fitting = plans.find(|plan| {
        let software = catalogue.get(&plan.software);
        let need = peak(&MemoryInput { model, cluster, plan, software, in_flight: None });
        need.device <= need.available * room
    });
    (is_possible, fitting)
}

/// The plans of a layout, the least recompute first; none if it is invalid.
fn plans<'a>(
    layout: &'a PlanSpec,
    model: &'a Model,
    cluster: &'a Cluster,
) -> impl Iterator<Item = Plan> + 'a {
    let resolved = move |recompute| {
        let specified = PlanSpec { recompute: Some(recompute), ..layout.clone() };
        let plan = specified.resolve(model, cluster).ok()?;
        validate(model, cluster, &plan).is_empty().then_some(plan)
    };
    let least = layout.recompute.clone().unwrap_or(Recompute::None);
    let known = resolved(least).and_then(|bare| Some((software::by_id(&bare.software).ok()?, bare)));
    let (bare, policies) = known.map_or_else(Default::default, |(generation, bare)| {
        let policies = recompute::policies(layout, model, &bare, generation, cluster);
        (Some(bare), policies)
    });
    // The first policy is that of the bare plan.
    bare.into_iter().chain(policies.into_iter().skip(1).map_while(resolved))
}

/// Common layouts, the least model parallelism first. Sizes that are set stay.
fn layouts(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Vec<PlanSpec> {
    let spec = &spec.with_other_sizes_set();
    let layers = model.num_layers();
    let experts = model
        .layer_kinds
        .iter()
        .filter_map(|layer| match &layer.feed_forward {
            FeedForward::MixtureOfExperts(moe) => Some(moe.experts),
            _ => None,
        })
        .max();
    let longest_context = spec.tokens_per_sequence(model).div_euclid(FEWEST_TOKENS).clamp(1, 64);
    let powers = |most: u64| (0..24).map(|p| 1_u64 << p).take_while(move |n| *n <= most);
    let sizes = |set: Option<u64>, most: u64| match set {
        Some(size) => vec![size.max(1)],
        None => powers(most).collect(),
    };
    let generation = spec.generation(cluster).ok();
    let fused = generation.and_then(|generation| spec.fused_dispatch(model, cluster, generation));
    let most_experts = fused.map_or(64, |_| Software::most_dispatched_ranks(cluster)).min(64);
    let splits_unevenly = spec.uneven_stages != Some(false)
        && generation
            .is_some_and(|generation| generation.offers.interleaving && generation.offers.uneven_stages);
    let mut found = Vec::new();
    for pipeline in sizes(spec.pipeline_parallel, 64.min(layers)) {
        for tensor in sizes(spec.tensor_parallel, cluster.scale_up.domain_size.min(8)) {
            let inner = tensor.saturating_mul(pipeline);
            if inner > cluster.devices || !cluster.devices.is_multiple_of(inner) {
                continue;
            }
            let data = cluster.devices / inner;
            for context in sizes(spec.context_parallel, longest_context.min(data)) {
                for expert in sizes(spec.expert_parallel, experts.unwrap_or(1).min(most_experts)) {
                    // A size that is set may use all ranks of a stage.
                    let ranks = if spec.expert_parallel.is_some() { data * tensor } else { data };
                    let divides =
                        experts.is_none_or(|n| n.is_multiple_of(expert)) && ranks.is_multiple_of(expert);
                    if !divides || !data.is_multiple_of(context) {
                        continue;
                    }
                    let chunkings = chunkings(spec, layers, pipeline, splits_unevenly);
                    found.extend(chunkings.map(|virtual_stages| PlanSpec {
                        tensor_parallel: Some(tensor),
                        pipeline_parallel: Some(pipeline),
                        context_parallel: Some(context),
                        expert_parallel: Some(expert),
                        auto: None,
                        virtual_stages: virtual_stages.or(spec.virtual_stages),
                        // Embedding and head replace the missing layers, as in Llama 3 405B.
                        uneven_stages: spec.uneven_stages.or_else(|| {
                            (!layers.is_multiple_of(pipeline * virtual_stages.unwrap_or(1))).then_some(true)
                        }),
                        ..spec.clone()
                    }));
                }
            }
        }
    }
    found.sort_by_key(|s| {
        let degree = |n: Option<u64>| n.unwrap_or(1);
        (degree(s.tensor_parallel) * degree(s.pipeline_parallel), degree(s.pipeline_parallel))
    });
    found
}

/// Virtual stages to try: none, and the maximum and minimum number that divides the layers, with and without
/// embedding and head. If none does and stages can be uneven, 2 and 4.
fn chunkings(
    spec: &PlanSpec,
    layers: u64,
    pipeline: u64,
    splits_unevenly: bool,
) -> impl Iterator<Item = Option<u64>> {
    let is_free = pipeline > 1 && spec.virtual_stages.is_none() && spec.schedule.is_none();
    let divides = move |v: &u64| [layers, layers + 2].iter().any(|n| n.is_multiple_of(pipeline * v));
    let most = [8, 7, 6, 5, 4, 3, 2].into_iter().filter(move |_| is_free).find(divides);
    let least = [2, 3].into_iter().filter(move |_| is_free).find(divides).filter(|v| Some(*v) != most);
    let is_uneven = is_free && splits_unevenly && most.is_none();
    let uneven = [2, 4].into_iter().filter(move |v| is_uneven && pipeline * v <= layers);
    [None].into_iter().chain(most.into_iter().chain(least).chain(uneven).map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::Sharding;
    use railwright_spec::precision::DataType;

    fn h100(devices: u64) -> Cluster {
        cluster::by_name("dgx-h100", devices).expect("a preset")
    }

    /// They had been priced before they were validated: products overflowed, and lists of chunks filled the
    /// memory.
    #[test]
    fn absurd_numbers_are_left_to_the_validation() {
        let (model, cluster) = (by_name("llama-3-8b").expect("a model"), h100(64));
        for huge in [u64::MAX, i64::MAX as u64, 1 << 40, 0] {
            for set in [
                |spec: &mut PlanSpec, n| spec.virtual_stages = Some(n),
                |spec: &mut PlanSpec, n| spec.micro_batch = Some(n),
                |spec: &mut PlanSpec, n| spec.sequence_length = Some(n),
                |spec: &mut PlanSpec, n| spec.global_batch = Some(n),
            ] {
                for layout in
                    [PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() }, PlanSpec::default()]
                {
                    let mut spec = layout;
                    set(&mut spec, huge);
                    if let Ok((plan, _)) = resolve_plan(&spec, &model, &cluster) {
                        assert_ne!(validate(&model, &cluster, &plan), [], "{spec:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_generation_sets_defaults_and_the_plan_overrides_them() {
        let model = by_name("llama-3-8b").expect("known");
        let old = PlanSpec {
            software: Some("megatron-lm-2020".into()),
            tensor_parallel: Some(2),
            overlap_gradient_reduce: Some(true),
            ..PlanSpec::default()
        };
        let plan = old.resolve(&model, &h100(8)).expect("possible");
        assert_eq!((plan.sharding.zero_stage, plan.dropout), (0, true));
        assert_eq!(plan.precision.gradients, DataType::Bf16);
        assert!(plan.overlap.gradient_reduce && !plan.overlap.parameter_gather);
        let new = PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() };
        let plan = new.resolve(&model, &h100(8)).expect("possible");
        assert_eq!((plan.sharding.zero_stage, plan.dropout), (1, false));
        assert_eq!(plan.precision.gradients, DataType::Fp32);
        let sharded = PlanSpec {
            sharding: Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true }),
            ..PlanSpec::default()
        };
        let plan = sharded.resolve(&model, &h100(8)).expect("possible");
        assert_eq!((plan.sharding.zero_stage, plan.tensor_parallel, plan.data_parallel), (3, 1, 8));
    }

    #[test]
    fn a_start_fits_and_is_none_where_nothing_can() {
        let model = by_name("llama-3-70b").expect("known");
        let cluster = h100(64);
        let (plan, found) = start(&PlanSpec::default(), &model, &cluster).expect("sound").expect("fits");
        assert!(validate(&model, &cluster, &plan).is_empty());
        assert_eq!(plan.world_size(), 64);
        assert!(plan.tensor_parallel * plan.pipeline_parallel >= 4, "{plan:?}");
        assert!(found.fitting > 0 && found.possible > found.fitting);
        let large = by_name("llama-3.1-405b").expect("known");
        assert_eq!(start(&PlanSpec::default(), &large, &h100(8)).expect("sound"), None);
        // The layout with the least memory is the default then, not a pipeline of all devices without
        // recompute.
        let (plan, found) = resolve_plan(&PlanSpec::default(), &model, &h100(16)).expect("sound");
        let found = found.expect("common layouts");
        assert!(found.fitting == 0 && found.possible > 4, "{found:?}");
        assert_eq!(
            (plan.tensor_parallel, &plan.recompute),
            (8, &Recompute::Full { layers: None }),
            "{plan:?}"
        );
    }

    /// Replicas without sharding on two devices are data parallel where the framework has no other
    /// parallelism; ZeRO-2 excludes stages.
    #[test]
    fn a_start_is_a_layout_that_the_framework_runs() {
        let model = by_name("llama-3-8b").expect("known");
        for (software, zero_stage, devices) in
            [("transformers-2026", 2, 8), ("deepspeed-2024", 2, 8), ("deepspeed-2024", 2, 32)]
        {
            let sharding = Sharding { zero_stage, group: None, reshard_after_forward: true };
            let spec =
                PlanSpec { software: Some(software.into()), sharding: Some(sharding), ..PlanSpec::default() };
            let (plan, _) = start(&spec, &model, &h100(devices)).expect("sound").expect("fits");
            assert!(is_offered(&model, &plan), "{plan:?}");
            assert_eq!((plan.pipeline_parallel, plan.tensor_parallel), (1, 1), "{software}");
        }
        // No layout of torchtitan has ZeRO-1. One without replicas would have it in name alone.
        let sharding = Sharding { zero_stage: 1, group: None, reshard_after_forward: true };
        let spec = PlanSpec {
            software: Some("torchtitan-2025".into()),
            sharding: Some(sharding),
            ..PlanSpec::default()
        };
        let (plan, _) = start(&spec, &model, &h100(8)).expect("sound").expect("fits");
        assert!(plan.data_parallel * plan.context_parallel > 1, "{plan:?}");
    }

    /// A size that is left to the program is the fastest of those that fit; the others keep their values, or
    /// are 1.
    #[test]
    fn an_automatic_size_is_the_fastest_that_fits_beside_those_set() {
        let model = by_name("llama-3-70b").expect("known");
        let cluster = h100(64);
        let machine = Machine::new(&cluster);
        let of = |pipeline: Option<u64>| PlanSpec {
            tensor_parallel: Some(8),
            pipeline_parallel: pipeline,
            virtual_stages: Some(1),
            auto: pipeline.is_none().then(|| vec![AutoSize::Pipeline]),
            ..PlanSpec::default()
        };
        let time = |plan: &Plan| {
            let costing = Costing::new(&model, &cluster, plan, &machine).expect("valid");
            evaluate_with(&costing, &mut Workspace::default()).expect("priced").time.total
        };
        let (plan, start) = resolve_plan(&of(None), &model, &cluster).expect("possible");
        assert_eq!((plan.tensor_parallel, plan.context_parallel), (8, 1));
        assert!(start.is_some_and(|start| start.fitting > 0), "{start:?}");
        let catalogue = SoftwareCatalogue::shared().expect("bundled");
        let mut fixed: Vec<(u64, Seconds)> = Vec::new();
        for pipeline in [1, 2, 4, 8] {
            let fitting = fitting_plan(&of(Some(pipeline)), &model, &cluster, catalogue, ROOM).1;
            fixed.extend(fitting.map(|plan| (pipeline, time(&plan))));
        }
        let least = fixed.iter().min_by(|a, b| a.1.get().total_cmp(&b.1.get())).expect("one fits");
        assert_eq!((plan.pipeline_parallel, time(&plan)), *least, "{fixed:?}");
    }
}
