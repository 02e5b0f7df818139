//! The report on a snapshot.
//!
//! Responsible for: composition of the peak by kind, place and module, memory over time, fragmentation, and
//! the allocator's requests to the driver. Without a history there is no peak: the state at the end is shown,
//! labelled as such.

use super::history::{Blocks, History, history};
use super::kinds::{self, Use};
use super::leaks::{Leak, leaks};
use super::read::{Action, BlockState, Event, Frame, Segment, Snapshot, Stack};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of points on the curve.
const POINTS: usize = 256;
/// Maximum number of kept frames per stack.
const FRAMES: usize = 24;

/// Memory of one kind, place or module.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Name of the kind, place or module.
    pub name: String,
    /// Purpose of the allocations of a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Use>,
    /// For a place: the module whose forward pass allocates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Bytes of its blocks.
    pub bytes: u64,
    /// Number of its blocks.
    pub blocks: u64,
    /// For a place: its stack, innermost frame first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
}

/// A moment of the history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Index of the event, from 0.
    pub event: usize,
    /// Time, in microseconds since the first event.
    pub time_us: Option<u64>,
    /// Bytes of tensors.
    pub allocated_bytes: u64,
    /// Bytes reserved by the allocator.
    pub reserved_bytes: u64,
}

/// Report of one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceReport {
    /// Number of the device.
    pub device: u64,
    /// Number of events in its history.
    pub events: usize,
    /// True if there is a history, and so a peak; otherwise the state at the end is shown.
    pub has_history: bool,
    /// Time of the peak.
    pub peak: Option<Point>,
    /// Bytes requested by tensors at the peak.
    pub peak_allocated_bytes: u64,
    /// Peak of the bytes reserved by the allocator.
    pub peak_reserved_bytes: u64,
    /// Bytes of tensors at the end.
    pub allocated_bytes: u64,
    /// Bytes reserved by the allocator at the end.
    pub reserved_bytes: u64,
    /// Bytes of free blocks in segments that also contain tensors, which cannot be released. `None` without
    /// segments.
    pub fragmented_bytes: Option<u64>,
    /// Bytes of free segments, which can be released. `None` without segments.
    pub cached_bytes: Option<u64>,
    /// Bytes freed by their owner and still in use by a stream.
    pub awaiting_free_bytes: u64,
    /// Size of the largest free block, in bytes.
    pub largest_free_bytes: u64,
    /// Memory at the peak by kind, largest first.
    pub kinds: Vec<Group>,
    /// Memory at the peak by place in the code, largest first.
    pub places: Vec<Group>,
    /// Memory at the peak by module, largest first.
    pub modules: Vec<Group>,
    /// Memory over the history.
    pub curve: Vec<Point>,
    /// Number of segments that the driver allocated within the history.
    pub segment_allocs: u64,
    /// Number of segments that it released.
    pub segment_frees: u64,
    /// Number of times that the allocator released segments and requested one at once: its cache had no
    /// block that fitted.
    pub cache_flushes: u64,
    /// Number of out-of-memory events.
    pub out_of_memory: u64,
    /// Requested bytes of the first failed allocation, and the driver's free bytes at that time.
    pub first_failure: Option<(u64, Option<u64>)>,
    /// Stacks with growing memory.
    pub leaks: Vec<Leak>,
}

/// Report of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotReport {
    /// Devices with memory or a history.
    pub devices: Vec<DeviceReport>,
}

fn frames(snapshot: &Snapshot, stack: Stack) -> Option<&[Arc<Frame>]> {
    stack.and_then(|at| snapshot.stacks.get(at as usize)).map(Vec::as_slice)
}

fn sorted(groups: BTreeMap<String, Group>) -> Vec<Group> {
    let mut all: Vec<Group> = groups.into_values().collect();
    all.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    all
}

/// Adds a block to a group.
fn add(groups: &mut BTreeMap<String, Group>, key: String, size: u64, fresh: impl FnOnce(String) -> Group) {
    let group = groups.entry(key.clone()).or_insert_with(|| fresh(key));
    group.bytes = group.bytes.saturating_add(size);
    group.blocks += 1;
}

/// Blocks by kind, place and module.
fn grouped(snapshot: &Snapshot, blocks: &Blocks) -> [Vec<Group>; 3] {
    let (mut kinds, mut places, mut modules) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let group =
        |name: String| Group { name, kind: None, module: None, bytes: 0, blocks: 0, stack: Vec::new() };
    // Many blocks share a stack.
    let mut by_stack: BTreeMap<Stack, Vec<u64>> = BTreeMap::new();
    for live in blocks.values() {
        by_stack.entry(live.stack).or_default().push(live.size);
    }
    for (stack, sizes) in by_stack {
        let stack = frames(snapshot, stack);
        let (kind, module, place) = (kinds::kind(stack), kinds::module(stack), kinds::place(stack));
        for size in sizes {
            add(&mut kinds, kind.name().to_owned(), size, |name| Group { kind: Some(kind), ..group(name) });
            if let Some(module) = &module {
                add(&mut modules, module.clone(), size, group);
            }
            if stack.is_some() {
                add(&mut places, format!("{place}\u{0}{}", kind.name()), size, |_| Group {
                    kind: Some(kind),
                    module: module.clone(),
                    stack: stack
                        .into_iter()
                        .flatten()
                        .take(FRAMES)
                        .map(|frame| kinds::written(frame))
                        .collect(),
                    ..group(place.clone())
                });
            }
        }
    }
    [sorted(kinds), sorted(places), sorted(modules)]
}

