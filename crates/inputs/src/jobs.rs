//! The jobs below given paths, and the one that a command reads.
//!
//! Responsible for: the first bytes of every file, grouped into jobs by [`group`]. A mixture is an error with
//! the list of jobs and the command for one of them. Never chooses between two jobs, and never omits files
//! silently.

use super::tabular;
use super::traces::sources::Stream;
use crate::Caller;
use railwright_profiler::job::{Family, Found, Sighting, group};
use railwright_profiler::{digest, readers};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Jobs that an error lists.
const LISTED: usize = 12;
/// Files that a command in a hint names.
const NAMED: usize = 4;

/// Inputs of a command.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The command.
    pub command: &'static str,
    /// Kinds of records that it reads together; the first of these lists with any present counts.
    pub kinds: &'static [&'static [Family]],
    /// Kinds with any number of jobs.
    pub several: &'static [Family],
}

impl Wanted {
    /// One job of the first present kind.
    pub const fn one(command: &'static str, kinds: &'static [&'static [Family]]) -> Self {
        Self { command, kinds, several: &[] }
    }
}

/// Streams and the jobs that they are parted into.
pub(super) struct Parted {
    /// A path for each sighting, as streams call it.
    pub(super) labels: Vec<String>,
    pub(super) jobs: Vec<Found>,
}

/// Parts streams into jobs.
pub(super) fn part(streams: &[Stream]) -> Parted {
    let all: Vec<Vec<Sighting>> = streams.par_iter().map(sightings).collect();
    let all: Vec<Sighting> = all.into_iter().flatten().collect();
    let jobs = group(&all);
    Parted { labels: all.into_iter().map(|of| of.path).collect(), jobs }
}

/// The command that reads a kind of records.
fn command_of(family: Family) -> &'static str {
    match family {
        Family::Ranks => "profile",
        Family::Passes => "pipeline",
        Family::Flight => "hang",
        Family::Monitors => "comm",
        Family::Log => "log",
    }
}

/// Labels of files that a command skips: other jobs, each reported. A mixture is rejected.
pub(super) fn left_out(
    parted: &Parted,
    wanted: Wanted,
    paths: &[String],
    printer: &dyn Caller,
) -> Result<BTreeSet<String>, Problem> {
    let jobs = &parted.jobs;
    let is_there = |families: &&&[Family]| jobs.iter().any(|job| families.contains(&job.family));
    let Some(families) = wanted.kinds.iter().find(is_there) else { return Ok(BTreeSet::new()) };
    let is_twin = |job: &Found| is_of_traces(job, parted);
    for family in *families {
        let of_family: Vec<&Found> =
            jobs.iter().filter(|job| job.family == *family && !is_twin(job)).collect();
        if wanted.several.contains(family) || of_family.len() < 2 {
            continue;
        }
        if !(paths.len() > 1 && can_be_one(&of_family)) {
            return Err(mixture(jobs, *family, wanted, paths));
        }
        let refused = of_family.iter().map(|job| line(job, paths)).collect::<Vec<_>>().join("; ");
        printer.note(&format!(
            "these files look like {} jobs, but were passed together and are treated as one: {refused}",
            of_family.len()
        ));
    }
    let (read, others): (Vec<_>, Vec<_>) =
        jobs.iter().partition(|job| families.contains(&job.family) && !is_twin(job));
    for job in others {
        let command = command_of(job.family);
        let why = if is_twin(job) { ": digests of traces in the same folder" } else { "" };
        printer.note(&format!("skipped: {}{why}: `{}`", line(job, paths), call(command, job)));
    }
    // Files of no job are read, and reported if that fails.
    let own: BTreeSet<usize> = read.iter().flat_map(|job| job.members.iter().copied()).collect();
    let of_others = jobs.iter().flat_map(|job| job.members.iter().copied()).filter(|at| !own.contains(at));
    Ok(of_others.filter_map(|at| parted.labels.get(at).cloned()).collect())
}

/// Tests whether a job consists of digests next to the traces that they were made from: the traces contain
/// more.
fn is_of_traces(job: &Found, parted: &Parted) -> bool {
    let labels = |job: &Found| -> Vec<String> {
        job.members.iter().filter_map(|&at| parted.labels.get(at).cloned()).collect()
    };
    if job.format != digest::FORMAT {
        return false;
    }
    let others = parted.jobs.iter().filter(|other| other.family == job.family && other.format != job.format);
    let traces: BTreeSet<String> = others.flat_map(labels).collect();
    labels(job).iter().all(|label| {
        // `rank3.digest.parquet` and `rank3.pt.trace.json.gz`: names with one start are neighbours in order.
        let start = label.strip_suffix(digest::SUFFIX).map(|start| format!("{start}."));
        start.is_some_and(|start| {
            traces.range(start.clone()..).next().is_some_and(|trace| trace.starts_with(&start))
        })
    })
}

/// Tests whether jobs can be combined: one format, and every rank once.
fn can_be_one(jobs: &[&Found]) -> bool {
    let mut seen = BTreeSet::new();
    jobs.windows(2).all(|pair| pair[0].format == pair[1].format)
        && jobs.iter().all(|job| {
            job.own_ranks.as_ref().is_some_and(|ranks| ranks.iter().all(|&rank| seen.insert(rank)))
        })
}

