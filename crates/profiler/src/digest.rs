//! The digest of a rank: the part of its trace that analyses of many ranks read.
//!
//! Responsible for: excluding host rows that no joint analysis reads, so that `profile`, `comm`, `stragglers`
//! and `pipeline` give the same answers from the rest. Verifies this for every rank: phases, launches, causes
//! of idle time, occupancy and steps of the shorter trace are compared with those of the whole one. A rank
//! that differs keeps all rows. Device rows are never dropped: ranks are compared by them.

mod extent;
mod rows;
mod same;

use self::extent::recorded;
use crate::RankTrace;
use crate::causes::Cause;
use crate::communication::NameTable;
use crate::view::{Tables, View};
use crate::waterfall::sweep;
use railwright_step::{OperatorFamily, Phase};

/// Name of the format.
pub const FORMAT: &str = "digest";

/// Suffix of their files: a digest has the name of its trace.
pub const SUFFIX: &str = crate::job::DIGEST_SUFFIX;

/// Reason for an error about missing rows in a digest.
pub const LEFT_OUT: &str = "a digest has no host operators outside idle time and no Python stacks; use the \
    trace";

/// An idle interval of the device with its cause: derived, for readers of digests as tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleRow {
    /// Start time in nanoseconds.
    pub start: i64,
    /// End time in nanoseconds.
    pub end: i64,
    /// Cause of the idle time.
    pub cause: Cause,
    /// The innermost frame of the launching thread, if one was recorded.
    pub frame: Option<String>,
}

/// A rank's digest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Digest {
    /// The trace of the rank without rows that no joint analysis reads; marked by
    /// [`crate::trace::Identity::digest`].
    pub trace: RankTrace,
    /// The phase of every row of the device.
    pub phases: Vec<Phase>,
    /// The family of every row of the device.
    pub families: Vec<OperatorFamily>,
    /// Idle intervals with a cause other than the device itself, in order.
    pub idle: Vec<IdleRow>,
    /// True if host rows were left out; otherwise the digest contains all of them.
    pub reduced: bool,
}

/// Makes the digest of a rank.
pub fn digest(trace: &RankTrace) -> Digest {
    let tables = Tables::shipped();
    let view = View::new(trace, &tables);
    let keep = rows::wanted(&view, NameTable::shipped());
    let mut short = rows::only(trace, |row| keep.get(row).copied().unwrap_or(true));
    let reduced = short.host.len() < trace.host.len() && same::same(&view, &short, &tables);
    if !reduced {
        short = rows::only(trace, |_| true);
    }
    short.identity.digest = true;
    let (phases, families) =
        if view.from_host { (Vec::new(), Vec::new()) } else { (view.phase.clone(), view.family.clone()) };
    Digest { trace: short, phases, families, idle: idle(&view), reduced }
}

/// Idle intervals of a rank with another cause than the device itself.
fn idle(view: &View<'_>) -> Vec<IdleRow> {
    let Some(recorded) = recorded(view) else { return Vec::new() };
    let mut all: Vec<IdleRow> = Vec::new();
    let mut causes = crate::causes::Idle::new(view);
    for piece in sweep(view, recorded).into_iter().filter(|piece| piece.role == crate::view::Role::None) {
        let mut start = piece.start;
        for part in causes.stretches(view, piece) {
            if part.cause != Cause::Device {
                let frame = view.trace.host.get(part.frame as usize);
                let frame = frame.map(|row| view.trace.names.get(row.name).to_owned());
                all.push(IdleRow { start, end: part.end, cause: part.cause, frame });
            }
            start = part.end;
        }
    }
    all
}
