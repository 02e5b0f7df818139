//! The events that HolisticTraceAnalysis uses, in its microseconds.
//!
//! Responsible for: rounding, the cut at steps, and the type from a kernel's name. Includes everything that
//! the tool accepts.

use crate::trace::{GpuKind, HostKind, NONE};
use crate::{NameId, RankTrace};
use std::collections::{BTreeMap, BTreeSet};

/// Kind of a kernel by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    Compute,
    Communication,
    Memory,
    Other,
}

/// A row on a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnStream {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) stream: u32,
    pub(super) correlation: Option<u32>,
    pub(super) name: NameId,
    /// Activity on the device. `None` for a host row that names a stream, which the tool treats as a kernel
    /// in some tables.
    pub(super) kind: Option<GpuKind>,
    pub(super) of: Type,
}

impl OnStream {
    pub(super) fn duration(&self) -> i64 {
        self.end - self.start
    }

    /// Tests whether it is a kernel, a copy or a set, not a wait or a host row.
    pub(super) fn is_work(&self) -> bool {
        matches!(self.kind, Some(GpuKind::Kernel | GpuKind::Copy | GpuKind::Set))
    }
}

/// A call of the runtime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) start: i64,
    pub(super) end: i64,
    /// True if its name is in the tool's launch analysis.
    pub(super) launches: bool,
    /// True if its name is in the tool's queue analysis.
    pub(super) queues: bool,
}

/// Events of one rank.
#[derive(Debug)]
pub(super) struct Events<'a> {
    pub(super) trace: &'a RankTrace,
    /// Device rows by start, then host rows that name a stream.
    pub(super) gpu: Vec<OnStream>,
    /// By correlation; the last one of several.
    pub(super) calls: BTreeMap<u32, Call>,
}

const LAUNCHES: [&str; 4] = ["cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"];

const DRIVER_LAUNCHES: [&str; 2] = ["cuLaunchKernel", "cuLaunchKernelEx"];

impl<'a> Events<'a> {
    /// Of a trace.
    pub(super) fn of(trace: &'a RankTrace) -> Self {
        let clock = Clock::of(trace);
        let times = |start: i64, end: i64| clock.times(start, end);
        let cut = cut(trace);
        let known = |names: &[&str]| names.iter().filter_map(|name| trace.names.find(name)).collect();
        let launches: BTreeSet<NameId> = known(&LAUNCHES);
        let drivers: BTreeSet<NameId> = known(&DRIVER_LAUNCHES);
        let mut calls = BTreeMap::new();
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for row in trace.host.iter() {
            if row.kind != HostKind::Runtime || cut.is_some_and(|cut| row.start >= cut) {
                continue;
            }
            let Some(correlation) = row.correlation else { continue };
            let (start, end) = times(row.start, row.end);
            *counts.entry(correlation).or_default() += 1;
            let launches = launches.contains(&row.name);
            let queues = launches || drivers.contains(&row.name);
            calls.insert(correlation, Call { start, end, launches, queues });
        }
        let mut types: BTreeMap<NameId, Type> = BTreeMap::new();
        let mut gpu = Vec::new();
        for row in trace.gpu.iter() {
            // Kineto writes the -1 of a wait for the whole context as 4294967295, which the tool treats as a
            // stream.
            let wide = row.kind == GpuKind::Sync && trace.names.get(row.name) == "Context Sync";
            if row.kind == GpuKind::Annotation || (row.stream == NONE && !wide) {
                continue;
            }
            let (start, end) = times(row.start, row.end);
            let of = *types.entry(row.name).or_insert_with(|| type_of(trace.names.get(row.name)));
            let event = OnStream {
                start,
                end,
                stream: row.stream,
                correlation: row.correlation,
                name: row.name,
                kind: Some(row.kind),
                of,
            };
            let copies = match (cut, row.correlation) {
                (None, _) => 1,
                (Some(_), Some(correlation)) => counts.get(&correlation).copied().unwrap_or(0),
                (Some(_), None) => 0,
            };
            gpu.extend(std::iter::repeat_n(event, copies.min(16)));
        }
        // For the tool, every row that names a stream is on it, including operators of compiled kernels. A
        // row without a call is cut like host rows.
        for named in trace.host.named_streams() {
            let Some(row) = trace.host.get(named.row as usize) else { continue };
            let copies = match (cut, named.correlation) {
                (None, _) => 1,
                (Some(cut), None) => usize::from(row.start < cut),
                (Some(_), Some(correlation)) => counts.get(&correlation).copied().unwrap_or(0),
            };
            let (start, end) = times(row.start, row.end);
            let of = *types.entry(row.name).or_insert_with(|| type_of(trace.names.get(row.name)));
            let event = OnStream {
                start,
                end,
                stream: named.stream,
                correlation: named.correlation,
                name: row.name,
                kind: None,
                of,
            };
            gpu.extend(std::iter::repeat_n(event, copies.min(16)));
        }
        Self { trace, gpu, calls }
    }

