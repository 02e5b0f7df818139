//! The traces of a job, read and joined once for all results.
//!
//! Responsible for: files to ranks on a common clock, shared by the requests of a server, and the profiles of each job. Recordings without
//! a rank are returned to the caller. Prints only skipped files.

use crate::commands::recorded::profiled::AllCores;
use crate::commands::recorded::profiled::print_skipped;
use crate::exit::Failure;
use crate::input::jobs::Wanted;
use crate::input::kept::Kept;
use crate::input::traces;
use crate::input::traces::{Loaded, kept};
use crate::limits;
use crate::printer::Printer;
use railwright_profiler::Job;
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::communication::NameTable;
use railwright_profiler::groups::Layout;
use railwright_profiler::joined::{JoinOptions, Joined, join_by};
use railwright_profiler::profile::{Options, Profile, profile};
use railwright_profiler::readers::Keep;
use railwright_reports::monitored::Monitored;
use railwright_spec::problem::Problem;
use std::sync::Arc;

/// Jobs of a server that are kept, at most.
const JOBS: usize = 3;

/// Profiles of each, at most: with other options they differ.
const PROFILES: usize = 3;

/// Bytes of a profile for each rank, about.
const PROFILE: u64 = 64 << 10;

/// A job that was read and joined.
pub(crate) struct Read {
    pub(crate) job: Job,
    pub(crate) joined: Joined,
    /// True if the folder of the traces contains files of monitors.
    pub(crate) has_monitors: bool,
    /// Files that could not be read.
    skipped: Vec<Problem>,
    /// True if reading without Python functions omits some rows.
    has_python: bool,
    profiles: Kept<Options, Profile>,
}

/// Joining options.
#[derive(Clone, PartialEq)]
pub(crate) struct How {
    /// Names that communicate.
    pub(crate) names: NameTable,
    /// Parallel sizes set by the user.
    pub(crate) layout: Option<Layout>,
    /// Parallel sizes of the traced run, used if they have the same number of ranks.
    pub(crate) of_run: Option<Layout>,
    pub(crate) clocks: ClockPolicy,
}

impl How {
    /// The sizes for a job with this number of ranks. A run of another size is another run.
    fn layout(&self, world: u32) -> Option<Layout> {
        let of_run = || self.of_run.clone().filter(|layout| layout.world() == u64::from(world));
        self.layout.clone().or_else(of_run)
    }
}

/// Contents of paths.
pub(crate) enum Opened {
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
pub(crate) fn open(
    paths: &[String],
    wanted: Wanted,
    keep: Keep,
    how: &How,
    printer: &Printer,
) -> Result<Opened, Failure> {
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
    let has_monitors = Monitored::of(&loaded.recordings).is_some();
    let (telemetry, skipped) = (loaded.telemetry(), loaded.problems.clone());
    let mut job = Job::new(loaded.into_ranks());
    job.telemetry = telemetry;
    job.leave_out_blind();
    let layout = how.layout(job.world_size);
    let options = JoinOptions { names: Some(how.names.clone()), layout, clocks: how.clocks };
    let joined = join_by(&mut job, &options, &AllCores);
    Ok(Read { job, joined, has_monitors, skipped, has_python, profiles: Kept::new(PROFILES, 16) })
}

impl Read {
    /// Profiles the job on all cores, once for equal options.
    pub(crate) fn profiled(&self, options: &Options, printer: &Printer) -> Result<Arc<Profile>, Failure> {
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
