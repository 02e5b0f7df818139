//! Device activities of an Nsight export.
//!
//! Responsible for: kernels, copies, sets, waits and graphs traced as a whole, named as in PyTorch's
//! profiler, so that one table of names serves both. Does not separate ranks.

use super::database::{Cells, Export};
use super::read::{GpuRow, Read};
use super::session::process;
use railwright_profiler::trace::{DamageKind, GpuActivity, GpuKind, NONE};
use rusqlite::Result;

pub(super) const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
pub(super) const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
pub(super) const GRAPHS: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
const SETS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";
const WAITS: &str = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";

/// Columns common to all these tables, in the order of the cells.
const COMMON: [&str; 7] = ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"];

/// Row with the common cells; `None` if its times are invalid.
fn common(cells: &Cells<'_>, epoch: i64, table: &'static str, read: &mut Read) -> Option<GpuRow> {
    read.report.events += 1;
    let at = read.report.events;
    let Some((start, end)) = cells.whole(0).zip(cells.whole(1)) else {
        read.report.note(DamageKind::BadTime, at, || format!("a row of {table} without a time"));
        return None;
    };
    if end < start {
        read.report.note(DamageKind::NegativeDuration, at, || format!("a row of {table}"));
        return None;
    }
    let (Some(start), Some(end)) = (start.checked_add(epoch), end.checked_add(epoch)) else {
        read.report.note(DamageKind::BadTime, at, || format!("a row of {table} beyond all times"));
        return None;
    };
    Some(GpuRow {
        process: cells.whole(6).map_or(0, process),
        device: cells.whole(2),
        context: cells.whole(3),
        activity: GpuActivity {
            start,
            end,
            stream: cells.small(4).unwrap_or(NONE),
            // The recorder writes 0 for launches before its start.
            correlation: cells.small(5).filter(|&id| id != 0 && id != NONE),
            ..GpuActivity::default()
        },
    })
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    COMMON.iter().copied().chain(more.iter().copied()).collect()
}

/// Reads all tables of device activities.
pub(super) fn read(export: &Export<'_>, epoch: i64, read: &mut Read) -> Result<()> {
    export.each(KERNELS, &with(&["demangledName", "shortName", "mangledName", "name"]), |cells| {
        let Some(mut row) = common(cells, epoch, KERNELS, read) else { return };
        let name = (7..=10).find_map(|at| cells.text(at).or_else(|| export.string(cells.whole(at))));
        row.activity.name = read.names.intern(name.unwrap_or("kernel without a name"));
        read.gpu.push(row);
    })?;
    export.each(COPIES, &with(&["copyKind", "srcKind", "dstKind", "bytes"]), |cells| {
        let Some(mut row) = common(cells, epoch, COPIES, read) else { return };
        row.activity.kind = GpuKind::Copy;
        row.activity.bytes = cells.whole(10).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        row.activity.name = read.names.intern(&copy_name(cells.whole(7), cells.whole(8), cells.whole(9)));
        read.gpu.push(row);
    })?;
    export.each(SETS, &with(&["memKind", "bytes"]), |cells| {
        let Some(mut row) = common(cells, epoch, SETS, read) else { return };
        row.activity.kind = GpuKind::Set;
        row.activity.bytes = cells.whole(8).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        row.activity.name =
            read.names.intern(&format!("Memset ({})", memory(cells.whole(7)).unwrap_or("Device")));
        read.gpu.push(row);
    })?;
    export.each(WAITS, &with(&["syncType"]), |cells| {
        let Some(mut row) = common(cells, epoch, WAITS, read) else { return };
        row.activity.kind = GpuKind::Sync;
        row.activity.name = read.names.intern(wait_name(cells.whole(7)));
        read.gpu.push(row);
    })?;
    export.each(GRAPHS, &with(&["graphId"]), |cells| {
        let Some(mut row) = common(cells, epoch, GRAPHS, read) else { return };
        row.activity.name = read.names.intern(&format!("CUDA graph {}", cells.whole(7).unwrap_or(0)));
        read.gpu.push(row);
    })
}

/// Name of a copy, from `CUpti_ActivityMemcpyKind` and `CUpti_ActivityMemoryKind`.
fn copy_name(kind: Option<i64>, from: Option<i64>, to: Option<i64>) -> String {
    let way = match kind {
        Some(1) => "HtoD",
        Some(2) => "DtoH",
        Some(3) => "HtoA",
        Some(4) => "AtoH",
        Some(5) => "AtoA",
        Some(6) => "AtoD",
        Some(7) => "DtoA",
        Some(8) => "DtoD",
        Some(9) => "HtoH",
        Some(10) => "PtoP",
        // Pages of unified memory, moved by faults or prefetches.
        Some(11) => "HtoD (unified memory)",
        Some(12) => "DtoH (unified memory)",
        Some(13) => "DtoD (unified memory)",
        _ => "Unknown",
    };
    match memory(from).zip(memory(to)) {
        Some((from, to)) => format!("Memcpy {way} ({from} -> {to})"),
        None => format!("Memcpy {way}"),
    }
}

fn memory(kind: Option<i64>) -> Option<&'static str> {
    // The exporter numbers kinds from pageable memory on.
    ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"]
        .get(usize::try_from(kind?).ok()?)
        .copied()
}

/// Name of a wait, from `CUpti_ActivitySynchronizationType`.
fn wait_name(kind: Option<i64>) -> &'static str {
    match kind {
        Some(1) => "Event Sync",
        Some(2) => "Stream Wait Event",
        Some(3) => "Stream Sync",
        Some(4) => "Context Sync",
        _ => "Sync",
    }
}
