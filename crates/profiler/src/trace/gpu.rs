//! Device activities, in columns.
//!
//! Responsible for: kernels, copies and their order. Does not classify kernels.

use super::Times;
use super::columns::columns;
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
    /// Stream (or queue), in the trace's numbering. -1 in a trace is [`super::NONE`].
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

columns! {
    /// Activities of one rank's device.
    GpuActivities of GpuActivity {
        /// The column of starts.
        start: i64 => starts,
        /// The column of ends.
        end: i64 => ends,
        /// The column of names.
        name: NameId => names,
        /// The column of kinds.
        kind: GpuKind => kinds,
        /// The column of streams.
        stream: u32 => streams,
        /// The column of correlations; [`super::NONE`] without one.
        correlation: u32 => correlations,
        /// The column of indices in [`super::RankTrace::collectives`]; [`super::NONE`] without one.
        collective: u32 => collectives,
        /// The column of bytes.
        bytes: u64 => bytes,
    }
}

impl GpuActivities {
    /// Keeps the rows for which `wanted` is true.
    pub fn retain(&mut self, mut wanted: impl FnMut(GpuActivity) -> bool) {
        *self = self.iter().filter(|&row| wanted(row)).fold(Self::default(), |mut kept, row| {
            kept.push(row);
            kept
        });
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
        self.reorder(&places);
    }
}
