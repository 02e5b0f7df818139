//! Captures of CUDA graphs.
//!
//! Responsible for: capture times of a rank, from the calls of its runtime. Kernels launched during a capture
//! become part of a graph and do not run.

use crate::RankTrace;
use crate::trace::HostKind;
use std::collections::BTreeMap;

/// Capture times of a rank, in nanoseconds: from `cudaStreamBeginCapture` to the next `cudaStreamEndCapture`
/// of its thread.
pub(crate) fn captures(trace: &RankTrace) -> Vec<(i64, i64)> {
    let edge = |name: &str| {
        let name = name.trim_start_matches("cuda").trim_start_matches("hip").trim_start_matches("cu");
        let begins = name.starts_with("StreamBeginCapture");
        (begins || name.starts_with("StreamEndCapture")).then_some(begins)
    };
    let edges: Vec<Option<bool>> = trace.names.iter().map(edge).collect();
    let mut all = Vec::new();
    if edges.iter().all(Option::is_none) {
        return all;
    }
    let mut open: BTreeMap<u32, i64> = BTreeMap::new();
    for row in trace.host.iter().filter(|row| row.kind == HostKind::Runtime) {
        match edges.get(row.name.0 as usize).copied().flatten() {
            Some(true) => {
                open.insert(row.thread, row.start);
            }
            Some(false) => all.extend(open.remove(&row.thread).map(|from| (from, row.end))),
            None => {}
        }
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::HostActivity;

    #[test]
    fn captures_last_from_begin_to_end_of_one_thread() {
        let mut trace = RankTrace::default();
        for (start, name, thread) in [
            (10, "cudaStreamBeginCapture_v2", 0),
            (15, "hipStreamBeginCapture", 1),
            (20, "cudaStreamEndCapture", 0),
            (30, "cudaStreamIsCapturing", 1),
            (40, "hipStreamEndCapture", 1),
            (50, "cuStreamEndCapture", 2),
        ] {
            let name = trace.names.intern(name);
            let (end, kind) = (start + 2, HostKind::Runtime);
            trace.host.push(HostActivity { start, end, name, kind, thread, ..HostActivity::default() });
        }
        assert_eq!(captures(&trace), [(10, 22), (15, 42)]);
        assert_eq!(captures(&RankTrace::default()), []);
    }
}
