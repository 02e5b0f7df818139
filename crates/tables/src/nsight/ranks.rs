//! From the rows of all processes to a trace of each process and device.
//!
//! Responsible for: ownership of rows, threads by order of appearance, NCCL ranges of the kernels launched
//! within them with their communicators, and device annotations. A call that launched an activity belongs to
//! its device; other calls of a process belong to all of its devices. Does not assign ranks to processes
//! without one.

use super::projection::Launches;
use super::read::{GpuRow, HostRow, Payload, Read};
use super::session::Session;
use railwright_profiler::trace::{
    CollectiveCall, DamageKind, GpuActivity, GpuKind, HostActivity, HostKind, Identity, NONE, RankGroup,
    RankTrace, Source,
};
use railwright_profiler::{NameId, Names};
use railwright_step::CollectiveKind;
use std::collections::{BTreeMap, BTreeSet};

/// A process, and the device number within it.
type Owner = (i64, Option<i64>);

/// Separates the data by process and device.
pub(super) fn part(label: &str, session: &Session, read: &Read) -> Vec<RankTrace> {
    let of_context: BTreeMap<(i64, i64), i64> =
        read.gpu.iter().filter_map(|row| Some(((row.process, row.context?), row.device?))).collect();
    let owner = |row: &GpuRow| -> Owner {
        let device = row.device.or_else(|| of_context.get(&(row.process, row.context?)).copied());
        (row.process, device)
    };
    let mut owners: BTreeSet<Owner> =
        read.gpu.iter().filter(|row| row.activity.kind != GpuKind::Sync).map(owner).collect();
    if owners.is_empty() {
        owners = read.host.iter().map(|row| (row.process, None)).collect();
    }
    let mut started: BTreeMap<(i64, u32), BTreeSet<Owner>> = BTreeMap::new();
    for row in &read.gpu {
        if let Some(correlation) = row.activity.correlation {
            started.entry((row.process, correlation)).or_default().insert(owner(row));
        }
    }
    let several = owners.len() > 1;
    let mut traces = Vec::new();
    for (place, own) in owners.iter().enumerate() {
        let mut rank = Rank::new(read);
        for row in read.gpu.iter().filter(|row| owner(row) == *own) {
            rank.gpu(row.activity);
        }
        for row in read.host.iter().filter(|row| own.0 == 0 || row.process == 0 || row.process == own.0) {
            let runs = row.activity.correlation.and_then(|id| started.get(&(own.0, id)));
            if runs.is_none_or(|owners| owners.contains(own)) {
                rank.host(row);
            }
        }
        let device = own.1.and_then(|number| session.device(own.0, number));
        let mut trace = rank.finish();
        trace.identity = Identity {
            label: if several { format!("{label} ({})", title(*own)) } else { label.to_owned() },
            source: Source::NsightSystems,
            rank: session.ranks.get(&own.0).copied(),
            host: session.host.clone(),
            devices: session.devices.clone(),
            device,
            ..Identity::default()
        };
        if place == 0 {
            trace.report.bytes = read.report.bytes;
            trace.report.damages.clone_from(&read.report.damages);
            trace.report.left_out.clone_from(&read.report.left_out);
            trace.report.events = read.report.events;
        }
        traces.push(trace);
    }
    // A process with two devices has no unique rank.
    let ranks: Vec<Option<u32>> = traces.iter().map(|trace| trace.identity.rank).collect();
    for trace in &mut traces {
        if ranks.iter().filter(|&&rank| rank == trace.identity.rank).count() > 1 {
            trace.identity.rank = None;
        }
    }
    traces
}

fn title((process, device): Owner) -> String {
    let process = super::session::process_number(process);
    device
        .map_or_else(|| format!("process {process}"), |device| format!("process {process}, device {device}"))
}

/// A rank under construction.
struct Rank<'r> {
    read: &'r Read,
    trace: RankTrace,
    /// Map from names of [`Read`] to names of the trace.
    names: BTreeMap<NameId, NameId>,
    /// Threads by their serialized identifiers.
    threads: BTreeMap<i64, u32>,
    gpu: Vec<GpuActivity>,
    host: Vec<HostActivity>,
}

impl<'r> Rank<'r> {
    fn new(read: &'r Read) -> Self {
        let trace = RankTrace { names: Names::default(), ..RankTrace::default() };
        Self {
            read,
            trace,
            names: BTreeMap::new(),
            threads: BTreeMap::new(),
            gpu: Vec::new(),
            host: Vec::new(),
        }
    }

    fn name(&mut self, id: NameId) -> NameId {
        let (read, names) = (self.read, &mut self.trace.names);
        *self.names.entry(id).or_insert_with(|| names.intern(read.name(id)))
    }

    fn gpu(&mut self, mut row: GpuActivity) {
        row.name = self.name(row.name);
        self.gpu.push(row);
    }

