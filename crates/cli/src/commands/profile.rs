//! `profile`: breakdown of a job's time, from its traces.

mod causes;
mod health;
mod origins;
pub(super) mod range;
mod roofline;
mod serving;
mod tables;

pub(super) use tables::cut;

use super::monitored::{self, Monitored};
use super::opened::{Opened, Read, open};
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
use super::query;
use super::{hang, log, pipeline, profiled};
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::input::jobs::Wanted;
use crate::input::traces::Loaded;
use crate::printer::document::{Cell, Document, Tone};
use crate::printer::{Answer, Printer, SCHEMA_VERSION, Terminal};
use railwright_profiler::job::Family;
use railwright_profiler::origins::By;
use railwright_profiler::page::page;
use railwright_profiler::profile::{Options, Repair, Report};
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::timeline::{self, Question};
use railwright_profiler::trace::DamageKind;
use railwright_profiler::view::Tables;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;
use serde::Serialize;
use std::sync::Arc;

/// Traces, else recordings of other commands, whose result is given.
const WANTED: Wanted = Wanted::one(
    "profile",
    &[&[Family::Ranks], &[Family::Passes], &[Family::Flight], &[Family::Monitors], &[Family::Log]],
);

/// A report and the number of rows shown.
pub(crate) struct Shown {
    title: String,
    report: Report,
    depth: u8,
    top: usize,
}

