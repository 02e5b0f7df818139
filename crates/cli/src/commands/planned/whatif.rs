//! `whatif`: effect of changes on a run, each alone and all combined.

use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::Printer;
use crate::{args, input, run};
use railwright_answers::{changes, whatif};
use railwright_commands::on_topology;
use railwright_reports::whatif::WhatIfReport;

/// Applies the changes. The outcome is `No` if the run with all changes is impossible or does not fit.
pub(crate) fn run(arguments: &args::WhatIf, printer: &Printer) -> Result<Outcome, Failure> {
    let launch = run::launch::find(&arguments.run)?;
    let resolved = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let changes = changes(&arguments.change)?;
    let network = on_topology(&arguments.pricing.wanted(), &resolved.run.cluster)?;
    let answer = whatif(resolved, &changes, &input::Disk, network)?;
    let fit = answer.answer.fit();
    printer.answer(&WhatIfReport(answer), &arguments.output)?;
    Ok(of_fit(fit))
}
