//! Comparison of two steps.
//!
//! Responsible for: differences by label, on the mean of ranks and on each stage, largest first. Independent of the origin of the steps.
//! Excludes causes of a difference.

use crate::breakdown::{Label, RankBreakdown, breakdown};
use crate::{Step, Time};
use railwright_spec::quantity::Stage;
use serde::Serialize;

/// Difference of two steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Step time of the first.
    pub first: Time,
    /// Step time of the second.
    pub second: Time,
    /// Differences on the mean of all ranks, largest first.
    pub mean: Vec<Difference>,
    /// Differences on the mean of each stage's ranks, for stages of both steps, largest first.
    pub stages: Vec<(Stage, Vec<Difference>)>,
}

/// A label's time in both steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Label.
    pub label: Label,
    /// Time in the first step.
    pub first: Time,
    /// Time in the second step.
    pub second: Time,
}

impl Difference {
    /// Time of the second less that of the first.
    pub fn change(&self) -> Time {
        self.second - self.first
    }
}

/// Compares two steps.
pub fn compare(first: &Step, second: &Step) -> Comparison {
    let (a, b) = (breakdown(first), breakdown(second));
    let all = |_: &RankBreakdown| true;
    let stages = (0..first.stages().min(second.stages())).map(Stage);
    Comparison {
        first: a.duration,
        second: b.duration,
        mean: differences(&a.ranks, &b.ranks, all),
        stages: stages.map(|stage| (stage, differences(&a.ranks, &b.ranks, |r| r.stage == stage))).collect(),
    }
}

fn differences(
    first: &[RankBreakdown],
    second: &[RankBreakdown],
    wanted: impl Fn(&RankBreakdown) -> bool,
) -> Vec<Difference> {
    let mean = |ranks: &[RankBreakdown], label| {
        let times = ranks.iter().filter(|rank| wanted(rank)).map(|rank| i128::from(rank.get(label).0));
        let (count, sum) = times.fold((0i128, 0i128), |(count, sum), time| (count + 1, sum + time));
        Time(i64::try_from(sum / count.max(1)).unwrap_or(i64::MAX))
    };
    let mut rows: Vec<Difference> = Label::all()
        .map(|label| Difference { label, first: mean(first, label), second: mean(second, label) })
        .filter(|row| row.first != Time::ZERO || row.second != Time::ZERO)
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.change().0.unsigned_abs()), row.label));
    rows
}
