//! One track: spans in columns by start time, with small neighbours merged above the limit.
//!
//! Responsible for: sorting, clipping to a window, merging with counts, and the target index of each row.
//! Does not merge spans longer than the resolution of the limit.

use super::Class;
use crate::{Step, Time};
use serde::Serialize;

/// An interval of the step, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Start time.
    pub from: i64,
    /// End time.
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

/// A span before conversion to columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Start time in nanoseconds since the step began.
    pub start: i64,
    /// End time in nanoseconds since the step began.
    pub end: i64,
    /// Name, an index into [`super::Columns::names`].
    pub name: u32,
    /// Class.
    pub class: Class,
    /// Micro-batch.
    pub micro_batch: Option<u32>,
    /// Virtual stage.
    pub chunk: Option<u32>,
    /// Layer.
    pub layer: Option<u32>,
    /// Bytes moved; 0 if unknown.
    pub bytes: u64,
}

/// Metadata of a track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackHead {
    /// Group of tracks that it belongs to.
    pub group: String,
    /// Name.
    pub name: String,
    /// Rank.
    pub rank: u32,
    /// Stage.
    pub stage: u32,
}

/// Spans in columns. Columns after the first four are empty if no span has a value; -1 means no value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Track {
    /// Index of the track.
    pub id: u32,
    /// Group of tracks that it belongs to.
    pub group: String,
    /// Name.
    pub name: String,
    /// Rank.
    pub rank: u32,
    /// Pipeline stage.
    pub stage: u32,
    /// Number of spans before merging.
    pub spans: u64,
    /// Distance in nanoseconds up to which neighbours were merged; 0 if none were.
    pub resolution_ns: i64,
    /// Start times in nanoseconds since the step began.
    pub starts: Vec<i64>,
    /// Durations in nanoseconds.
    pub lengths: Vec<i64>,
    /// Indices into [`super::Columns::names`]; for merged spans, that of the longest.
    pub names: Vec<u32>,
    /// Indices into [`super::Columns::classes`]; for merged spans, the class with the most time.
    pub colours: Vec<u8>,
    /// Micro-batches.
    pub micro_batch: Vec<i32>,
    /// Virtual stages.
    pub chunk: Vec<i32>,
    /// Layers.
    pub layer: Vec<i32>,
    /// Bytes moved; 0 if unknown.
    pub bytes: Vec<u64>,
    /// Number of spans in each merged one; empty if none were merged.
    pub counts: Vec<u32>,
    /// Sum of their durations without gaps, in nanoseconds; empty if none were merged.
    pub busy: Vec<i64>,
}

/// A merged span under construction.
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
    /// Converts rows inside the window to columns, with about `limit` spans at most. Also returns the target
    /// index of every row; `None` outside the window.
    pub fn of(head: TrackHead, rows: &[Row], window: Window, limit: usize) -> (Self, Vec<Option<u32>>) {
        let mut order: Vec<usize> = (0..rows.len()).filter(|at| window.holds(&rows[*at])).collect();
        order.sort_by_key(|at| (rows[*at].start, rows[*at].end));
        let TrackHead { group, name, rank, stage } = head;
        let mut track = Self { group, name, rank, stage, spans: order.len() as u64, ..Self::default() };
        // Any two neighbours that remain separate are together longer than this, so about `limit` remain.
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

    /// Number of spans after merging.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// True if there are no spans.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Number of spans merged into others.
    pub fn merged(&self) -> u64 {
        self.spans.saturating_sub(self.starts.len() as u64)
    }

    /// Total time of the spans of a class, in nanoseconds.
    pub fn time_of(&self, class: Class) -> i64 {
        let own = self.colours.iter().zip(&self.lengths).filter(|(colour, _)| **colour == class as u8);
        own.map(|(_, length)| length).sum()
    }

    /// Busy time of all spans in nanoseconds, without gaps inside merged ones.
    pub fn busy(&self) -> i64 {
        let lengths = if self.busy.is_empty() { &self.lengths } else { &self.busy };
        lengths.iter().sum()
    }
}

/// Whole nanoseconds since the start of the step. Both ends of every span are truncated the same way, so that
/// neighbours touch.
pub(super) fn nanos(step: &Step, time: Time) -> i64 {
    (time - step.start).0.div_euclid(1000)
}
