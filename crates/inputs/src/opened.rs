//! The traces of a job, read and joined once for all results.
//!
//! Responsible for: conversion of files to ranks on a common clock, shared by the requests of a server, and
//! the profiles of each job. Recordings without a rank are returned to the caller. Prints only skipped files.

use crate::jobs::Wanted;
use crate::kept::Kept;
use crate::traces::{self, Loaded, kept};
use crate::{Caller, Refused, limits};
use railwright_profiler::Job;
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::communication::NameTable;
use railwright_profiler::groups::Layout;
use railwright_profiler::job::Family;
use railwright_profiler::joined::{JoinOptions, Joined, join_by};
use railwright_profiler::kernels::KernelTable;
use railwright_profiler::profile::{Options, Profile, Workers, profile};
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::view::Tables;
use railwright_spec::human;
use railwright_spec::plan::RankOrder;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use rayon::prelude::*;
use std::sync::Arc;

/// Jobs of a server that are kept, at most.
const JOBS: usize = 3;
/// Profiles of each, at most: with other options they differ.
const PROFILES: usize = 3;
/// Bytes of a profile for each rank, about.
const PROFILE: u64 = 64 << 10;

/// A job that was read and joined.
pub struct Read {
    /// Its ranks.
    pub job: Job,
    /// Common properties of the ranks.
    pub joined: Joined,
    /// True if the folder of the traces contains files of monitors.
    pub has_monitors: bool,
    /// Files that could not be read.
    skipped: Vec<Problem>,
    /// True if reading without Python functions omits some rows.
    has_python: bool,
    profiles: Kept<Options, Profile>,
}

/// Joining options.
#[derive(Clone, PartialEq)]
pub struct How {
    /// Names of communication kernels.
    pub names: NameTable,
    /// Parallel sizes set by the user.
    pub layout: Option<Layout>,
    /// Parallel sizes of the traced run, used if they have the same number of ranks.
    pub of_run: Option<Layout>,
    /// Alignment of clocks.
    pub clocks: ClockPolicy,
}

impl How {
    /// The sizes for a job with this number of ranks. A run of a different size is another run.
    fn layout(&self, world: u32) -> Option<Layout> {
        let of_run = || self.of_run.clone().filter(|layout| layout.world() == u64::from(world));
        self.layout.clone().or_else(of_run)
    }
}

/// Contents of paths.
pub enum Opened {
    /// Traces of ranks.
    Job(Arc<Read>),
    /// Only other recordings.
    Other(Box<Loaded>),
}

#[derive(Clone, PartialEq)]
struct Key {
    labels: Vec<String>,
    python: bool,
    how: How,
}

static OPENED: Kept<Key, Read> = Kept::new(JOBS, 4);

/// Reason why there is no job.
enum Missing {
    Ranks(Box<Loaded>),
    Failed(Problem),
}

