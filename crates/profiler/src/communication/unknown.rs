//! Likely communication kernels that are not in the table.
//!
//! Responsible for: kernels with more than a given share of a rank's time on a stream other than its compute
//! stream. They cause a warning only; the remedy is an entry in the table.

use super::NameTable;
use crate::trace::GpuKind;
use crate::{Job, NameId};
use railwright_spec::human;
use railwright_spec::problem::Warning;
use serde::Serialize;
use std::collections::BTreeMap;

/// Minimum reported share of an unknown kernel in a rank's device window.
pub const SHARE: f64 = 0.02;

/// An unknown kernel on a stream without compute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnknownKernel {
    /// Name.
    pub name: String,
    /// The rank with its largest share.
    pub rank: u32,
    /// The stream there.
    pub stream: u32,
    /// Its share of that rank's device window (0 to 1).
    pub share: f64,
    /// Number of ranks with a share above the limit.
    pub ranks: u32,
}

/// Unknown kernels with more than [`SHARE`] of a rank's device window outside its compute stream, the largest
/// first. The compute stream is the busiest one with kernels that do not communicate. `computes` returns true
/// for names in the table of compute kernels.
pub fn unknown_kernels(job: &Job, table: &NameTable, computes: &dyn Fn(&str) -> bool) -> Vec<UnknownKernel> {
    let mut found: BTreeMap<String, UnknownKernel> = BTreeMap::new();
    for member in &job.members {
        let trace = &member.trace;
        let classes = table.classes(&trace.names);
        let mut streams: BTreeMap<u32, i64> = BTreeMap::new();
        let mut times: BTreeMap<(u32, NameId), i64> = BTreeMap::new();
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for row in trace.gpu.iter() {
            if matches!(row.kind, GpuKind::Annotation | GpuKind::Sync) {
                continue;
            }
            (first, last) = (first.min(row.start), last.max(row.end));
            if row.kind == GpuKind::Kernel && !classes.communicates(row.name) {
                *streams.entry(row.stream).or_default() += row.duration();
                *times.entry((row.stream, row.name)).or_default() += row.duration();
            }
        }
        let window = last.saturating_sub(first) as f64;
        let Some(compute) =
            streams.iter().max_by_key(|&(stream, time)| (*time, std::cmp::Reverse(*stream))).map(|(s, _)| *s)
        else {
            continue;
        };
        for ((stream, name), time) in times {
            let share = time as f64 / window;
            let text = trace.names.get(name);
            if stream == compute || share <= SHARE || computes(text) {
                continue;
            }
            let here = UnknownKernel { name: text.to_owned(), rank: member.rank, stream, share, ranks: 1 };
            found
                .entry(text.to_owned())
                .and_modify(|known| {
                    known.ranks += 1;
                    if share > known.share {
                        *known = UnknownKernel { ranks: known.ranks, ..here.clone() };
                    }
                })
                .or_insert(here);
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.name.cmp(&b.name)));
    found
}

/// Converts them to warnings.
pub fn warnings(unknown: &[UnknownKernel]) -> Vec<Warning> {
    let named = |kernel: &UnknownKernel| {
        let message = format!(
            "`{}` takes {:.1}% of the time of rank {} on stream {}, which has no compute kernels, and matches \
             no pattern: if it communicates, add it with --kernels",
            human::shorten(&kernel.name),
            kernel.share * 100.0,
            kernel.rank,
            kernel.stream
        );
        Warning::new("trace-unknown-communication", message)
    };
    unknown.iter().take(5).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RankTrace;
    use crate::trace::GpuActivity;

    fn trace(rows: &[(&str, u32, i64, i64)]) -> RankTrace {
        let mut trace = RankTrace::default();
        for &(name, stream, start, end) in rows {
            let name = trace.names.intern(name);
            trace.gpu.push(GpuActivity { start, end, name, stream, ..GpuActivity::default() });
        }
        trace
    }

    #[test]
    fn a_large_unknown_kernel_beside_the_compute_stream_is_reported() {
        let job = Job::new(vec![trace(&[
            ("gemm", 7, 0, 900),
            ("odd", 7, 900, 960),
            ("mystery_put", 20, 0, 30),
            ("small", 20, 30, 40),
            ("ncclDevKernel_AllGather_RING_LL", 20, 100, 900),
            ("gemm", 20, 900, 1000),
        ])]);
        let unknown = unknown_kernels(&job, NameTable::shipped(), &|name| name == "gemm");
        let named: Vec<_> = unknown.iter().map(|k| (k.name.as_str(), k.stream)).collect();
        assert_eq!(named, [("mystery_put", 20)]);
        assert!((unknown[0].share - 0.03).abs() < 1e-9);
        assert_eq!(warnings(&unknown)[0].id, "trace-unknown-communication");
    }
}
