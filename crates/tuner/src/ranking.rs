//! Results of a search for display: ordered candidates with the values for comparison.
//!
//! Responsible for: an estimate of each candidate, differences from the best, a breakdown of the step, and
//! timing of winners on the timeline. Does not search or price: times are from the calculator.

use crate::search::{Candidate, Objective};
use railwright_calculator::estimate::{EstimateOptions, Interval, estimate};
use railwright_calculator::evaluate::TimeBreakdown;
use railwright_calculator::model_flop::Convention;
use railwright_calculator::money::Bill;
use railwright_calculator::timeline::{Detail, timeline_with};
use railwright_calculator::work::Dimension;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;

/// A part of the step on the critical stage. The parts sum to the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Arithmetic of the model.
    Compute,
    /// Recomputed arithmetic.
    Recompute,
    /// Exposed tensor-parallel communication.
    Tensor,
    /// Exposed context-parallel communication.
    Context,
    /// Exposed expert-parallel communication.
    Expert,
    /// Exposed gather of parameters and reduction of gradients.
    Data,
    /// Idle time in the pipeline, including transfers between stages.
    Bubble,
    /// Waiting for the host: launches, and tensors in its memory.
    Host,
    /// The optimizer step.
    Optimizer,
    /// Fixed costs, jitter allowance.
    Other,
}

impl Share {
    /// All parts, in display order.
    pub const ALL: [Self; 10] = [
        Self::Compute,
        Self::Recompute,
        Self::Tensor,
        Self::Context,
        Self::Expert,
        Self::Data,
        Self::Bubble,
        Self::Host,
        Self::Optimizer,
        Self::Other,
    ];

    /// Time of the part in a step.
    pub fn of(self, time: &TimeBreakdown) -> Seconds {
        let exposed = |wanted: Dimension| -> Seconds {
            time.exposed.iter().filter(|(dimension, _)| *dimension == wanted).map(|(_, t)| *t).sum()
        };
        match self {
            Self::Compute => time.compute.iter().map(|(_, t)| *t).sum::<Seconds>() - time.recompute,
            Self::Recompute => time.recompute,
            Self::Tensor => exposed(Dimension::Tensor),
            Self::Context => exposed(Dimension::Context),
            Self::Expert => exposed(Dimension::Expert),
            Self::Data => exposed(Dimension::Shard) + time.data_parallel,
            Self::Bubble => time.bubble,
            Self::Host => exposed(Dimension::Host) + time.host,
            Self::Optimizer => time.optimizer,
            Self::Other => time.fixed + time.jitter,
        }
    }
}

/// Time of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// The part.
    pub on: Share,
    /// Duration.
    pub time: Seconds,
    /// Share of the step (0 to 1).
    pub share: f64,
}

/// Breakdown of a step's time.
pub fn spent(time: &TimeBreakdown) -> Vec<Spent> {
    Share::ALL
        .into_iter()
        .map(|on| Spent { on, time: on.of(time), share: on.of(time) / time.total })
        .collect()
}

/// A step on the timeline compared with the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retimed {
    /// Length of the timeline.
    pub timeline: Seconds,
    /// Length of the timeline over the fast path's step time, minus 1.
    pub difference: f64,
    /// True if the schedule overlaps steps, so that one isolated step is longer than their interval.
    pub steps_overlap: bool,
}

/// A candidate with its rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    /// Rank, from 1.
    pub rank: usize,
    /// The candidate.
    pub candidate: Candidate,
    /// The layout in one line.
    pub plan_summary: String,
    /// Time per token over that of the first, minus 1. Negative if a slower one is first for another reason.
    pub behind: f64,
    /// Rent per token over that of the first, minus 1. `None` without a price.
    pub costlier: Option<f64>,
    /// Interval in which a measurement of its step time is expected.
    pub step_time_interval: Interval,
    /// Model FLOPs utilization in the full attention convention, against the compute format's peak.
    pub mfu: Option<f64>,
    /// Rent for a trillion tokens. `None` without a price.
    pub dollars_per_trillion_tokens: Option<Dollars>,
    /// Cost of the whole training. `None` without a token budget.
    pub bill: Option<Bill>,
    /// Step breakdown.
    pub spent: Vec<Spent>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// The step on the timeline; `None` if not requested or too long.
    pub retimed: Option<Retimed>,
}

