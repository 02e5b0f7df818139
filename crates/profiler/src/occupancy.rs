//! Activity of a rank's device over time, for queries on any interval.
//!
//! Responsible for: compute, communication, copies and idle time of an interval, and idle time because of
//! late launches, each in logarithmic time. Does not classify compute.

use crate::RankTrace;
use crate::causes::LATE_START;
use crate::communication::{Classes, NameTable};
use crate::launches::lacks_first;
use crate::trace::{GpuKind, HostKind, NONE};

/// Disjoint intervals in order, with cumulative lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Intervals {
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// Total length before each interval, and of all intervals at the end, in nanoseconds.
    before: Vec<i64>,
}

impl Intervals {
    /// The union of intervals, in any order.
    pub(crate) fn union(mut raw: Vec<(i64, i64)>) -> Self {
        raw.sort_unstable();
        let mut merged = Self::default();
        for (start, end) in raw.into_iter().filter(|(start, end)| end > start) {
            match merged.ends.last_mut() {
                Some(last) if start <= *last => *last = (*last).max(end),
                _ => {
                    merged.starts.push(start);
                    merged.ends.push(end);
                }
            }
        }
        let mut sum = 0;
        merged.before.push(0);
        for (start, end) in merged.starts.iter().zip(&merged.ends) {
            sum += end - start;
            merged.before.push(sum);
        }
        merged
    }

    /// Covered time before `time`, in nanoseconds.
    fn until(&self, time: i64) -> i64 {
        let at = self.starts.partition_point(|&start| start < time);
        if at == 0 {
            return 0;
        }
        self.before[at - 1] + (time.min(self.ends[at - 1]) - self.starts[at - 1])
    }

    /// Covered time within `[from, to]`, in nanoseconds.
    pub(crate) fn within(&self, from: i64, to: i64) -> i64 {
        if to <= from { 0 } else { self.until(to) - self.until(from) }
    }

    /// Total covered time, in nanoseconds.
    pub(crate) fn total(&self) -> i64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// End of the last interval that begins before a time, limited to that time.
    pub(crate) fn last_end(&self, time: i64) -> Option<i64> {
        let at = self.starts.partition_point(|&start| start < time);
        Some((*self.ends.get(at.checked_sub(1)?)?).min(time))
    }

    /// The first interval that ends after a time.
    pub(crate) fn next(&self, time: i64) -> Option<(i64, i64)> {
        let at = self.ends.partition_point(|&end| end <= time);
        Some((*self.starts.get(at)?, self.ends[at]))
    }

    /// Time covered by both, in nanoseconds.
    pub(crate) fn overlap(&self, other: &Self) -> i64 {
        self.iter().map(|(start, end)| other.within(start, end)).sum()
    }

    /// The parts of these intervals outside others.
    pub(crate) fn outside(&self, other: &Self) -> Self {
        let mut raw = Vec::with_capacity(self.starts.len());
        for (start, end) in self.iter() {
            let mut from = start;
            while from < end {
                let (begin, until) = other.next(from).unwrap_or((end, end));
                raw.push((from, begin.min(end)));
                from = until;
            }
        }
        Self::union(raw)
    }

    /// The parts of these intervals within `[from, to]`.
    pub(crate) fn clipped(&self, (from, to): (i64, i64)) -> Self {
        Self::union(self.iter().map(|(start, end)| (start.max(from), end.min(to))).collect())
    }

    fn iter(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.starts.iter().copied().zip(self.ends.iter().copied())
    }
}

/// Activity of a rank's device over time, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Occupancy {
    /// Kernels other than communication.
    pub compute: Intervals,
    /// Communication.
    pub communication: Intervals,
    /// Any activity.
    pub busy: Intervals,
    /// Idle time that ends with a later launch: from the end of activity to the end of the next one's call.
    pub host_late: Intervals,
    /// Idle time from the end of a launch to the start of the launched activity, if it lasts [`LATE_START`]
    /// or longer.
    late_start: Intervals,
    /// Time without compute until the end of the next compute kernel's call. Other activity may overlap it.
    pub compute_late: Intervals,
    /// Starts of compute kernels, in order.
    kernels: Vec<i64>,
    /// Launch time of each compute kernel, if the trace has the call; otherwise the greatest one before.
    launches: Vec<i64>,
    /// Latest end of each compute kernel and those before it.
    ended: Vec<i64>,
    /// Time from the first activity to the end of the last.
    pub window: (i64, i64),
    /// Start of the recording; earlier activity is unknown.
    recorded: i64,
    /// True if there is no device, so that host operators replace device activity.
    pub host_alone: bool,
}

