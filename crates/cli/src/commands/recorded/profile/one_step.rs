//! The job of a request about one step, and the requested part of that step.

use crate::args;
use crate::commands::recorded::profiled;
use crate::exit::Failure;
use crate::input::opened::Read;
use crate::printer::Printer;
use railwright_profiler::profile::Options;
use railwright_profiler::timeline::Question;
use railwright_profiler::view::Tables;
use railwright_spec::run::Run;
use std::sync::Arc;

/// The job of a request about one step.
pub(super) fn read(
    arguments: &args::Profile,
    tables: &Tables,
    printer: &Printer,
) -> Result<Arc<Read>, Failure> {
    let run = run_of(arguments)?;
    profiled::read_as(&arguments.paths, "profile", (&arguments.reading, run.as_ref()), tables, printer)
}

/// The traced run, if it was passed.
pub(super) fn run_of(arguments: &args::Profile) -> Result<Option<Run>, Failure> {
    arguments.needed.run.as_ref().map(|path| profiled::run_of(path, &arguments.needed)).transpose()
}

/// A digest of a trace has no spans.
pub(super) fn no_digest(read: &Read) -> Result<(), Failure> {
    let Some(digest) = read.job.members.iter().find(|member| member.trace.identity.digest) else {
        return Ok(());
    };
    let problem = railwright_spec::problem::Problem::new(railwright_profiler::digest::LEFT_OUT);
    Err(problem.in_file(&digest.trace.identity.label).hint("pass the trace").into())
}

/// Shown part of one step.
pub(super) fn question(arguments: &args::Profile, options: &Options) -> Result<Question, Failure> {
    Ok(Question {
        step: arguments.step,
        steps: options.steps,
        ranks: arguments.rank.clone(),
        window: arguments.cut.window()?,
        most_spans: arguments.cut.most_spans as usize,
        host: arguments.host,
    })
}
