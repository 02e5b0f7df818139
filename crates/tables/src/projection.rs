//! Nsight's recipe `nvtx_gpu_proj_trace` as used by JAX-Toolbox: NVTX ranges of a process with the device
//! time of their kernels.
//!
//! Responsible for: ranges of XLA's thunks to device activities named by their operation, enclosing ranges to
//! annotations of both sides, ranges of NCCL to host communications. A table has no kernels; the innermost
//! thunk represents those that it launched. Does not join processes, whose times start with their own
//! session.

use crate::parquet::Columns;
use railwright_profiler::RankTrace;
use railwright_profiler::trace::{
    CollectiveCall, DamageKind, Device, GpuActivity, GpuKind, HostActivity, HostKind, NONE, Source,
};
use railwright_spec::problem::Problem;
use railwright_step::CollectiveKind;
use std::collections::{BTreeMap, BTreeSet};

const WANTED: [&str; 9] = [
    "Name",
    "Projected Start",
    "Projected Duration",
    "Orig Start",
    "Orig Duration",
    "TID",
    "NumGPUOps",
    "RangeId",
    "ParentId",
];

/// True for the columns of the recipe.
pub(crate) fn matches(names: &[String]) -> bool {
    ["Projected Start", "Projected Duration", "Orig Start"]
        .iter()
        .all(|wanted| names.iter().any(|name| name == wanted))
}

/// True for the columns of a companion file: devices, system, threads.
pub(crate) fn describes(names: &[String]) -> bool {
    let is =
        |wanted: &[&str]| names.len() == wanted.len() && wanted.iter().all(|w| names.iter().any(|n| n == w));
    is(&["name", "value", "nameEnum"])
        || is(&["Name", "Priority", "PID", "TID"])
        || names.iter().any(|name| name.starts_with("('TARGET_INFO_GPU'"))
}

/// A row of the table.
struct Range {
    text: String,
    /// Start and duration on the device.
    device: (i64, i64),
    /// Start and duration on the host.
    host: Option<(i64, i64)>,
    thread: i64,
    id: Option<i64>,
    parent: Option<i64>,
}

/// Operation in the name of a thunk's range.
fn operation(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("TSL:Thunk:")?;
    let name = rest.split_once("hlo_op=")?.1;
    Some(name.split([',', '#']).next().unwrap_or(name))
}

/// Kind of collective of an XLA operation; `None` for other operations.
fn communication(operation: &str) -> Option<CollectiveKind> {
    let plain = operation.split('.').next().unwrap_or(operation);
    Some(match plain.trim_end_matches("-start").trim_end_matches("-done") {
        "all-reduce" => CollectiveKind::AllReduce,
        "all-gather" => CollectiveKind::AllGather,
        "reduce-scatter" => CollectiveKind::ReduceScatter,
        "all-to-all" => CollectiveKind::AllToAll,
        "collective-broadcast" => CollectiveKind::Broadcast,
        "collective-permute" | "send" => CollectiveKind::Send,
        "recv" => CollectiveKind::Receive,
        _ => return None,
    })
}

/// Reads a table.
pub(crate) fn read(label: &str, bytes: &[u8]) -> Result<RankTrace, Problem> {
    let table = Columns::read(label, bytes, &WANTED)?;
    let mut trace = RankTrace::default();
    label.clone_into(&mut trace.identity.label);
    trace.identity.source = Source::NsightSystems;
    trace.report.bytes = bytes.len() as u64;
    let ranges = ranges(&table, &mut trace)?;
    let named = ranges.iter().filter(|range| operation(&range.text).is_some());
    // A thunk that contains thunks (a loop, a branch) is an enclosing range.
    let around: BTreeSet<i64> = named.filter_map(|range| range.parent).collect();
    let mut threads: BTreeMap<i64, u32> = BTreeMap::new();
    for range in &ranges {
        let operation = operation(&range.text);
        let inner = range.id.is_none_or(|id| !around.contains(&id));
        let name = trace.names.intern(operation.unwrap_or(&range.text));
        let communicates = range.text.starts_with("NCCL:");
        let call =
            operation.filter(|_| inner).and_then(|operation| Some((operation, communication(operation)?)));
        let collective = call.map(|(operation, kind)| {
            let label = operation.to_owned();
            trace.collectives.push(CollectiveCall { kind: Some(kind), label, ..CollectiveCall::default() });
            trace.collectives.len() as u32 - 1
        });
        if !communicates {
            trace.gpu.push(GpuActivity {
                start: range.device.0,
                end: range.device.0 + range.device.1,
                name,
                kind: if operation.is_some() && inner { GpuKind::Kernel } else { GpuKind::Annotation },
                stream: NONE,
                collective,
                ..GpuActivity::default()
            });
        }
        if let Some((start, duration)) = range.host {
            let next = threads.len() as u32;
            trace.host.push(HostActivity {
                start,
                end: start + duration,
                name,
                kind: match operation {
                    _ if communicates => HostKind::Collective,
                    Some(_) if inner => HostKind::Operator,
                    _ => HostKind::Annotation,
                },
                thread: *threads.entry(range.thread).or_insert(next),
                collective,
                ..HostActivity::default()
            });
        }
    }
    trace.report.kept = (trace.gpu.len() + trace.host.len()) as u64;
    trace.gpu.sort();
    trace.host.sort();
    Ok(trace)
}

