//! Phase of rows from the rows around them.
//!
//! Responsible for: a few rows of a stream between two sequences of the same phase. Excludes rows that take
//! long compared with these sequences, and rows around the beginning of a step. Between two updates of the
//! optimizer there is a whole step, however few kernels it has.

use super::FoundBy;
use crate::RankTrace;
use crate::trace::{GpuActivities, GpuKind, HostKind, NONE};
use indexmap::IndexMap;
use railwright_step::Phase;
use rustc_hash::FxBuildHasher;

/// Maximum number of rows between agreeing neighbours.
const BETWEEN: usize = 16;

/// Successive rows of a stream with the same phase, or without a known one.
#[derive(Clone, Debug, Default)]
struct Stretch {
    phase: Option<Phase>,
    rows: Vec<usize>,
    /// The time of the rows, in nanoseconds.
    time: i64,
}

/// Sets the phase of rows to that of the sequences before and after them on their stream.
pub(super) fn fill(
    trace: &RankTrace,
    gpu: &GpuActivities,
    launches: &[u32],
    found: &mut [Option<Phase>],
    by: &mut FoundBy,
) {
    if found.iter().all(Option::is_some) {
        return;
    }
    let mut streams: IndexMap<u32, Vec<Stretch>, FxBuildHasher> = IndexMap::default();
    for (at, (&stream, kind)) in gpu.streams().iter().zip(gpu.kinds()).enumerate() {
        if matches!(kind, GpuKind::Annotation | GpuKind::Sync) {
            continue;
        }
        let stretches = streams.entry(stream).or_default();
        if stretches.last().is_none_or(|last| last.phase != found[at]) {
            stretches.push(Stretch { phase: found[at], ..Stretch::default() });
        }
        if let Some(last) = stretches.last_mut() {
            last.rows.push(at);
            last.time += gpu.ends()[at] - gpu.starts()[at];
        }
    }
    let steps = Steps::of(trace, gpu);
    for three in streams.iter().flat_map(|(_, stretches)| stretches.windows(3)) {
        let [before, between, after] = three else { continue };
        let (None, Some(phase)) = (between.phase, before.phase) else { continue };
        let agree = after.phase == Some(phase);
        let few = between.rows.len() <= BETWEEN && between.time.saturating_mul(2) <= before.time + after.time;
        let edges = || Some((*before.rows.last()?, *after.rows.first()?));
        if agree
            && few
            && edges().is_some_and(|(last, first)| !steps.begin_between(trace, gpu, launches, last, first))
        {
            by.neighbours += between.rows.len() as u64;
            between.rows.iter().for_each(|&row| found[row] = Some(phase));
        }
    }
}

/// Starts of steps in nanoseconds, from annotations.
struct Steps {
    /// On the host, in order of time.
    host: Vec<i64>,
    /// On the device, in order of time.
    device: Vec<i64>,
}

impl Steps {
    fn of(trace: &RankTrace, gpu: &GpuActivities) -> Self {
        let rows = gpu.iter().filter(|row| row.kind == GpuKind::Annotation);
        let begins = rows.filter(|row| crate::windows::step_number(trace.names.get(row.name)).is_some());
        let mut device: Vec<i64> = begins.map(|row| row.start).collect();
        device.sort_unstable();
        let annotated = trace.host.kinds().contains(&HostKind::Annotation);
        let host = if annotated { crate::windows::host_steps(trace) } else { Vec::new() };
        Self { host: host.into_iter().map(|step| step.1).collect(), device }
    }

    /// Tests whether a step begins between two device rows: on the device's clock, or between their launches.
    fn begin_between(
        &self,
        trace: &RankTrace,
        gpu: &GpuActivities,
        launches: &[u32],
        last: usize,
        first: usize,
    ) -> bool {
        let among = |begins: &[i64], from: i64, until: i64| {
            begins.partition_point(|&begin| begin <= from) < begins.partition_point(|&begin| begin <= until)
        };
        let called = |row: usize| {
            let launch = launches.get(row).copied().filter(|&launch| launch != NONE)?;
            trace.host.get(launch as usize).map(|call| call.start)
        };
        among(&self.device, gpu.starts()[last], gpu.starts()[first])
            || matches!((called(last), called(first)), (Some(a), Some(b)) if among(&self.host, a, b))
    }
}
