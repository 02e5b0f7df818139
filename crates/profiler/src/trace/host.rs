//! Host activities, in columns.
//!
//! Responsible for: operators, calls of the runtime, annotations and their order. Does not classify
//! operators.
//!
//! Few rows name a stream of the device (operators of compiled kernels do), so these are in a separate list
//! instead of a column.

use super::columns::columns;
use super::{NONE, Times};
use crate::NameId;
use serde::Serialize;

/// Kind of host activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostKind {
    /// An operator of the framework.
    #[default]
    Operator,
    /// A call of the device's runtime or driver: launches, copies, waits.
    Runtime,
    /// A user annotation, a framework's range, or NVTX.
    Annotation,
    /// A communication issued by the framework (`record_param_comms`, `gloo:...`).
    Collective,
    /// Overhead of the profiler.
    Overhead,
    /// A Python function, kept only on request.
    Python,
}

impl HostKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Operator, Self::Runtime, Self::Annotation, Self::Collective, Self::Overhead, Self::Python];

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Runtime => "runtime",
            Self::Annotation => "annotation",
            Self::Collective => "collective",
            Self::Overhead => "overhead",
            Self::Python => "python",
        }
    }
}

/// One row of [`HostActivities`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostActivity {
    /// Start time in nanoseconds.
    pub start: i64,
    /// End time in nanoseconds.
    pub end: i64,
    /// Name.
    pub name: NameId,
    /// Kind.
    pub kind: HostKind,
    /// Thread number, in order of first appearance of (process, thread) in the trace.
    pub thread: u32,
    /// Correlation of a call to the activity that it launched; `None` if not recorded.
    pub correlation: Option<u32>,
    /// Its collective: an index into [`super::RankTrace::collectives`].
    pub collective: Option<u32>,
    /// Inputs as one text (see `inputs`): shapes as written, kept for GEMMs, attention, convolutions and
    /// memory-bound operators.
    pub shapes: Option<NameId>,
}

impl HostActivity {
    /// Duration in nanoseconds.
    pub fn duration(&self) -> i64 {
        self.end - self.start
    }
}

/// Reference of a host row to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedStream {
    /// Index of the row.
    pub row: u32,
    /// The named stream.
    pub stream: u32,
    /// Correlation in the row, for rows of any kind.
    pub correlation: Option<u32>,
}

columns! {
    /// Activities of one rank's host.
    HostActivities of HostActivity {
        /// The column of starts.
        start: i64 => starts,
        /// The column of ends.
        end: i64 => ends,
        /// The column of names.
        name: NameId => names,
        /// The column of kinds.
        kind: HostKind => kinds,
        /// The column of threads.
        thread: u32 => threads,
        /// The column of correlations; [`NONE`] without one.
        correlation: u32 => correlations,
        /// The column of indices in [`super::RankTrace::collectives`]; [`NONE`] without one.
        collective: u32 => collectives,
        /// The column of indices of shapes among the names; [`NONE`] without one.
        shapes: u32 => shapes,
    }
    with
    /// In order of rows, at most one per row.
    named_streams: Vec<NamedStream>
}

impl HostActivities {
    /// Sets the stream that the last added row names.
    pub fn name_stream(&mut self, stream: u32, correlation: Option<u32>) {
        let Some(row) = self.len().checked_sub(1).and_then(|last| u32::try_from(last).ok()) else { return };
        match self.named_streams.last_mut().filter(|last| last.row == row) {
            Some(last) => *last = NamedStream { row, stream, correlation },
            None => self.named_streams.push(NamedStream { row, stream, correlation }),
        }
    }

    /// Rows that name a stream, in their order.
    pub fn named_streams(&self) -> &[NamedStream] {
        &self.named_streams
    }

