//! `pipeline`: one view of all pipeline ranks, with the cause of every bubble and the cost of every stall.

use crate::exit::{Failure, Outcome};
use crate::input::jobs::Wanted;
use crate::input::opened::AllCores;
use crate::input::{self, traces};
use crate::printer::Printer;
use crate::{args, run};
use railwright_calculator::timeline::{Detail, timeline_with};
use railwright_profiler::Job;
use railwright_profiler::groups::Layout;
use railwright_profiler::job::Family;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::passes::Passes;
use railwright_profiler::pipeline::{self, PipelinePage, Question, from_step, picture};
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::replay::Subset;
use railwright_report::SCHEMA_VERSION;
use railwright_reports::pipeline::{MOST_SPANS, Page};
use railwright_spec::problem::Problem;

/// Tables of passes, else traces from which they are derived.
const WANTED: Wanted = Wanted::one("pipeline", &[&[Family::Passes], &[Family::Ranks]]);

/// Shows the pipeline view.
pub(crate) fn run(arguments: &args::pipeline::Pipeline, printer: &Printer) -> Result<Outcome, Failure> {
    let what_if = arguments.what_if.iter().map(|text| Subset::read(text).map_err(|p| p.in_file("--what-if")));
    let question = &Question {
        step: arguments.step,
        replica: arguments.replica,
        what_if: what_if.collect::<Result<_, _>>()?,
    };
    let page = if let Some(file) = &arguments.predict {
        pipeline::page(predicted(file, &arguments.run_settings, printer)?, question)?
    } else {
        arguments.run_settings.without_run("pass the run with --predict")?;
        recorded(
            &arguments.paths,
            input::opened::stated_layout(arguments.layout.as_deref())?,
            question,
            printer,
        )?
    };
    printer.warnings(&page.warnings);
    if let Some(file) = &arguments.svg {
        printer.data(&picture::draw(&page, &picture::Options::default()), Some(file))?;
        if file == "-" && !printer.takes_values() {
            return Ok(Outcome::Yes);
        }
    }
    if arguments.columns {
        let columns = pipeline::columns::columns(&page, MOST_SPANS);
        let text = printer.written(|out| columns.write_json(SCHEMA_VERSION, out))?;
        printer.data(&text, arguments.output.output.as_deref())?;
        return Ok(Outcome::Yes);
    }
    let outcome = if page.is_inconclusive() { Outcome::CannotTell } else { Outcome::Yes };
    printer.answer(&Page { page, limit: arguments.limit }, &arguments.output)?;
    Ok(outcome)
}

/// The passes of a step that the calculator predicts.
fn predicted(file: &str, settings: &args::RunSettings, printer: &Printer) -> Result<Passes, Failure> {
    let arguments = settings.run(file);
    let resolved = run::resolve(&arguments)?;
    printer.warnings(&resolved.warnings);
    let run = &resolved.run;
    let step = timeline_with(&run.model, &run.cluster, &run.plan, Detail::Passes)?;
    Ok(from_step::passes(&step))
}

/// The view of files, with the verdict of `stragglers` on traces.
fn recorded(
    paths: &[String],
    layout: Option<Layout>,
    question: &Question,
    printer: &Printer,
) -> Result<PipelinePage, Failure> {
    let loaded = traces::load(paths, WANTED, Keep::default(), printer)?;
    crate::input::opened::print_skipped(&loaded.problems, printer);
    let (mut parts, mut ranks, mut others) = (Vec::new(), Vec::new(), 0);
    for recording in loaded.recordings {
        match recording {
            Recording::Passes(passes) => parts.push(passes),
            Recording::Rank(trace) => ranks.push(*trace),
            _ => others += 1,
        }
    }
    if others > 0 {
        printer.note(&format!("skipped files of other formats: {others}"));
    }
    if !parts.is_empty() {
        if !ranks.is_empty() {
            printer.note(&format!("traces are ignored because pipeline timers are given: {}", ranks.len()));
        }
        return Ok(pipeline::page(Passes::join(parts), question)?);
    }
    if ranks.is_empty() {
        return Err(Problem::new("no pipeline passes in these files")
            .hint("pass pipeline timers or traces of several stages; `hang` and `log` read other files")
            .into());
    }
    let mut job = Job::new(ranks);
    let joined = join(&mut job, &JoinOptions { layout, ..JoinOptions::default() });
    printer.warnings(&job.warnings);
    printer.warnings(&joined.warnings);
    Ok(pipeline::of_job(&job, &joined, question, &AllCores)?)
}
