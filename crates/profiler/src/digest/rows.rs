//! Rows of the host that joint analyses read.
//!
//! Responsible for: marking them by reason, and a trace of only these rows with renumbered names and calls.
//! Does not select by length or share.

use crate::causes::{Cause, Idle, Key, key};
use crate::communication::NameTable;
use crate::joined::speaks_of_experts;
use crate::roofline::{contracts, operators};
use crate::trace::{CollectiveCall, GpuActivities, HostActivities, HostActivity, HostKind, NONE, RankGroup};
use crate::view::{Role, View};
use crate::waterfall::sweep;
use crate::{NameId, Names, RankTrace};
use std::collections::{BTreeMap, BTreeSet};

/// Flags of the host rows that joint analyses read, by row.
pub(super) fn wanted(view: &View<'_>, table: &NameTable) -> Vec<bool> {
    let trace = view.trace;
    let host = &trace.host;
    // Without a device, host rows replace device rows, so all are needed.
    if view.from_host {
        return vec![true; host.len()];
    }
    let mut keep = by_kind(trace, table);
    launching(view, &mut keep);
    frames(view, &mut keep);
    // First and last host rows: the limits of the recording.
    let last = host.ends().iter().enumerate().max_by_key(|(at, end)| (**end, std::cmp::Reverse(*at)));
    for row in [0].into_iter().chain(last.map(|(at, _)| at)) {
        if let Some(cell) = keep.get_mut(row) {
            *cell = true;
        }
    }
    keep
}

/// Marks annotations, communication, the profiler's overhead, phase marks, and GEMMs with shapes.
fn by_kind(trace: &RankTrace, table: &NameTable) -> Vec<bool> {
    let classes = table.classes(&trace.names);
    let mut known: Vec<Option<bool>> = vec![None; trace.names.len()];
    let rows = trace.host.iter().map(|row| {
        if matches!(row.kind, HostKind::Annotation | HostKind::Collective | HostKind::Overhead) {
            return true;
        }
        if classes.get(row.name).is_some() {
            return true;
        }
        let says = || {
            let name = trace.names.get(row.name);
            crate::phases::says(name) || contracts(name)
        };
        match known.get_mut(row.name.0 as usize) {
            Some(cell) if row.kind == HostKind::Operator => *cell.get_or_insert_with(says),
            _ => false,
        }
    });
    rows.collect()
}

/// Marks calls that launched a device row, calls before its first row, the operator around each, and the
/// operator with its shapes. Of copies, the outermost operator is marked as well: findings name it.
fn launching(view: &View<'_>, keep: &mut [bool]) {
    let trace = view.trace;
    let host = &trace.host;
    let mut launched: Vec<u32> = trace.gpu.iter().filter_map(|row| row.correlation).collect();
    launched.sort_unstable();
    launched.dedup();
    let copies = trace.gpu.iter().zip(&view.role).filter(|(_, role)| **role == Role::Copy);
    let copied: BTreeSet<u32> = copies.filter_map(|(row, _)| row.correlation).collect();
    let first = trace.gpu.starts().first().copied().unwrap_or(i64::MAX);
    let shaped = operators(view);
    // Open rows of each thread: (end, row, whether it is an operator).
    let mut open: BTreeMap<u32, Vec<(i64, u32, bool)>> = BTreeMap::new();
    for (at, row) in host.iter().enumerate() {
        if matches!(row.kind, HostKind::Overhead | HostKind::Python) {
            continue;
        }
        let stack = open.entry(row.thread).or_default();
        while stack.last().is_some_and(|(end, ..)| *end <= row.start) {
            stack.pop();
        }
        if row.kind != HostKind::Runtime {
            stack.push((row.end, at as u32, row.kind == HostKind::Operator));
            continue;
        }
        let launches = row.correlation.is_some_and(|own| launched.binary_search(&own).is_ok());
        if !launches && row.start >= first {
            continue;
        }
        keep[at] = true;
        let around = stack.iter().rev().find(|(.., operator)| *operator).map(|(_, at, _)| *at);
        let copies = row.correlation.is_some_and(|own| copied.contains(&own));
        let outermost = stack.iter().find(|(.., operator)| copies && *operator).map(|(_, at, _)| *at);
        for row in [around, outermost, shaped.get(at).copied()].into_iter().flatten() {
            if let Some(cell) = keep.get_mut(row as usize) {
                *cell = true;
            }
        }
    }
}