/// `a (PyTorch profiler, 4 of 8 ranks, 1.2 MB)`, its path within the only one that was given.
fn line(job: &Found, paths: &[String]) -> String {
    let place = match (job.path.as_str(), job.paths.as_slice()) {
        ("", [first, ..]) => format!("{first} and {} more files", job.files.saturating_sub(1)),
        ("", []) => job.name.clone(),
        (path, _) => {
            let within = paths.first().filter(|_| paths.len() == 1);
            let short = within.and_then(|folder| path.strip_prefix(folder.as_str()));
            let short = short.map(|short| short.trim_start_matches(['/', '\\']));
            short.filter(|short| !short.is_empty()).unwrap_or(path).to_owned()
        }
    };
    let ranks = match (job.ranks, job.world_size) {
        (Some(ranks), Some(world)) if world != ranks => format!(", {ranks} of {world} ranks"),
        (Some(1), _) => ", 1 rank".to_owned(),
        (Some(ranks), _) => format!(", {ranks} ranks"),
        (None, _) => String::new(),
    };
    format!("{place} ({}{ranks}, {})", job.format, human::bytes_decimal(Bytes::new(job.bytes as f64)))
}

/// The command line for one job.
fn call(command: &str, job: &Found) -> String {
    let sql = if command == "query" { " SQL" } else { "" };
    format!("railwright {command}{sql} {}", place(job))
}

/// A job's path, or its files, as a shell takes them.
fn place(job: &Found) -> String {
    let quoted = |path: &str| {
        if path.contains(|c: char| c.is_whitespace() || "'\"$&;()<>|`\\".contains(c)) {
            format!("'{}'", path.replace('\'', "'\\''"))
        } else {
            path.to_owned()
        }
    };
    match (job.path.as_str(), job.paths.as_slice()) {
        ("", []) => format!("{} (unpacked)", job.name),
        ("", all) if all.len() > NAMED => {
            let first: Vec<String> = all.iter().take(NAMED).map(|path| quoted(path)).collect();
            format!("{} ...", first.join(" "))
        }
        ("", all) => all.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(" "),
        (path, _) => quoted(path),
    }
}

/// The paths of a command line for the place of an error: a shell's pattern may expand to hundreds.
fn together(paths: &[String]) -> String {
    match paths {
        [_, _, _, _, ..] => super::title(paths),
        few => few.join(" "),
    }
}

fn mixture(jobs: &[Found], family: Family, wanted: Wanted, paths: &[String]) -> Problem {
    // Jobs that the command can read come first.
    let mut sorted: Vec<&Found> = jobs.iter().collect();
    sorted.sort_by_key(|job| job.family != family);
    let listed: Vec<String> = sorted.iter().take(LISTED).map(|job| line(job, paths)).collect();
    let more = match jobs.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let problem = Problem::new(format!(
        "{} jobs found, but `{}` takes one: {}{more}",
        jobs.len(),
        wanted.command,
        listed.join("; ")
    ));
    let of_kind = || jobs.iter().filter(|job| job.family == family);
    // The shortest command is the clearest example.
    let example = of_kind().filter(|job| !job.path.is_empty()).min_by_key(|job| job.path.len());
    if wanted.command == "compare" {
        // The command takes one path for each side, and only one of them is a mixture.
        let hint = match example {
            // A shell would expand a pattern to many arguments.
            Some(job) if job.path.contains('*') && place(job) == job.path => {
                format!("pass one of them instead, as in `'{}'`", job.path)
            }
            Some(job) => format!("pass one of them instead, as in `{}`", place(job)),
            None => "move the files of one job into a separate folder, and pass that instead".to_owned(),
        };
        return problem.in_file(together(paths)).hint(hint);
    }
    let hint = match example.or_else(|| of_kind().find(|job| !job.paths.is_empty())) {
        Some(job) => format!("pass one of them, as in `{}`", call(wanted.command, job)),
        None => "unpack the archive, and pass one of them".to_owned(),
    };
    problem.in_file(together(paths)).hint(hint)
}

/// Detected kinds of a stream from its head; empty for unknown formats.
fn sightings(stream: &Stream) -> Vec<Sighting> {
    let digest = |bytes: &[u8]| {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |digest: u64, &byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let of = |(path, head): (String, Vec<u8>)| {
        let bytes = stream.bytes();
        let archive = stream.archive();
        let base = Sighting { path, archive, bytes, digest: digest(&head), ..Sighting::default() };
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        if head.starts_with(b"PAR1") {
            let (family, standing, format) = tabular::parquet_kind(&stream.tail(&head))?;
            return Some(Sighting { format: format.to_owned(), family, standing, ..base });
        }
        let reader = tabular::detect(&head).or_else(|| readers::detect(&head))?;
        let clue = reader.clue(&head);
        let (family, standing) = (reader.family(), reader.standing(&head));
        Some(Sighting { format: reader.name().to_owned(), family, standing, clue, ..base })
    };
    stream.heads().into_iter().filter_map(of).collect()
}