/// Time of an interval by activity, in nanoseconds; compute and communication may overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub compute: i64,
    /// Communication not overlapped with compute.
    pub exposed: i64,
    pub copy: i64,
    /// Idle until the next launch.
    pub host: i64,
    /// Idle after the launch for [`LATE_START`] or longer.
    pub late: i64,
    /// Idle although work was launched.
    pub idle: i64,
    pub kernels: i64,
}

impl Occupancy {
    pub(crate) fn of(trace: &RankTrace, table: &NameTable) -> Self {
        let classes = table.classes(&trace.names);
        let on_host = host_intervals(trace, table, &classes);
        let mut compute = Vec::new();
        let mut communication = on_host.communication;
        let mut busy = Vec::new();
        let mut kernels = Vec::new();
        let mut launched: Vec<(i64, Option<u32>)> = Vec::new();
        let mut compute_rows: Vec<(i64, Option<u32>)> = Vec::new();
        for row in trace.gpu.iter() {
            let interval = (row.start, row.end);
            match row.kind {
                GpuKind::Annotation | GpuKind::Sync => continue,
                _ if classes.communicates(row.name)
                    || (row.kind == GpuKind::Kernel && row.collective.is_some()) =>
                {
                    communication.push(interval);
                }
                GpuKind::Kernel => {
                    compute.push(interval);
                    kernels.push(row.start);
                    compute_rows.push((row.start, row.correlation));
                }
                GpuKind::Copy | GpuKind::Set => {}
            }
            busy.push(interval);
            launched.push((row.start, row.correlation));
        }
        let host_alone = compute.is_empty() && busy.is_empty();
        if host_alone {
            // Without a device the host computes.
            compute = on_host.compute;
            kernels = compute.iter().map(|interval| interval.0).collect();
            busy = compute.iter().chain(&communication).copied().collect();
        }
        let calls = calls(trace);
        let mut launches: Vec<i64> = Vec::with_capacity(kernels.len());
        compute_rows.sort_unstable();
        for &(_, correlation) in &compute_rows {
            let before = launches.last().copied().unwrap_or(i64::MIN);
            launches.push(called(&calls, correlation).unwrap_or(before).max(before));
        }
        kernels.sort_unstable();
        let mut spans = compute.clone();
        spans.sort_unstable();
        let mut ended: Vec<i64> = Vec::with_capacity(spans.len());
        for (_, end) in spans {
            ended.push(ended.last().copied().unwrap_or(end).max(end));
        }
        let busy = Intervals::union(busy);
        let recorded = trace.host.starts().first().copied().filter(|_| !lacks_first(trace));
        let returns = returns(trace);
        let (host_late, late_start) = late_launches(recorded, &returns, &busy, &launched);
        let compute = Intervals::union(compute);
        let (compute_late, _) = late_launches(recorded, &returns, &compute, &compute_rows);
        let window =
            (busy.starts.first().copied().unwrap_or_default(), busy.ends.last().copied().unwrap_or_default());
        Self {
            compute,
            communication: Intervals::union(communication),
            busy,
            host_late,
            late_start,
            compute_late,
            kernels,
            launches,
            ended,
            recorded: recorded.map_or(window.0, |first| first.min(window.0)),
            window,
            host_alone,
        }
    }

    /// Number of compute kernels that start in an interval.
    pub(crate) fn started(&self, from: i64, to: i64) -> usize {
        let before = |time: i64| self.kernels.partition_point(|&start| start < time);
        before(to).saturating_sub(before(from))
    }

    /// Rest of an interval after its first `count` compute kernels, in nanoseconds: from the start of the
    /// next one, otherwise from the end of the last one. `None` without compute kernels.
    pub(crate) fn behind(&self, count: usize, (from, to): (i64, i64)) -> Option<i64> {
        let first = self.kernels.partition_point(|&start| start < from);
        let next = self.kernels.get(first.saturating_add(count)).copied().filter(|&start| start < to);
        Some(to - next.or_else(|| self.compute.last_end(to))?.max(from))
    }

