//! Host activities, in columns.
//!
//! Responsible for: operators, calls of the runtime, annotations and their order. Does not classify
//! operators.
//!
//! Few rows name a stream of the device (operators of compiled kernels do), so these are in a separate list
//! instead of a column.

use super::{NONE, Times, some};
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

/// Activities of one rank's host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostActivities {
    start: Vec<i64>,
    end: Vec<i64>,
    name: Vec<NameId>,
    kind: Vec<HostKind>,
    thread: Vec<u32>,
    correlation: Vec<u32>,
    collective: Vec<u32>,
    shapes: Vec<u32>,
    /// In order of rows, at most one per row.
    named_streams: Vec<NamedStream>,
}

impl HostActivities {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Tests whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Adds a row at the end.
    pub fn push(&mut self, row: HostActivity) {
        self.start.push(row.start);
        self.end.push(row.end);
        self.name.push(row.name);
        self.kind.push(row.kind);
        self.thread.push(row.thread);
        self.correlation.push(row.correlation.unwrap_or(NONE));
        self.collective.push(row.collective.unwrap_or(NONE));
        self.shapes.push(row.shapes.map_or(NONE, |s| s.0));
    }

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

    /// The row at an index.
    pub fn get(&self, at: usize) -> Option<HostActivity> {
        Some(HostActivity {
            start: *self.start.get(at)?,
            end: *self.end.get(at)?,
            name: *self.name.get(at)?,
            kind: *self.kind.get(at)?,
            thread: *self.thread.get(at)?,
            correlation: some(*self.correlation.get(at)?),
            collective: some(*self.collective.get(at)?),
            shapes: some(*self.shapes.get(at)?).map(NameId),
        })
    }

    /// All rows in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = HostActivity> + ExactSizeIterator {
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

    /// The column of kinds.
    pub fn kinds(&self) -> &[HostKind] {
        &self.kind
    }

    /// The column of names.
    pub fn names(&self) -> &[NameId] {
        &self.name
    }

    /// The column of threads.
    pub fn threads(&self) -> &[u32] {
        &self.thread
    }

    /// The column of correlations; [`NONE`] without one.
    pub fn correlations(&self) -> &[u32] {
        &self.correlation
    }

    /// The column of indices in [`super::RankTrace::collectives`]; [`NONE`] without one.
    pub fn collectives(&self) -> &[u32] {
        &self.collective
    }

    /// The column of indices of shapes among the names; [`NONE`] without one.
    pub fn shapes(&self) -> &[u32] {
        &self.shapes
    }

    /// Creates rows from whole columns, in the order of [`HostActivity`]'s fields; `None` if their lengths
    /// differ.
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    pub fn from_columns(
        start: Vec<i64>,
        end: Vec<i64>,
        name: Vec<NameId>,
        kind: Vec<HostKind>,
        thread: Vec<u32>,
        correlation: Vec<u32>,
        collective: Vec<u32>,
        shapes: Vec<u32>,
    ) -> Option<Self> {
        let lengths = [
            end.len(),
            name.len(),
            kind.len(),
            thread.len(),
            correlation.len(),
            collective.len(),
            shapes.len(),
        ];
        let even = lengths.iter().all(|&length| length == start.len());
        let named_streams = Vec::new();
        even.then_some(Self {
            start,
            end,
            name,
            kind,
            thread,
            correlation,
            collective,
            shapes,
            named_streams,
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

    /// Sets the correlation of a row to the activity that it launched.
    pub fn set_correlation(&mut self, at: usize, correlation: u32) {
        if let Some(cell) = self.correlation.get_mut(at) {
            *cell = correlation;
        }
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

    /// Replaces all times: `to` returns the new time of an old one.
    pub fn map_times(&mut self, to: impl Fn(i64) -> i64) {
        for time in self.start.iter_mut().chain(&mut self.end) {
            *time = to(*time);
        }
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
        let Self { start, end, name, kind, thread, correlation, collective, shapes, named_streams: _ } = self;
        super::reorder(start, &places);
        super::reorder(end, &places);
        super::reorder(name, &places);
        super::reorder(kind, &places);
        super::reorder(thread, &places);
        super::reorder(correlation, &places);
        super::reorder(collective, &places);
        super::reorder(shapes, &places);
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
