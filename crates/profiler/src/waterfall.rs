//! The waterfall: every nanosecond of the common window of every rank under exactly one label.
//!
//! Responsible for: the labels ([`Label`]), one sweep over each rank ([`RankWaterfall`]), and results that
//! need all ranks: slower chips, and model compute at peak. The parts of a rank add up to its steps, those of
//! all ranks to the job, to the nanosecond. Excludes savings: waits move, so they require a replay.

mod chips;
mod exchanges;
mod ideal;
mod label;
mod rank;
mod sweep;

pub use exchanges::{Exchange, Exchanges};
pub use ideal::{Ideal, Peak};
pub use label::{Bubble, Group, Hardware, Label, Parts, Share};
pub use rank::{IdlePart, KernelUse, RankWaterfall, Totals, Use};
pub use sweep::{Piece, sweep};

use crate::Names;
use serde::Serialize;

/// The waterfall of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Waterfall {
    /// Waterfalls of the ranks, in order.
    pub ranks: Vec<RankWaterfall>,
    /// Sum over all ranks and steps.
    pub total: Parts,
    /// Steps, summed over all ranks.
    pub steps: Vec<Parts>,
    /// Model compute at peak rate; `None` if unknown.
    pub ideal: Option<Ideal>,
    /// Ranks whose kernels take longer than the same kernels of other ranks: rank and factor.
    pub slower_chips: Vec<(u32, f64)>,
}

impl Waterfall {
    /// Joins the ranks, in their order. Separates the cost of slower chips and, if `ideal` is given, the
    /// model compute at peak. `names` are those of each rank's trace.
    pub fn join(mut ranks: Vec<RankWaterfall>, names: &[&Names], ideal: Option<Ideal>) -> Self {
        let slower_chips = chips::take_out(&mut ranks, names);
        if let Some(ideal) = ideal {
            for rank in &mut ranks {
                ideal.take_out(rank);
            }
        }
        Self::summed(ranks, ideal, slower_chips)
    }

    /// The waterfall with a single rank, by index.
    #[must_use]
    pub fn only(&self, at: usize) -> Self {
        let ranks = self.ranks.get(at).cloned().into_iter().collect();
        Self::summed(ranks, self.ideal, self.slower_chips.clone())
    }

    fn summed(ranks: Vec<RankWaterfall>, ideal: Option<Ideal>, slower_chips: Vec<(u32, f64)>) -> Self {
        let mut all = Self { ranks, total: Parts::default(), steps: Vec::new(), ideal, slower_chips };
        all.sum();
        all
    }

    /// Recomputes the sums after time has moved between the labels of a rank's steps.
    pub(crate) fn sum(&mut self) {
        self.total = Parts::default();
        self.steps =
            vec![Parts::default(); self.ranks.iter().map(|rank| rank.steps.len()).max().unwrap_or(0)];
        for rank in &mut self.ranks {
            rank.total = Parts::default();
            for (sum, step) in self.steps.iter_mut().zip(&rank.steps) {
                sum.merge(step);
                rank.total.merge(step);
            }
            self.total.merge(&rank.total);
        }
    }

    /// Total time over all labels and ranks, in nanoseconds.
    pub fn time(&self) -> i64 {
        self.total.total()
    }

    /// Ranks times steps, without steps in which a rank was not recorded: the divisor from sums to means per
    /// rank and step; at least 1.
    pub fn samples(&self) -> usize {
        self.ranks.iter().map(|rank| rank.steps.len() - rank.missing.len()).sum::<usize>().max(1)
    }

    /// A time as a share of the total (0 to 1).
    pub fn share(&self, time: i64) -> f64 {
        if self.time() == 0 { 0.0 } else { time as f64 / self.time() as f64 }
    }

    /// Model FLOPs utilization, if the model's operations are known: `T_ideal / T_step`, steps of ranks
    /// weighted by their length. By definition it exceeds the label of ideal compute, and 1, if the given
    /// model FLOPs are too high.
    pub fn utilisation(&self) -> Option<f64> {
        let ideal = self.ideal?.nanoseconds() as f64 * self.samples() as f64;
        Some(if self.time() == 0 { 0.0 } else { ideal / self.time() as f64 })
    }
}

/// Distribution of a label's time over ranks, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// The label.
    pub label: Label,
    /// Smallest time.
    #[serde(rename = "least_ns")]
    pub least: i64,
    /// Median time.
    #[serde(rename = "median_ns")]
    pub median: i64,
    /// Largest time.
    #[serde(rename = "most_ns")]
    pub most: i64,
    /// Ranks with the largest time, at most [`Spread::WORST`], worst first.
    pub worst: Vec<u32>,
}

impl Spread {
    /// Maximum number of named worst ranks.
    pub const WORST: usize = 3;
}

/// Spread of every label's time over ranks, largest medians first.
pub fn spreads(ranks: &[RankWaterfall]) -> Vec<Spread> {
    // A rank with missing steps has less recorded time, not less time.
    let whole = |rank: &&RankWaterfall| rank.missing.is_empty();
    let mut all: Vec<Spread> = Label::all()
        .filter_map(|label| {
            let mut times: Vec<(i64, u32)> =
                ranks.iter().filter(whole).map(|rank| (rank.total.get(label), rank.rank)).collect();
            times.sort_by_key(|(time, rank)| (std::cmp::Reverse(*time), *rank));
            let most = times.first().filter(|most| most.0 > 0)?.0;
            Some(Spread {
                label,
                least: times.last()?.0,
                median: times[times.len() / 2].0,
                most,
                worst: times.iter().take(Spread::WORST).map(|(_, rank)| *rank).collect(),
            })
        })
        .collect();
    all.sort_by_key(|spread| {
        (std::cmp::Reverse(spread.median), std::cmp::Reverse(spread.most), spread.label)
    });
    all
}

#[cfg(test)]
mod tests;
