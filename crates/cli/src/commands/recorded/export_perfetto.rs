//! `export-perfetto`: the ranks of a job in one view of Perfetto.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::perfetto::{Kind, write};
use crate::input::{self, profile};
use crate::printer::Printer;
use railwright_profiler::attribution::stragglers_of;
use railwright_profiler::communication::NameTable;
use railwright_profiler::perfetto::{self, Options};
use railwright_profiler::pipeline::{self, from_job};
use railwright_profiler::readers::Keep;
use railwright_profiler::steps_of_job;
use railwright_profiler::view::Tables;
use railwright_spec::problem::Problem;

/// Writes the trace.
pub(crate) fn run(arguments: &args::tables::ExportPerfetto, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.as_str();
    let kind = Kind::of(path)?;
    let layout = input::opened::stated_layout(arguments.layout.as_deref())?;
    let (mut job, passes) = profile::load(&arguments.paths, "export-perfetto", Keep::default(), printer)?;
    if job.members.is_empty() {
        let problem = Problem::new("these files contain tables of pipeline passes, but no rank trace");
        return Err(problem
            .in_file(arguments.paths.join(" "))
            .hint("use `railwright pipeline` for pipeline passes")
            .into());
    }
    if !passes.is_empty() {
        printer.note(&format!("tables of pipeline passes are skipped: {}", passes.len()));
    }
    let joined = profile::join_ranks(&mut job, arguments.clocks.into(), layout);
    printer.warnings(&joined.warnings);
    let windows = steps_of_job(&job, &joined, &Tables::shipped(), &input::opened::AllCores);
    let mut marks = perfetto::steps(&windows);
    marks.extend(perfetto::waits(&job, &joined));
    if job.members.len() > 1 {
        let report = stragglers_of(&job, &joined, NameTable::shipped(), &windows, &input::opened::AllCores);
        marks.extend(perfetto::stragglers(&windows, &report));
    }
    // A job without a pipeline has no stalls, which is not a problem here.
    if let Ok(passes) = from_job::passes(&job, &joined)
        && let Ok(page) = pipeline::page(passes.clone(), &pipeline::Question::default())
    {
        marks.extend(perfetto::stalls(&passes, &page));
    }
    let options = Options { flows: arguments.flows, device_only: arguments.device_only };
    input::write_with(path, |out| write(kind, &job, (&marks, options), out))?;
    printer.note(&format!("wrote `{path}`: open it in ui.perfetto.dev"));
    Ok(Outcome::Yes)
}
