//! The tracks of one rank: its device, its streams, its threads.
//!
//! Responsible for: deriving them from the rank's view, with waits separate from transfers. Excludes time
//! outside the step.

use super::rows::{Drawn, Name, Named, Of, Shows, Source, lanes};
use crate::causes::Idle;
use crate::trace::{HostKind, NONE};
use crate::view::{Role, View};
use crate::waterfall::{Exchanges, Group, Label, sweep};
use railwright_step::Dimension;
use railwright_step::columns::{Class, Row};
use std::collections::BTreeMap;

/// Name of the track with every moment of the device once.
pub(super) const DEVICE: &str = "device";

/// Input common to all ranks.
pub(super) struct Inputs {
    /// Whole time range in nanoseconds: idle intervals are classified as a whole and then cut.
    pub(super) whole: (i64, i64),
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) host: bool,
}

impl Inputs {
    fn holds(&self, start: i64, end: i64) -> bool {
        start < self.end && end > self.start
    }
}

/// Creates all tracks of a rank, except those of its passes.
pub(super) fn draw(
    view: &View<'_>,
    exchanges: &Exchanges,
    inputs: &Inputs,
    passes: Vec<Drawn>,
) -> Vec<Drawn> {
    let mut tracks = passes;
    tracks.push(device(view, exchanges, inputs));
    tracks.extend(streams(view, exchanges, inputs));
    if inputs.host || view.gpu.is_empty() {
        tracks.extend(threads(view, inputs));
    }
    tracks
}

fn class_of(view: &View<'_>, exchanges: &Exchanges, row: usize) -> Class {
    match view.role.get(row) {
        Some(Role::Compute) => Class::of_phase(view.phase.get(row).copied().unwrap_or_default()),
        Some(Role::Communication) => Class::of_dimension(exchanges.get(row as u32).dimension),
        Some(Role::Copy) => Class::Copy,
        _ => Class::Other,
    }
}

fn idle_class(label: Label) -> Class {
    match label.group() {
        Group::Bubble => Class::Bubble,
        Group::Host => Class::Host,
        Group::Copy => Class::Copy,
        Group::Communication => Class::Waiting,
        _ => Class::Other,
    }
}

/// A device row; communication is split into the wait for other ranks and the transfer.
fn cut<'a>(
    view: &View<'a>,
    exchanges: &Exchanges,
    inputs: &Inputs,
    row: usize,
    (start, end): (i64, i64),
    out: &mut Vec<Named<'a>>,
) {
    let name = view.trace.names.get(view.gpu.names()[row]);
    let class = class_of(view, exchanges, row);
    let bytes = view.gpu.get(row).map_or(0, |row| row.bytes);
    let launch = view.launch.get(row).copied().unwrap_or(NONE);
    // Without a device the row is one of the host.
    let (source, launch) = if view.from_host {
        (Source { on_host: true, row: launch }, NONE)
    } else {
        (Source { on_host: false, row: row as u32 }, launch)
    };
    let device = Of::Device(source, launch);
    let span = |start: i64, end: i64, class: Class| Row {
        start: start - inputs.start,
        end: end - inputs.start,
        class,
        bytes,
        ..Row::default()
    };
    let exchange = exchanges.get(row as u32);
    let from = if view.role.get(row) == Some(&Role::Communication) { exchange.transfer_from } else { None };
    let from = from.unwrap_or(start).clamp(start, end);
    if from > start {
        // A wait for a message of the pipeline is a bubble.
        let (class, word) = if is_pipeline(exchange.dimension) {
            (Class::Bubble, "bubble: message")
        } else {
            (Class::Waiting, "waits for other ranks")
        };
        out.push(Named {
            row: span(start, from, class),
            name: Name::Made(format!("{word}: {name}")),
            of: Of::Wait(source),
        });
    }
    if from < end {
        out.push(Named { row: span(from, end, class), name: Name::Known(name), of: device });
    }
}

