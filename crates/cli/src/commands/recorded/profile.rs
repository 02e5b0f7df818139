//! `profile`: breakdown of a job's time, from its traces.

mod one_step;
pub(crate) mod range;

#[cfg(all(feature = "tables", not(target_family = "wasm")))]
use crate::commands::recorded::query;
use crate::commands::recorded::{hang, joining, log, pipeline, profiled};
use crate::exit::{Failure, Outcome};
use crate::input::jobs::Wanted;
use crate::input::opened::{Opened, no_rank, open};
use crate::input::traces::Loaded;
use crate::printer::Printer;
use crate::{args, input};
use one_step::{no_digest, question, read, run_of};
use railwright_commands::{needs, within};
use railwright_profiler::job::Family;
use railwright_profiler::page::page;
use railwright_profiler::profile::Options;
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::timeline;
use railwright_report::SCHEMA_VERSION;
use railwright_reports::monitored::Monitored;
use railwright_reports::profile::Shown;

/// Traces, else recordings of other commands, whose result is given.
const WANTED: Wanted = Wanted::one(
    "profile",
    &[&[Family::Ranks], &[Family::Passes], &[Family::Flight], &[Family::Monitors], &[Family::Log]],
);

/// Profiles traces.
pub(crate) fn run(arguments: &args::Profile, printer: &Printer) -> Result<Outcome, Failure> {
    #[cfg(all(feature = "tables", not(target_family = "wasm")))]
    if let Some(path) = arguments.output.output.as_deref().filter(|path| query::is_saved_profile(path)) {
        return query::save_as(path, &arguments.paths, Keep::default(), printer);
    }
    if let Some(args::Compat::Hta) = arguments.compat {
        return crate::commands::recorded::profile_compat::run(arguments, printer);
    }
    let tables =
        input::opened::tables(arguments.reading.families.as_deref(), arguments.reading.kernels.as_deref())?;
    let mut options = profiled::options(tables, &arguments.needed)?;
    options.steps = arguments.steps.as_deref().map(str::parse).transpose()?;
    within("--depth", arguments.depth.into(), 1..=4)?;
    needs(("--rows", arguments.rows.is_some()), ("--aggregate", arguments.aggregate))?;
    needs(("--host", arguments.host), ("--columns", arguments.columns || arguments.aggregate))?;
    if arguments.columns {
        return columns(arguments, &options, printer);
    }
    if arguments.aggregate {
        return range::run(arguments, &options, printer);
    }
    options.step = arguments.step;
    if arguments.rank.len() > 1 {
        let problem = railwright_spec::problem::Problem::new("several ranks need `--columns`");
        return Err(problem.in_file("--rank").hint("select one rank").into());
    }
    options.rank = arguments.rank.first().copied();
    options.by = arguments.by.map(Into::into);
    let run = run_of(arguments)?;
    let how = profiled::how(&arguments.reading, run.as_ref(), &options.tables)?;
    let read = match open(&arguments.paths, WANTED, Keep { python: true }, &how, printer)? {
        Opened::Job(read) => read,
        Opened::Other(loaded) => {
            return handed_on(&loaded, arguments, printer)
                .unwrap_or_else(|| Err(no_rank(&loaded, &arguments.paths).into()));
        }
    };
    let profile = read.profiled(&options, printer)?;
    let answer = Shown {
        title: input::title(&arguments.paths),
        report: profile.report.clone(),
        depth: arguments.depth,
        top: arguments.top,
    };
    if let Some(path) = &arguments.html {
        printer.data(&page(&answer.title, &answer.report), Some(path))?;
    }
    let is_page = |path: &String| {
        std::path::Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("html"))
    };
    match arguments.output.output.as_ref().filter(|path| is_page(path) && arguments.output.format.is_none()) {
        Some(path) => printer.data(&page(&answer.title, &answer.report), Some(path))?,
        None => printer.answer(&answer, &arguments.output)?,
    }
    Ok(Outcome::Yes)
}

/// One step in columns. Findings are those of all steps: their places are searched in this one.
fn columns(arguments: &args::Profile, options: &Options, printer: &Printer) -> Result<Outcome, Failure> {
    let question = question(arguments, options)?;
    let read = read(arguments, &options.tables, printer)?;
    no_digest(&read)?;
    let profile = read.profiled(options, printer)?;
    let (job, joined) = (&read.job, &read.joined);
    let findings = &profile.report.findings;
    let tables = &options.tables;
    let mut columns = timeline::columns(
        job,
        joined,
        tables,
        &profile.windows,
        findings,
        &question,
        &input::opened::AllCores,
    )?;
    columns.label = format!("{}, {}", input::title(&arguments.paths), columns.label);
    let text = printer.written(|out| columns.write_json(SCHEMA_VERSION, out))?;
    printer.data(&text, arguments.output.output.as_deref())?;
    Ok(Outcome::Yes)
}

/// The result of the command for such recordings, if none of them is the trace of a rank.
fn handed_on(
    loaded: &Loaded,
    arguments: &args::Profile,
    printer: &Printer,
) -> Option<Result<Outcome, Failure>> {
    let any = |wanted: fn(&Recording) -> bool| loaded.recordings.iter().any(wanted);
    let (paths, output) = (arguments.paths.clone(), arguments.output.clone());
    let note_other = |what: &str, command: &str| {
        printer.note(&format!("these are {what}: running `railwright {command}` instead"));
    };
    if any(|recording| matches!(recording, Recording::Passes(_))) {
        note_other("tables of pipeline passes", "pipeline");
        let step = arguments.step.and_then(|step| u32::try_from(step).ok());
        return Some(pipeline::run(&args::pipeline::Pipeline::of(paths, step, output), printer));
    }
    if any(|recording| matches!(recording, Recording::Flight(_))) {
        note_other("flight-recorder dumps", "hang");
        return Some(hang::run(&args::records::Hang { paths, output }, printer));
    }
    if let Some(seen) = Monitored::of(&loaded.recordings) {
        note_other("records of monitors", "comm");
        return Some(joining::answer(seen, joining::Question::Communication, &output, printer));
    }
    if let ([file], true) = (paths.as_slice(), any(|recording| matches!(recording, Recording::Log(_))))
        && (input::access::is_file(std::path::Path::new(file)) || input::remote::names_one(file))
    {
        note_other("reports of a training log", "log");
        let accelerator = arguments.needed.accelerator.clone();
        return Some(log::run(
            &args::records::Log { file: file.clone(), accelerator, batch_size: None, output },
            printer,
        ));
    }
    None
}
