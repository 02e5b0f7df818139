//! Execution traces in MLCommons Chakra's schema (`.et`): nodes with dependencies; nodes with times form a
//! trace.
//!
//! Responsible for: converting nodes of a file (messages with a length prefix). The results are host and
//! device activities, collectives with kind, bytes and group, and the launch of each kernel. Excludes and
//! counts nodes without a time: their order does not determine times.
//!
//! Source: mlcommons/chakra, `schema/protobuf/et_def.proto`; attributes (`is_cpu_op`, `comm_type`,
//! `comm_size`, `pg_name`, `tid`, `stream`) as its PyTorch converter writes them.

mod node;

use super::wire::{Fields, Value, prefixed};
use super::{Keep, Reader, Recording};
use crate::RankTrace;
use crate::job::{Family, Standing};
use crate::trace::{
    CollectiveCall, DamageKind, GpuActivity, GpuKind, HostActivity, HostKind, Identity, RankGroup, Source,
};
use node::{Node, Type};
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// The reader of execution traces.
pub(super) struct Chakra;

impl Reader for Chakra {
    fn name(&self) -> &'static str {
        "Chakra execution trace"
    }

    fn matches(&self, head: &[u8]) -> bool {
        // The metadata with a version, then a node with a number and a name.
        let Some((metadata, rest)) = prefixed(head) else { return false };
        let is_version = |bytes: &[u8]| {
            bytes.first().is_some_and(u8::is_ascii_digit)
                && bytes.contains(&b'.')
                && bytes.is_ascii()
                && bytes.len() < 64
        };
        let version = Fields::new(metadata).next();
        if !matches!(version, Some((1, Value::Bytes(bytes))) if is_version(bytes)) {
            return false;
        }
        prefixed(rest).is_some_and(|(node, _)| {
            Fields::new(node).take(3).any(|(field, value)| field == 2 && matches!(value, Value::Bytes(_)))
        })
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let mut rest = prefixed(bytes).map_or(&[][..], |(_, rest)| rest);
        let mut nodes = Vec::new();
        let mut trace = RankTrace::default();
        while let Some((message, next)) = prefixed(rest) {
            if let Some(node) = Node::read(message) {
                nodes.push(node);
            } else {
                let at = (bytes.len() - rest.len()) as u64;
                trace
                    .report
                    .note(DamageKind::UnreadableEvent, at, || "a node that cannot be read".to_owned());
            }
            rest = next;
        }
        if !rest.is_empty() {
            let at = (bytes.len() - rest.len()) as u64;
            trace
                .report
                .note(DamageKind::Truncated, at, || format!("{} bytes could not be read", rest.len()));
        }
        trace.report.bytes = bytes.len() as u64;
        trace.report.events = nodes.len() as u64;
        trace.identity = Identity { label: label.to_owned(), source: Source::Chakra, ..Identity::default() };
        fill(&nodes, &mut trace);
        if trace.gpu.is_empty() && trace.host.is_empty() {
            let text = format!(
                "{} nodes, none of them with a time: the file describes an order of operations, not when they ran",
                nodes.len()
            );
            return Err(Problem::new(text).in_file(label).hint(
                "convert it together with the PyTorch profiler's trace of the same step, or pass that trace",
            ));
        }
        Ok(vec![Recording::Rank(Box::new(trace))])
    }
}

