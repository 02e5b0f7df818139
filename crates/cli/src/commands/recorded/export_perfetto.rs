//! `export-perfetto`: the ranks of a job in one view of Perfetto.

use crate::args;
use crate::commands::recorded::profiled;
use crate::exit::{Failure, Outcome};
use crate::input::{self, profile};
use crate::printer::Printer;
use flate2::Compression;
use flate2::write::GzEncoder;
use railwright_profiler::attribution::stragglers_of;
use railwright_profiler::communication::NameTable;
use railwright_profiler::perfetto::{self, Mark, Options};
use railwright_profiler::pipeline::{self, from_job};
use railwright_profiler::readers::Keep;
use railwright_profiler::view::Tables;
use railwright_profiler::{Job, steps_of_job};
use railwright_spec::problem::Problem;
use rayon::prelude::*;
use std::fmt;
use std::io::{self, Write};

/// Format of the file, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Gzip,
    Tar,
}

/// Writes the trace.
pub(crate) fn run(arguments: &args::tables::ExportPerfetto, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.as_str();
    let suffixes = path.rsplit(['/', '\\']).next().unwrap_or(path).split('.').skip(1).collect::<Vec<_>>();
    let kind = match suffixes.as_slice() {
        [.., "json"] => Kind::Json,
        [.., "json", "gz"] => Kind::Gzip,
        [.., "tar"] => Kind::Tar,
        _ => {
            let problem = Problem::new(format!("unknown trace format for the name `{path}`"));
            return Err(problem
                .in_file("--output")
                .hint("use a name that ends with `.json.gz`, `.json` or `.tar`")
                .into());
        }
    };
    let layout = profiled::stated_layout(arguments.layout.as_deref())?;
    let (mut job, passes) = profile::load(&arguments.paths, "export-perfetto", Keep::default(), printer)?;
    if job.members.is_empty() {
        let problem = Problem::new("these files contain tables of pipeline passes, but no trace of a rank");
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
    // A job without a pipeline has no stalls, which is no problem here.
    if let Ok(passes) = from_job::passes(&job, &joined)
        && let Ok(page) = pipeline::page(passes.clone(), &pipeline::Question::default())
    {
        marks.extend(perfetto::stalls(&passes, &page));
    }
    let options = Options { flows: arguments.flows, device_only: arguments.device_only };
    input::write_with(path, |out| match kind {
        Kind::Json => merged(&job, &marks, options, out),
        Kind::Gzip => {
            let mut packed = GzEncoder::new(out, Compression::new(3));
            merged(&job, &marks, options, &mut packed)?;
            packed.finish()?.flush()
        }
        Kind::Tar => archive(&job, &marks, options, out),
    })?;
    printer.note(&format!("wrote `{path}`: open it in ui.perfetto.dev"));
    Ok(Outcome::Yes)
}

/// Converts text to bytes; keeps the reason of a failure.
struct Text<'a> {
    out: &'a mut dyn Write,
    failed: Option<io::Error>,
}

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

fn merged(job: &Job, marks: &[Mark], options: Options, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Text { out, failed: None };
    let written = perfetto::write_merged(job, marks, options, &mut text);
    written.map_err(|_| text.failed.unwrap_or_else(|| io::Error::other("the trace could not be formatted")))
}

/// A file for each rank, a few made concurrently, after the manifest.
fn archive(job: &Job, marks: &[Mark], options: Options, out: &mut dyn Write) -> io::Result<()> {
    let mut archive = tar::Builder::new(out);
    let mut add = |name: &str, text: &str| {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        archive.append_data(&mut header, name, text.as_bytes())
    };
    let of_job = marks.iter().any(|mark| mark.rank.is_none());
    add(perfetto::MANIFEST, &perfetto::manifest(job, of_job))?;
    let format = |_: fmt::Error| io::Error::other("the trace could not be formatted");
    for members in job.members.chunks(rayon::current_num_threads().max(1)) {
        let texts: Vec<Result<String, fmt::Error>> = members
            .par_iter()
            .map(|member| {
                let mut text = String::new();
                perfetto::write_rank(job, member, marks, options, &mut text).map(|()| text)
            })
            .collect();
        for (member, text) in members.iter().zip(texts) {
            add(&perfetto::file_name(member), &text.map_err(format)?)?;
        }
    }
    if of_job {
        let mut text = String::new();
        perfetto::write_marks(job, marks, &mut text).map_err(format)?;
        add(perfetto::MARKS_FILE, &text)?;
    }
    archive.finish()
}
