//! `memory`: memory of each stage by kind, module or layer, and over the step.

use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::Printer;
use crate::{args, run};
use railwright_answers as answers;
use railwright_reports::estimate::picture::memory as memory_picture;
use railwright_reports::memory::Memory;

/// Reports memory. The outcome is `No` if the plan does not fit, and has its own code if that is at risk.
pub(crate) fn run(arguments: &args::Memory, printer: &Printer) -> Result<Outcome, Failure> {
    let launch = run::launch::find(&arguments.run)?;
    let resolved = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let answer = answers::memory(&resolved, arguments.stage)?;
    // A step with millions of passes has a report, but is too large for a chart.
    if let Some(problem) = &answer.left_out {
        printer.note(&format!("memory over the step is not shown: {}", problem.message));
    }
    printer.warnings(&answer.warnings);
    let fit = answer.report.fit;
    if let Some(file) = &arguments.svg {
        printer.data(&memory_picture(&answer.title, &answer.report), Some(file))?;
        if file == "-" && !printer.takes_values() {
            return Ok(of_fit(fit));
        }
    }
    printer.answer(&Memory { answer, by: arguments.by.into() }, &arguments.output)?;
    Ok(of_fit(fit))
}
