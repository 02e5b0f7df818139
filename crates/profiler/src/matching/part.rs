//! One rank's part in a communication.
//!
//! Responsible for: selecting the communicating activities of a trace, with all their known properties. These
//! come from the activity's own description, its name, or the framework's range around its launch. Does not
//! join ranks.

use crate::communication::{Classes, NameTable};
use crate::groups::{GroupId, Groups};
use crate::trace::{GpuKind, HostKind};
use crate::workers::Workers;
use crate::{Job, NameId, RankTrace};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Execution place of a part: a stream or the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// On a stream of the device.
    Stream(u32),
    /// On a thread of the host. All threads of a rank are one lane, since a library's pool may use any.
    Host,
}

impl std::fmt::Display for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stream(crate::trace::NONE) => f.write_str("various streams"),
            Self::Stream(stream) => write!(f, "stream {stream}"),
            Self::Host => f.write_str("host"),
        }
    }
}

/// One rank's part in a communication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Start time in nanoseconds.
    pub start: i64,
    /// End time in nanoseconds.
    pub end: i64,
    /// Execution place.
    pub lane: Lane,
    /// Its row among the rank's device activities, or among its host activities if its lane is the host.
    pub row: u32,
    /// Its name in the rank's trace.
    pub name: NameId,
    /// Kind.
    pub operation: Option<CollectiveKind>,
    /// Its process group.
    pub group: Option<GroupId>,
    /// Its number within its group.
    pub sequence: Option<u64>,
    /// The other rank of a message.
    pub peer: Option<u32>,
    /// Size in bytes by nccl-tests' convention (see [`railwright_step::Collective::bytes`]).
    pub bytes: Option<u64>,
}

impl Part {
    /// Duration in nanoseconds.
    pub fn duration(&self) -> i64 {
        self.end - self.start
    }
}

/// The parts of every member of a job, by start.
pub fn parts(job: &Job, table: &NameTable, groups: &Groups, workers: &impl Workers) -> Vec<Vec<Part>> {
    workers.map(&job.members, |at, member| of_member(at, &member.trace, table, groups))
}

fn of_member(member: usize, trace: &RankTrace, table: &NameTable, groups: &Groups) -> Vec<Part> {
    let classes = table.classes(&trace.names);
    let mut parts: Vec<Part> = Vec::new();
    let mut mute: Vec<usize> = Vec::new();
    for (row, activity) in trace.gpu.iter().enumerate() {
        let class = classes.get(activity.name);
        let counts = match activity.kind {
            GpuKind::Kernel => class.is_some() || activity.collective.is_some(),
            GpuKind::Copy => class.is_some(),
            _ => false,
        };
        if !counts {
            continue;
        }
        let mut part = Part {
            start: activity.start,
            end: activity.end,
            lane: Lane::Stream(activity.stream),
            row: row as u32,
            name: activity.name,
            operation: class.and_then(|class| class.operation),
            group: None,
            sequence: None,
            peer: None,
            bytes: (activity.kind == GpuKind::Copy && activity.bytes > 0).then_some(activity.bytes),
        };
        describe(&mut part, member, trace, activity.collective, table, groups);
        if matches!(part.operation, None | Some(CollectiveKind::SendReceive)) {
            mute.push(parts.len());
        }
        parts.push(part);
    }
    if !mute.is_empty() {
        ask_the_host(&mut parts, &mute, trace, &classes);
    }
    // Host libraries communicate on the host; for device libraries the host only enqueues.
    for (row, &name) in trace.host.names().iter().enumerate() {
        let Some(class) = classes.get(name).filter(|&class| table.on_host(class)) else { continue };
        let Some(activity) = trace.host.get(row).filter(|row| row.kind != HostKind::Runtime) else {
            continue;
        };
        let mut part = Part {
            start: activity.start,
            end: activity.end,
            lane: Lane::Host,
            row: row as u32,
            name: activity.name,
            operation: class.operation,
            group: None,
            sequence: None,
            peer: None,
            bytes: None,
        };
        describe(&mut part, member, trace, activity.collective, table, groups);
        parts.push(part);
    }
    parts.sort_by_key(|part| (part.start, part.lane, part.row));
    parts
}

/// Derives a part from its own description.
fn describe(
    part: &mut Part,
    member: usize,
    trace: &RankTrace,
    call: Option<u32>,
    table: &NameTable,
    groups: &Groups,
) {
    let Some(call) = call.and_then(|call| trace.collectives.get(call as usize)) else { return };
    // The name of a kernel is exact, except for the kernel of messages of any kind.
    if matches!(part.operation, None | Some(CollectiveKind::SendReceive)) {
        let stated = call.kind.or_else(|| table.operation(&call.label));
        part.operation = stated.or(part.operation);
    }
    part.group = call.group.and_then(|local| groups.id(member, local));
    part.sequence = call.sequence;
    part.peer = call.peer;
    let elements = match part.operation {
        Some(CollectiveKind::AllGather | CollectiveKind::Gather | CollectiveKind::Receive) => {
            call.elements_out.or(call.elements_in)
        }
        Some(CollectiveKind::AllToAll | CollectiveKind::SendReceive) => {
            call.elements_in.max(call.elements_out)
        }
        _ => call.elements_in.or(call.elements_out),
    };
    let bytes = elements.zip(call.element_bytes).map(|(n, size)| n.saturating_mul(u64::from(size)));
    part.bytes = bytes.or(part.bytes);
}

/// Sets the collective of kernels without a description, from the framework's range around their launch
/// (`nccl:all_to_all`).
fn ask_the_host(parts: &mut [Part], mute: &[usize], trace: &RankTrace, classes: &Classes) {
    let correlations: BTreeMap<u32, usize> = mute
        .iter()
        .filter_map(|&at| Some((trace.gpu.get(parts[at].row as usize)?.correlation?, at)))
        .collect();
    let mut ranges: BTreeMap<u32, Vec<(i64, i64, CollectiveKind)>> = BTreeMap::new();
    let mut launches: Vec<(usize, u32, i64)> = Vec::new();
    for row in trace.host.iter() {
        if row.kind == HostKind::Runtime {
            if let Some(&at) = row.correlation.and_then(|correlation| correlations.get(&correlation)) {
                launches.push((at, row.thread, row.start));
            }
        } else if let Some(operation) = classes.get(row.name).and_then(|class| class.operation) {
            ranges.entry(row.thread).or_default().push((row.start, row.end, operation));
        }
    }
    for (at, thread, time) in launches {
        let Some(ranges) = ranges.get(&thread) else { continue };
        let after = ranges.partition_point(|range| range.0 <= time);
        // Ranges nest at most two or three deep.
        let around = ranges[..after].iter().rev().take(4).find(|range| range.1 >= time);
        if let Some(&(_, _, operation)) = around {
            parts[at].operation = Some(operation);
        }
    }
}