    fn host(&mut self, row: &HostRow) {
        let mut activity = row.activity;
        activity.name = self.name(activity.name);
        activity.shapes = activity.shapes.map(|shapes| self.name(shapes));
        let next = self.threads.len() as u32;
        activity.thread = *self.threads.entry(row.thread).or_insert(next);
        if activity.kind == HostKind::Collective {
            activity.collective = Some(self.trace.collectives.len() as u32);
            let label = self.trace.names.get(activity.name).to_owned();
            let group = self.group(row.payload);
            self.trace.collectives.push(CollectiveCall {
                kind: kind(&label),
                label,
                elements_in: row.payload.bytes,
                element_bytes: row.payload.bytes.map(|_| 1),
                group,
                ..CollectiveCall::default()
            });
        }
        self.host.push(activity);
    }

    /// Process group of a call, named by its communicator. The ranks of a communicator are not recorded.
    fn group(&mut self, payload: Payload) -> Option<u32> {
        let name = format!("{:#x}", payload.communicator?);
        let known = self.trace.groups.iter().position(|group| group.name == name);
        let at = known.unwrap_or_else(|| {
            self.trace.groups.push(RankGroup { name, ..RankGroup::default() });
            self.trace.groups.len() - 1
        });
        self.trace.groups[at].size = self.trace.groups[at].size.or(payload.ranks);
        u32::try_from(at).ok()
    }

    fn finish(mut self) -> RankTrace {
        self.host.sort_by_key(|row| (row.start, -row.end));
        self.name_communications();
        self.project();
        for row in self.gpu {
            self.trace.gpu.push(row);
        }
        for row in self.host {
            self.trace.host.push(row);
        }
        self.trace.gpu.sort();
        self.trace.host.sort();
        let impossible = self.trace.gpu.drop_impossible() + self.trace.host.drop_impossible();
        self.trace.report.note_many(DamageKind::BadTime, impossible);
        self.trace.report.kept = (self.trace.gpu.len() + self.trace.host.len()) as u64;
        self.trace
    }

    /// Launch of each correlation: (thread, time).
    fn launches(&self) -> BTreeMap<u32, (u32, i64)> {
        let calls = self.host.iter().filter(|row| row.kind == HostKind::Runtime);
        calls.filter_map(|row| Some((row.correlation?, (row.thread, row.start)))).collect()
    }

    /// Assigns kernels of NCCL the range that contains their launch.
    fn name_communications(&mut self) {
        // NCCL ranges of a thread in order. A group contains its calls, so the last range to start is the
        // innermost.
        let mut ranges: BTreeMap<u32, Vec<(i64, i64, u32)>> = BTreeMap::new();
        for row in &self.host {
            if let Some(call) = row.collective {
                ranges.entry(row.thread).or_default().push((row.start, row.end, call));
            }
        }
        if ranges.is_empty() {
            return;
        }
        let launches = self.launches();
        for row in &mut self.gpu {
            let communicates = self.trace.names.get(row.name).starts_with("nccl");
            let launch = row.correlation.filter(|_| communicates).and_then(|id| launches.get(&id));
            let Some((thread, when)) = launch else { continue };
            let Some(own) = ranges.get(thread) else { continue };
            let begun = own.partition_point(|range| range.0 <= *when);
            // Nesting is shallow, so the enclosing range is at most a few ranges back.
            let around = own[..begun].iter().rev().take(64).find(|range| range.1 >= *when);
            row.collective = around.map(|range| range.2);
        }
    }

    /// Adds annotations of the device.
    fn project(&mut self) {
        let launches = self.launches();
        let mut by_thread: BTreeMap<u32, Vec<(i64, i64, i64)>> = BTreeMap::new();
        for row in self.gpu.iter().filter(|row| row.kind != GpuKind::Sync) {
            if let Some((thread, when)) = row.correlation.and_then(|id| launches.get(&id)) {
                by_thread.entry(*thread).or_default().push((*when, row.start, row.end));
            }
        }
        let by_thread: BTreeMap<u32, Launches> =
            by_thread.into_iter().map(|(thread, launches)| (thread, Launches::new(launches))).collect();
        for row in self.host.iter().filter(|row| row.kind == HostKind::Annotation) {
            let ran = by_thread.get(&row.thread).and_then(|launches| launches.within(row.start, row.end));
            if let Some((start, end)) = ran {
                let activity = GpuActivity {
                    start,
                    end,
                    name: row.name,
                    kind: GpuKind::Annotation,
                    stream: NONE,
                    ..GpuActivity::default()
                };
                self.gpu.push(activity);
            }
        }
    }
}

/// Kind of an NCCL call, by its name.
fn kind(label: &str) -> Option<CollectiveKind> {
    Some(match label.strip_prefix("nccl")? {
        "AllReduce" => CollectiveKind::AllReduce,
        "AllGather" => CollectiveKind::AllGather,
        "ReduceScatter" => CollectiveKind::ReduceScatter,
        "AllToAll" | "AlltoAll" => CollectiveKind::AllToAll,
        "Broadcast" | "Bcast" => CollectiveKind::Broadcast,
        "Reduce" => CollectiveKind::Reduce,
        "Send" => CollectiveKind::Send,
        "Recv" => CollectiveKind::Receive,
        _ => return None,
    })
}