    /// Time of an interval by activity.
    pub(crate) fn spent(&self, from: i64, to: i64) -> Spent {
        if to <= from {
            return Spent::default();
        }
        let compute = self.compute.within(from, to);
        let busy = self.busy.within(from, to);
        let host = self.host_late.within(from, to);
        let communication = self.communication.within(from, to);
        // Copies are a separate category; communication concurrent with compute is overlapped.
        let exposed = communication.min(busy - compute).max(0);
        let copy = (busy - compute - exposed).max(0);
        let first = self.kernels.partition_point(|&start| start < from);
        let last = self.kernels.partition_point(|&start| start < to);
        let kernels = i64::try_from(last - first).unwrap_or(i64::MAX);
        if self.host_alone {
            // Time outside operators is host time, even during background communication.
            return Spent { compute, host: to - from - compute, kernels, ..Spent::default() };
        }
        // A start that is this late is not caused by the host, even if the host limits the launches.
        let late = self.late_start.within(from, to);
        let idle = (to - from.max(self.recorded) - busy - host - late).max(0);
        // Work that reaches a device in batches is launched before the device is free. The host may still
        // limit it: the launches took most of the interval.
        let launching = match (first.checked_sub(1), last.checked_sub(1)) {
            (Some(before), Some(last)) if last > before => {
                let (from, to) = (self.launches.get(before), self.launches.get(last));
                from.zip(to).map_or(0, |(from, to)| to.saturating_sub(*from))
            }
            _ => 0,
        };
        let paced = launching < 2 * (to - from) && launching * 2 > to - from;
        Spent {
            compute,
            exposed,
            copy,
            host: if paced { host + idle } else { host },
            late,
            idle: if paced { 0 } else { idle },
            kernels,
        }
    }
}

/// Launches of a rank, for the earliest start of its device rows.
pub(crate) struct Launched<'a> {
    trace: &'a RankTrace,
    calls: Vec<(u32, i64)>,
    on: &'a Occupancy,
}

impl<'a> Launched<'a> {
    pub(crate) fn of(trace: &'a RankTrace, on: &'a Occupancy) -> Self {
        Self { trace, calls: calls(trace), on }
    }

    /// Launch time of a device row, in nanoseconds; `None` if the trace has no such call.
    pub(crate) fn at(&self, row: usize) -> Option<i64> {
        called(&self.calls, self.trace.gpu.get(row)?.correlation)
    }

    /// Earliest start of a row on a free stream, in nanoseconds: after its launch, and after compute kernels
    /// launched before it. `None` without its launch, or if the same launch (a graph) contains compute,
    /// whose order is not recorded.
    pub(crate) fn ready(&self, row: usize) -> Option<i64> {
        let call = self.at(row)?;
        let before = self.on.launches.partition_point(|&launch| launch < call);
        if self.on.launches.get(before) == Some(&call) {
            return None;
        }
        let worked = before.checked_sub(1).and_then(|last| self.on.ended.get(last)).copied();
        Some(worked.map_or(call, |end| end.max(call)))
    }
}

/// Host intervals of a trace without device.
struct HostIntervals {
    compute: Vec<(i64, i64)>,
    communication: Vec<(i64, i64)>,
}

fn host_intervals(trace: &RankTrace, table: &NameTable, classes: &Classes) -> HostIntervals {
    let mut found = HostIntervals { compute: Vec::new(), communication: Vec::new() };
    let alone = trace.gpu.is_empty();
    let host = &trace.host;
    let rows = host.names().iter().zip(host.kinds()).zip(host.starts().iter().zip(host.ends()));
    for ((&name, &kind), (&start, &end)) in rows {
        if classes.get(name).is_some_and(|class| table.on_host(class)) {
            found.communication.push((start, end));
        } else if alone && kind == HostKind::Operator && !waits(trace.names.get(name)) {
            found.compute.push((start, end));
        }
    }
    found
}

/// Tests whether a host operator is or contains communication.
fn waits(name: &str) -> bool {
    name.starts_with("c10d::")
        || name.starts_with("_c10d_functional::")
        || name.starts_with("c10d_functional::")
}

/// Starts of runtime calls by correlation to their device rows: (correlation, nanoseconds), sorted.
fn calls(trace: &RankTrace) -> Vec<(u32, i64)> {
    by_correlation(trace, trace.host.starts())
}

/// Ends of the same calls. A call that its thread leaves late (a busy core, a lock of the driver) launches
/// late, whenever it began.
fn returns(trace: &RankTrace) -> Vec<(u32, i64)> {
    by_correlation(trace, trace.host.ends())
}

