//! `sensitivity`: effect of hardware and software parameters on the step time.

use crate::args;
use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_commands::on_topology;
use railwright_commands::warn_of_fit;
use railwright_reports::sensitivity::Ranking;
use railwright_tuner::sensitivity::sensitivity_on;
use std::sync::Arc;

/// Computes the effect of every parameter. The outcome is `No` if the run does not fit.
pub(crate) fn run(arguments: &args::Sensitivity, printer: &Printer) -> Result<Outcome, Failure> {
    let Resolved { run, warnings, mut chosen, .. } = run::resolve(&arguments.run)?;
    let network = on_topology(&arguments.pricing.wanted(), &run.cluster)?.map(|(network, remark)| {
        chosen.push(remark);
        Arc::new(network)
    });
    let answer = sensitivity_on(&run, network)?;
    printer.warnings(&warnings);
    let fit = warn_of_fit(&run, printer)?;
    printer.answer(&Ranking { answer, chosen }, &arguments.output)?;
    Ok(of_fit(fit))
}
