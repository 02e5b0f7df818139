//! Idle time of a rank by cause and place: frame, operator, module, Python function and annotation.
//!
//! Responsible for: reported parts of a frame's stack, and sums during the iteration over the gaps of a rank.

use super::frames::Frames;
use super::{Cause, Idle, Stretch};
use crate::trace::{HostKind, NONE};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Host activity as names of a trace; [`NONE`] if not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Where {
    /// The innermost frame.
    pub frame: u32,
    /// The innermost enclosing operator.
    pub operator: u32,
    /// The innermost module (`nn.Module: ...`).
    pub module: u32,
    /// The innermost function of Python outside the framework.
    pub python: u32,
    /// The innermost annotation, other than the step's own.
    pub annotation: u32,
}

/// Idle time of a rank under one cause and in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseUse {
    /// Cause of the idle time.
    pub cause: Cause,
    /// Host activity during the idle time.
    pub place: Where,
    /// The time, in nanoseconds.
    pub time: i64,
    /// Number of intervals.
    pub count: u64,
    /// The longest of them, in nanoseconds.
    pub longest: i64,
}

/// A place without any name.
pub(super) const NOWHERE: Where =
    Where { frame: NONE, operator: NONE, module: NONE, python: NONE, annotation: NONE };

fn is_framework(name: &str) -> bool {
    ["torch/", "<built-in", "<frozen", "nn.Module: ", "contextlib.py", "threading.py"]
        .iter()
        .any(|start| name.starts_with(start))
        || name.contains("site-packages/torch/")
}

/// Tests whether a name is a Python function outside the framework, with its file.
pub(crate) fn is_own_source(name: &str) -> bool {
    !is_framework(name) && name.contains(".py")
}

/// Stack of a frame, as names.
fn place(frames: &Frames<'_>, frame: u32) -> Where {
    let mut place = NOWHERE;
    for (at, row) in frames.stack(frame) {
        let name = frames.name(row.name);
        let id = row.name.0;
        if at == frame {
            place.frame = id;
        }
        let cell = match row.kind {
            HostKind::Operator | HostKind::Collective => &mut place.operator,
            HostKind::Python if name.starts_with("nn.Module: ") => &mut place.module,
            HostKind::Python if !is_framework(name) => &mut place.python,
            HostKind::Annotation if !name.starts_with("ProfilerStep#") => &mut place.annotation,
            _ => continue,
        };
        if *cell == NONE {
            *cell = id;
        }
    }
    // Framework functions are too many to list: the calling user function is reported.
    let innermost =
        frames.row(frame).filter(|row| row.kind == HostKind::Python && is_framework(frames.name(row.name)));
    if innermost.is_some() && place.python != NONE {
        place.frame = place.python;
    }
    place
}

/// Sums of one rank during the iteration over its gaps.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    rows: IndexMap<(Cause, Where), (u64, i64, i64), FxBuildHasher>,
    /// The index of the last requested frame.
    last: Option<(u32, Where)>,
}

impl Sums {
    /// Counts time of a part of a gap. Returns the index of its row.
    pub(crate) fn count(&mut self, idle: &Idle<'_>, part: &Stretch, time: i64) -> u32 {
        let place = match self.last {
            Some((frame, place)) if frame == part.frame => place,
            _ => place(idle.frames(), part.frame),
        };
        self.last = Some((part.frame, place));
        let entry = self.rows.entry((part.cause, place));
        let row = entry.index() as u32;
        let (count, sum, longest) = entry.or_default();
        *count += 1;
        *sum += time;
        *longest = (*longest).max(time);
        row
    }

    /// All sums, in the order of their first occurrence.
    pub(crate) fn done(self) -> Vec<CauseUse> {
        let row = |((cause, place), (count, time, longest))| CauseUse { cause, place, time, count, longest };
        self.rows.into_iter().map(row).collect()
    }
}
