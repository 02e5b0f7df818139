//! Regret with memory: planners go up to the memory limit, so the selected layout must also run.
//!
//! Responsible for: the fastest layout that is predicted to fit, its memory outcome, the number of further
//! tries, and the resulting loss. The layouts are those of [`super::sweep`].

use super::super::statistics::quantile;
use super::definition::{Sweep, TARGETS};
use super::sweep::Layout;
use serde::Serialize;

/// The selected layout of one sweep among all its rows, including those that ran out of memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryPick {
    /// Common settings of its rows.
    #[serde(flatten)]
    pub sweep: Sweep,
    /// Number of layouts that ran or ran out of memory.
    pub layouts: usize,
    /// Number of these that ran out of memory.
    pub out_of_memory: usize,
    /// Number of those out of memory that are predicted not to fit.
    pub found: usize,
    /// Number of those that ran and are predicted not to fit.
    pub false_alarms: usize,
    /// The fastest layout that is predicted to fit. `None` if there is none.
    pub pick: Option<String>,
    /// True if it ran out of memory.
    pub pick_out_of_memory: bool,
    /// Layouts tried, in order of predicted time, until one ran. `None` if none that is predicted to fit
    /// ran.
    pub tries: Option<usize>,
    /// Measured time of the first layout that ran, relative to that of the best, minus 1.
    pub regret: Option<f64>,
}

/// Summary of selections over sweeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryTotal {
    /// Number of sweeps.
    pub sweeps: usize,
    /// Number of layouts that ran out of memory.
    pub out_of_memory: usize,
    /// Number of layouts that ran and are predicted not to fit.
    pub false_alarms: usize,
    /// Number of sweeps whose selection ran out of memory.
    pub picks_out_of_memory: usize,
    /// Number of sweeps without a layout that is predicted to fit.
    pub nothing_fits: usize,
    /// Maximum number of tries.
    pub most_tries: usize,
    /// Median regret of the first layout that ran.
    pub median: f64,
    /// 90th percentile of the same regret.
    pub p90: f64,
    /// The largest regret.
    pub worst: f64,
    /// Share of sweeps with a regret of at most the target's tail. Sweeps without a selection count as above
    /// it.
    pub within_tail: f64,
}

/// Evaluates the selection of a sweep; `layouts` are in order of predicted time. `None` if no layout ran.
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

/// Summarizes selections.
pub(super) fn total(picks: &[&MemoryPick]) -> MemoryTotal {
    let regrets: Vec<f64> = picks.iter().filter_map(|p| p.regret).collect();
    let within = regrets.iter().filter(|r| **r <= TARGETS.tail).count();
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
