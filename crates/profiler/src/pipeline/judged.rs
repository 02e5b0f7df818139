//! Verdicts of the straggler report in a pipeline report.
//!
//! Responsible for: the ranks, stages and links that the straggler report of the same job names, as verdicts
//! of the pipeline report, so that both reports name the same causes. Excludes stalls, messages and
//! micro-batches, which the pipeline report prices itself.

use super::judgement::{StragglerVerdict, Verdict};
use super::units::{percent, time};
use super::verdict::LAST_STAGE;
use super::{Certainty, PipelinePage, Question, from_job};
use crate::Job;
use crate::attribution::{self, Kind, Named, StragglerReport, Work, judged_steps};
use crate::joined::Joined;
use crate::view::Tables;
use crate::workers::Workers;
use railwright_spec::human;
use railwright_spec::problem::Problem;

impl PipelinePage {
    /// Replaces the report's own verdicts on ranks and stages by those of the straggler report of the same
    /// job.
    fn judge_by(&mut self, report: &StragglerReport) {
        self.judgement = Some(StragglerVerdict {
            verdict: report.verdict,
            culprits: report.culprits.clone(),
            reasons: report.reasons.clone(),
        });
        self.verdicts = super::verdict::verdicts(self);
    }
}

/// The report of a job with aligned clocks, with the verdict of its straggler report.
///
/// # Errors
///
/// If no passes are found, there is nothing to replay, or the requested step or replica is missing.
pub fn of_job(
    job: &Job,
    joined: &Joined,
    question: &Question,
    workers: &impl Workers,
) -> Result<PipelinePage, Problem> {
    let (windows, _, report) = judged_steps(job, joined, &Tables::shipped(), workers);
    let mut page = super::page(from_job::passes_in(job, joined, &windows)?, question)?;
    if let Some(report) = report {
        page.judge_by(&report);
    }
    Ok(page)
}

impl StragglerVerdict {
    /// Tests whether sequences or experts of different size are named.
    pub(super) fn names_work(&self) -> bool {
        self.culprits.iter().any(|named| named.work().is_some())
    }

    /// Its causes as verdicts of a report. Ranks whose stalls have at least half of their cost are reported
    /// as stalls.
    pub(super) fn verdicts(&self, page: &PipelinePage) -> Vec<Verdict> {
        let mut found: Vec<Verdict> = self
            .culprits
            .iter()
            .filter(|named| !is_stalled(page, named))
            .map(|named| of_named(page, named))
            .collect();
        if self.verdict == attribution::Verdict::CannotTell {
            let reasons = self.reasons.join("; ");
            let message = format!("inconclusive: no rank, stage or link is named, because {reasons}");
            found.push(Verdict {
                id: "pipeline-inconclusive",
                message,
                cost: 0,
                certainty: Certainty::Unknown,
            });
        }
        found
    }
}

/// Tests whether stalls have at least half of the cost of named ranks.
fn is_stalled(page: &PipelinePage, named: &Named) -> bool {
    if named.kind != Kind::Rank {
        return false;
    }
    let stalls = page.stalls.iter().filter(|stall| {
        named.ranks.contains(&stall.rank) || stall.ranks.iter().any(|rank| named.ranks.contains(rank))
    });
    let cost = stalls.map(|stall| stall.cost).sum::<i64>() / page.steps.len().max(1) as i64;
    2 * cost >= (named.cost_s * 1e9) as i64
}

fn of_named(page: &PipelinePage, named: &Named) -> Verdict {
    let cost = (named.cost_s * 1e9) as i64;
    let ranks = human::ranks(&named.ranks);
    let (id, subject) = match (named.kind, named.stage) {
        (Kind::Stage, Some(stage)) => {
            let is_last = page.stages.last().is_some_and(|last| last.stage == stage);
            let id = if is_last { "pipeline-last-stage" } else { "pipeline-slow-stage" };
            let why = if is_last { LAST_STAGE } else { "" };
            (id, format!("stage {stage} computes longer than other stages{why}"))
        }
        (Kind::Stage, None) => {
            ("pipeline-slow-stage", format!("the stage of {ranks} computes longer than other stages"))
        }
        (Kind::Group, _) if named.work().is_some() => {
            let is_lengths = matches!(named.work(), Some(Work::Lengths | Work::Chunks));
            let id = if is_lengths { "pipeline-sequence-lengths" } else { "pipeline-imbalance" };
            (id, named.unequal_work())
        }
        (Kind::Group, _) => {
            ("pipeline-slow-link", format!("transfers of the group of {ranks} are slow ({})", named.cause))
        }
        (Kind::Rank, _) => {
            let is = if named.ranks.len() == 1 { "is" } else { "are" };
            ("pipeline-slow-worker", format!("{ranks} {is} slow ({})", named.cause))
        }
    };
    let share = percent(named.cost_s * 1e9 / page.mean_step.max(1.0));
    let message = format!(
        "{subject}: {} per step, {}",
        named.certainty.worded(&time(cost)),
        named.certainty.worded(&share)
    );
    Verdict { id, message, cost, certainty: named.certainty }
}
