//! Allocated memory at every moment of a device's history.
//!
//! Responsible for: following allocations and frees by address, including blocks from before the history. A
//! block that is freed without an allocation existed before; it has a stack only if its segment has one.

use super::read::{Action, BlockState, Event, Segment, Stack};
use std::collections::BTreeMap;

/// A block with a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) size: u64,
    pub(super) stack: Stack,
    /// Index of the event that allocated it; `None` for blocks from before the history.
    pub(super) since: Option<usize>,
}

/// Blocks with tensors, by address.
pub(super) type Blocks = BTreeMap<u64, Live>;

/// Applies one event. Returns the freed bytes.
fn apply(blocks: &mut Blocks, at: usize, event: &Event) -> u64 {
    match event.action {
        Action::Alloc => {
            let live = Live { size: event.size, stack: event.stack, since: Some(at) };
            blocks.insert(event.address, live).map_or(0, |lost| lost.size)
        }
        // `torch.cuda.memory_allocated` falls when the owner frees, independently of streams.
        Action::FreeRequested | Action::FreeCompleted => {
            blocks.remove(&event.address).map_or(0, |live| live.size)
        }
        _ => 0,
    }
}

/// Peak and end of a device's history.
pub(super) struct History {
    /// Blocks from before the first event.
    pub(super) before: Blocks,
    /// Bytes allocated and reserved after each event.
    pub(super) curve: Vec<(u64, u64)>,
    /// Index of the event after which most was allocated; `None` if the peak was before the first one.
    pub(super) peak: Option<usize>,
    /// Blocks at the peak.
    pub(super) at_peak: Blocks,
    /// Blocks at the end.
    pub(super) at_end: Blocks,
    /// Bytes reserved before the first event.
    pub(super) reserved_before: u64,
}

/// Follows a device's events; `segments` are those at the end.
pub(super) fn history(events: &[Event], segments: &[&Segment]) -> History {
    let held = segments.iter().flat_map(|segment| &segment.blocks);
    let at_end: Blocks = held
        .filter(|block| block.state == BlockState::Allocated)
        .map(|block| (block.address, Live { size: block.requested, stack: block.stack, since: None }))
        .collect();
    // Blocks that are freed or still allocated without an allocation existed before.
    let mut before = Blocks::new();
    let mut met = Blocks::new();
    let mut allocated_once: std::collections::BTreeSet<u64> = std::collections::BTreeSet::new();
    for (at, event) in events.iter().enumerate() {
        match event.action {
            Action::Alloc => drop(allocated_once.insert(event.address)),
            Action::FreeRequested
                if !met.contains_key(&event.address) && allocated_once.insert(event.address) =>
            {
                before.insert(event.address, Live { size: event.size, stack: None, since: None });
            }
            _ => {}
        }
        apply(&mut met, at, event);
    }
    before.extend(
        at_end.iter().filter(|(address, _)| !allocated_once.contains(address)).map(|(a, l)| (*a, *l)),
    );
    let reserved_at_end: u64 = segments.iter().map(|segment| segment.size).sum();
    let (given, taken) = events.iter().fold((0u64, 0u64), |(given, taken), event| match event.action {
        Action::SegmentAlloc => (given.saturating_add(event.size), taken),
        Action::SegmentFree => (given, taken.saturating_add(event.size)),
        _ => (given, taken),
    });
    let reserved_before = reserved_at_end.saturating_add(taken).saturating_sub(given);
    let mut blocks = before.clone();
    let mut allocated: u64 = blocks.values().map(|live| live.size).sum();
    let mut reserved = reserved_before;
    let (mut most, mut peak) = (allocated, None);
    let mut curve = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
        let freed = apply(&mut blocks, at, event);
        allocated = allocated.saturating_sub(freed);
        match event.action {
            Action::Alloc => allocated = allocated.saturating_add(event.size),
            Action::SegmentAlloc => reserved = reserved.saturating_add(event.size),
            Action::SegmentFree => reserved = reserved.saturating_sub(event.size),
            _ => {}
        }
        if allocated > most {
            (most, peak) = (allocated, Some(at));
        }
        curve.push((allocated, reserved));
    }
    let mut at_peak = before.clone();
    for (at, event) in events.iter().enumerate().take(peak.map_or(0, |at| at + 1)) {
        apply(&mut at_peak, at, event);
    }
    History { before, curve, peak, at_peak, at_end: blocks, reserved_before }
}
