//! Memory that grows from step to step.
//!
//! Responsible for: stacks with a growing number of blocks over the whole history. Excludes single
//! allocations (weights, moments), and blocks that exist at the end only because the last step has not ended.

use super::history::{Blocks, History};
use super::kinds;
use super::read::{Action, Event, Snapshot, Stack};
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of parts of a history, by events.
const PARTS: usize = 8;
/// Minimum number of these parts in which a stack must leave blocks. It excludes single allocations and the
/// last step.
const HIT: usize = 6;

/// A stack whose memory grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leak {
    /// The innermost frame outside the framework.
    pub place: String,
    /// Number of blocks allocated in the history and never freed.
    pub blocks: u64,
    /// Bytes of these blocks.
    pub bytes: u64,
    /// Number of the eight parts of the history with such allocations.
    pub parts: u32,
    /// Growth in bytes per second; `None` if events have no times.
    pub bytes_per_s: Option<f64>,
}

/// Stacks with remaining blocks, most bytes first.
pub(super) fn leaks(snapshot: &Snapshot, events: &[Event], history: &History) -> Vec<Leak> {
    let mut of: BTreeMap<Stack, (u64, u64, [bool; PARTS])> = BTreeMap::new();
    let blocks: &Blocks = &history.at_end;
    for live in blocks.values() {
        let Some(since) = live.since else { continue };
        let part = since * PARTS / events.len().max(1);
        let sum = of.entry(live.stack).or_default();
        sum.0 += 1;
        sum.1 = sum.1.saturating_add(live.size);
        if let Some(hit) = sum.2.get_mut(part) {
            *hit = true;
        }
    }
    let times = |wanted: fn(&&Event) -> bool| events.iter().filter(wanted).filter_map(|event| event.time_us);
    let alloc = |event: &&Event| event.action == Action::Alloc;
    let span = times(alloc)
        .max()
        .zip(times(alloc).min())
        .map(|(last, first)| last.saturating_sub(first) as f64 * 1e-6);
    let mut found: Vec<Leak> = of
        .into_iter()
        .filter_map(|(stack, (blocks, bytes, hit))| {
            let parts = hit.iter().filter(|hit| **hit).count();
            let frames = stack.and_then(|at| snapshot.stacks.get(at as usize)).map(Vec::as_slice);
            (parts >= HIT && frames.is_some()).then(|| Leak {
                place: kinds::place(frames),
                blocks,
                bytes,
                parts: parts as u32,
                bytes_per_s: span.filter(|span| *span > 0.0).map(|span| bytes as f64 / span),
            })
        })
        .collect();
    found.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.place.cmp(&b.place)));
    found
}