/// Adds nodes with a time as activities.
fn fill(nodes: &[Node], trace: &mut RankTrace) {
    let by_id: BTreeMap<u64, &Node> = nodes.iter().map(|node| (node.id, node)).collect();
    let mut threads: BTreeMap<i64, u32> = BTreeMap::new();
    let mut groups: BTreeMap<String, u32> = BTreeMap::new();
    // Assigns a correlation to the call that launched each device node.
    let mut launched: BTreeMap<u64, u32> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !node.is_cpu) {
        let call = node
            .dependencies
            .iter()
            .find(|id| by_id.get(*id).is_some_and(|node| node.is_cpu && is_call(&node.name)));
        if let Some(call) = call {
            let next = u32::try_from(launched.len()).unwrap_or(u32::MAX - 1) + 1;
            launched.entry(*call).or_insert(next);
        }
    }
    for node in nodes {
        let Some((start, end)) = node.times() else {
            trace.report.leave_out("nodes without a time");
            continue;
        };
        let name = trace.names.intern(&node.name);
        let collective = collective(node, trace, &mut groups);
        if node.is_cpu {
            let next = u32::try_from(threads.len()).unwrap_or(u32::MAX);
            let thread = *threads.entry(node.thread).or_insert(next);
            let kind = match node.kind {
                _ if collective.is_some() => HostKind::Collective,
                _ if is_call(&node.name) => HostKind::Runtime,
                Type::Metadata => HostKind::Annotation,
                _ => HostKind::Operator,
            };
            let shapes = (!node.shapes.is_empty() && kind == HostKind::Operator)
                .then(|| trace.names.intern(&node.shapes));
            let correlation = launched.get(&node.id).copied().filter(|_| kind == HostKind::Runtime);
            trace.host.push(HostActivity { start, end, name, kind, thread, correlation, collective, shapes });
        } else {
            let kind = match node.kind {
                Type::Memory => GpuKind::Copy,
                _ => GpuKind::Kernel,
            };
            let stream = node.stream.unwrap_or(u32::from(collective.is_some()));
            let correlation = node.dependencies.iter().find_map(|id| launched.get(id)).copied();
            trace.gpu.push(GpuActivity { start, end, name, kind, stream, correlation, collective, bytes: 0 });
        }
    }
    trace.gpu.sort();
    trace.host.sort();
    let impossible = trace.gpu.drop_impossible() + trace.host.drop_impossible();
    trace.report.note_many(DamageKind::BadTime, impossible);
    trace.report.kept = (trace.gpu.len() + trace.host.len()) as u64;
}

/// Tests whether a name is a runtime call.
fn is_call(name: &str) -> bool {
    ["cuda", "hip", "cuLaunch"].iter().any(|start| name.starts_with(start))
}

/// Adds the collective or message of a node; returns its index, or `None` if the node is neither.
fn collective(node: &Node, trace: &mut RankTrace, groups: &mut BTreeMap<String, u32>) -> Option<u32> {
    if !matches!(node.kind, Type::Collective | Type::Send | Type::Receive) {
        return None;
    }
    let group = (!node.group.is_empty()).then(|| {
        *groups.entry(node.group.clone()).or_insert_with(|| {
            trace.groups.push(RankGroup { name: node.group.clone(), ..RankGroup::default() });
            u32::try_from(trace.groups.len() - 1).unwrap_or(u32::MAX)
        })
    });
    trace.collectives.push(CollectiveCall {
        kind: node.collective(),
        label: node.name.clone(),
        elements_in: node.bytes,
        element_bytes: node.bytes.map(|_| 1),
        group,
        peer: node.peer,
        ..CollectiveCall::default()
    });
    u32::try_from(trace.collectives.len() - 1).ok()
}

/// PyTorch's own execution trace (`ExecutionTraceObserver`): operators with shapes, without times. It is
/// detected so that the error can name it.
pub(super) struct PyTorchGraph;

impl Reader for PyTorchGraph {
    fn name(&self) -> &'static str {
        "PyTorch execution trace"
    }

    fn family(&self) -> Family {
        Family::Ranks
    }

    /// It describes the operators of a rank whose trace is in the same folder.
    fn standing(&self, _: &[u8]) -> Standing {
        Standing::Beside
    }

    fn matches(&self, head: &[u8]) -> bool {
        let has = |word: &str| memchr::memmem::find(head, word.as_bytes()).is_some();
        head.trim_ascii_start().starts_with(b"{")
            && has("\"schema\"")
            && has("\"nodes\"")
            && has("\"ctrl_deps\"")
            && !has("\"traceEvents\"")
    }

    fn read(&self, label: &str, _: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        Err(Problem::new("PyTorch execution traces have no times")
            .in_file(label)
            .hint("pass the profiler's trace (`torch.profiler`, chrome trace) recorded with it"))
    }
}

#[cfg(test)]
mod tests;
