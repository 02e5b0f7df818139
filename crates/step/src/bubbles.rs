//! Pipeline bubbles: idle time of each rank while the pipeline runs, by position.
//!
//! Responsible for: the gaps and their position (before the rank's first pass, between passes, after its
//! last). Causes are in [`crate::critical_path`].

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
    /// Bubble time before the first pass.
    pub fill: Time,
    /// Bubble time between passes.
    pub steady: Time,
    /// Bubble time after the last pass.
    pub drain: Time,
    /// Bubble time as a share of the pipeline's run time, 0 to 1.
    pub fraction: f64,
    /// Up to eight longest bubbles as start and end, longest first.
    pub longest: Vec<(Time, Time)>,
}

/// Bubbles of every rank; empty with fewer than two stages.
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
