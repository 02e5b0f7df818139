//! The innermost host frame of a thread at every moment of an interval.
//!
//! Responsible for: nesting of frames, and iteration over an interval frame by frame. Excludes frames of the
//! profiler's overhead, which belong to no thread.

use crate::trace::{HostActivity, HostKind, NONE};
use crate::{NameId, RankTrace};

/// Threads are numbered as they appear, so larger numbers are invalid.
pub(crate) const THREADS: usize = 1 << 16;

/// The frames of every thread.
pub(super) struct Frames<'a> {
    trace: &'a RankTrace,
    /// By host row: the enclosing row, or [`NONE`].
    parent: Vec<u32>,
    /// The rows of each thread, in order of their starts.
    threads: Vec<Vec<u32>>,
}

impl<'a> Frames<'a> {
    pub(super) fn new(trace: &'a RankTrace) -> Self {
        let host = &trace.host;
        let mut parent = vec![NONE; host.len()];
        let mut threads: Vec<Vec<u32>> = Vec::new();
        for (at, kind) in host.kinds().iter().enumerate() {
            let thread = host.threads()[at] as usize;
            if *kind == HostKind::Overhead || host.ends()[at] <= host.starts()[at] || thread >= THREADS {
                continue;
            }
            if thread >= threads.len() {
                threads.resize(thread + 1, Vec::new());
            }
            let rows = &mut threads[thread];
            parent[at] = rows.last().map_or(NONE, |&last| {
                let mut holder = last;
                while holder != NONE && host.ends()[holder as usize] <= host.starts()[at] {
                    holder = parent[holder as usize];
                }
                holder
            });
            rows.push(at as u32);
        }
        Self { trace, parent, threads }
    }

    /// The row at an index.
    pub(super) fn row(&self, at: u32) -> Option<HostActivity> {
        self.trace.host.get(at as usize)
    }

    /// A name of the trace.
    pub(super) fn name(&self, name: NameId) -> &'a str {
        self.trace.names.get(name)
    }

    /// The enclosing row of a row.
    pub(super) fn parent(&self, at: u32) -> u32 {
        self.parent.get(at as usize).copied().unwrap_or(NONE)
    }

    /// A row and all enclosing rows, the innermost first.
    pub(super) fn stack(&self, at: u32) -> impl Iterator<Item = (u32, HostActivity)> {
        let mut next = at;
        std::iter::from_fn(move || {
            let row = self.row(next)?;
            let at = next;
            next = self.parent(next);
            Some((at, row))
        })
    }

    fn end(&self, at: u32) -> i64 {
        self.trace.host.ends().get(at as usize).copied().unwrap_or(i64::MIN)
    }

    /// The innermost of a frame and its enclosing ones that lasts beyond a moment.
    fn open(&self, at: u32, moment: i64) -> u32 {
        let mut frame = at;
        while frame != NONE && self.end(frame) <= moment {
            frame = self.parent(frame);
        }
        frame
    }

    /// Calls back with the innermost frame of a thread for every part of an interval, [`NONE`] without one:
    /// frame, from, to.
    pub(super) fn walk(&self, thread: u32, from: i64, to: i64, mut tell: impl FnMut(u32, i64, i64)) {
        let none = Vec::new();
        let rows = self.threads.get(thread as usize).unwrap_or(&none);
        let starts = self.trace.host.starts();
        let mut next = rows.partition_point(|&row| starts[row as usize] <= from);
        let before = next.checked_sub(1).and_then(|at| rows.get(at)).copied().unwrap_or(NONE);
        let (mut frame, mut at) = (self.open(before, from), from);
        while at < to {
            let ends = if frame == NONE { to } else { self.end(frame).min(to) };
            let coming = rows.get(next).filter(|&&row| starts[row as usize] < ends);
            let until = coming.map_or(ends, |&row| starts[row as usize]);
            if until > at {
                tell(frame, at, until);
                at = until;
            }
            match coming {
                Some(&row) => {
                    frame = row;
                    next += 1;
                }
                None => frame = self.open(frame, at),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trace(rows: &[(i64, i64, u32)]) -> RankTrace {
        let mut trace = RankTrace::default();
        for &(start, length, thread) in rows {
            trace.host.push(HostActivity { start, end: start + length, thread, ..HostActivity::default() });
        }
        trace.host.sort();
        trace
    }

    #[test]
    fn the_innermost_frame_is_reported() {
        let trace = trace(&[(0, 100, 0), (10, 50, 0), (20, 10, 0), (25, 90, 1)]);
        let frames = Frames::new(&trace);
        let mut walked = Vec::new();
        frames.walk(0, 5, 120, |frame, from, to| walked.push((frame, from, to)));
        assert_eq!(
            walked,
            [(0, 5, 10), (1, 10, 20), (2, 20, 30), (1, 30, 60), (0, 60, 100), (NONE, 100, 120)]
        );
        assert_eq!(frames.stack(2).map(|(at, _)| at).collect::<Vec<_>>(), [2, 1, 0]);
        walked.clear();
        frames.walk(7, 0, 9, |frame, from, to| walked.push((frame, from, to)));
        assert_eq!(walked, [(NONE, 0, 9)], "a thread that was not recorded has no frame");
    }

    proptest! {
        #[test]
        fn walks_cover_the_stretch(
            rows in prop::collection::vec((0i64..60, 0i64..30, 0u32..3), 0..40),
            thread in 0u32..4, from in -5i64..60, length in 1i64..60,
        ) {
            let trace = trace(&rows);
            let frames = Frames::new(&trace);
            let (mut until, mut failed) = (from, false);
            frames.walk(thread, from, from + length, |frame, start, end| {
                failed |= start != until || end <= start;
                failed |= frame != NONE && frames.row(frame).is_none_or(|row| {
                    row.thread != thread || row.start > start || row.end < end
                });
                // A part without a frame has none.
                failed |= frame == NONE && trace.host.iter().any(|row| row.thread == thread && row.start <= start && row.end > start);
                until = end;
            });
            prop_assert!(!failed && until == from + length);
        }
    }
}
