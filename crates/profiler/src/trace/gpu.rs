//! Device activities, in columns.
//!
//! Responsible for: kernels, copies and their order. Does not classify kernels.

use super::{NONE, Times, some};
use crate::NameId;
use serde::Serialize;

/// Kind of device activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GpuKind {
    /// A kernel.
    #[default]
    Kernel,
    /// A copy; [`GpuActivity::bytes`] is its size.
    Copy,
    /// Filling memory.
    Set,
    /// Device copy of a user annotation: from the first to the last kernel launched within it.
    Annotation,
    /// A wait on the device (`Event Sync`, `Context Sync`, `Stream Wait Event`).
    Sync,
}

impl GpuKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Kernel, Self::Copy, Self::Set, Self::Annotation, Self::Sync];

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Copy => "copy",
            Self::Set => "set",
            Self::Annotation => "annotation",
            Self::Sync => "sync",
        }
    }
}

/// One row of [`GpuActivities`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuActivity {
    /// Start time in nanoseconds.
    pub start: i64,
    /// End time in nanoseconds.
    pub end: i64,
    /// Name.
    pub name: NameId,
    /// Kind.
    pub kind: GpuKind,
    /// Stream (or queue), in the trace's numbering. -1 in a trace is [`NONE`].
    pub stream: u32,
    /// Correlation to the call that launched it; `None` if not recorded.
    pub correlation: Option<u32>,
    /// Its collective: an index into [`super::RankTrace::collectives`].
    pub collective: Option<u32>,
    /// Bytes of a copy or a set; 0 if unknown.
    pub bytes: u64,
}

impl GpuActivity {
    /// Duration in nanoseconds.
    pub fn duration(&self) -> i64 {
        self.end - self.start
    }
}

/// Activities of one rank's device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuActivities {
    start: Vec<i64>,
    end: Vec<i64>,
    name: Vec<NameId>,
    kind: Vec<GpuKind>,
    stream: Vec<u32>,
    correlation: Vec<u32>,
    collective: Vec<u32>,
    bytes: Vec<u64>,
}

impl GpuActivities {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Tests whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Adds a row at the end.
    pub fn push(&mut self, row: GpuActivity) {
        self.start.push(row.start);
        self.end.push(row.end);
        self.name.push(row.name);
        self.kind.push(row.kind);
        self.stream.push(row.stream);
        self.correlation.push(row.correlation.unwrap_or(NONE));
        self.collective.push(row.collective.unwrap_or(NONE));
        self.bytes.push(row.bytes);
    }

    /// The row at an index.
    pub fn get(&self, at: usize) -> Option<GpuActivity> {
        Some(GpuActivity {
            start: *self.start.get(at)?,
            end: *self.end.get(at)?,
            name: *self.name.get(at)?,
            kind: *self.kind.get(at)?,
            stream: *self.stream.get(at)?,
            correlation: some(*self.correlation.get(at)?),
            collective: some(*self.collective.get(at)?),
            bytes: *self.bytes.get(at)?,
        })
    }

    /// All rows in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = GpuActivity> + ExactSizeIterator {
        (0..self.len()).map(|at| self.get(at).unwrap_or_default())
    }

    /// The column of starts.
    pub fn starts(&self) -> &[i64] {
        &self.start
    }

    /// The column of ends.
    pub fn ends(&self) -> &[i64] {
        &self.end
    }

    /// The column of names.
    pub fn names(&self) -> &[NameId] {
        &self.name
    }

    /// The column of kinds.
    pub fn kinds(&self) -> &[GpuKind] {
        &self.kind
    }

    /// The column of streams.
    pub fn streams(&self) -> &[u32] {
        &self.stream
    }

    /// The column of correlations; [`NONE`] without one.
    pub fn correlations(&self) -> &[u32] {
        &self.correlation
    }

    /// The column of indices in [`super::RankTrace::collectives`]; [`NONE`] without one.
    pub fn collectives(&self) -> &[u32] {
        &self.collective
    }

    /// The column of bytes.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// Creates rows from whole columns, in the order of [`GpuActivity`]'s fields; `None` if their lengths
    /// differ.
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    pub fn from_columns(
        start: Vec<i64>,
        end: Vec<i64>,
        name: Vec<NameId>,
        kind: Vec<GpuKind>,
        stream: Vec<u32>,
        correlation: Vec<u32>,
        collective: Vec<u32>,
        bytes: Vec<u64>,
    ) -> Option<Self> {
        let lengths = [
            end.len(),
            name.len(),
            kind.len(),
            stream.len(),
            correlation.len(),
            collective.len(),
            bytes.len(),
        ];
        let even = lengths.iter().all(|&length| length == start.len());
        even.then_some(Self { start, end, name, kind, stream, correlation, collective, bytes })
    }

    /// Keeps the rows for which `wanted` is true.
    pub fn retain(&mut self, mut wanted: impl FnMut(GpuActivity) -> bool) {
        *self = self.iter().filter(|&row| wanted(row)).fold(Self::default(), |mut kept, row| {
            kept.push(row);
            kept
        });
    }

    /// Sets the correlation of a row to its launch.
    pub fn set_correlation(&mut self, at: usize, correlation: u32) {
        if let Some(cell) = self.correlation.get_mut(at) {
            *cell = correlation;
        }
    }

    /// Drops rows with impossible times, which must be in order of start. Returns their number. Sizes whose
    /// sum overflows count as unknown. Readers call it once at the end.
    pub fn drop_impossible(&mut self) -> u64 {
        let mut sum: u64 = 0;
        for size in &mut self.bytes {
            match sum.checked_add(*size).filter(|&sum| i64::try_from(sum).is_ok()) {
                Some(more) => sum = more,
                None => *size = 0,
            }
        }
        let mut dropped = 0;
        if Times::first_impossible(&self.start, &self.end).is_some() {
            let mut times = Times::default();
            self.retain(|row| times.take(row.start, row.end).map_err(|_| dropped += 1).is_ok());
        }
        dropped
    }

    /// Replaces all times: `to` returns the new time of an old one.
    pub fn map_times(&mut self, to: impl Fn(i64) -> i64) {
        for time in self.start.iter_mut().chain(&mut self.end) {
            *time = to(*time);
        }
    }

    /// Sorts the rows by start; equal starts keep their order. Readers call it once at the end.
    pub fn sort(&mut self) {
        if self.start.is_sorted() {
            return;
        }
        let mut order: Vec<(i64, u32)> = self.start.iter().copied().zip(0..).collect();
        #[expect(
            clippy::stable_sort_primitive,
            reason = "rows come in sorted runs, which the stable sort merges"
        )]
        order.sort();
        let places: Vec<u32> = order.into_iter().map(|(_, at)| at).collect();
        let Self { start, end, name, kind, stream, correlation, collective, bytes } = self;
        super::reorder(start, &places);
        super::reorder(end, &places);
        super::reorder(name, &places);
        super::reorder(kind, &places);
        super::reorder(stream, &places);
        super::reorder(correlation, &places);
        super::reorder(collective, &places);
        super::reorder(bytes, &places);
    }
}