/// Marks the host frames during idle time of the device, and all enclosing ones. Of operators with long
/// calls, all calls are marked: the usual duration decides whether a call is an exception.
fn frames(view: &View<'_>, keep: &mut [bool]) {
    let Some((start, end)) = super::extent::recorded(view) else { return };
    let host = &view.trace.host;
    // A step may end on another rank, after this device's last work.
    let recorded = (start, host.ends().iter().copied().fold(end, i64::max));
    let mut idle = Idle::new(view);
    let mut long: BTreeSet<Key> = BTreeSet::new();
    for piece in sweep(view, recorded).into_iter().filter(|piece| piece.role == Role::None) {
        for part in idle.stretches(view, piece) {
            let mut is_open = part.cause == Cause::HostWork;
            idle.hold(part.frame, |row| {
                if let Some(cell) = keep.get_mut(row as usize) {
                    *cell = true;
                }
                let operator = host.get(row as usize).filter(|row| row.kind == HostKind::Operator);
                if let Some(operator) = operator.filter(|_| is_open) {
                    is_open = false;
                    long.insert(key(&operator));
                }
            });
        }
    }
    for (cell, row) in keep.iter_mut().zip(host.iter()) {
        *cell = *cell || long.contains(&key(&row));
    }
}

/// A group without its list of ranks, if it contains all ranks of the job: its size implies them, and every
/// rank of a large job lists them.
fn without_world(group: &RankGroup, world: Option<u32>) -> RankGroup {
    let all = |ranks: &Vec<u32>| world.is_some_and(|world| ranks.iter().copied().eq(0..world));
    let is_world = world.is_some_and(|world| world > 1) && group.ranks.as_ref().is_some_and(all);
    if is_world { RankGroup { ranks: None, size: world, ..group.clone() } } else { group.clone() }
}

/// Names and calls renumbered in the order of first use by rows.
struct Renumbered<'a> {
    trace: &'a RankTrace,
    names: Names,
    of_name: Vec<u32>,
    calls: Vec<CollectiveCall>,
    of_call: Vec<u32>,
}

impl Renumbered<'_> {
    fn name(&mut self, id: NameId) -> NameId {
        let Some(cell) = self.of_name.get_mut(id.0 as usize) else { return self.names.intern("") };
        if *cell == NONE {
            *cell = self.names.intern(self.trace.names.get(id)).0;
        }
        NameId(*cell)
    }

    fn call(&mut self, call: Option<u32>) -> Option<u32> {
        let call = call?;
        let cell = self.of_call.get_mut(call as usize)?;
        if *cell == NONE {
            *cell = self.calls.len() as u32;
            self.calls.push(self.trace.collectives.get(call as usize)?.clone());
        }
        Some(*cell)
    }
}

/// The trace with the selected host rows only.
pub(super) fn only(trace: &RankTrace, wanted: impl Fn(usize) -> bool) -> RankTrace {
    let mut new = Renumbered {
        trace,
        names: Names::default(),
        of_name: vec![NONE; trace.names.len()],
        calls: Vec::new(),
        of_call: vec![NONE; trace.collectives.len()],
    };
    let mut gpu = GpuActivities::default();
    for row in trace.gpu.iter() {
        let (name, collective) = (new.name(row.name), new.call(row.collective));
        gpu.push(crate::trace::GpuActivity { name, collective, ..row });
    }
    let mut host = HostActivities::default();
    for (_, row) in trace.host.iter().enumerate().filter(|(at, _)| wanted(*at)) {
        let (name, collective) = (new.name(row.name), new.call(row.collective));
        let shapes = row.shapes.map(|shapes| new.name(shapes));
        host.push(HostActivity { name, collective, shapes, ..row });
    }
    // A name of experts identifies the purpose of communication, even if its row is removed.
    if let Some(name) = trace.names.iter().find(|name| speaks_of_experts(name)) {
        new.names.intern(name);
    }
    RankTrace {
        identity: trace.identity.clone(),
        names: new.names,
        gpu,
        host,
        collectives: new.calls,
        groups: trace.groups.iter().map(|group| without_world(group, trace.identity.world_size)).collect(),
        report: trace.report.clone(),
    }
}
