//! Loads a job and its join options, for commands with many ranks.
//!
//! Responsible for: flags to options, traces to a job, and read errors. Rejects inputs without a trace of any
//! rank.

use super::monitored::Monitored;
use super::profiled;
use crate::args::joining::{Clocks, Joining};
use crate::exit::Failure;
use crate::input::jobs::Wanted;
use crate::input::{self, traces};
use crate::printer::Printer;
use crate::printer::document::Cell;
use railwright_profiler::Job;
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::communication::NameTable;
use railwright_profiler::job::{Family, extent};
use railwright_profiler::joined::JoinOptions;
use railwright_profiler::readers::Keep;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;

/// Join options of the flags. Flags are read before traces, so that errors appear early.
pub(crate) fn options(joining: &Joining) -> Result<JoinOptions, Failure> {
    let layout = profiled::stated_layout(joining.layout.as_deref())?;
    let names = match &joining.kernels {
        Some(path) => {
            let text = input::read(path, input::CONFIG_LIMIT)?;
            let own = NameTable::read(&text).map_err(|problem| problem.in_file(path.as_str()))?;
            Some(own.before(NameTable::shipped()))
        }
        None => None,
    };
    let clocks = match joining.clocks {
        Clocks::Auto => ClockPolicy::Auto,
        Clocks::Align => ClockPolicy::Align,
        Clocks::Recorded => ClockPolicy::Recorded,
    };
    Ok(JoinOptions { names, layout, clocks })
}

/// Traces, else what monitors wrote.
const KINDS: &[&[Family]] = &[&[Family::Ranks], &[Family::Monitors]];

/// What paths name.
pub(crate) enum Input {
    /// Traces of ranks.
    Job(Job),
    /// What monitors wrote, and no trace.
    Monitored(Monitored),
}

/// Traces of the ranks of a job, else what monitors wrote of it.
pub(crate) fn input(joining: &Joining, command: &'static str, printer: &Printer) -> Result<Input, Failure> {
    let loaded = traces::load(&joining.paths, Wanted::one(command, KINDS), Keep::default(), printer)?;
    profiled::print_remarks(&loaded, printer);
    let monitored = Monitored::of(&loaded.recordings);
    let telemetry = loaded.telemetry();
    let mut job = Job::new(loaded.into_ranks());
    job.telemetry = telemetry;
    job.leave_out_blind();
    match (job.members.is_empty(), monitored) {
        (false, monitored) => {
            if monitored.is_some() {
                printer.note("monitor output is ignored if traces are given: pass it separately");
            }
            Ok(Input::Job(job))
        }
        (true, Some(monitored)) => Ok(Input::Monitored(monitored)),
        (true, None) => {
            let problem =
                Problem::new("no trace of a rank among these files").in_file(joining.paths.join(" "));
            let hint = "use `railwright hang` for flight records, `railwright log` for logs, `railwright \
                pipeline` for tables of pipeline passes";
            Err(problem.hint(hint).into())
        }
    }
}

/// `8 ranks`, or how many of how many.
pub(crate) fn from_ranks(traced: u32, world: u32, world_known: bool) -> String {
    let extent = extent(traced as usize, world, world_known);
    if traced == world { extent } else { format!("from {extent}") }
}

/// A time in nanoseconds as a cell.
pub(crate) fn time(ns: f64) -> Cell {
    Cell::seconds(Seconds::new(ns * 1e-9))
}
