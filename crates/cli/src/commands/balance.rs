//! `balance`: how many layers each pipeline stage should hold.

mod report;

use super::recompute::{probability, save, title};
use crate::args::BalanceArguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_tuner::balance::{Options, flags, flags_with_recompute, solve};
use report::Balance;

/// Solves. The answer is no when no division fits.
pub(crate) fn run(arguments: &BalanceArguments, printer: &Printer) -> Result<Outcome, Failure> {
    let Resolved { run, spec, warnings, chosen } = run::resolve_spread(&arguments.run)?;
    let options =
        Options { probability: probability(arguments.fit_probability)?, recompute: arguments.with_recompute };
    let answer = solve(&run.model, &run.cluster, &run.plan, &options)
        .map_err(|problem| run::in_words(&arguments.run, problem))?;
    printer.warnings(&warnings);
    let found = answer.best.as_ref().map(|best| best.plan.clone());
    let flags = match &answer.best {
        Some(best) if options.recompute => flags_with_recompute(&run.model, &best.layers, &best.plan),
        Some(best) => flags(&best.layers, &best.plan),
        None => Vec::new(),
    };
    let report = Balance { title: title(&run), chosen, answer, flags, with_recompute: options.recompute };
    printer.answer(&report, &arguments.output)?;
    if let (Some(path), Some(plan)) = (&arguments.save, &found) {
        save(path, spec, &run, plan, printer)?;
    }
    Ok(if found.is_some() { Outcome::Yes } else { Outcome::No })
}