/// Ranks a candidate. `first` is the best one.
pub fn rank(
    rank: usize,
    candidate: &Candidate,
    first: &Candidate,
    model: &Model,
    cluster: &Cluster,
    options: &EstimateOptions,
) -> Result<Ranked, Problem> {
    let estimate = estimate(model, cluster, &candidate.plan, options)?;
    let time_of = |c: &Candidate| c.score(Objective::Time);
    Ok(Ranked {
        rank,
        plan_summary: estimate.plan_summary.clone(),
        behind: time_of(candidate) / time_of(first) - 1.0,
        costlier: candidate
            .dollars_per_billion_tokens
            .zip(first.dollars_per_billion_tokens)
            .map(|(own, least)| own / least - 1.0),
        mfu: estimate.efficiency.mfu(Convention::REPORTED),
        step_time_interval: estimate.step_time_interval,
        dollars_per_trillion_tokens: candidate.dollars_per_billion_tokens.map(|price| price * 1000.0),
        bill: estimate.money,
        spent: spent(&tidy(candidate).time),
        warnings: estimate.warnings,
        retimed: None,
        candidate: tidy(candidate),
    })
}

/// Removes a bubble slightly below zero, which subtraction can leave.
fn tidy(candidate: &Candidate) -> Candidate {
    let mut tidy = candidate.clone();
    let bubble = &mut tidy.time.bubble;
    if *bubble < Seconds::ZERO && -bubble.get() < 1e-9 * candidate.time.total.get() {
        *bubble = Seconds::ZERO;
    }
    tidy
}

/// Times a plan again on the timeline. Fails if the timeline would be too large.
pub fn retime(model: &Model, cluster: &Cluster, plan: &Plan, fast_path: Seconds) -> Result<Retimed, Problem> {
    let step = timeline_with(model, cluster, plan, Detail::Passes)?;
    let timeline = step.duration().seconds();
    Ok(Retimed {
        timeline,
        difference: timeline / fast_path - 1.0,
        steps_overlap: plan.schedule.validates_afterwards(),
    })
}

/// Additional time of one step on a part; negative is less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The part.
    pub on: Share,
    /// Additional time.
    pub more: Seconds,
}

/// Parts in which a step is slower than another, the largest difference first. Excludes parts that differ by
/// less than a thousandth of the step.
pub fn difference(slower: &TimeBreakdown, faster: &TimeBreakdown) -> Vec<Difference> {
    let mut list: Vec<Difference> = Share::ALL
        .into_iter()
        .map(|on| Difference { on, more: on.of(slower) - on.of(faster) })
        .filter(|d| d.more.get().abs() > 1e-3 * faster.total.get())
        .collect();
    list.sort_by(|a, b| b.more.get().abs().total_cmp(&a.more.get().abs()).then(a.on.cmp(&b.on)));
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_calculator::costing::{Costing, Machine};
    use railwright_calculator::evaluate::evaluate;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::PlanSpec;

    #[test]
    fn the_parts_add_up_to_the_step_and_differences_to_the_lag() {
        let model = by_name("mixtral-8x7b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 64).expect("known");
        let machine = Machine::new(&cluster);
        let time = |tensor, micro_batch| {
            let spec = PlanSpec {
                tensor_parallel: Some(tensor),
                pipeline_parallel: Some(2),
                expert_parallel: Some(8),
                micro_batch: Some(micro_batch),
                global_batch: Some(256),
                ..PlanSpec::default()
            };
            let plan = spec.resolve(&model, &cluster).expect("possible");
            let costing = Costing::new(&model, &cluster, &plan, &machine).expect("priced");
            evaluate(&costing).expect("runs").time
        };
        let (a, b) = (time(4, 1), time(1, 1));
        for time in [&a, &b] {
            let sum: Seconds = spent(time).iter().map(|s| s.time).sum();
            assert!((sum / time.total - 1.0).abs() < 1e-9, "{sum:?} of {:?}", time.total);
        }
        assert!(Share::Tensor.of(&a) > Seconds::ZERO && Share::Tensor.of(&b) == Seconds::ZERO);
        let differences = difference(&a, &b);
        let sum: Seconds = differences.iter().map(|d| d.more).sum();
        assert!((sum - (a.total - b.total)).get().abs() < 0.01 * b.total.get());
        assert!(differences.windows(2).all(|p| p[0].more.get().abs() >= p[1].more.get().abs()));
    }
}
