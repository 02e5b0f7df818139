//! One track: spans in columns, in order of their starts, small neighbours merged when there are too many.
//!
//! Responsible for: sorting, clipping to a window, merging with counts, and the target index of each row.
//! Does not merge spans longer than the resolution of the limit.

use super::Class;
use serde::Serialize;

/// A stretch of the step, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Start time.
    pub from: i64,
    /// Until when.
    pub to: i64,
}

impl Window {
    /// Duration.
    pub const fn length(self) -> i64 {
        self.to.saturating_sub(self.from)
    }

    const fn holds(self, row: &Row) -> bool {
        row.start < self.to && row.end > self.from
    }
}

/// A span before it is in columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Start time in nanoseconds since the step began.
    pub start: i64,
    /// Until when.
    pub end: i64,
    /// Its name, a place in [`super::Columns::names`].
    pub name: u32,
    /// What colours it.
    pub class: Class,
    /// Micro-batch.
    pub micro_batch: Option<u32>,
    /// Virtual stage.
    pub chunk: Option<u32>,
    /// Layer.
    pub layer: Option<u32>,
    /// Bytes moved; 0 is unknown.
    pub bytes: u64,
}

/// Metadata of a track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackHead {
    /// With which tracks it is drawn together.
    pub group: String,
    /// Name.
    pub name: String,
    /// Rank.
    pub rank: u32,
    /// Stage.
    pub stage: u32,
}

/// Spans in columns. Columns after the first four are empty if no span has a value; -1 is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Track {
    /// Its place among the tracks.
    pub id: u32,
    /// With which tracks it is drawn together.
    pub group: String,
    /// Name.
    pub name: String,
    /// Rank.
    pub rank: u32,
    /// Stage.
    pub stage: u32,
    /// Spans before merging.
    pub spans: u64,
    /// Neighbours within this many nanoseconds of each other were merged; 0 when none were.
    pub resolution_ns: i64,
    /// Start time in nanoseconds since the step began.
    pub starts: Vec<i64>,
    /// Duration.
    pub lengths: Vec<i64>,
    /// Places in [`super::Columns::names`]; of merged spans that of the longest.
    pub names: Vec<u32>,
    /// Places in [`super::Columns::classes`]; of merged spans that with most time.
    pub colours: Vec<u8>,
    /// Micro batches.
    pub micro_batch: Vec<i32>,
    /// Virtual stages.
    pub chunk: Vec<i32>,
    /// Layers.
    pub layer: Vec<i32>,
    /// Bytes moved; 0 is unknown.
    pub bytes: Vec<u64>,
    /// How many spans each stands for; empty when none were merged.
    pub counts: Vec<u32>,
    /// The sum of their lengths, without the gaps between them; empty when none were merged.
    pub busy: Vec<i64>,
}

/// What is merged so far.
struct Run {
    first: Row,
    end: i64,
    count: u32,
    busy: i64,
    longest: i64,
    classes: [i64; Class::ALL.len()],
}

impl Run {
    fn of(row: Row) -> Self {
        let mut run = Self {
            first: row,
            end: row.start,
            count: 0,
            busy: 0,
            longest: -1,
            classes: [0; Class::ALL.len()],
        };
        run.take(row);
        run
    }

    fn take(&mut self, row: Row) {
        let length = row.end - row.start;
        self.end = self.end.max(row.end);
        self.count += 1;
        self.busy = self.busy.saturating_add(length);
        self.classes[row.class as usize] += length;
        let first = &mut self.first;
        if length > self.longest {
            (self.longest, first.name) = (length, row.name);
        }
        if self.count > 1 {
            first.micro_batch = first.micro_batch.filter(|m| Some(*m) == row.micro_batch);
            first.chunk = first.chunk.filter(|c| Some(*c) == row.chunk);
            first.layer = first.layer.filter(|l| Some(*l) == row.layer);
            first.bytes = first.bytes.saturating_add(row.bytes);
        }
    }

    fn class(&self) -> Class {
        let most = (0..self.classes.len()).rev().max_by_key(|at| self.classes[*at]).unwrap_or_default();
        Class::ALL[most]
    }
}

impl Track {
    /// Puts rows into columns: those within the window, at most about `limit`. Also returns the target index
    /// of every row: none outside of the window.
    pub fn of(head: TrackHead, rows: &[Row], window: Window, limit: usize) -> (Self, Vec<Option<u32>>) {
        let mut order: Vec<usize> = (0..rows.len()).filter(|at| window.holds(&rows[*at])).collect();
        order.sort_by_key(|at| (rows[*at].start, rows[*at].end));
        let TrackHead { group, name, rank, stage } = head;
        let mut track = Self { group, name, rank, stage, spans: order.len() as u64, ..Self::default() };
        // Any two neighbours that stay apart are together longer than this, so about `limit` remain.
        let resolution = if order.len() > limit.max(1) {
            let most = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
            window.length().saturating_mul(2) / most + 1
        } else {
            0
        };
        track.resolution_ns = resolution;
        let mut places = vec![None; rows.len()];
        let mut run: Option<Run> = None;
        for at in order {
            let row = rows[at];
            match &mut run {
                Some(run) if resolution > 0 && row.end.max(run.end) - run.first.start <= resolution => {
                    run.take(row);
                }
                _ => {
                    if let Some(run) = run.replace(Run::of(row)) {
                        track.push(&run);
                    }
                }
            }
            places[at] = Some(track.starts.len() as u32);
        }
        if let Some(run) = run {
            track.push(&run);
        }
        track.tidy();
        (track, places)
    }

    fn push(&mut self, run: &Run) {
        let none = |value: Option<u32>| value.and_then(|v| i32::try_from(v).ok()).unwrap_or(-1);
        let first = &run.first;
        self.starts.push(first.start);
        self.lengths.push(run.end - first.start);
        self.names.push(first.name);
        self.colours.push(run.class() as u8);
        self.micro_batch.push(none(first.micro_batch));
        self.chunk.push(none(first.chunk));
        self.layer.push(none(first.layer));
        self.bytes.push(first.bytes);
        self.counts.push(run.count);
        self.busy.push(run.busy);
    }

    /// Omits columns without values.
    fn tidy(&mut self) {
        for column in [&mut self.micro_batch, &mut self.chunk, &mut self.layer] {
            if column.iter().all(|value| *value < 0) {
                column.clear();
            }
        }
        if self.bytes.iter().all(|bytes| *bytes == 0) {
            self.bytes.clear();
        }
        if self.counts.iter().all(|count| *count == 1) {
            self.counts.clear();
            self.busy.clear();
        }
    }

    /// How many spans are left.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// How many spans went into others.
    pub fn merged(&self) -> u64 {
        self.spans.saturating_sub(self.starts.len() as u64)
    }

    /// The time of all spans, without gaps within merged ones.
    pub fn busy(&self) -> i64 {
        let lengths = if self.busy.is_empty() { &self.lengths } else { &self.busy };
        lengths.iter().sum()
    }
}
