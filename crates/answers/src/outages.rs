//! Failures of networks under a run, for the cost of its tokens.

use crate::Texts;
use railwright_network::failures::Outages;
use railwright_network::failures::rates::Rates;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Run, RunSpec};

/// Failures by the rates of the catalogue, with flaps and slow parts of the run's own table.
pub fn outages(run: &Run, spec: &RunSpec, texts: &dyn Texts) -> Result<Outages, Problem> {
    let mut rates = Rates::catalogue()?;
    if let Some(path) = &spec.training.part_rates {
        rates.overlay(&texts.text(path)?, path)?;
    }
    let training = &run.training;
    Outages::new(rates, &run.cluster, training.checkpoints.is_some() || training.availability < 1.0)
}
