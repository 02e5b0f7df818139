//! `comm`: communication time, split into transfer and waiting.

use crate::args;
use crate::commands::recorded::joining::{self, Input};
use crate::commands::recorded::monitored::{Question, answer};
use crate::exit::{Failure, Outcome};
use crate::input::opened::AllCores;
use crate::printer::Printer;
use railwright_profiler::collectives::joined_communication_report;
use railwright_reports::comm::{Communication, keep};
use railwright_spec::human;

/// Reports communication.
pub(crate) fn run(arguments: &args::joining::Comm, printer: &Printer) -> Result<Outcome, Failure> {
    let options = joining::options(&arguments.joining)?;
    let read = match joining::input(&arguments.joining, &options, "comm", printer)? {
        Input::Job(read) => read,
        Input::Monitored(seen) => return answer(seen, Question::Communication, &arguments.output, printer),
    };
    let mut report = joined_communication_report(&read.job, &read.joined, options.names.as_ref(), &AllCores);
    if let Some(wanted) = &arguments.group {
        keep(&mut report, wanted)?;
    }
    printer.warnings(&report.warnings);
    if report.groups.is_empty() {
        printer.note("no communication in these traces");
    }
    let collectives = std::mem::take(&mut report.collectives);
    let (listed, all, of_group) = (arguments.collectives, arguments.all, arguments.group.is_some());
    let answer = Communication { report, collectives, listed, all, of_group };
    if arguments.output.json && answer.listed == 0 {
        let (rows, total) = (answer.rows().len(), answer.collectives.len());
        if rows < total {
            printer.note(&format!(
                "{} of {} collectives listed, longest waits first; --all lists every one",
                human::whole(rows as u64),
                human::whole(total as u64)
            ));
        }
    }
    printer.answer(&answer, &arguments.output)?;
    Ok(Outcome::Yes)
}