/// Times of runtime calls by correlation to their device rows, sorted.
fn by_correlation(trace: &RankTrace, times: &[i64]) -> Vec<(u32, i64)> {
    let host = &trace.host;
    let rows = host.kinds().iter().zip(host.correlations()).zip(times);
    let runtime =
        rows.filter(|((kind, correlation), _)| **kind == HostKind::Runtime && **correlation != NONE);
    let mut calls: Vec<(u32, i64)> = runtime.map(|((_, correlation), time)| (*correlation, *time)).collect();
    calls.sort_unstable();
    calls
}

/// Time of a correlation, in nanoseconds; `None` without a recorded call.
fn called(calls: &[(u32, i64)], correlation: Option<u32>) -> Option<i64> {
    let correlation = correlation?;
    let at = calls.partition_point(|call| call.0 < correlation);
    calls.get(at).filter(|call| call.0 == correlation).map(|call| call.1)
}

/// Idle time before launches, and late starts. The first are intervals from the end of activity to the end of
/// the next one's call, or to its start within the call. The second are intervals from the end of such a call
/// to a late start. Before the first device row, the device is idle from the host's first row (`recorded`),
/// if known.
fn late_launches(
    recorded: Option<i64>,
    returns: &[(u32, i64)],
    busy: &Intervals,
    launched: &[(i64, Option<u32>)],
) -> (Intervals, Intervals) {
    let mut by_start: Vec<(i64, Option<u32>)> = launched.to_vec();
    by_start.sort_unstable();
    let (mut late, mut late_start) = (Vec::new(), Vec::new());
    let mut free = recorded;
    for (start, end) in busy.iter() {
        if let Some(free) = free {
            let at = by_start.partition_point(|row| row.0 < start);
            let correlation = by_start.get(at).and_then(|row| row.1);
            let call = called(returns, correlation);
            if let Some(call) = call.filter(|&call| call > free) {
                late.push((free, call.min(start)));
                if start - call >= LATE_START {
                    late_start.push((call, start));
                }
            }
        }
        free = Some(end);
    }
    (Intervals::union(late), Intervals::union(late_start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, HostActivity};

    #[test]
    fn lengths_within_any_interval() {
        let union = Intervals::union(vec![(10, 20), (15, 30), (40, 50), (50, 55), (60, 60)]);
        assert_eq!(union.total(), 35);
        for (from, to, length) in
            [(0, 100, 35), (12, 14, 2), (25, 45, 10), (30, 40, 0), (52, 70, 3), (9, 5, 0)]
        {
            assert_eq!(union.within(from, to), length, "{from}..{to}");
        }
        assert_eq!((union.next(35), union.next(0), union.next(55)), (Some((40, 55)), Some((10, 30)), None));
    }

    /// The thread loses its core within the second call, which began while the device was busy.
    #[test]
    fn a_call_that_returns_late_launches_late() {
        let mut trace = RankTrace::default();
        let [call, kernel] = ["cudaLaunchKernel", "gemm"].map(|name| trace.names.intern(name));
        for (at, start, end) in [(1, 0, 5), (2, 50, 5_000_000)] {
            let (kind, correlation) = (HostKind::Runtime, Some(at));
            trace.host.push(HostActivity {
                start,
                end,
                name: call,
                kind,
                correlation,
                ..HostActivity::default()
            });
        }
        for (at, start, end) in [(1, 10, 100), (2, 5_000_010, 5_000_100)] {
            let (kind, correlation) = (GpuKind::Kernel, Some(at));
            trace.gpu.push(GpuActivity {
                start,
                end,
                name: kernel,
                kind,
                correlation,
                ..GpuActivity::default()
            });
        }
        let spent = Occupancy::of(&trace, NameTable::shipped()).spent(10, 5_000_100);
        assert_eq!((spent.host, spent.late, spent.idle), (4_999_900, 0, 10));
    }

    proptest::proptest! {
        #[test]
        fn what_is_outside_of_others_is_the_rest(
            raw in proptest::collection::vec((0_i64..60, 0_i64..20), 0..12), other in proptest::collection::vec((0_i64..60, 0_i64..20), 0..12),
        ) {
            let union = |raw: Vec<(i64, i64)>| Intervals::union(raw.into_iter().map(|(start, length)| (start, start + length)).collect());
            let (all, other) = (union(raw), union(other));
            let outside = all.outside(&other);
            for time in 0..80 {
                let expected = if other.within(time, time + 1) == 0 { all.within(time, time + 1) } else { 0 };
                proptest::prop_assert_eq!(outside.within(time, time + 1), expected, "{}", time);
            }
        }
    }
}
