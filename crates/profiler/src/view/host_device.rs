//! Device rows for a trace without a device.
//!
//! Responsible for: device rows from the host: the outermost operator on each thread is compute,
//! communication stays communication. Operators that only issue a communication are excluded if the
//! communication itself was recorded. Otherwise operators in the table are the communication. Ignores runtime
//! calls: there is no runtime.

use crate::RankTrace;
use crate::communication::NameTable;
use crate::trace::{GpuActivities, GpuActivity, GpuKind, HostKind};

/// Device rows, and the host row of each.
pub(super) fn device(trace: &RankTrace, table: &NameTable) -> (GpuActivities, Vec<u32>) {
    let mut gpu = GpuActivities::default();
    let mut hosts = Vec::new();
    // By thread: end of the open operator.
    let mut open: Vec<i64> = Vec::new();
    let mut known: Vec<Option<bool>> = vec![None; trace.names.len()];
    let has_annotations = trace.host.kinds().contains(&HostKind::Collective);
    let is_apart = has_annotations
        || trace
            .host
            .iter()
            .any(|row| row.kind == HostKind::Annotation && communicates(trace.names.get(row.name), table));
    for (at, row) in trace.host.iter().enumerate() {
        let mut communication = || {
            known.get_mut(row.name.0 as usize).is_some_and(|cell| {
                *cell.get_or_insert_with(|| communicates(trace.names.get(row.name), table))
            })
        };
        let kept = match row.kind {
            HostKind::Collective => true,
            HostKind::Annotation => !has_annotations && communication(),
            HostKind::Operator if communication() => {
                !is_apart && table.class(trace.names.get(row.name)).is_some()
            }
            HostKind::Operator => {
                let place = row.thread as usize;
                if place >= open.len() {
                    open.resize(place.min(trace.host.len()) + 1, i64::MIN);
                }
                match open.get_mut(place) {
                    Some(until) if row.start >= *until => {
                        *until = row.end;
                        true
                    }
                    _ => false,
                }
            }
            HostKind::Runtime | HostKind::Overhead | HostKind::Python => false,
        };
        if kept && row.end > row.start {
            let says = row.collective.is_some() || row.kind != HostKind::Operator || communication();
            gpu.push(GpuActivity {
                start: row.start,
                end: row.end,
                name: row.name,
                kind: GpuKind::Kernel,
                stream: if says { row.thread + (1 << 16) } else { row.thread },
                correlation: None,
                collective: row.collective,
                bytes: 0,
            });
            hosts.push(at as u32);
        }
    }
    (gpu, hosts)
}

/// Tests whether the name of an operator communicates. The framework's own operators (`c10d::`) only issue
/// communication that also exists under a different name.
fn communicates(name: &str, table: &NameTable) -> bool {
    name.starts_with("c10d::") || table.class(name).is_some()
}
