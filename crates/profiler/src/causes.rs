//! Causes of idle device time, from host activity.
//!
//! Responsible for: the causes ([`Cause`]), the table of names that identifies them ([`CauseTable`],
//! `crates/profiler/data/causes.toml`), and the frames of the thread that launches, gap by gap. A cause
//! without a recorded frame is unknown.

mod calls;
mod frames;
mod gaps;
mod launched;
mod places;
mod rows;
mod table;
mod trials;

pub(crate) use calls::{Key, Stacks, Usual, key};
pub(crate) use frames::THREADS;
pub(crate) use gaps::{Idle, Stretch};
pub(crate) use launched::LONG as LATE_START;
pub use places::{CauseUse, Where};
pub(crate) use places::{Sums, is_own_source};
pub use rows::{CauseRow, rows};
pub use table::CauseTable;
pub(crate) use trials::{Trials, is_convolution};

use crate::RankTrace;
use crate::occupancy::Intervals;
use crate::trace::{HostKind, NONE};
use crate::waterfall::Label;
use serde::Serialize;
use std::collections::BTreeSet;

/// Reason why a device was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Memory of the device or pinned memory is allocated or freed by the driver.
    Allocation,
    /// Data is loaded.
    DataLoading,
    /// A copy blocks the host until it has ended.
    BlockingCopy,
    /// A call waits for the device.
    Synchronisation,
    /// Kernels or graphs are compiled, or their modules loaded.
    Compilation,
    /// The interpreter collects garbage.
    GarbageCollection,
    /// A checkpoint is written.
    Checkpoint,
    /// The model is being evaluated.
    Evaluation,
    /// The profiler itself.
    Profiler,
    /// A thread without launches runs operators, and the launching thread has no frame.
    OtherThread,
    /// One operator, function or host call that takes longer than a launch.
    HostWork,
    /// Short host work between launches.
    LaunchBound,
    /// A communication call blocks the host.
    Communication,
    /// The work was launched while the device was idle and started a millisecond later or more.
    LaunchLatency,
    /// The next work was launched before the device became idle.
    Device,
    /// Before the first or after the last recorded activity of the rank: its recording is shorter than those
    /// of others.
    NotRecorded,
    /// No frame was recorded.
    Unknown,
}

/// Idle time by cause, in the order of [`Cause::ALL`], in nanoseconds.
pub type CauseTimes = [i64; Cause::ALL.len()];

impl Cause {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Allocation,
        Self::DataLoading,
        Self::BlockingCopy,
        Self::Synchronisation,
        Self::Compilation,
        Self::GarbageCollection,
        Self::Checkpoint,
        Self::Evaluation,
        Self::Profiler,
        Self::OtherThread,
        Self::HostWork,
        Self::LaunchBound,
        Self::Communication,
        Self::LaunchLatency,
        Self::Device,
        Self::NotRecorded,
        Self::Unknown,
    ];

    /// Label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocation => "memory allocation",
            Self::DataLoading => "data loading",
            Self::BlockingCopy => "blocking copy",
            Self::Synchronisation => "synchronization",
            Self::Compilation => "compilation, module loading",
            Self::GarbageCollection => "garbage collection",
            Self::Checkpoint => "checkpoint",
            Self::Evaluation => "evaluation",
            Self::Profiler => "profiler overhead",
            Self::OtherThread => "other thread",
            Self::HostWork => "long host call",
            Self::LaunchBound => "launch-bound",
            Self::Communication => "communication call",
            Self::LaunchLatency => "launch latency",
            Self::Device => "device gap",
            Self::NotRecorded => "outside the recording",
            Self::Unknown => "unknown",
        }
    }

    /// Waterfall label of idle time with this cause.
    pub const fn label(self) -> Label {
        match self {
            Self::Allocation => Label::Allocation,
            Self::DataLoading => Label::DataLoading,
            Self::BlockingCopy | Self::Synchronisation => Label::Sync,
            Self::Device => Label::Gap,
            Self::NotRecorded => Label::Unexplained,
            _ => Label::Host,
        }
    }
}

/// Time of a rank's host in calls that a steady state does not repeat: allocation of memory, compilation and
/// loading of modules.
pub(crate) fn one_off(trace: &RankTrace) -> Intervals {
    within(trace, &[Cause::Allocation, Cause::Compilation])
}

/// Time of a rank's host in work that the program plans for some steps: checkpoints and evaluations.
pub(crate) fn planned(trace: &RankTrace) -> Intervals {
    within(trace, &[Cause::Checkpoint, Cause::Evaluation])
}

/// Causes of a late host that a frame proves. Excludes calls that wait for the device or for other ranks, and
/// compilation: long launches count as it, and they may be those of a slow host.
const OF_HOST: [Cause; 5] =
    [Cause::Allocation, Cause::DataLoading, Cause::GarbageCollection, Cause::Checkpoint, Cause::Evaluation];

/// Tests whether a name is that of a cause of a late host.
pub(crate) fn is_of_host(name: &str) -> bool {
    OF_HOST.iter().any(|cause| cause.name() == name)
}

/// Recorded cause of a host's delays (from, until): the innermost one that lasts for at least half of them.
/// Counts threads that launch, because work of others delays no launch; without launches all.
pub(crate) fn of_delays(trace: &RankTrace, delays: &[(i64, i64)]) -> Option<Cause> {
    let all: i64 = delays.iter().map(|(from, until)| (until - from).max(0)).sum();
    let launching = launching(trace);
    let is_thread = |thread| launching.is_empty() || launching.contains(&thread);
    let during = |cause: &Cause| {
        let times = in_frames(trace, &[*cause], is_thread);
        delays.iter().map(|&(from, until)| times.within(from, until)).sum::<i64>()
    };
    let long = OF_HOST.into_iter().map(|cause| (during(&cause), cause));
    long.filter(|&(time, _)| all > 0 && 2 * time >= all).min_by_key(|&(time, _)| time).map(|found| found.1)
}

/// Threads of a rank that launch.
fn launching(trace: &RankTrace) -> BTreeSet<u32> {
    let host = &trace.host;
    let calls = host.kinds().iter().zip(host.correlations()).zip(host.threads());
    let launches =
        calls.filter(|((kind, correlation), _)| **kind == HostKind::Runtime && **correlation != NONE);
    launches.map(|(_, thread)| *thread).collect()
}

/// Time of a rank's host in frames with one of these causes.
fn within(trace: &RankTrace, causes: &[Cause]) -> Intervals {
    in_frames(trace, causes, |_| true)
}

/// Time of some threads of a rank in frames with one of these causes.
fn in_frames(trace: &RankTrace, causes: &[Cause], is_thread: impl Fn(u32) -> bool) -> Intervals {
    let table = CauseTable::shared();
    let host = &trace.host;
    let mut known: Vec<Option<Vec<u8>>> = vec![None; trace.names.len()];
    let rows = host.kinds().iter().zip(host.names()).enumerate().filter_map(|(at, (kind, name))| {
        host.threads().get(at).filter(|thread| is_thread(**thread))?;
        let cell = known.get_mut(name.0 as usize)?;
        let places = cell.get_or_insert_with(|| table.places(*kind, trace.names.get(*name)));
        let (start, end) = (*host.starts().get(at)?, *host.ends().get(at)?);
        let fits = |place: &u8| {
            let row = table.row(*place);
            row.is_some_and(|(cause, least)| causes.contains(&cause) && end - start >= least)
        };
        places.iter().any(fits).then_some((start, end))
    });
    Intervals::union(rows.collect())
}
