//! Balanced number of layers of each (virtual) pipeline stage, including embedding, head and loss.
//!
//! Responsible for: the division of layers with the shortest step under the memory limit, and the bubbles
//! before and after. Every candidate is priced by the calculator, including the schedule. Pruned ones are
//! proven to be no better, or the result has an upper bound on the gain. Changes only the division and, if
//! requested, recompute.

mod division;
mod flags;
mod options;
mod search;
#[cfg(test)]
mod tests;

pub(crate) use division::without_recompute;
pub use flags::{Flags, flags, flags_with_recompute};
pub use options::Options;

use crate::recompute;
use division::Pricer;
use railwright_calculator::choices::{Choices, Treatment};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::{evaluate, local_chunks};
use railwright_calculator::memory::{
    self, MemoryInput, SoftwareCatalogue, layers_per_chunk, probability_of_fitting,
};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// One stage under a division.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRow {
    /// The stage, from 0.
    pub stage: usize,
    /// Layers of each of its virtual stages.
    pub layers: Vec<u64>,
    /// True if the word embedding is on it.
    pub embedding: bool,
    /// True if the head and the loss are on it.
    pub head: bool,
    /// Recompute by virtual stage.
    pub recompute: Vec<String>,
    /// Time of the passes of one micro-batch.
    pub time: Seconds,
    /// Time in passes per step.
    pub busy: Seconds,
    /// The rest of the pipeline's duration.
    pub bubble: Seconds,
    /// Share of the pipeline's duration without a pass. The estimate's bubble is that of the critical stage,
    /// relative to the step.
    pub idle: f64,
    /// Memory, as in an estimate.
    pub memory: Bytes,
}

/// A division of the layers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Division {
    /// The plan.
    #[serde(skip)]
    pub plan: Plan,
    /// Layers by virtual stage, in pipeline order.
    pub layers: Vec<u64>,
    /// Step time.
    pub step_time: Seconds,
    /// Tokens per second of the whole cluster.
    pub tokens_per_second: f64,
    /// Share of the pipeline's duration without a pass, mean over stages.
    pub idle: f64,
    /// Longest time in passes of a stage over the mean, minus 1.
    pub imbalance: f64,
    /// Memory of the stage with the largest peak, as in an estimate.
    pub memory: Bytes,
    /// Probability that every stage fits.
    pub probability_of_fitting: f64,
    /// True if that is at least the required probability.
    pub fits: bool,
    /// Its stages.
    pub stages: Vec<StageRow>,
}

/// Result of the solver.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The plan's own division.
    pub before: Division,
    /// The best division. `None` if none fits.
    pub best: Option<Division>,
    /// Step time saved by the best division, as a share of the step before. Negative if the division before
    /// is faster but does not fit.
    pub gain: Option<f64>,
    /// Upper bound on the saving by any other division, as a share of the best step: zero if the best is
    /// proven optimal. `None` without a proof.
    pub gap: Option<f64>,
    /// Number of priced divisions.
    pub priced: u64,
    /// Device memory.
    pub device_memory: Bytes,
    /// Required fit probability.
    pub probability: f64,
    /// Maximum memory of a stage for that probability.
    pub limit: Bytes,
}

