//! `balance`: number of layers for each pipeline stage.

use crate::args::BalanceArguments;
use crate::commands::planned::recompute::save;
use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::Printer;
use crate::run;
use railwright_answers::{Refused, balance, in_flags};
use railwright_reports::balance::Balance;
use railwright_tuner::balance::Options;

/// Solves the division. The outcome is the fit of the best division.
pub(crate) fn run(arguments: &BalanceArguments, printer: &Printer) -> Result<Outcome, Failure> {
    let resolved = run::resolve_spread(&arguments.run)?;
    let options = Options { probability: arguments.fit_probability, recompute: arguments.with_recompute };
    let solved = balance(resolved, &options).map_err(|Refused(problems)| {
        Refused(problems.into_iter().map(|problem| in_flags(problem, arguments.run.run.is_some())).collect())
    })?;
    printer.warnings(&solved.warnings);
    let report = Balance { solved, with_recompute: options.recompute };
    printer.answer(&report, &arguments.output)?;
    save(arguments.save.as_deref(), &report.solved, printer)?;
    Ok(of_fit(report.solved.fit()))
}