/// Track with every moment once, as in the waterfall: compute, otherwise communication, otherwise copies,
/// otherwise the reason of the idle time.
pub(super) fn device<'a>(view: &View<'a>, exchanges: &Exchanges, inputs: &Inputs) -> Drawn {
    let mut idle = Idle::new(view);
    let mut rows: Vec<Named<'a>> = Vec::new();
    for piece in sweep(view, inputs.whole) {
        if piece.role != Role::None {
            if inputs.holds(piece.start, piece.end) {
                let within = (piece.start.max(inputs.start), piece.end.min(inputs.end));
                cut(view, exchanges, inputs, piece.row as usize, within, &mut rows);
            }
            continue;
        }
        // Queries must be in order of time, so those before the step are needed, too.
        let mut start = piece.start;
        for (label, end) in idle.labels(view, piece) {
            let (from, to) = (start.max(inputs.start), end.min(inputs.end));
            if from < to {
                let row = Row {
                    start: from - inputs.start,
                    end: to - inputs.start,
                    class: idle_class(label),
                    ..Row::default()
                };
                rows.push(Named { row, name: Name::Made(label.name()), of: Of::Nothing });
            }
            start = end;
        }
    }
    for row in &mut rows {
        // Messages are linked to rows of streams; waits need both tracks.
        if !matches!(row.of, Of::Wait(_)) {
            row.of = Of::Nothing;
        }
    }
    Drawn::of(DEVICE, rows).showing(Shows::Device)
}

/// Tracks of the device's streams in order of their numbers, those with compute first.
fn streams<'a>(view: &View<'a>, exchanges: &Exchanges, inputs: &Inputs) -> Vec<Drawn> {
    let mut of: BTreeMap<(bool, u32), Vec<Named<'a>>> = BTreeMap::new();
    let numbers = view.gpu.streams();
    // A stream with any compute counts as a compute stream.
    let mut computes: BTreeMap<u32, bool> = BTreeMap::new();
    for (row, stream) in numbers.iter().enumerate() {
        *computes.entry(*stream).or_default() |= view.role.get(row) == Some(&Role::Compute);
    }
    let mut order: Vec<u32> = (0..view.gpu.len() as u32).collect();
    order.sort_by_key(|row| {
        (view.gpu.starts()[*row as usize], std::cmp::Reverse(view.gpu.ends()[*row as usize]))
    });
    for row in order {
        let row = row as usize;
        let (start, end) = (view.gpu.starts()[row], view.gpu.ends()[row]);
        if view.role.get(row) == Some(&Role::None) || !inputs.holds(start, end) {
            continue;
        }
        let stream = numbers[row];
        let key = (!computes.get(&stream).copied().unwrap_or_default(), stream);
        cut(view, exchanges, inputs, row, (start, end), of.entry(key).or_default());
    }
    let name = |stream: u32| match stream {
        NONE => "stream".to_owned(),
        thread if view.from_host && thread >= 1 << 16 => format!("communication {}", thread - (1 << 16)),
        thread if view.from_host => format!("operators {thread}"),
        stream => format!("stream {stream}"),
    };
    of.into_iter().flat_map(|((_, stream), rows)| lanes(&name(stream), rows)).collect()
}

/// Threads of the host; nested rows are below the enclosing one.
fn threads<'a>(view: &View<'a>, inputs: &Inputs) -> Vec<Drawn> {
    let mut of: BTreeMap<u32, Vec<Named<'a>>> = BTreeMap::new();
    for (at, row) in (0..).zip(view.trace.host.iter()) {
        if !inputs.holds(row.start, row.end) || matches!(row.kind, HostKind::Overhead | HostKind::Python) {
            continue;
        }
        let class = if row.collective.is_some() || row.kind == HostKind::Collective {
            Class::Communication
        } else {
            Class::Host
        };
        let span =
            Row { start: row.start - inputs.start, end: row.end - inputs.start, class, ..Row::default() };
        let name = Name::Known(view.trace.names.get(row.name));
        of.entry(row.thread).or_default().push(Named { row: span, name, of: Of::Host(at) });
    }
    let depths = |(thread, rows)| {
        let lanes = lanes(&format!("thread {thread}"), rows).into_iter().zip(0..);
        lanes.map(|(lane, depth)| lane.showing(Shows::Thread(depth)))
    };
    of.into_iter().flat_map(depths).collect()
}

/// Tests whether a dimension is the pipeline's: its waits are bubbles.
const fn is_pipeline(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Pipeline)
}
