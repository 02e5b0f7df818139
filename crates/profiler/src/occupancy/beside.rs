//! Host delays beside communication.
//!
//! Responsible for: time without compute before compute that the host launches later. Communication may run meanwhile, so the device need
//! not be idle.

use super::{Intervals, calls, late_launches};
use crate::RankTrace;
use crate::communication::NameTable;
use crate::launches::lacks_first;
use crate::trace::GpuKind;

/// Time of a rank from the end of compute to the launch of the next one.
pub(crate) fn late_compute(trace: &RankTrace, table: &NameTable) -> Intervals {
    let classes = table.classes(&trace.names);
    let rows: Vec<_> = trace
        .gpu
        .iter()
        .filter(|row| {
            let communicates =
                classes.communicates(row.name) || (row.kind == GpuKind::Kernel && row.collective.is_some());
            !communicates && !matches!(row.kind, GpuKind::Annotation | GpuKind::Sync)
        })
        .map(|row| (row.start, row.end, row.correlation))
        .collect();
    let busy = Intervals::union(rows.iter().map(|row| (row.0, row.1)).collect());
    let launched: Vec<_> = rows.iter().map(|row| (row.0, row.2)).collect();
    let recorded = trace.host.starts().first().copied().filter(|_| !lacks_first(trace));
    late_launches(recorded, &calls(trace), &busy, &launched).0
}