/// Solves a plan. Fails if there is nothing to divide or the plan cannot be priced.
pub fn solve(model: &Model, cluster: &Cluster, plan: &Plan, options: &Options) -> Result<Answer, Problem> {
    if plan.pipeline_parallel <= 1 {
        return Err(Problem::new("there is only one stage, so there is nothing to balance")
            .at_key("plan.pipeline_parallel")
            .hint("set plan.pipeline_parallel to 2 or more"));
    }
    if plan.stage_recompute.is_some() && !options.recompute {
        return Err(Problem::new("`stage_recompute` applies only to the current layer assignment")
            .at_key("plan.stage_recompute")
            .hint("pass --with-recompute to choose it again, or set only plan.recompute"));
    }
    if options.recompute {
        cluster.require_one_kind("the choice of recompute per stage")?;
    }
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine)?;
    let start = layers_per_chunk(model, plan, costing.stage_split);
    let before = division(model, cluster, plan, &machine, &start, options)?;
    let limit = limit(model, cluster, plan, &machine, options.probability)?;
    let mut pricer = Pricer::new(model, cluster, plan, &machine, options)?;
    let found = search::best(&mut pricer, &start)?;
    let best = match &found.best {
        Some((layers, found)) => Some(division(model, cluster, found, &machine, layers, options)?),
        None => None,
    };
    // The original plan is also a solution, if it fits.
    let keeps = |best: &Division| !before.fits || best.step_time <= before.step_time;
    let best = match best.filter(keeps) {
        None if before.fits => Some(before.clone()),
        best => best,
    };
    Ok(Answer {
        gain: best.as_ref().map(|best| 1.0 - best.step_time / before.step_time),
        // A bound of zero contains no information.
        gap: best
            .as_ref()
            .filter(|_| found.bound > Seconds::ZERO)
            .map(|best| (1.0 - found.bound / best.step_time).max(0.0)),
        before,
        best,
        priced: pricer.priced(),
        device_memory: cluster.accelerator.memory,
        probability: options.probability,
        limit,
    })
}

/// Maximum memory of a stage for a probability of fitting.
fn limit(
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    machine: &Machine,
    probability: f64,
) -> Result<Bytes, Problem> {
    let bare = without_recompute(plan);
    let costing = Costing::new(model, cluster, &bare, machine)?;
    let choices = Choices::new(&costing, vec![Treatment { recompute: Recompute::None, offload: 0.0 }])?;
    Ok(choices.device(choices.limit(probability)))
}

fn division(
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    machine: &Machine,
    layers: &[u64],
    options: &Options,
) -> Result<Division, Problem> {
    let costing = Costing::new(model, cluster, plan, machine)?;
    let evaluation = evaluate(&costing)?;
    let software = SoftwareCatalogue::shared()?.get(&plan.software);
    let report = memory::report(&MemoryInput { model, cluster, plan, software, in_flight: None });
    let memory = |stage: usize| report.stages.get(stage).map_or(Bytes::ZERO, |s| s.device);
    let share = if recompute::is_bidirectional(plan) { 0.5 } else { 1.0 };
    let row = |(stage, &busy): (usize, &Seconds)| {
        let local = local_chunks(plan, stage);
        StageRow {
            stage,
            layers: local.iter().map(|&c| evaluation.chunks[c].layers).collect(),
            embedding: local.contains(&0),
            head: local.contains(&(evaluation.chunks.len() - 1)),
            recompute: local.iter().map(|&c| recompute::choice(plan, c, stage)).collect(),
            time: local.iter().map(|&c| evaluation.chunks[c].time.total()).sum::<Seconds>() * share,
            busy,
            bubble: evaluation.pipeline - busy,
            idle: 1.0 - busy / evaluation.pipeline,
            memory: memory(stage),
        }
    };
    let stages: Vec<StageRow> = evaluation.busy.iter().enumerate().map(row).collect();
    let count = stages.len().max(1) as f64;
    let mean = stages.iter().map(|s| s.busy).sum::<Seconds>() / count;
    let longest = stages.iter().map(|s| s.busy).fold(Seconds::ZERO, Seconds::max);
    let memory = stages.iter().map(|s| s.memory).fold(Bytes::ZERO, Bytes::max);
    let probability = probability_of_fitting(report.least, report.device_memory, software.sigma);
    let step_time = evaluation.time.total;
    Ok(Division {
        plan: plan.clone(),
        layers: layers.to_vec(),
        step_time,
        tokens_per_second: plan.tokens_per_step() as f64 / step_time.get(),
        idle: stages.iter().map(|s| s.idle).sum::<f64>() / count,
        imbalance: longest / mean - 1.0,
        memory,
        probability_of_fitting: probability,
        fits: probability >= options.probability - 1e-9,
        stages,
    })
}
