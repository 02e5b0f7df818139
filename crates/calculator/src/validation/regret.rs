//! Regret on measured sweeps: slowdown of the layout that the calculator selects, relative to the best one.
//!
//! Responsible for: grouping the rows of a validated table into sweeps, the table of regrets with and without
//! memory, and their summary by source and overall. Excludes predictions (see [`super::report`]) and plans
//! without measurement.
//!
//! A *sweep* is a set of alternatives for a planner: rows that share source, model and its dimensions,
//! accelerator, number of devices, sequence length, global batch, framework and precision, and differ in
//! layout. Rows that the calculator cannot distinguish (same time, same memory) are one layout, measured
//! several times, and have the median time. A sweep counts with at least [`FEWEST_LAYOUTS`] layouts
//! whose slowest takes at least [`SMALLEST_SPREAD`] longer than its fastest.

mod definition;
pub mod differences;
mod memory;
mod pairs;
mod sweep;
#[cfg(test)]
mod tests;

use super::report::{RowResult, Validation};
use super::statistics::quantile;
use serde::Serialize;
use std::collections::BTreeMap;

pub use definition::{FEWEST_LAYOUTS, SMALLEST_DIFFERENCE, SMALLEST_SPREAD, Sweep, TARGETS, Targets};
pub use memory::{MemoryPick, MemoryTotal};
pub use sweep::SweepRegret;
pub(crate) use sweep::layouts;

/// Quality of the calculator's selection on a table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Regret {
    /// Name of the table's file.
    pub file: String,
    /// Targets.
    pub targets: Targets,
    /// True if the targets are met. `None` without sweeps.
    pub met: Option<bool>,
    /// Every sweep, in order of its identity.
    pub sweeps: Vec<SweepRegret>,
    /// Summary of all sweeps.
    pub overall: Total,
    /// Summary by source.
    pub sources: BTreeMap<String, Total>,
    /// The same sweeps including rows that ran out of memory; the selected layout must then also be
    /// predicted to fit.
    pub with_memory: Vec<MemoryPick>,
    /// Summary of these.
    pub memory: MemoryTotal,
    /// Summary of these by source.
    pub memory_sources: BTreeMap<String, MemoryTotal>,
}

/// Summary of regrets over sweeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Total {
    /// Number of sweeps.
    pub sweeps: usize,
    /// Number of layouts in them.
    pub layouts: usize,
    /// Median of the regrets.
    pub median: f64,
    /// 90th percentile of the regrets.
    pub p90: f64,
    /// The largest regret.
    pub worst: f64,
    /// Share of sweeps whose regret is at most the target's median.
    pub within_median: f64,
    /// Share of sweeps whose regret is at most the target's tail.
    pub within_tail: f64,
    /// Share of correctly ranked pairs, among those that differ.
    pub pairs_right: Option<f64>,
    /// Spearman's rank correlation, weighted by layouts. `None` if no sweep has one.
    pub rank_correlation: Option<f64>,
    /// Median regret of a random layout.
    pub random: f64,
}

/// Evaluates every sweep of a validated table.
pub fn regret(validation: &Validation) -> Regret {
    let mut groups: BTreeMap<&Sweep, Vec<&RowResult>> = BTreeMap::new();
    for row in &validation.rows {
        groups.entry(&row.choice).or_default().push(row);
    }
    let (mut sweeps, mut with_memory) = (Vec::new(), Vec::new());
    for (identity, rows) in groups {
        let layouts = layouts(&rows);
        if let Some(judged) = sweep::judge(identity, &layouts) {
            sweeps.push(judged);
            with_memory.extend(memory::judge(identity, &layouts));
        }
    }
    let overall = total(&sweeps.iter().collect::<Vec<_>>());
    Regret {
        file: validation.file.clone(),
        targets: TARGETS,
        met: (overall.sweeps > 0)
            .then_some(overall.median <= TARGETS.median && overall.within_tail >= TARGETS.share),
        sources: by_source(&sweeps, |s| &s.sweep.source, total),
        overall,
        memory: memory::total(&with_memory.iter().collect::<Vec<_>>()),
        memory_sources: by_source(&with_memory, |s| &s.sweep.source, memory::total),
        sweeps,
        with_memory,
    }
}

fn by_source<T, U>(
    all: &[T],
    source: impl Fn(&T) -> &String,
    total: impl Fn(&[&T]) -> U,
) -> BTreeMap<String, U> {
    let mut sets: BTreeMap<String, Vec<&T>> = BTreeMap::new();
    for one in all {
        sets.entry(source(one).clone()).or_default().push(one);
    }
    sets.into_iter().map(|(name, set)| (name, total(&set))).collect()
}

fn total(sweeps: &[&SweepRegret]) -> Total {
    let regrets: Vec<f64> = sweeps.iter().map(|s| s.regret).collect();
    let random: Vec<f64> = sweeps.iter().map(|s| s.random).collect();
    let share =
        |limit: f64| regrets.iter().filter(|r| **r <= limit).count() as f64 / regrets.len().max(1) as f64;
    let pairs: usize = sweeps.iter().map(|s| s.pairs).sum();
    let right: usize = sweeps.iter().map(|s| s.pairs_right).sum();
    let (mut sum, mut weight) = (0.0, 0.0);
    for sweep in sweeps {
        if let Some(correlation) = sweep.rank_correlation {
            sum += correlation * sweep.layouts as f64;
            weight += sweep.layouts as f64;
        }
    }
    Total {
        sweeps: sweeps.len(),
        layouts: sweeps.iter().map(|s| s.layouts).sum(),
        median: quantile(&regrets, 0.5),
        p90: quantile(&regrets, 0.9),
        worst: quantile(&regrets, 1.0),
        within_median: share(TARGETS.median),
        within_tail: share(TARGETS.tail),
        pairs_right: (pairs > 0).then(|| right as f64 / pairs as f64),
        rank_correlation: (weight > 0.0).then(|| sum / weight),
        random: quantile(&random, 0.5),
    }
}