    /// Sets the named streams; `None` unless they belong to existing rows, in order and once each.
    pub fn with_named_streams(mut self, named: Vec<NamedStream>) -> Option<Self> {
        let in_order = named.windows(2).all(|pair| pair[0].row < pair[1].row);
        let are_there = named.last().is_none_or(|last| (last.row as usize) < self.len());
        (in_order && are_there).then(|| {
            self.named_streams = named;
            self
        })
    }

    /// Keeps the rows for which `wanted` is true.
    pub fn retain(&mut self, mut wanted: impl FnMut(HostActivity) -> bool) {
        let mut kept = Self::default();
        let mut named = self.named_streams.iter().peekable();
        for (at, row) in self.iter().enumerate() {
            let stream = named.next_if(|one| one.row as usize == at);
            if !wanted(row) {
                continue;
            }
            kept.push(row);
            if let Some(one) = stream {
                kept.name_stream(one.stream, one.correlation);
            }
        }
        *self = kept;
    }

    /// Drops rows with impossible times, which must be in order of start. Returns their number. Readers call
    /// it once at the end.
    pub fn drop_impossible(&mut self) -> u64 {
        let mut dropped = 0;
        if Times::first_impossible(&self.start, &self.end).is_some() {
            let mut times = Times::default();
            self.retain(|row| times.take(row.start, row.end).map_err(|_| dropped += 1).is_ok());
        }
        dropped
    }

    /// Sorts the rows by start; of equal starts the longer one comes first, so that enclosing rows precede
    /// nested ones.
    pub fn sort(&mut self) {
        let key = |at: usize| (self.start[at], -self.end[at]);
        if (1..self.len()).all(|at| key(at - 1) <= key(at)) {
            return;
        }
        let mut order: Vec<(i64, i64, u32)> =
            (0..self.len()).map(|at| (self.start[at], -self.end[at], at as u32)).collect();
        #[expect(
            clippy::stable_sort_primitive,
            reason = "rows come in sorted runs, which the stable sort merges"
        )]
        order.sort();
        let places: Vec<u32> = order.into_iter().map(|(_, _, at)| at).collect();
        if !self.named_streams.is_empty() {
            let mut now = vec![NONE; places.len()];
            for (to, &from) in places.iter().enumerate() {
                now[from as usize] = to as u32;
            }
            for one in &mut self.named_streams {
                one.row = now[one.row as usize];
            }
            self.named_streams.sort_unstable_by_key(|one| one.row);
        }
        self.reorder(&places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that name streams, by their starts.
    fn named(host: &HostActivities) -> Vec<(i64, u32, Option<u32>)> {
        let of = |one: &NamedStream| (host.starts()[one.row as usize], one.stream, one.correlation);
        host.named_streams().iter().map(of).collect()
    }

    #[test]
    fn named_streams_stay_with_their_rows() {
        let mut host = HostActivities::default();
        host.name_stream(1, None);
        assert!(host.named_streams().is_empty(), "there is no row yet");
        for start in [50, 10, 40, 20, 30] {
            host.push(HostActivity { start, end: start + 5, ..HostActivity::default() });
            if start % 20 == 10 {
                host.name_stream(start as u32, (start == 10).then_some(7));
            }
        }
        host.sort();
        assert_eq!(named(&host), [(10, 10, Some(7)), (30, 30, None), (50, 50, None)]);
        host.retain(|row| row.start != 20 && row.start != 30);
        assert_eq!(host.starts(), [10, 40, 50]);
        assert_eq!(named(&host), [(10, 10, Some(7)), (50, 50, None)]);
        let of = |rows: &[u32]| {
            rows.iter().map(|&row| NamedStream { row, ..NamedStream::default() }).collect::<Vec<_>>()
        };
        for (rows, fits) in [
            (&[0, 2][..], true),
            (&[][..], true),
            (&[0, 0][..], false),
            (&[2, 1][..], false),
            (&[3][..], false),
        ] {
            assert_eq!(host.clone().with_named_streams(of(rows)).is_some(), fits, "{rows:?}");
        }
    }
}
