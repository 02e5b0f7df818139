//! Price and memory of one recompute setting, in total and by stage.

use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::{evaluate, local_chunks};
use railwright_calculator::memory::{
    self, MemoryInput, MemoryReport, SURE_TO_FIT, SoftwareCatalogue, probability_of_fitting,
};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, RecomputeModule, StageRecompute};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;
use std::collections::BTreeSet;

/// Options of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Required probability of fitting for every stage.
    pub probability: f64,
    /// True for the same policy on all stages, as with framework flags.
    pub uniform: bool,
    /// True to allow activations in host memory.
    pub offload: bool,
    /// Modules that may be recomputed, offered by the software or not. `None` is all that it offers. Whole
    /// layers are always allowed.
    pub modules: Option<BTreeSet<RecomputeModule>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { probability: SURE_TO_FIT, uniform: false, offload: false, modules: None }
    }
}

/// A recompute setting with its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variant {
    /// The plan.
    #[serde(skip)]
    pub plan: Plan,
    /// Recomputed modules, in short.
    pub what: String,
    /// Step time.
    pub step_time: Seconds,
    /// Tokens per second of the whole cluster.
    pub tokens_per_second: f64,
    /// Memory of the stage with the largest peak, as in an estimate.
    pub memory: Bytes,
    /// Probability that every stage fits.
    pub probability_of_fitting: f64,
    /// True if that is at least the required probability.
    pub fits: bool,
}

/// One stage of the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRow {
    /// The stage, from 0.
    pub stage: usize,
    /// Layers on it.
    pub layers: u64,
    /// Recompute and offload, by virtual stage.
    pub choice: Vec<String>,
    /// Recompute time of one micro-batch.
    pub recompute: Seconds,
    /// Time in passes of one micro-batch.
    pub time: Seconds,
    /// Memory without recompute.
    pub memory_none: Bytes,
    /// Memory with full recompute.
    pub memory_full: Bytes,
    /// Memory with the selected recompute.
    pub memory: Bytes,
    /// Probability that it fits with the selected recompute.
    pub probability_of_fitting: f64,
}

/// Tests whether each stage holds virtual stages of both directions, so that every one of them is on two
/// stages.
pub(crate) fn is_bidirectional(plan: &Plan) -> bool {
    plan.schedule.has_two_directions()
}

/// Context in which variants are priced.
pub(super) struct Trial<'a> {
    pub(super) model: &'a Model,
    pub(super) cluster: &'a Cluster,
    pub(super) machine: &'a Machine,
    pub(super) options: &'a Options,
}

impl Trial<'_> {
    pub(super) fn report(&self, plan: &Plan) -> Result<MemoryReport, Problem> {
        let software = SoftwareCatalogue::shared()?.get(&plan.software);
        let Self { model, cluster, .. } = *self;
        Ok(memory::report(&MemoryInput { model, cluster, plan, software, in_flight: None }))
    }

    pub(super) fn variant(&self, plan: &Plan) -> Result<Variant, Problem> {
        let costing = Costing::new(self.model, self.cluster, plan, self.machine)?;
        let step_time = evaluate(&costing)?.time.total;
        let software = SoftwareCatalogue::shared()?.get(&plan.software);
        let (model, cluster) = (self.model, self.cluster);
        let peak = memory::peak(&MemoryInput { model, cluster, plan, software, in_flight: None });
        let probability = probability_of_fitting(peak.least(), cluster.accelerator.memory, software.sigma);
        Ok(Variant {
            what: what(plan),
            plan: plan.clone(),
            step_time,
            tokens_per_second: plan.tokens_per_step() as f64 / step_time.get(),
            memory: peak.device,
            probability_of_fitting: probability,
            // The solver's limit is the inverse of this function, except for rounding.
            fits: probability >= self.options.probability - 1e-9,
        })
    }

    pub(super) fn stages(
        &self,
        none: &Variant,
        full: &Variant,
        best: &Variant,
    ) -> Result<Vec<StageRow>, Problem> {
        let costing = Costing::new(self.model, self.cluster, &best.plan, self.machine)?;
        let evaluation = evaluate(&costing)?;
        let reports = [&none.plan, &full.plan, &best.plan].map(|plan| self.report(plan));
        let [none, full, chosen] = reports;
        let (none, full, chosen) = (none?, full?, chosen?);
        let sigma = SoftwareCatalogue::shared()?.get(&best.plan.software).sigma;
        let memory =
            |report: &MemoryReport, stage: usize| report.stages.get(stage).map_or(Bytes::ZERO, |s| s.device);
        // The allocator releases half of the unused memory.
        let least = |stage: usize| {
            chosen.stages.get(stage).map_or(Bytes::ZERO, |s| s.device - (s.reserved - s.allocated) * 0.5)
        };
        let share = if is_bidirectional(&best.plan) { 0.5 } else { 1.0 };
        let row = |stage: usize| {
            let local = local_chunks(&best.plan, stage);
            let sum = |of: &dyn Fn(usize) -> Seconds| local.iter().map(|&c| of(c)).sum::<Seconds>() * share;
            StageRow {
                stage,
                layers: local.iter().map(|&c| evaluation.chunks[c].layers).sum(),
                choice: local.iter().map(|&c| choice(&best.plan, c, stage)).collect(),
                recompute: sum(&|c| evaluation.chunks[c].time.recompute),
                time: sum(&|c| evaluation.chunks[c].time.total()),
                memory_none: memory(&none, stage),
                memory_full: memory(&full, stage),
                memory: memory(&chosen, stage),
                probability_of_fitting: probability_of_fitting(
                    least(stage),
                    self.cluster.accelerator.memory,
                    sigma,
                ),
            }
        };
        Ok((0..chosen.stages.len()).map(row).collect())
    }
}

/// Recompute of a virtual stage, as text.
pub(crate) fn choice(plan: &Plan, chunk: usize, stage: usize) -> String {
    match &plan.stage_recompute {
        None => plan.recompute.short(),
        Some(list) if list.len() == plan.pipeline_parallel as usize && !is_bidirectional(plan) => {
            list.get(stage).map_or_else(String::new, StageRecompute::short)
        }
        Some(list) => list.get(chunk).map_or_else(String::new, StageRecompute::short),
    }
}

/// Recompute of a plan, as short text.
pub(crate) fn what(plan: &Plan) -> String {
    match &plan.stage_recompute {
        Some(list) if list.windows(2).all(|pair| pair[0] == pair[1]) => {
            list.first().map_or_else(|| "none".to_owned(), |s| format!("{} on every stage", s.short()))
        }
        Some(_) => "by stage".to_owned(),
        None => plan.recompute.short(),
    }
}
