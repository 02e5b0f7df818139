//! `profile --compat hta`: the tables of another tool, for comparison with existing reports.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::traces;
use crate::printer::Printer;
use railwright_profiler::Job;
use railwright_profiler::hta::tables;
use railwright_profiler::readers::Keep;
use railwright_reports::profile_compat::Shown;

/// Reads traces and prints the tables.
pub(crate) fn run(arguments: &args::Profile, printer: &Printer) -> Result<Outcome, Failure> {
    let loaded =
        traces::load(&arguments.paths, crate::input::opened::ranks("profile"), Keep::default(), printer)?
            .without_digests()?;
    crate::input::opened::print_skipped(&loaded.problems, printer);
    let job = Job::new(loaded.into_ranks());
    printer.warnings(&job.warnings);
    printer.answer(&Shown(tables(&job)), &arguments.output)?;
    Ok(Outcome::Yes)
}