fn ranges(table: &Columns, trace: &mut RankTrace) -> Result<Vec<Range>, Problem> {
    let [name, start, duration, original, lasted, thread, launched, id, parent] = WANTED;
    let (name, start, duration) = (table.need(name)?, table.need(start)?, table.need(duration)?);
    let optional = [original, lasted, thread, launched, id, parent].map(|name| table.get(name));
    let mut ranges = Vec::new();
    for row in 0..table.rows() {
        let [original, lasted, thread, launched, id, parent] =
            optional.map(|column| column.and_then(|column| table.whole(column, row)));
        trace.report.events += 1;
        // A row without a name represents launches outside all ranges.
        let Some(text) = table.text(name, row).filter(|_| launched != Some(0)) else { continue };
        let time = |start: Option<i64>, long: Option<i64>| {
            let (start, long) = start.zip(long)?;
            (long >= 0 && start.checked_add(long).is_some()).then_some((start, long))
        };
        let Some(device) = time(table.whole(start, row), table.whole(duration, row)) else {
            trace.report.note(DamageKind::BadTime, row as u64, || format!("row {row} has no valid time"));
            continue;
        };
        ranges.push(Range {
            text: text.to_owned(),
            device,
            host: time(original, lasted),
            thread: thread.unwrap_or(0),
            id,
            parent,
        });
    }
    Ok(ranges)
}

/// Applies a companion file of the table: device and XLA rank, or the host name. True if it had any of these.
pub fn describe(trace: &mut RankTrace, label: &str, bytes: &[u8]) -> Result<bool, Problem> {
    const GPU: [&str; 4] = [
        "('TARGET_INFO_GPU', 'id')",
        "('TARGET_INFO_GPU', 'name')",
        "('TARGET_INFO_GPU', 'totalMemory')",
        "('TARGET_INFO_GPU', 'smCount')",
    ];
    const NAMED: &str = "('TARGET_INFO_NVTX_CUDA_DEVICE', 'name')";
    let wanted: Vec<&str> = GPU.into_iter().chain([NAMED, "name", "value"]).collect();
    let table = Columns::read(label, bytes, &wanted)?;
    let identity = &mut trace.identity;
    let mut found = false;
    for row in 0..table.rows() {
        let text = |name: &str| table.get(name).and_then(|column| table.text(column, row));
        let whole = |name: &str| table.get(name).and_then(|column| table.whole(column, row));
        if let Some(id) = whole(GPU[0]).and_then(|id| u32::try_from(id).ok()) {
            found = true;
            identity.device.get_or_insert(id);
            identity.devices.push(Device {
                id,
                name: text(GPU[1]).unwrap_or_default().to_owned(),
                memory_bytes: whole(GPU[2]).and_then(|bytes| u64::try_from(bytes).ok()),
                multiprocessors: whole(GPU[3]).and_then(|count| u32::try_from(count).ok()),
            });
            // `Xla:#global=3,local=0,process=3,slice=0#`
            let global = text(NAMED).and_then(|name| name.split_once("global=")).map(|(_, rest)| rest);
            let global = global.and_then(|rest| rest.split([',', '#']).next()?.parse().ok());
            identity.rank = identity.rank.or(global);
        } else if text("name") == Some("Hostname") {
            found = true;
            identity.host = text("value").map(str::to_owned);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! fixture {
        ($name:literal) => {
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../fixtures/traces/jaxtoolbox_nsys_fsdp4/",
                $name
            ))
        };
    }

    /// Reference counts from the table, by another Parquet library.
    #[test]
    fn thunks_become_activities_of_the_device() {
        let mut trace = read("proc1", fixture!("proc1/nvtx_gpu_proj_trace.parquet")).expect("a trace");
        assert!(describe(&mut trace, "device", fixture!("proc1/device-metadata.parquet")).expect("read"));
        assert!(describe(&mut trace, "system", fixture!("proc1/system-metadata.parquet")).expect("read"));
        assert!(!describe(&mut trace, "thread", fixture!("proc1/thread-metadata.parquet")).expect("read"));
        assert_eq!((trace.identity.rank, trace.identity.device), (Some(1), Some(1)));
        assert_eq!(trace.identity.devices[0].name, "NVIDIA A100-SXM4-40GB");
        assert_eq!(trace.identity.devices[0].multiprocessors, Some(108));
        assert!(trace.identity.host.is_some());
        let first = read("proc0", fixture!("proc0/nvtx_gpu_proj_trace.parquet")).expect("a trace");
        assert_eq!((first.report.events, first.host.len()), (14_305, 14_304));
        let communications: Vec<GpuActivity> =
            first.gpu.iter().filter(|row| row.collective.is_some()).collect();
        let named = |row: &GpuActivity| first.names.get(row.name);
        assert!(communications.iter().any(|row| named(row) == "all-reduce-start"));
        assert!(communications.iter().all(|row| row.kind == GpuKind::Kernel));
        // The first all-reduce of the table: 3,513,839 ns.
        let reduce = communications.iter().find(|row| row.start == 29_646_751_248).expect("it");
        assert_eq!((named(reduce), reduce.duration()), ("all-reduce-start", 3_513_839));
        let groups = first.host.iter().filter(|row| row.kind == HostKind::Collective).count();
        assert_eq!(groups, 120, "ranges of ncclGroupEnd");
    }
}
