//! Which layouts to run for a few steps, so that the intervals of the ranking narrow most.
//!
//! Responsible for: the choice among the rows of one setting. Refuses to name any where rows are of several machines: they do not share what is
//! measured.

use super::Shown;
use crate::question::Question;
use railwright_calculator::calibration::step_times::worth_measuring;
use railwright_calculator::costing::{Costing, Machine};
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Runs that are named.
const MOST: usize = 2;

/// A layout worth measuring.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measure {
    /// Its place in the ranking, from 1.
    pub rank: usize,
    /// Its layout as flags, for `calibrate --step "LAYOUT=SECONDS"`.
    pub layout: String,
    /// Upper over lower end of the rows' 90% intervals now, geometric mean.
    pub width_now: f64,
    /// The same once this layout and those before it in the list are measured.
    pub width_afterwards: f64,
}

/// The one or two rows to measure; none where it would not help.
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
        .map(|row| (row.ranked.step_time_interval.high / row.ranked.step_time_interval.low).ln())
        .sum();
    let width_now = (logs / shown.len() as f64).exp();
    let worth = worth_measuring(&costings, MOST)?;
    let measures = worth.into_iter().filter(|worth| worth.width < width_now).map(|worth| Measure {
        rank: shown[worth.index].ranked.rank,
        layout: asked.settings()[first.setting].step_layout(&shown[worth.index].ranked.candidate.plan),
        width_now,
        width_afterwards: worth.width,
    });
    Ok(measures.collect())
}
