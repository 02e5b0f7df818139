//! `comm` and `stragglers`: communication time, split into transfer and waiting, and the ranks, links and
//! stages that delay a job.
//!
//! Responsible for: conversion of flags to options and of traces to a job, and read errors. Rejects inputs
//! without a trace of any rank.

use crate::args::Output;
use crate::args::joining::{Comm, Joining, Stragglers};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::input::jobs::Wanted;
use crate::input::opened::{AllCores, How, Opened, Read, open};
use crate::printer::Printer;
use railwright_profiler::attribution::{Verdict, joined_straggler_report};
use railwright_profiler::collectives::joined_communication_report;
use railwright_profiler::communication::NameTable;
use railwright_profiler::job::Family;
use railwright_profiler::joined::JoinOptions;
use railwright_profiler::readers::Keep;
use railwright_reports::comm::{Communication, keep};
use railwright_reports::monitored::{self, Monitored};
use railwright_reports::stragglers;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use std::sync::Arc;

/// Join options of the flags. Flags are read before traces, so that errors appear early.
pub(crate) fn options(joining: &Joining) -> Result<JoinOptions, Failure> {
    let layout = input::opened::stated_layout(joining.layout.as_deref())?;
    let names = match &joining.kernels {
        Some(path) => {
            let text = input::read(path, input::CONFIG_LIMIT)?;
            let own = NameTable::read(&text).map_err(|problem| problem.in_file(path.as_str()))?;
            Some(own.before(NameTable::shipped()))
        }
        None => None,
    };
    Ok(JoinOptions { names, layout, clocks: joining.clocks.into() })
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
    let problem = Problem::new("these files contain no rank trace").in_file(joining.paths.join(" "));
    let hint = "use `railwright hang` for flight-recorder dumps, `railwright log` for logs, `railwright pipeline` for tables of pipeline passes";
    Err(problem.hint(hint).into())
}

/// Question about a job.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Communication,
    Stragglers,
}

/// Prints the result; for `stragglers`, the exit code is 1 with a straggler or a slow link.
pub(crate) fn answer(
    seen: Monitored,
    question: Question,
    output: &Output,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    if let Some(inspected) = &seen.inspected {
        printer.warnings(&inspected.warnings);
    }
    let verdict = seen.verdict().0;
    match question {
        Question::Communication => printer.answer(&monitored::Communication(seen), output)?,
        Question::Stragglers => printer.answer(&monitored::Stragglers(seen), output)?,
    }
    Ok(match (question, verdict) {
        (Question::Communication, _) | (_, Verdict::None) => Outcome::Yes,
        (_, Verdict::CannotTell) => Outcome::CannotTell,
        (_, Verdict::Straggler | Verdict::SlowLink | Verdict::Imbalance) => Outcome::No,
    })
}

/// Reports communication.
pub(crate) fn comm(arguments: &Comm, printer: &Printer) -> Result<Outcome, Failure> {
    let options = options(&arguments.joining)?;
    let read = match input(&arguments.joining, &options, "comm", printer)? {
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

/// Finds stragglers. The outcome is `No` if something delays the job, and doubt has an exit code of its own.
pub(crate) fn stragglers(arguments: &Stragglers, printer: &Printer) -> Result<Outcome, Failure> {
    let options = options(&arguments.joining)?;
    let read = match input(&arguments.joining, &options, "stragglers", printer)? {
        Input::Job(read) => read,
        Input::Monitored(seen) => return answer(seen, Question::Stragglers, &arguments.output, printer),
    };
    let report = joined_straggler_report(&read.job, &read.joined, options.names.as_ref(), &AllCores);
    printer.warnings(&report.warnings);
    let verdict = report.verdict;
    printer.answer(&stragglers::Stragglers { report, shown: arguments.ranks }, &arguments.output)?;
    Ok(match verdict {
        Verdict::None => Outcome::Yes,
        Verdict::CannotTell => Outcome::CannotTell,
        Verdict::Straggler | Verdict::SlowLink | Verdict::Imbalance => Outcome::No,
    })
}
