//! `estimate`: step time, memory and cost of one run.

pub(crate) mod compared;
pub(crate) mod open;
pub(crate) mod page;

use crate::commands::runner::Runner;
use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::{self, Printer};
use crate::{args, run};
use railwright_answers::search_command;
use railwright_reports::estimate::{Estimated, measured, picture, why};
use railwright_spec::problem::Problem;

/// Estimates a run. The outcome is `No` if the plan does not fit, and has its own code if that is at risk.
pub(crate) fn run(
    arguments: &args::Estimate,
    commands: Runner,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    if !arguments.compare.is_empty() && !printer::is_page(&arguments.output) {
        let problem = Problem::new("two scenarios are compared only in an HTML report");
        let hint = "add `--format html`; at the terminal `railwright whatif --change` compares plans";
        return Err(problem.in_file("--compare").hint(hint).into());
    }
    let launch = run::launch::find(&arguments.run)?;
    // A report in HTML runs other commands with the same arguments, so it uses the values that they resolve
    // to.
    let resolved = if printer::is_page(&arguments.output) {
        run::resolve(&arguments.run)?
    } else {
        match open::resolve(arguments, printer)? {
            open::Opened::Run(resolved) => *resolved,
            open::Opened::Answered(outcome) => return Ok(outcome),
        }
    };
    let mut resolved = resolved;
    if !arguments.pricing.network.is_empty() {
        resolved.run = resolved.run.as_used();
    }
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let search = search_command(&resolved.spec, &resolved.run);
    let mut answer = railwright_answers::estimate(resolved, &arguments.pricing.wanted())?;
    if arguments.run.run.is_none() {
        for warning in &mut answer.estimate.warnings {
            warning.message = railwright_answers::translate(&warning.message);
        }
    }
    let railwright_answers::Estimated { estimate, chosen, software_is_inferred, open_features } = answer;
    let fit = estimate.memory.fit;
    let why = arguments.why.as_deref().map(|wanted| why::items(&estimate, wanted)).transpose()?;
    let measured = launch.and_then(|launch| launch.measured);
    let measured =
        measured.map(|log| (measured::compare(&log, &estimate), log)).map(|(rows, log)| (log, rows));
    let estimated =
        Estimated { estimate, chosen, software_is_inferred, open_features, why, search, measured };
    if let Some(file) = &arguments.svg {
        printer.data(&picture::breakdown(&estimated.estimate), Some(file))?;
        if file == "-" && !printer.takes_values() {
            return Ok(of_fit(fit));
        }
    }
    if printer::is_page(&arguments.output) {
        printer.data(&page::page(&estimated, arguments, commands)?, arguments.output.output.as_deref())?;
    } else {
        printer.answer(&estimated, &arguments.output)?;
    }
    Ok(of_fit(fit))
}
