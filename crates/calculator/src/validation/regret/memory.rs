//! The choice with memory: a planner walks straight to the memory limit, so what it picks must also run.
//!
//! Responsible for: the fastest layout that is predicted to fit, whether it ran out of memory, how many of the next had to be tried, and
//! what is lost then. The layouts are [`super::sweep`]'s.

use super::super::statistics::quantile;
use super::{Layout, Sweep};
use serde::Serialize;

/// The pick of one sweep among all its rows, those that ran out of memory included.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryPick {
    /// Common settings of its rows.
    #[serde(flatten)]
    pub sweep: Sweep,
    /// Layouts, of both ends.
    pub layouts: usize,
    /// Of these, ran out of memory.
    pub out_of_memory: usize,
    /// Of these that ran out of memory, predicted not to fit.
    pub found: usize,
    /// Of those that ran, predicted not to fit.
    pub false_alarms: usize,
    /// The fastest that is predicted to fit; `None` when nothing is.
    pub pick: Option<String>,
    /// Whether it ran out of memory.
    pub pick_out_of_memory: bool,
    /// Layouts tried, the fastest predicted first, until one ran; `None` when none that is predicted to fit did.
    pub tries: Option<usize>,
    /// Measured time of the first that ran over that of the best, less one.
    pub regret: Option<f64>,
}

/// Summary of picks over sweeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryTotal {
    /// Sweeps.
    pub sweeps: usize,
    /// Layouts that ran out of memory.
    pub out_of_memory: usize,
    /// Layouts that ran and are predicted not to fit.
    pub false_alarms: usize,
    /// Sweeps whose pick ran out of memory.
    pub picks_out_of_memory: usize,
    /// Sweeps of which nothing is predicted to fit.
    pub nothing_fits: usize,
    /// The most layouts that had to be tried.
    pub most_tries: usize,
    /// Median regret of the first that ran.
    pub median: f64,
    /// 90th percentile of the same.
    pub p90: f64,
    /// The largest.
    pub worst: f64,
    /// Share of sweeps with a regret of at most the target's tail; a sweep without a pick is not.
    pub within_tail: f64,
}

/// Judges the pick of a sweep; `layouts` stand in order of predicted time. `None` when no layout ran.
pub(super) fn judge(identity: &Sweep, layouts: &[Layout]) -> Option<MemoryPick> {
    let best = layouts.iter().filter_map(|l| l.measured).min_by(f64::total_cmp)?;
    let fitting: Vec<&Layout> = layouts.iter().filter(|l| l.fits).collect();
    let first_that_ran = fitting.iter().position(|l| l.measured.is_some());
    let measured = first_that_ran.and_then(|i| fitting[i].measured);
    let count = |keep: &dyn Fn(&Layout) -> bool| layouts.iter().filter(|l| keep(l)).count();
    Some(MemoryPick {
        sweep: identity.clone(),
        layouts: layouts.len(),
        out_of_memory: count(&|l| l.out_of_memory),
        found: count(&|l| l.out_of_memory && !l.fits),
        false_alarms: count(&|l| !l.out_of_memory && !l.fits),
        pick: fitting.first().map(|l| l.id.clone()),
        pick_out_of_memory: fitting.first().is_some_and(|l| l.out_of_memory),
        tries: first_that_ran.map(|i| i + 1),
        regret: measured.map(|m| m / best - 1.0),
    })
}

/// Sums picks up.
pub(super) fn total(picks: &[&MemoryPick]) -> MemoryTotal {
    let regrets: Vec<f64> = picks.iter().filter_map(|p| p.regret).collect();
    let within = regrets.iter().filter(|r| **r <= super::TARGETS.tail).count();
    MemoryTotal {
        sweeps: picks.len(),
        out_of_memory: picks.iter().map(|p| p.out_of_memory).sum(),
        false_alarms: picks.iter().map(|p| p.false_alarms).sum(),
        picks_out_of_memory: picks.iter().filter(|p| p.pick_out_of_memory).count(),
        nothing_fits: picks.iter().filter(|p| p.pick.is_none()).count(),
        most_tries: picks.iter().filter_map(|p| p.tries).max().unwrap_or_default(),
        median: quantile(&regrets, 0.5),
        p90: quantile(&regrets, 0.9),
        worst: quantile(&regrets, 1.0),
        within_tail: within as f64 / picks.len().max(1) as f64,
    }
}
