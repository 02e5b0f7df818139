//! Counters of one rank: waiting kernels, and the bandwidth of its communication.
//!
//! Responsible for: deriving them from the rank's view. Clocks, power and traffic of network cards are those
//! of [`crate::telemetry`], because a trace of activities does not contain them.

use super::rank::Inputs;
use crate::trace::NONE;
use crate::view::{Role, View};
use crate::waterfall::Exchanges;
use railwright_step::columns::{Counter, TrackHead, Window};

/// Maximum number of points per counter.
const MOST_POINTS: usize = 4_000;

/// A counter before conversion to columns: name, unit and changes.
pub(super) use crate::telemetry::Changes;

/// Counters of a rank.
pub(super) fn read(view: &View<'_>, exchanges: &Exchanges, inputs: &Inputs) -> Vec<Changes> {
    vec![
        ("launched, not started", "", queued(view, inputs)),
        ("bandwidth of transfers", "B/s", bandwidth(view, exchanges, inputs)),
    ]
}

/// Counters with any value, in columns.
pub(super) fn of(
    read: Vec<Changes>,
    window: Window,
    head: impl Fn(&str) -> TrackHead,
) -> impl Iterator<Item = Counter> {
    read.into_iter()
        .filter_map(move |(name, unit, changes)| Counter::of(head(name), unit, changes, window, MOST_POINTS))
}

/// Kernels and copies that were launched and have not started: `+1` at the host call, `-1` at the start on
/// the device. A long time at 0 means that the device waits for its host.
fn queued(view: &View<'_>, inputs: &Inputs) -> Vec<(i64, f64)> {
    let mut changes = Vec::new();
    if view.from_host {
        return changes;
    }
    for (row, &launch) in view.launch.iter().enumerate() {
        if launch == NONE || view.role.get(row) == Some(&Role::None) {
            continue;
        }
        let Some(call) = view.trace.host.get(launch as usize) else { continue };
        let start = view.gpu.starts()[row];
        // Clocks of host and device may differ by more than the duration of a launch.
        if call.start < start && start > inputs.start && call.start < inputs.end {
            changes.push((call.start - inputs.start, 1.0));
            changes.push((start - inputs.start, -1.0));
        }
    }
    changes
}

/// Bytes of communication over the time of their transfers, without waits: algorithm bandwidth as in
/// nccl-tests, summed over streams.
fn bandwidth(view: &View<'_>, exchanges: &Exchanges, inputs: &Inputs) -> Vec<(i64, f64)> {
    let mut changes = Vec::new();
    for row in 0..view.gpu.len() {
        if view.role.get(row) != Some(&Role::Communication) {
            continue;
        }
        let (start, end) = (view.gpu.starts()[row], view.gpu.ends()[row]);
        let bytes = view.gpu.get(row).map_or(0, |row| row.bytes);
        let from = exchanges.get(row as u32).transfer_from.unwrap_or(start).clamp(start, end);
        if bytes == 0 || from >= end || end <= inputs.start || from >= inputs.end {
            continue;
        }
        let rate = bytes as f64 * 1e9 / (end - from) as f64;
        changes.push((from - inputs.start, rate));
        changes.push((end - inputs.start, -rate));
    }
    changes
}