/// Profiles traces.
pub(crate) fn run(arguments: &args::Profile, printer: &Printer) -> Result<Outcome, Failure> {
    #[cfg(all(feature = "tables", not(target_family = "wasm")))]
    if let Some(path) = arguments.output.output.as_deref().filter(|path| query::is_saved_profile(path)) {
        return query::save_as(path, &arguments.paths, Keep::default(), printer);
    }
    if let Some(args::Compat::Hta) = arguments.compat {
        return super::profile_compat::run(arguments, printer);
    }
    let tables = profiled::tables(&arguments.reading)?;
    let mut options = profiled::options(tables, &arguments.needed)?;
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
    options.by = arguments.by.map(|by| match by {
        args::Origin::Module => By::Module,
        args::Origin::Source => By::Source,
    });
    let run = run_of(arguments)?;
    let how = profiled::how(&arguments.reading, run.as_ref(), &options.tables)?;
    let read = match open(&arguments.paths, WANTED, Keep { python: true }, &how, printer)? {
        Opened::Job(read) => read,
        Opened::Other(loaded) => {
            return handed_on(&loaded, arguments, printer)
                .unwrap_or_else(|| Err(profiled::no_rank(&loaded, &arguments.paths).into()));
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
    let question = question(arguments)?;
    let read = read(arguments, &options.tables, printer)?;
    no_digest(&read)?;
    let profile = read.profiled(options, printer)?;
    let (job, joined) = (&read.job, &read.joined);
    let findings = &profile.report.findings;
    let tables = &options.tables;
    let mut columns =
        timeline::columns(job, joined, tables, &profile.windows, findings, &question, &profiled::AllCores)?;
    columns.label = format!("{}, {}", input::title(&arguments.paths), columns.label);
    let text = printer.written(|out| columns.write_json(SCHEMA_VERSION, out))?;
    printer.data(&text, arguments.output.output.as_deref())?;
    Ok(Outcome::Yes)
}

/// The job of a request about one step.
fn read(arguments: &args::Profile, tables: &Tables, printer: &Printer) -> Result<Arc<Read>, Failure> {
    let run = run_of(arguments)?;
    profiled::read_as(&arguments.paths, "profile", (&arguments.reading, run.as_ref()), tables, printer)
}

/// The traced run, if it was passed.
fn run_of(arguments: &args::Profile) -> Result<Option<Run>, Failure> {
    arguments.needed.run.as_ref().map(|path| profiled::run_of(path, &arguments.needed)).transpose()
}

/// A digest of a trace has no spans.
fn no_digest(read: &Read) -> Result<(), Failure> {
    let Some(digest) = read.job.members.iter().find(|member| member.trace.identity.digest) else {
        return Ok(());
    };
    let problem = railwright_spec::problem::Problem::new(railwright_profiler::digest::LEFT_OUT);
    Err(problem.in_file(&digest.trace.identity.label).hint("pass the trace").into())
}

/// Shown part of one step.
fn question(arguments: &args::Profile) -> Result<Question, Failure> {
    Ok(Question {
        step: arguments.step,
        ranks: arguments.rank.clone(),
        window: arguments.cut.window()?,
        most_spans: arguments.cut.most_spans as usize,
        host: arguments.host,
    })
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
        note_other("flight records", "hang");
        return Some(hang::run(&args::records::Hang { paths, output }, printer));
    }
    if let Some(seen) = Monitored::of(&loaded.recordings) {
        note_other("records of monitors", "comm");
        return Some(seen.answer(monitored::Question::Communication, &output, printer));
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

/// Nanoseconds in readable form.
pub(super) fn time(nanoseconds: f64) -> String {
    human::seconds(Seconds::new(nanoseconds * 1e-9))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProfileFields<'a> {
    #[serde(flatten)]
    report: &'a Report,
    title: &'a str,
}

impl Answer for Shown {
    const KIND: &'static str = "profile";

    type Json<'a> = ProfileFields<'a>;

    fn json(&self) -> ProfileFields<'_> {
        ProfileFields { report: &self.report, title: &self.title }
    }

    fn document(&self, terminal: Terminal) -> Document {
        let mut document = Document::default();
        self.head(&mut document);
        self.serving(&mut document);
        self.lines(&mut document);
        self.causes(&mut document, terminal);
        self.findings(&mut document);
        self.steps(&mut document);
        self.ranks(&mut document);
        self.tree(&mut document, terminal);
        self.kernels(&mut document, terminal);
        self.origins(&mut document, terminal);
        self.roofline(&mut document, terminal);
        self.health(&mut document);
        self.recorded(&mut document);
        self.doubts(&mut document);
        if let Some(finding) = self.report.findings.first() {
            document.next_step(&finding.advice);
        }
        document
    }

    fn page(&self) -> Option<String> {
        Some(page(&self.title, &self.report))
    }

    /// Every label of the waterfall, exact.
    fn csv(&self) -> String {
        let header = ["group", "part", "time_ns", "mean_ns", "share"].map(str::to_owned);
        let rows = self.report.lines.iter().flat_map(|line| {
            let all = std::slice::from_ref(&line.part);
            let parts = if line.parts.is_empty() { all } else { &line.parts };
            parts.iter().map(|part| {
                vec![
                    line.part.name.clone(),
                    part.name.clone(),
                    part.time.to_string(),
                    format!("{}", part.mean),
                    format!("{}", part.share),
                ]
            })
        });
        crate::printer::csv_lines(&header, rows.collect())
    }
}

impl Shown {
    fn head(&self, document: &mut Document) {
        let report = &self.report;
        let ranks = report.extent();
        let device = report.device.as_deref().map(|device| format!(", {device}")).unwrap_or_default();
        let steps = match report.steps.as_slice() {
            [one]
                if one.step.parse::<u64>().is_ok()
                    && report.cut_by != Some(railwright_profiler::windows::CutBy::Nothing) =>
            {
                format!("step {}: {}", one.step, time(report.step_time))
            }
            [_] => format!("one window of {}", time(report.step_time)),
            _ if (report.step_time - report.median_step_ns).abs() > 0.05 * report.median_step_ns => {
                format!(
                    "{}, {} on average, median {}",
                    report.steps_covered,
                    time(report.step_time),
                    time(report.median_step_ns)
                )
            }
            _ => format!("{}, {} on average", report.steps_covered, time(report.step_time)),
        };
        let mut verdict = Vec::new();
        if let Some(utilisation) = report.utilisation {
            verdict.push(Cell::new(format!("MFU {}", human::percent(utilisation)), Tone::Strong));
        }
        // The first finding is the report's first recommendation, so it is the headline. Without findings, it is the largest part of the
        // step that is not arithmetic.
        let top = report.findings.first().filter(|finding| finding.cost.is_some());
        let most = match top {
            Some(finding) => Some(format!("top finding: {}{}", finding.message, self.cost(finding))),
            None => self.largest().map(|(name, share)| match share {
                share if share < 0.01 => "no loss above 1% of the step".to_owned(),
                share => format!("largest loss: {name}, {} of the step", human::percent(share)),
            }),
        };
        if let Some(most) = most {
            if !verdict.is_empty() {
                verdict.push("; ".into());
            }
            verdict.push(most.into());
        }
        if !verdict.is_empty() {
            document.spans(verdict);
        }
        document.spans(vec![
            Cell::new(self.title.clone(), Tone::Strong),
            format!(": {ranks}{device}, {steps}").into(),
        ]);
        if let Some(cut) = self.truncated() {
            document.paragraph(Cell::new(cut, Tone::Doubtful));
        }
    }

    /// Files of which the report below lacks the end, or everything.
    fn truncated(&self) -> Option<String> {
        if let Some(skipped) = self.report.warnings.iter().find(|warning| warning.id == "trace-no-device") {
            return Some(skipped.message.clone());
        }
        let is_cut = |repair: &&Repair| repair.kind == DamageKind::Truncated;
        let mut files: Vec<&str> =
            self.report.repairs.iter().filter(is_cut).map(|repair| repair.file.as_str()).collect();
        files.dedup();
        let first = files.first()?.rsplit('/').next().unwrap_or_default();
        Some(match files.len() - 1 {
            0 => format!("{first} is truncated: its end is missing from this report"),
            more => format!(
                "{first} and {} are truncated: their ends are missing from this report",
                human::several(more as u64, "other file")
            ),
        })
    }

    /// The largest part that is not the model's own arithmetic.
    fn largest(&self) -> Option<(String, f64)> {
        use railwright_profiler::waterfall::Group;
        let known = self.report.utilisation.is_some();
        let lost = self.report.lines.iter().filter(|line| match line.group {
            Group::Ideal => false,
            // Without model FLOPs, the loss within compute is unknown.
            Group::Compute => known,
            _ => true,
        });
        let parts =
            lost.flat_map(
                |line| {
                    if line.parts.is_empty() { std::slice::from_ref(&line.part) } else { &line.parts }
                },
            );
        let most = parts.max_by(|a, b| a.share.total_cmp(&b.share))?;
        Some((human::part(&most.name), most.share))
    }
}
