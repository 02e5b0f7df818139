//! Time breakdown of a step: every picosecond of every rank has exactly one label.
//!
//! Responsible for: the labels and their precedence. Compute precedes communication, transfers precede waits
//! for other ranks, communication precedes copies, and copies precede host work. The rest is bubble while the
//! pipeline runs, else idle. The parts of a rank add up exactly to the step.
//! Excludes judgement of the result.

use crate::intervals::{Intervals, computes};
use crate::{Activity, Dimension, Phase, RankTimeline, Step, Time};
use railwright_spec::quantity::{Rank, Stage};
use serde::Serialize;

/// Label of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Compute of a phase.
    Compute(Phase),
    /// Communication of a dimension without overlapped compute.
    Exposed(Dimension),
    /// Waiting for other ranks, recorded as such, without overlapped compute or transfers.
    Waiting,
    /// Copies between device and host without overlapped compute or communication.
    Copy,
    /// Host work only.
    Host,
    /// No work while the pipeline runs.
    Bubble,
    /// No work otherwise.
    Idle,
}

impl Label {
    /// All labels, in display order.
    pub fn all() -> impl Iterator<Item = Self> {
        let compute = Phase::ALL.into_iter().map(Self::Compute);
        let exposed = Dimension::ALL.into_iter().map(Self::Exposed);
        compute.chain(exposed).chain([Self::Waiting, Self::Copy, Self::Host, Self::Bubble, Self::Idle])
    }

    /// Display name.
    pub fn name(self) -> String {
        match self {
            Self::Compute(phase) => phase.name().to_owned(),
            Self::Exposed(dimension) => format!("exposed {} communication", dimension.name()),
            Self::Waiting => "waiting for other ranks".to_owned(),
            Self::Copy => "copy".to_owned(),
            Self::Host => "host".to_owned(),
            Self::Bubble => "bubble".to_owned(),
            Self::Idle => "idle".to_owned(),
        }
    }
}

/// Time breakdown of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Breakdown {
    /// Step time.
    pub duration: Time,
    /// Breakdown of each rank, in the order of the step.
    pub ranks: Vec<RankBreakdown>,
    /// Mean over ranks, in the order of labels, without zeros. Each part is rounded down, so the sum may be
    /// a picosecond per label below the step.
    pub mean: Vec<(Label, Time)>,
}

/// Time breakdown of one rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankBreakdown {
    /// Rank.
    pub rank: Rank,
    /// Pipeline stage.
    pub stage: Stage,
    /// Time by label, in the order of labels, without zeros; adds up to the step.
    pub parts: Vec<(Label, Time)>,
}

impl RankBreakdown {
    /// Time of a label; zero if absent.
    pub fn get(&self, label: Label) -> Time {
        self.parts.iter().find(|(l, _)| *l == label).map_or(Time::ZERO, |(_, time)| *time)
    }
}

/// Breaks a step down.
pub fn breakdown(step: &Step) -> Breakdown {
    let pipeline = pipeline_window(step);
    let ranks: Vec<RankBreakdown> = step
        .ranks
        .iter()
        .map(|rank| RankBreakdown {
            rank: rank.rank,
            stage: rank.stage,
            parts: labelled(step, rank, pipeline)
                .into_iter()
                .map(|(label, stretches)| (label, stretches.length()))
                .filter(|(_, time)| *time > Time::ZERO)
                .collect(),
        })
        .collect();
    let mean = Label::all()
        .map(|label| {
            let sum: i128 = ranks.iter().map(|rank| i128::from(rank.get(label).0)).sum();
            (label, Time(i64::try_from(sum / ranks.len().max(1) as i128).unwrap_or(i64::MAX)))
        })
        .filter(|(_, time)| *time > Time::ZERO)
        .collect();
    Breakdown { duration: step.duration(), ranks, mean }
}

/// From the first to the last pass of any rank; `None` with fewer than two stages, which have no bubbles.
pub(crate) fn pipeline_window(step: &Step) -> Option<(Time, Time)> {
    if step.stages() < 2 {
        return None;
    }
    let spans = step.ranks.iter().flat_map(|rank| &rank.streams).flat_map(|stream| stream.spans.iter());
    let passes = spans.filter(|span| computes(span) && span.phase.is_pass());
    passes.fold(None, |window, span| {
        let (start, end) = window.unwrap_or((span.start, span.end));
        Some((span.start.min(start), span.end.max(end)))
    })
}

/// Intervals of each label, which are disjoint and cover the whole window.
pub(crate) fn labelled(
    step: &Step,
    rank: &RankTimeline,
    pipeline: Option<(Time, Time)>,
) -> Vec<(Label, Intervals)> {
    let window = (step.start, step.end);
    // One pass over the spans; labels then take the remaining time in their order.
    let labels: Vec<Label> = Label::all().collect();
    let mut stretches: Vec<Vec<(Time, Time)>> = vec![Vec::new(); labels.len()];
    for span in rank.streams.iter().flat_map(|stream| stream.spans.iter()) {
        let place = match span.activity {
            Activity::Compute => span.phase as usize,
            Activity::Communication(dimension) => Phase::ALL.len() + dimension as usize,
            Activity::Copy => COPY,
            Activity::Host => COPY + 1,
            Activity::Wait => COPY - 1,
        };
        stretches[place].push((span.start.max(window.0), span.end.min(window.1)));
    }
    stretches[COPY + 2].extend(pipeline);
    stretches[COPY + 3].push(window);
    let mut rest = Intervals::union_of(vec![window]);
    let mut labelled = Vec::new();
    for (label, stretches) in labels.into_iter().zip(stretches) {
        if !stretches.is_empty() {
            let stretches = Intervals::union_of(stretches);
            labelled.push((label, stretches.intersection(&rest)));
            rest = rest.without(&stretches);
        }
    }
    labelled
}

/// Index of [`Label::Copy`] in [`Label::all`], after phases, dimensions and waits.
const COPY: usize = Phase::ALL.len() + Dimension::ALL.len() + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_labels() {
        let labels: Vec<Label> = Label::all().collect();
        let last = [Label::Waiting, Label::Copy, Label::Host, Label::Bubble, Label::Idle];
        assert_eq!(labels[COPY - 1..], last);
        assert!(Phase::ALL.into_iter().all(|phase| labels[phase as usize] == Label::Compute(phase)));
        let exposed = |d: Dimension| labels[Phase::ALL.len() + d as usize] == Label::Exposed(d);
        assert!(Dimension::ALL.into_iter().all(exposed));
    }
}
