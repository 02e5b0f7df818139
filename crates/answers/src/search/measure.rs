//! Layouts whose measurement would narrow the intervals of the ranking most.
//!
//! Responsible for: the choice among the rows of one setting. No result for rows on several machines,
//! which share no measurements.

use super::Shown;
use crate::question::Question;
use railwright_calculator::calibration::step_times::worth_measuring;
use railwright_calculator::costing::{Costing, Machine};
use railwright_spec::Portable as _;
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Maximum number of suggested runs.
const MOST: usize = 2;

/// A layout worth measuring.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measure {
    /// Rank of the layout, from 1.
    pub rank: usize,
    /// Layout as flags, for `calibrate --step "LAYOUT=SECONDS"`.
    pub layout: String,
    /// Current width of the rows' 90% intervals: upper over lower end, geometric mean.
    pub width_now: f64,
    /// Width after measuring this layout and those before it in the list.
    pub width_afterwards: f64,
}

/// One or two rows to measure; empty if measurement would not help.
pub(super) fn next(asked: &dyn Question, shown: &[Shown]) -> Result<Vec<Measure>, Problem> {
    let Some(first) = shown.first().filter(|first| shown.iter().all(|row| row.setting == first.setting))
    else {
        return Ok(Vec::new());
    };
    let run = &asked.settings()[first.setting].run;
    let machine = Machine::new(&run.cluster);
    let costings = shown
        .iter()
        .map(|row| Costing::new(&run.model, &run.cluster, &row.ranked.candidate.plan, &machine))
        .collect::<Result<Vec<_>, _>>()?;
    let logs: f64 = shown
        .iter()
        .map(|row| (row.ranked.step_time_interval.high / row.ranked.step_time_interval.low).portable_ln())
        .sum();
    let width_now = (logs / shown.len() as f64).portable_exp();
    let worth = worth_measuring(&costings, MOST)?;
    let measures = worth.into_iter().filter(|worth| worth.width < width_now).map(|worth| Measure {
        rank: shown[worth.index].ranked.rank,
        layout: asked.settings()[first.setting].step_layout(&shown[worth.index].ranked.candidate.plan),
        width_now: written(width_now),
        width_afterwards: written(worth.width),
    });
    Ok(measures.collect())
}

/// Rounds a width for answers: logarithms of WebAssembly and of the system's library differ in the last bit,
/// and answers must not.
fn written(width: f64) -> f64 {
    (width * 1e9).round() / 1e9
}