impl From<Problem> for Missing {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

/// Opens the job that paths name.
pub fn open(
    paths: &[String],
    wanted: Wanted,
    keep: Keep,
    how: &How,
    printer: &dyn Caller,
) -> Result<Opened, Refused> {
    let selected = traces::select(paths, wanted, printer)?;
    let key = Key { labels: selected.labels.clone(), python: keep.python, how: how.clone() };
    let serves = |of: &Key, read: &Read| {
        of.labels == key.labels
            && kept::serves_python(of.python, key.python, read.has_python)
            && (&of.how.names, of.how.clocks) == (&how.names, how.clocks)
            && of.how.layout(read.job.world_size) == how.layout(read.job.world_size)
    };
    let make = || -> Result<(Read, Option<u64>), Missing> {
        let loaded = selected.load(keep, printer)?;
        printer.wanted()?;
        let bytes = kept::bytes_of(&loaded);
        let read = read(loaded, keep, how)?;
        limits::check()?;
        Ok((read, Some(bytes)))
    };
    match OPENED.or_make(&key, serves, || printer.wanted(), make) {
        Ok(read) => {
            print_skipped(&read.skipped, printer);
            Ok(Opened::Job(read))
        }
        Err(Missing::Ranks(loaded)) => {
            print_skipped(&loaded.problems, printer);
            Ok(Opened::Other(loaded))
        }
        Err(Missing::Failed(problem)) => Err(problem.into()),
    }
}

/// Joins the ranks among the recordings.
fn read(loaded: Loaded, keep: Keep, how: &How) -> Result<Read, Missing> {
    if !loaded.has_ranks() {
        return Err(Missing::Ranks(Box::new(loaded)));
    }
    let has_python = keep.python && kept::has_python(&loaded);
    let has_monitors = loaded.recordings.iter().any(is_of_monitor);
    let (telemetry, skipped) = (loaded.telemetry(), loaded.problems.clone());
    let mut job = Job::new(loaded.into_ranks());
    job.telemetry = telemetry;
    job.drop_ranks_without_device_activity();
    let layout = how.layout(job.world_size);
    let options = JoinOptions { names: Some(how.names.clone()), layout, clocks: how.clocks };
    let joined = join_by(&mut job, &options, &AllCores);
    Ok(Read { job, joined, has_monitors, skipped, has_python, profiles: Kept::new(PROFILES, 16) })
}

impl Read {
    /// Profiles the job on all cores, once for equal options.
    pub fn profiled(&self, options: &Options, printer: &dyn Caller) -> Result<Arc<Profile>, Refused> {
        let make = || -> Result<(Profile, Option<u64>), Problem> {
            let ranks = self.job.members.len() as u64;
            let profile = profile(&self.job, &self.joined, options, &AllCores)?;
            limits::check()?;
            Ok((profile, Some(ranks * PROFILE)))
        };
        let wanted = || printer.wanted();
        Ok(self.profiles.or_make(options, |of, _| of == options, wanted, make)?)
    }
}

/// Only traces of ranks.
pub const fn ranks(command: &'static str) -> Wanted {
    Wanted::one(command, &[&[Family::Ranks]])
}

/// The problem of recordings without a rank.
pub fn no_rank(loaded: &Loaded, paths: &[String]) -> Problem {
    Problem::new(format!("no rank trace in {}", human::several(loaded.files as u64, "file")))
        .in_file(paths.join(" "))
        .hint(
            "use `railwright pipeline` for tables of pipeline passes, `railwright log` for logs, \
        `railwright hang` for flight-recorder dumps and metrics",
        )
}

/// The parallel sizes of a run, innermost first. `None` with experts, whose groups overlap the other groups.
pub fn layout_of(run: &Run) -> Option<Layout> {
    let plan = &run.plan;
    let (dp, pp) = (plan.data_parallel, plan.pipeline_parallel);
    let inner = format!("tp={},cp={}", plan.tensor_parallel, plan.context_parallel);
    let text = match plan.rank_order {
        RankOrder::TensorContextDataPipeline => format!("{inner},dp={dp},pp={pp}"),
        RankOrder::TensorContextPipelineData => format!("{inner},pp={pp},dp={dp}"),
    };
    (plan.expert_parallel <= 1).then(|| Layout::read(&text).ok()).flatten()
}

/// The shipped tables with the user's before them.
pub fn tables(families: Option<&str>, kernels: Option<&str>) -> Result<Tables, Problem> {
    let mut tables = Tables::shipped();
    if let Some(path) = families {
        let mine = KernelTable::parse(&crate::read(path, crate::TABLE_LIMIT)?)
            .map_err(|problem| problem.in_file(path))?;
        tables.kernels = mine.before(&tables.kernels);
    }
    if let Some(path) = kernels {
        let mine = NameTable::read(&crate::read(path, crate::TABLE_LIMIT)?)
            .map_err(|problem| problem.in_file(path))?;
        tables.communication = mine.before(&tables.communication);
    }
    Ok(tables)
}

/// Parallel sizes set by the user, from the text of the flag.
pub fn stated_layout(text: Option<&str>) -> Result<Option<Layout>, Problem> {
    text.map(Layout::read).transpose().map_err(|problem| problem.in_file("--layout"))
}

/// Reports unreadable files, which are skipped.
pub fn print_skipped(problems: &[Problem], printer: &dyn Caller) {
    const MOST: usize = 5;
    for problem in problems.iter().take(MOST) {
        printer.note(&format!("skipped: {problem}"));
    }
    if problems.len() > MOST {
        printer.note(&format!("skipped: {} more files", problems.len() - MOST));
    }
}

/// Ranks on all cores.
pub struct AllCores;

impl Workers for AllCores {
    fn map<'a, T: Sync, R: Send>(&self, items: &'a [T], work: impl Fn(usize, &'a T) -> R + Sync) -> Vec<R> {
        items.par_iter().enumerate().map(|(at, item)| work(at, item)).collect()
    }
}

/// Tests whether a recording has records of a monitor.
fn is_of_monitor(recording: &Recording) -> bool {
    match recording {
        Recording::Inspector { records, .. } => !records.is_empty(),
        Recording::Metrics { gauges, .. } => !gauges.is_empty(),
        _ => false,
    }
}