/// Number of times that segments are released and one is requested at once.
fn flushes(events: &[Event]) -> u64 {
    let mut last = Action::Other;
    let mut count = 0;
    for event in events {
        if event.action == Action::SegmentAlloc && last == Action::SegmentFree {
            count += 1;
        }
        last = event.action;
    }
    count
}

fn curve(events: &[Event], history: &History) -> Vec<Point> {
    let first = events.iter().find_map(|event| event.time_us);
    let point = |at: usize| {
        let &(allocated_bytes, reserved_bytes) = history.curve.get(at)?;
        let time_us =
            events.get(at).and_then(|event| event.time_us).zip(first).map(|(t, f)| t.saturating_sub(f));
        Some(Point { event: at, time_us, allocated_bytes, reserved_bytes })
    };
    let count = history.curve.len();
    // The maximum of each range of events, so that no peak is lost.
    (0..count.min(POINTS))
        .filter_map(|part| {
            let (from, to) = (part * count / count.min(POINTS), (part + 1) * count / count.min(POINTS));
            let most = (from..to).max_by_key(|&at| (history.curve[at].0, std::cmp::Reverse(at)))?;
            point(most)
        })
        .collect()
}

fn device(snapshot: &Snapshot, number: u64, segments: &[&Segment]) -> DeviceReport {
    let none = Vec::new();
    let own = usize::try_from(number).ok().and_then(|at| snapshot.devices.get(at));
    let events = own.map_or(&none, |device| &device.events);
    let history = history(events, segments);
    let has_history = !events.is_empty();
    let shown = if has_history { &history.at_peak } else { &history.before };
    let [kinds, places, modules] = grouped(snapshot, shown);
    let sum = |blocks: &Blocks| blocks.values().map(|live| live.size).fold(0u64, u64::saturating_add);
    let held = |segment: &&&Segment| segment.blocks.iter().any(|block| block.state != BlockState::Inactive);
    let free = |segment: &Segment| {
        let inactive = segment.blocks.iter().filter(|block| block.state == BlockState::Inactive);
        inactive.map(|block| block.size).fold(0u64, u64::saturating_add)
    };
    let blocks = || segments.iter().flat_map(|segment| &segment.blocks);
    let of = |state: BlockState| blocks().filter(move |block| block.state == state).map(|block| block.size);
    let count = |action: Action| events.iter().filter(|event| event.action == action).count() as u64;
    let known = snapshot.has_segments;
    let points = curve(events, &history);
    let failed = events.iter().find(|event| event.action == Action::OutOfMemory);
    DeviceReport {
        device: number,
        events: events.len(),
        has_history,
        peak: history.peak.and_then(|peak| points.iter().find(|point| point.event == peak).copied()),
        peak_allocated_bytes: sum(shown),
        peak_reserved_bytes: history
            .curve
            .iter()
            .map(|point| point.1)
            .max()
            .unwrap_or(0)
            .max(history.reserved_before),
        allocated_bytes: if known { of(BlockState::Allocated).sum() } else { sum(&history.at_end) },
        reserved_bytes: segments.iter().map(|segment| segment.size).sum(),
        fragmented_bytes: known.then(|| segments.iter().filter(held).map(|segment| free(segment)).sum()),
        cached_bytes: known.then(|| segments.iter().filter(|s| !held(s)).map(|s| s.size).sum()),
        awaiting_free_bytes: of(BlockState::AwaitingFree).sum(),
        largest_free_bytes: of(BlockState::Inactive).max().unwrap_or(0),
        kinds,
        places,
        modules,
        curve: points,
        segment_allocs: count(Action::SegmentAlloc),
        segment_frees: count(Action::SegmentFree),
        cache_flushes: flushes(events),
        out_of_memory: count(Action::OutOfMemory),
        first_failure: failed.map(|event| (event.size, event.free)),
        leaks: leaks(snapshot, events, &history),
    }
}

/// The report on a snapshot.
pub fn report(snapshot: &Snapshot) -> SnapshotReport {
    let mut segments: BTreeMap<u64, Vec<&Segment>> = BTreeMap::new();
    for (number, _) in (0u64..).zip(&snapshot.devices).filter(|(_, device)| !device.events.is_empty()) {
        segments.entry(number).or_default();
    }
    for segment in &snapshot.segments {
        segments.entry(segment.device).or_default().push(segment);
    }
    let devices = segments.into_iter().map(|(number, own)| device(snapshot, number, &own)).collect();
    SnapshotReport { devices }
}
