//! Tables of HolisticTraceAnalysis by its definitions, including artefacts: for comparison with existing
//! reports.
//!
//! Responsible for: temporal, overlap, kernel type, kernel, idle, launch and queue tables as that tool prints
//! them, in whole microseconds. Known errors of the tool are kept: the profiler's own report has the
//! corrected values.

mod events;
mod idle;
mod intervals;
mod kernels;
mod launch;
mod summary;
mod temporal;

pub use idle::{IdleCause, IdleRow};
pub use kernels::{KernelRow, KernelTypeRow};
pub use launch::{LaunchRow, QueueRow};
pub use summary::Summary;
pub use temporal::{OverlapRow, TemporalRow};

use crate::Job;
use serde::Serialize;

/// All tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HtaTables {
    /// Device time breakdown of each rank.
    pub temporal: Vec<TemporalRow>,
    /// Share of communication overlapped with compute.
    pub overlap: Vec<OverlapRow>,
    /// Time by mix of concurrent kernel types, summed over ranks.
    pub kernel_types: Vec<KernelTypeRow>,
    /// Kernels with the largest time, by type and rank.
    pub kernels: Vec<KernelRow>,
    /// Idle time of streams by cause.
    pub idle: Vec<IdleRow>,
    /// Launches with their kernels.
    pub launches: Vec<LaunchRow>,
    /// Queue lengths of streams.
    pub queues: Vec<QueueRow>,
}

/// Tables of a job. Excludes ranks without device activity, as the tool does.
pub fn tables(job: &Job) -> HtaTables {
    let mut all = HtaTables::default();
    let mut types = kernels::Types::default();
    for member in &job.members {
        let rank = member.rank;
        let events = events::Events::of(&member.trace);
        if events.gpu.is_empty() {
            continue;
        }
        all.temporal.push(temporal::temporal(rank, &events));
        all.overlap.push(temporal::overlap(rank, &events));
        types.add(&events);
        all.kernels.extend(kernels::breakdown(rank, &events));
        all.idle.extend(idle::breakdown(rank, &events));
        all.launches.push(launch::statistics(rank, &events));
        all.queues.extend(launch::queues(rank, &events));
    }
    all.kernel_types = types.rows();
    all
}
