//! Mutations of traces.
//!
//! Responsible for: recorder faults: clock offsets and lost kernels; and scale: replicas of a job. Does not
//! change the activities.

use crate::communication::NameTable;
use crate::trace::{GpuActivities, GpuActivity};
use crate::{Job, RankTrace};

/// Shifts a clock by `offset` nanoseconds and adds a drift of `ppm` parts per million from the trace's first
/// activity on.
pub fn move_clock(trace: &mut RankTrace, offset: i64, ppm: f64) {
    let first = trace.gpu.starts().first().into_iter().chain(trace.host.starts().first()).min().copied();
    let first = first.unwrap_or_default();
    let to = |time: i64| time + offset + ((time - first) as f64 * ppm * 1e-6).round() as i64;
    trace.gpu.map_times(to);
    trace.host.map_times(to);
}

/// Removes the first `count` communication kernels and all device activities that began before the last of
/// them ended, as if the profiler had started late.
pub fn drop_leading(trace: &mut RankTrace, count: usize) {
    if count == 0 {
        return;
    }
    let classes = NameTable::shipped().classes(&trace.names);
    let last = trace.gpu.iter().filter(|row| classes.communicates(row.name)).take(count).last();
    let Some(until) = last.map(|row| row.end) else { return };
    keep(trace, |row| row.start >= until);
}

/// Keeps only some device activities.
pub fn keep(trace: &mut RankTrace, wanted: impl Fn(&GpuActivity) -> bool) {
    let mut kept = GpuActivities::default();
    for row in trace.gpu.iter().filter(wanted) {
        kept.push(row);
    }
    trace.gpu = kept;
}

/// `copies` replicas of a job as one job. Replica `k` has the ranks `k * n ..`. Its groups are shifted with
/// it, so its ranks communicate with each other as before. A group of the whole world stays a group of its
/// replica.
pub fn replicate(job: &Job, copies: u32) -> Job {
    let size = job.world_size;
    let mut traces = Vec::with_capacity(job.members.len() * copies as usize);
    for copy in 0..copies {
        for member in &job.members {
            let mut trace = member.trace.clone();
            let moved = copy * size;
            trace.identity.rank = Some(member.rank + moved);
            trace.identity.world_size = Some(size * copies);
            trace.identity.label = format!("{} (replica {copy})", trace.identity.label);
            for group in &mut trace.groups {
                if group.ranks.is_none() && group.size == Some(size) {
                    group.ranks = Some((0..size).collect());
                }
                for rank in group.ranks.iter_mut().flatten() {
                    *rank += moved;
                }
            }
            for call in &mut trace.collectives {
                call.peer = call.peer.map(|peer| peer + moved);
            }
            traces.push(trace);
        }
    }
    Job::new(traces)
}