    /// The call that launched an event.
    pub(super) fn call(&self, event: &OnStream) -> Option<&Call> {
        self.calls.get(&event.correlation?)
    }
}

/// Conversion of times to whole microseconds, as in the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// Times are whole.
    Whole,
    /// Starts are rounded up and ends down: short kernels have zero or negative length.
    Inward,
    /// The same for absolute times as doubles, which have a resolution of a quarter of a microsecond.
    Coarse,
}

impl Clock {
    fn of(trace: &RankTrace) -> Self {
        let whole = trace.gpu.starts().iter().chain(trace.host.starts()).all(|t| t % 1000 == 0);
        match (whole, trace.identity.base) {
            (true, _) => Self::Whole,
            (false, None) => Self::Coarse,
            (false, Some(_)) => Self::Inward,
        }
    }

    fn times(self, start: i64, end: i64) -> (i64, i64) {
        match self {
            Self::Whole => (start.div_euclid(1000), end.div_euclid(1000)),
            Self::Inward => ((start + 999).div_euclid(1000), end.div_euclid(1000)),
            Self::Coarse => {
                let begin = start.div_euclid(1000) as f64 + start.rem_euclid(1000) as f64 / 1000.0;
                let finish = begin + (end - start) as f64 / 1000.0;
                (begin.ceil() as i64, finish.floor() as i64)
            }
        }
    }
}

/// Start of the last step in nanoseconds: with two or more steps, everything from it on is excluded. The
/// device rows of a step count as a step, too.
fn cut(trace: &RankTrace) -> Option<i64> {
    let is_step = |name: NameId| trace.names.get(name).starts_with("ProfilerStep");
    let mut names = BTreeSet::new();
    let mut last = i64::MIN;
    for row in trace.host.iter().filter(|r| r.kind == HostKind::Annotation && is_step(r.name)) {
        names.insert(row.name);
        last = last.max(row.start);
    }
    for row in trace.gpu.iter().filter(|r| r.kind == GpuKind::Annotation && is_step(r.name)) {
        names.insert(row.name);
        last = last.max(row.start);
    }
    (names.len() >= 2).then_some(last)
}

/// Type of a kernel, from its name.
pub(super) fn type_of(name: &str) -> Type {
    let communication = name.starts_with("nccl") || name.starts_with("hccl") || name.contains("ncclKernel");
    if communication {
        return Type::Communication;
    }
    let plain = name.strip_prefix("hip").unwrap_or(name);
    if plain.starts_with("Memcpy") || plain.starts_with("Memset") || name.contains("dma") {
        return Type::Memory;
    }
    let waits = name.ends_with("Sync") || name == "Stream Wait Event" || name.contains("runFunction");
    let calls = name.starts_with("cudaLaunch") || name.starts_with("hipLaunch");
    if waits || calls { Type::Other } else { Type::Compute }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_types() {
        assert_eq!(type_of("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), Type::Communication);
        assert_eq!(type_of("Memcpy HtoD (Pageable -> Device)"), Type::Memory);
        assert_eq!(type_of("Context Sync"), Type::Other);
        assert_eq!(type_of("volta_sgemm_128x32_tn"), Type::Compute);
    }
}
