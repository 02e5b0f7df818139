//! What a plan says where its author said nothing: the habits of the software generation, and a start for somebody who named
//! no parallel degree at all.
//!
//! Responsible for: defaults that depend on more than the plan. Refuses to override anything that was said, and to search: the
//! start is the fastest of a handful of common layouts, not an optimum.

use crate::costing::{Costing, Machine};
use crate::evaluate::evaluate_with;
use crate::memory::{MemoryInput, SoftwareCatalogue, peak};
use crate::schedule::Workspace;
use crate::software::{self, Software};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::{FeedForward, Model};
use railwright_spec::plan::{Plan, PlanSpec, Recompute, Sharding, validate};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;

/// The generation that is assumed on an architecture.
pub fn software_for(architecture: &str) -> &'static str {
    if architecture.starts_with("TPU") || architecture.to_lowercase().starts_with("tpu") {
        "maxtext-tpu"
    } else if architecture.starts_with("Blackwell") || architecture.starts_with("Rubin") {
        "megatron-core-2026"
    } else {
        railwright_spec::plan::DEFAULT_SOFTWARE
    }
}

/// A plan from what was said, the habits of the generation, and the specification's own defaults, in this order.
pub fn resolve(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Plan, Problem> {
    let mut spec = spec.clone();
    let id = spec
        .software
        .get_or_insert_with(|| software_for(&cluster.accelerator.architecture).to_owned())
        .clone();
    let software = software::by_id(&id)?;
    if spec.sharding.is_none() && software.zero_stage == 3 {
        // Full sharding makes a model fit without any other parallelism, so the degrees must know of it.
        spec.sharding = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
    }
    let mut plan = spec.resolve(model, cluster)?;
    fill(&spec, software, model.is_mixture_of_experts(), &mut plan);
    Ok(plan)
}

/// Lays the generation's habits over what the specification left open.
fn fill(spec: &PlanSpec, software: &Software, has_experts: bool, plan: &mut Plan) {
    let overlap = &mut plan.overlap;
    overlap.gradient_reduce = spec.overlap_gradient_reduce.unwrap_or(software.overlap.gradient_reduce);
    overlap.parameter_gather = spec.overlap_parameter_gather.unwrap_or(software.overlap.parameter_gather);
    // Userbuffers need the sequence-parallel form of the collectives.
    overlap.tensor = spec.overlap_tensor.unwrap_or(software.overlap.tensor && plan.sequence_parallel);
    overlap.pipeline = spec.overlap_pipeline.unwrap_or(software.overlap.pipeline);
    overlap.expert = spec.overlap_expert.unwrap_or(software.overlap.expert);
    plan.dropout = spec.dropout.unwrap_or(software.dropout);
    plan.vocabulary_multiple = spec.vocabulary_multiple.unwrap_or(software.vocabulary_multiple);
    if spec.sharding.is_none() && plan.sharding.zero_stage < 3 {
        let has_peers = plan.data_parallel.saturating_mul(plan.context_parallel) > 1;
        plan.sharding.zero_stage = if has_peers { software.zero_stage.min(2) } else { 0 };
    }
    let spread = plan.expert_parallel.saturating_mul(plan.tensor_parallel).max(1);
    let ranks = plan.tensor_parallel.saturating_mul(plan.context_parallel).saturating_mul(plan.data_parallel);
    let follows = software.expert_tensor_follows_tensor && spec.expert_tensor_parallel.is_none();
    if has_experts && follows && ranks.is_multiple_of(spread) {
        plan.expert_tensor_parallel = plan.tensor_parallel;
    }
    // `bf16` in the catalogue stands for the run's 16-bit format.
    let of_run = |format: DataType| {
        let is_sixteen = format == DataType::Bf16 && plan.precision.parameters == DataType::Fp16;
        if is_sixteen { DataType::Fp16 } else { format }
    };
    let is_mixed = plan.precision.parameters != DataType::Fp32;
    let gradients = software.gradients.filter(|_| is_mixed && spec.precision_gradients.is_none()).map(of_run);
    let reduce =
        software.gradient_reduce.filter(|_| is_mixed && spec.precision_gradient_reduce.is_none()).map(of_run);
    plan.precision.gradients = gradients.unwrap_or(plan.precision.gradients);
    plan.precision.gradient_reduce = reduce.unwrap_or(plan.precision.gradient_reduce);
}

/// Whether no parallel degree at all was given.
pub fn is_open(spec: &PlanSpec) -> bool {
    let degrees = [
        spec.tensor_parallel,
        spec.pipeline_parallel,
        spec.context_parallel,
        spec.data_parallel,
        spec.expert_parallel,
    ];
    degrees.iter().all(Option::is_none)
}

/// A chosen start.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The plan.
    pub plan: Plan,
    /// Layouts that were possible.
    pub possible: usize,
    /// Layouts of those that fit with room to spare.
    pub fitting: usize,
}

