//! `stragglers`: the ranks, links and stages that delay a job, their causes and their costs.

use crate::args;
use crate::commands::recorded::joining::{self, Input};
use crate::commands::recorded::monitored::{Question, answer};
use crate::exit::{Failure, Outcome};
use crate::input::opened::AllCores;
use crate::printer::Printer;
use railwright_profiler::attribution::{Verdict, joined_straggler_report};
use railwright_reports::stragglers::Stragglers;

/// Finds stragglers. The outcome is `No` if something delays the job, and doubt has an exit code of its own.
pub(crate) fn run(arguments: &args::joining::Stragglers, printer: &Printer) -> Result<Outcome, Failure> {
    let options = joining::options(&arguments.joining)?;
    let read = match joining::input(&arguments.joining, &options, "stragglers", printer)? {
        Input::Job(read) => read,
        Input::Monitored(seen) => return answer(seen, Question::Stragglers, &arguments.output, printer),
    };
    let report = joined_straggler_report(&read.job, &read.joined, options.names.as_ref(), &AllCores);
    printer.warnings(&report.warnings);
    let verdict = report.verdict;
    printer.answer(&Stragglers { report, shown: arguments.ranks }, &arguments.output)?;
    Ok(match verdict {
        Verdict::None => Outcome::Yes,
        Verdict::CannotTell => Outcome::CannotTell,
        Verdict::Straggler | Verdict::SlowLink | Verdict::Imbalance => Outcome::No,
    })
}
