//! Files of Perfetto: a job as JSON, compressed or not, or as an archive with a file for each rank.

use flate2::Compression;
use flate2::write::GzEncoder;
use railwright_profiler::Job;
use railwright_profiler::perfetto::{self, Mark, Options};
use railwright_spec::problem::Problem;
use rayon::prelude::*;
use std::fmt;
use std::io::{self, Write};

/// Format of the file, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// JSON.
    Json,
    /// JSON, compressed.
    Gzip,
    /// An archive.
    Tar,
}

impl Kind {
    /// The format of a file name.
    pub fn of(path: &str) -> Result<Self, Problem> {
        let suffixes = path.rsplit(['/', '\\']).next().unwrap_or(path).split('.').skip(1).collect::<Vec<_>>();
        match suffixes.as_slice() {
            [.., "json"] => Ok(Self::Json),
            [.., "json", "gz"] => Ok(Self::Gzip),
            [.., "tar"] => Ok(Self::Tar),
            _ => Err(Problem::new(format!("unknown trace format for the name `{path}`"))
                .in_file("--output")
                .hint("use a name that ends with `.json.gz`, `.json` or `.tar`")),
        }
    }
}

/// Writes a job with its marks.
pub fn write(
    kind: Kind,
    job: &Job,
    (marks, options): (&[Mark], Options),
    out: &mut dyn Write,
) -> io::Result<()> {
    match kind {
        Kind::Json => merged(job, marks, options, out),
        Kind::Gzip => {
            let mut packed = GzEncoder::new(out, Compression::new(3));
            merged(job, marks, options, &mut packed)?;
            packed.finish()?.flush()
        }
        Kind::Tar => archive(job, marks, options, out),
    }
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
