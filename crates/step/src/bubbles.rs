//! Pipeline bubbles: when each rank has nothing to do while the pipeline runs, and at which end of it.
//!
//! Responsible for: the gaps and their place (before the rank's first pass, between passes, after its last). Refuses to blame;
//! [`crate::critical_path`] and [`crate::imbalance`] help with that.

use crate::breakdown::{Label, labelled, pipeline_window};
use crate::intervals::{Intervals, computes};
use crate::{Step, Time};
use railwright_spec::quantity::{Rank, Stage};
use serde::Serialize;

/// One rank's bubbles.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bubbles {
    /// Rank.
    pub rank: Rank,
    /// Stage.
    pub stage: Stage,
    /// Before its first pass.
    pub fill: Time,
    /// Between its passes.
    pub steady: Time,
    /// After its last pass.
    pub drain: Time,
    /// All of them over the time that the pipeline runs.
    pub fraction: f64,
    /// The longest, at most eight, longest first.
    pub longest: Vec<(Time, Time)>,
}

/// Every rank's bubbles; none when there are fewer than two stages.
pub fn bubbles(step: &Step) -> Vec<Bubbles> {
    let Some(window) = pipeline_window(step) else { return Vec::new() };
    let ranks = step.ranks.iter().map(|rank| {
        let labels = labelled(step, rank, Some(window));
        let gaps = labels.into_iter().find(|(label, _)| *label == Label::Bubble).map(|(_, gaps)| gaps);
        let mut gaps = gaps.unwrap_or_default().0;
        let passes = Intervals::of(rank, window, |span| computes(span) && span.phase.is_pass());
        let first = passes.0.first().map_or(window.1, |pass| pass.0);
        let last = passes.0.last().map_or(window.1, |pass| pass.1);
        let mut row = Bubbles {
            rank: rank.rank,
            stage: rank.stage,
            fill: Time::ZERO,
            steady: Time::ZERO,
            drain: Time::ZERO,
            fraction: 0.0,
            longest: Vec::new(),
        };
        for &(start, end) in &gaps {
            let part = if end <= first {
                &mut row.fill
            } else if start >= last {
                &mut row.drain
            } else {
                &mut row.steady
            };
            *part += end - start;
        }
        row.fraction = (row.fill + row.steady + row.drain).share_of(window.1 - window.0);
        gaps.sort_by_key(|&(start, end)| (std::cmp::Reverse(end - start), start));
        gaps.truncate(8);
        row.longest = gaps;
        row
    });
    ranks.collect()
}
