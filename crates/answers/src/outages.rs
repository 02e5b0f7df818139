//! Failures of networks under a run, for the cost of its tokens.

use crate::Texts;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Run, RunSpec};
use railwright_tuner::{Outages, outages_of};

/// Failures by the rates of the catalogue, with flaps and slow parts of the run's own table.
pub fn outages(run: &Run, spec: &RunSpec, texts: &dyn Texts) -> Result<Outages, Problem> {
    let table = spec.training.part_rates.as_ref();
    let table = table.map(|path| texts.text(path).map(|text| (text, path.clone()))).transpose()?;
    outages_of(run, table.as_slice())
}
