//! Which call of the host launched what ran on the device.
//!
//! Responsible for: joining rows of a device with calls of the runtime by their correlation. Refuses flow arrows, of which half dangle in
//! real traces, and refuses to take the nearest call for a row whose own call is missing.

use crate::RankTrace;
use crate::trace::{GpuActivities, HostKind, NONE};

/// For each row of a device the row of the host that launched it, [`NONE`] where the trace has none.
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

/// From a number to a row: an array where the numbers lie close together, as they do in whole traces, else a search.
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
                // Of two calls with one number (a retry, a driver call within a runtime call) the first is the outer one.
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
}