/// Share of a device's memory that a start may use: the allocator needs the rest.
const ROOM: f64 = 0.90;
/// Layouts that are timed at most; those with the least model parallelism come first.
const TIMED: usize = 240;

/// The fastest of the common layouts that fit, for a specification without degrees; `None` when none fits.
pub fn start(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Option<Start>, Problem> {
    let catalogue = SoftwareCatalogue::shared()?;
    let machine = Machine::new(cluster);
    let mut workspace = Workspace::default();
    let mut possible = 0;
    let mut fitting = Vec::new();
    for layout in layouts(spec, model, cluster) {
        let mut is_possible = false;
        for recompute in policies(&layout, model) {
            let said = PlanSpec { recompute: Some(recompute), ..layout.clone() };
            let Ok(plan) = resolve(&said, model, cluster) else { break };
            if !validate(model, cluster, &plan).is_empty() {
                break;
            }
            is_possible = true;
            let software = catalogue.get(&plan.software);
            let need = peak(&MemoryInput { model, cluster, plan: &plan, software, in_flight: None }).device;
            if need <= cluster.accelerator.memory * ROOM {
                fitting.push(plan);
                break;
            }
        }
        possible += usize::from(is_possible);
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
    Ok(best.map(|(_, plan)| Start { plan: plan.clone(), possible, fitting: fitting.len() }))
}

/// What may be recomputed, the least first: a layout takes the first that fits.
fn policies(layout: &PlanSpec, model: &Model) -> Vec<Recompute> {
    if let Some(said) = &layout.recompute {
        return vec![said.clone()];
    }
    if layout.stage_recompute.is_some() {
        return vec![Recompute::None];
    }
    let of_stage = model.num_layers().div_ceil(layout.pipeline_parallel.unwrap_or(1).max(1));
    let mut list = vec![Recompute::None, Recompute::core_attention()];
    list.extend(
        [of_stage.div_ceil(4), of_stage.div_ceil(2)].map(|layers| Recompute::Full { layers: Some(layers) }),
    );
    list.push(Recompute::Full { layers: None });
    list
}

/// Common layouts, the least model parallelism first.
fn layouts(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Vec<PlanSpec> {
    let layers = model.num_layers();
    let experts = model
        .layer_kinds
        .iter()
        .filter_map(|layer| match &layer.feed_forward {
            FeedForward::MixtureOfExperts(moe) => Some(moe.experts),
            _ => None,
        })
        .max();
    // Long sequences are shared until 8 Ki tokens are left on a rank.
    let longest_context = spec.sequence_length.unwrap_or(0).div_euclid(8192).clamp(1, 64);
    let powers = |most: u64| (0..24).map(|p| 1_u64 << p).take_while(move |n| *n <= most);
    let mut found = Vec::new();
    for pipeline in powers(64).filter(|p| *p <= layers) {
        for tensor in powers(cluster.scale_up.domain_size.min(8)) {
            let inner = tensor * pipeline;
            if inner > cluster.devices || !cluster.devices.is_multiple_of(inner) {
                continue;
            }
            let data = cluster.devices / inner;
            for context in powers(longest_context.min(data)) {
                for expert in powers(experts.unwrap_or(1).min(64)) {
                    let divides =
                        experts.is_none_or(|n| n.is_multiple_of(expert)) && data.is_multiple_of(expert);
                    if !divides || !data.is_multiple_of(context) {
                        continue;
                    }
                    found.extend(chunkings(spec, layers, pipeline).map(|virtual_stages| PlanSpec {
                        tensor_parallel: Some(tensor),
                        pipeline_parallel: Some(pipeline),
                        context_parallel: Some(context),
                        expert_parallel: Some(expert),
                        virtual_stages: virtual_stages.or(spec.virtual_stages),
                        // Embedding and head take the places of the layers that are missing, as in Llama 3 405B.
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

/// Virtual stages to try: none, and the most that divide the layers, with embedding and head or without.
fn chunkings(spec: &PlanSpec, layers: u64, pipeline: u64) -> impl Iterator<Item = Option<u64>> {
    let is_free = pipeline > 1 && spec.virtual_stages.is_none() && spec.schedule.is_none();
    let divides = move |v: &u64| [layers, layers + 2].iter().any(|n| n.is_multiple_of(pipeline * v));
    let most = [8, 7, 6, 5, 4, 3, 2].into_iter().filter(move |_| is_free).find(divides);
    let least = [2, 3].into_iter().filter(move |_| is_free).find(divides).filter(|v| Some(*v) != most);
    [None].into_iter().chain(most.map(Some)).chain(least.map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;

    fn h100(devices: u64) -> Cluster {
        cluster::by_name("dgx-h100", devices).expect("a preset")
    }

    #[test]
    fn a_generation_brings_its_habits_and_the_plan_keeps_its_word() {
        let model = by_name("llama-3-8b").expect("known");
        let old = PlanSpec {
            software: Some("megatron-lm-2020".into()),
            tensor_parallel: Some(2),
            overlap_gradient_reduce: Some(true),
            ..PlanSpec::default()
        };
        let plan = resolve(&old, &model, &h100(8)).expect("possible");
        assert_eq!((plan.sharding.zero_stage, plan.dropout), (0, true));
        assert_eq!(plan.precision.gradients, DataType::Bf16);
        assert!(plan.overlap.gradient_reduce && !plan.overlap.parameter_gather);
        let new = PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() };
        let plan = resolve(&new, &model, &h100(8)).expect("possible");
        assert_eq!((plan.sharding.zero_stage, plan.dropout), (1, false));
        assert_eq!(plan.precision.gradients, DataType::Bf16);
        let sharded = PlanSpec {
            sharding: Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true }),
            ..PlanSpec::default()
        };
        let plan = resolve(&sharded, &model, &h100(8)).expect("possible");
        assert_eq!((plan.sharding.zero_stage, plan.tensor_parallel, plan.data_parallel), (3, 1, 8));
    }

    #[test]
    fn a_start_fits_and_is_none_where_nothing_can() {
        let model = by_name("llama-3-70b").expect("known");
        let cluster = h100(64);
        let found = start(&PlanSpec::default(), &model, &cluster).expect("sound").expect("fits");
        assert!(validate(&model, &cluster, &found.plan).is_empty());
        assert_eq!(found.plan.world_size(), 64);
        assert!(found.plan.tensor_parallel * found.plan.pipeline_parallel >= 4, "{:?}", found.plan);
        assert!(found.fitting > 0 && found.possible > found.fitting);
        let large = by_name("llama-3.1-405b").expect("known");
        assert_eq!(start(&PlanSpec::default(), &large, &h100(8)).expect("sound"), None);
    }
}
