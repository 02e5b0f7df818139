//! Loads a job and its join options, for commands with many ranks.
//!
//! Responsible for: flags to options, traces to a job, and read errors. Rejects inputs without a trace of any
//! rank.

use crate::args::joining::{Clocks, Joining};
use crate::commands::recorded::profiled;
use crate::exit::Failure;
use crate::input;
use crate::input::jobs::Wanted;
use crate::input::opened::{How, Opened, Read, open};
use crate::printer::Printer;
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::communication::NameTable;
use railwright_profiler::job::Family;
use railwright_profiler::joined::JoinOptions;
use railwright_profiler::readers::Keep;
use railwright_reports::monitored::Monitored;
use railwright_spec::problem::Problem;
use std::sync::Arc;

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

/// Traces, else records of monitors.
const KINDS: &[&[Family]] = &[&[Family::Ranks], &[Family::Monitors]];

/// Kind of the given paths.
pub(crate) enum Input {
    /// Traces of ranks, joined.
    Job(Arc<Read>),
    /// Monitor records instead of traces.
    Monitored(Monitored),
}

/// Traces of the ranks of a job, else records of its monitors.
pub(crate) fn input(
    joining: &Joining,
    options: &JoinOptions,
    command: &'static str,
    printer: &Printer,
) -> Result<Input, Failure> {
    let how = How {
        names: options.names.as_ref().unwrap_or_else(|| NameTable::shipped()).clone(),
        layout: options.layout.clone(),
        of_run: None,
        clocks: options.clocks,
    };
    let monitored = match open(&joining.paths, Wanted::one(command, KINDS), Keep::default(), &how, printer)? {
        Opened::Job(read) if !read.job.members.is_empty() => {
            if read.has_monitors {
                printer.note("monitor output is ignored because traces are given; pass it separately");
            }
            return Ok(Input::Job(read));
        }
        Opened::Job(_) => None,
        Opened::Other(loaded) => Monitored::of(&loaded.recordings),
    };
    if let Some(monitored) = monitored {
        return Ok(Input::Monitored(monitored));
    }
    let problem = Problem::new("no trace of a rank among these files").in_file(joining.paths.join(" "));
    let hint = "use `railwright hang` for flight records, `railwright log` for logs, `railwright pipeline` for tables of pipeline passes";
    Err(problem.hint(hint).into())
}
