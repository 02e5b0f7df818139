//! Host calls that launched device rows.
//!
//! Responsible for: joining device rows with runtime calls by their correlation. Ignores flow arrows, half of
//! which are dangling in real traces. A row without its own call is not assigned to the nearest one.

use crate::RankTrace;
use crate::captures::captures;
use crate::trace::{GpuActivities, HostKind, NONE};

/// By device row: the host row that launched it, [`NONE`] if the trace has none.
pub fn launches(trace: &RankTrace, gpu: &GpuActivities) -> Vec<u32> {
    let host = &trace.host;
    let mut calls: Vec<(u32, u32)> = Vec::new();
    for (at, &kind) in host.kinds().iter().enumerate() {
        if kind == HostKind::Runtime
            && let Some(correlation) = host.get(at).and_then(|row| row.correlation)
        {
            calls.push((correlation, at as u32));
        }
    }
    if calls.is_empty() {
        return vec![NONE; gpu.len()];
    }
    let find = Lookup::new(calls);
    gpu.iter().map(|row| row.correlation.map_or(NONE, |correlation| find.get(correlation))).collect()
}

/// Tests whether a runtime call launches work on a device. Host functions have no device row.
fn is_launch(name: &str) -> bool {
    name.contains("Launch") && !name.contains("HostFunc")
}

/// Tests whether the host launched work on a device.
pub(crate) fn launches_work(trace: &RankTrace) -> bool {
    let known: Vec<bool> = trace.names.iter().map(is_launch).collect();
    let calls = trace.host.kinds().iter().zip(trace.host.names());
    calls
        .into_iter()
        .any(|(kind, name)| *kind == HostKind::Runtime && known.get(name.0 as usize) == Some(&true))
}

/// Tests whether the first rows of a device are missing: the host launched work before the first row, and no
/// row has its number. The device's activity until then is unknown. Calls within a graph capture launch
/// nothing, and host functions have no device row.
pub(crate) fn lacks_first(trace: &RankTrace) -> bool {
    let host = &trace.host;
    let Some(first) = trace.gpu.iter().map(|row| row.start).min() else { return false };
    let until = host.starts().partition_point(|&start| start < first);
    let mut launched: Vec<(u32, i64)> = (0..until)
        .filter(|&at| host.kinds().get(at) == Some(&HostKind::Runtime))
        .filter_map(|at| host.get(at))
        .filter(|row| is_launch(trace.names.get(row.name)))
        .filter_map(|row| Some((row.correlation?, row.start)))
        .collect();
    if launched.is_empty() {
        return false;
    }
    launched.sort_unstable();
    let mut ran = vec![false; launched.len()];
    for correlation in trace.gpu.iter().filter_map(|row| row.correlation) {
        let at = launched.partition_point(|launch| launch.0 < correlation);
        let same = launched.iter().skip(at).take_while(|launch| launch.0 == correlation).count();
        ran.iter_mut().skip(at).take(same).for_each(|ran| *ran = true);
    }
    if ran.iter().all(|ran| *ran) {
        return false;
    }
    let captured = captures(trace);
    let is_captured = |time: i64| captured.iter().any(|&(begin, end)| begin <= time && time < end);
    launched.iter().zip(ran).any(|(launch, ran)| !ran && !is_captured(launch.1))
}

/// Map from a number to a row: an array if the numbers are dense, as in whole traces, otherwise a search.
enum Lookup {
    Array { first: u32, rows: Vec<u32> },
    Sorted(Vec<(u32, u32)>),
}

impl Lookup {
    fn new(mut calls: Vec<(u32, u32)>) -> Self {
        let first = calls.iter().map(|c| c.0).min().unwrap_or(0);
        let last = calls.iter().map(|c| c.0).max().unwrap_or(0);
        if ((last - first) as usize) < calls.len().saturating_mul(8).max(4096) {
            let mut rows = vec![NONE; (last - first) as usize + 1];
            for (correlation, row) in calls {
                let cell = &mut rows[(correlation - first) as usize];
                // Of two calls with one number (a retry, a driver call within a runtime call), the first is
                // the outer one.
                if *cell == NONE {
                    *cell = row;
                }
            }
            return Self::Array { first, rows };
        }
        calls.sort_unstable();
        calls.dedup_by_key(|call| call.0);
        Self::Sorted(calls)
    }

    fn get(&self, correlation: u32) -> u32 {
        match self {
            Self::Array { first, rows } => {
                correlation.checked_sub(*first).and_then(|at| rows.get(at as usize)).copied().unwrap_or(NONE)
            }
            Self::Sorted(calls) => {
                calls.binary_search_by_key(&correlation, |call| call.0).map_or(NONE, |at| calls[at].1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, HostActivity};

    #[test]
    fn rows_find_their_calls_whether_numbers_are_close_or_far_apart() {
        for step in [1, 1_000_000] {
            let mut trace = RankTrace::default();
            for n in 0..10 {
                let call = HostActivity {
                    start: i64::from(n),
                    kind: HostKind::Runtime,
                    correlation: Some(7 + n * step),
                    ..HostActivity::default()
                };
                trace.host.push(call);
                trace
                    .gpu
                    .push(GpuActivity { correlation: Some(7 + (9 - n) * step), ..GpuActivity::default() });
            }
            trace.gpu.push(GpuActivity { correlation: Some(3), ..GpuActivity::default() });
            trace.gpu.push(GpuActivity::default());
            let found = launches(&trace, &trace.gpu);
            assert_eq!(found[..10], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
            assert_eq!(found[10..], [NONE, NONE]);
        }
    }

    #[test]
    fn launches_without_work_before_the_first_row_are_lost() {
        let lacks = |calls: &[(i64, &str, u32)], ran: &[(i64, u32)]| {
            let mut trace = RankTrace::default();
            for &(start, name, correlation) in calls {
                let name = trace.names.intern(name);
                let (end, kind) = (start + 1, HostKind::Runtime);
                let correlation = Some(correlation);
                trace.host.push(HostActivity {
                    start,
                    end,
                    name,
                    kind,
                    correlation,
                    ..HostActivity::default()
                });
            }
            for &(start, correlation) in ran {
                let end = start + 5;
                trace.gpu.push(GpuActivity {
                    start,
                    end,
                    correlation: Some(correlation),
                    ..GpuActivity::default()
                });
            }
            lacks_first(&trace)
        };
        let launch = "cudaLaunchKernel";
        assert!(lacks(&[(1, launch, 1), (3, launch, 2)], &[(9, 2)]));
        // Work launched before the first row may run after it.
        assert!(!lacks(&[(1, launch, 1), (3, launch, 2)], &[(9, 1), (20, 2)]));
        // A row lost after the first one leaves the beginning complete.
        assert!(!lacks(&[(1, launch, 1), (30, launch, 2)], &[(9, 1)]));
        assert!(!lacks(&[(1, "cudaLaunchHostFunc", 1), (3, launch, 2)], &[(9, 2)]));
        let begin = (0, "cudaStreamBeginCapture_v2", 5);
        let captured = [begin, (1, launch, 1), (2, "cudaStreamEndCapture", 6), (3, "cudaGraphLaunch", 2)];
        assert!(!lacks(&captured, &[(9, 2)]));
        assert!(!lacks(&[], &[(9, 2)]) && !lacks(&[(1, launch, 1)], &[]));
    }
}
