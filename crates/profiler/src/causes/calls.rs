//! Host calls that contain a frame, and usual durations of their operators.
//!
//! Responsible for: the outermost operator of an idle interval, the names around a frame, and the durations
//! of an operator in a trace. An operator far above its usual duration did not cause the delay by its work.

use super::frames::Frames;
use super::launched::LONG;
use crate::trace::{HostActivity, HostKind};
use crate::{NameId, RankTrace};
use std::collections::BTreeMap;

/// The frames of one rank.
pub(crate) struct Stacks<'a>(Frames<'a>);

/// Durations of one operator in a trace, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usual {
    /// All durations in order.
    durations: Vec<i64>,
}

/// Maximum share of an operator's calls that are about as long as an exceptional one.
const RARE: usize = 10;

impl Usual {
    /// Number of calls.
    pub(crate) fn count(&self) -> usize {
        self.durations.len()
    }

    /// Lower median.
    pub(crate) fn median(&self) -> i64 {
        self.durations.get(self.durations.len().saturating_sub(1) / 2).copied().unwrap_or(0)
    }

    /// Tests whether at most a tenth of the calls, or a single one, lasts half as long as this or longer.
    pub(crate) fn is_rare(&self, duration: i64) -> bool {
        let long = self.durations.len() - self.durations.partition_point(|own| 2 * own < duration);
        long <= (self.durations.len() / RARE).max(1)
    }
}

/// An operator with its input shapes, if recorded.
pub(crate) type Key = (NameId, Option<NameId>);

/// The operator and the shapes of a row.
pub(crate) fn key(row: &HostActivity) -> Key {
    (row.name, row.shapes)
}

/// Tests whether a row is a call of the program's own: an operator, a collective, or a call of the driver.
fn is_call(row: &HostActivity) -> bool {
    matches!(row.kind, HostKind::Operator | HostKind::Collective | HostKind::Runtime)
}

impl<'a> Stacks<'a> {
    pub(crate) fn new(trace: &'a RankTrace) -> Self {
        Self(Frames::new(trace))
    }

    /// A host row and its name.
    pub(crate) fn row(&self, at: u32) -> Option<(HostActivity, &'a str)> {
        self.0.row(at).map(|row| (row, self.0.name(row.name)))
    }

    /// The row of the outermost call on a frame's stack that began in an idle interval, or shortly before;
    /// otherwise the innermost call, and without any call the frame.
    pub(crate) fn call(&self, frame: u32, start: i64) -> u32 {
        let calls = || self.0.stack(frame).filter(|(_, row)| is_call(row));
        let begins = calls().filter(|(_, row)| row.start >= start.saturating_sub(LONG)).last();
        begins.or_else(|| calls().next()).map_or(frame, |(at, _)| at)
    }

    /// Tests whether the name of a frame or of an enclosing one fits.
    pub(crate) fn any(&self, frame: u32, fits: impl Fn(&str) -> bool) -> bool {
        self.0.stack(frame).any(|(_, row)| fits(self.0.name(row.name)))
    }

    /// Name of the innermost operator on a frame's stack; `None` without one.
    pub(crate) fn operator(&self, frame: u32) -> Option<(u32, &'a str)> {
        let operator = self.0.stack(frame).find(|(_, row)| row.kind == HostKind::Operator);
        operator.map(|(at, row)| (at, self.0.name(row.name)))
    }

    /// Name of the outermost operator on a frame's stack; `None` without one.
    pub(crate) fn outermost(&self, frame: u32) -> Option<&'a str> {
        let operators = self.0.stack(frame).filter(|(_, row)| row.kind == HostKind::Operator);
        operators.last().map(|(_, row)| self.0.name(row.name))
    }

    /// Usual durations of calls by name and input shapes, of the names that are selected.
    pub(crate) fn usual(trace: &RankTrace, wanted: impl Fn(NameId) -> bool) -> BTreeMap<Key, Usual> {
        let mut durations: BTreeMap<Key, Vec<i64>> = BTreeMap::new();
        for row in trace.host.iter().filter(|row| wanted(row.name)) {
            durations.entry(key(&row)).or_default().push(row.duration());
        }
        let usual = |mut durations: Vec<i64>| {
            durations.sort_unstable();
            Usual { durations }
        };
        durations.into_iter().map(|(key, all)| (key, usual(all))).collect()
    }

    /// First rows by name and input shapes, of the names that are selected.
    pub(crate) fn firsts(trace: &RankTrace, wanted: impl Fn(NameId) -> bool) -> BTreeMap<Key, u32> {
        let mut firsts = BTreeMap::new();
        for (at, row) in trace.host.iter().enumerate().filter(|(_, row)| wanted(row.name)) {
            firsts.entry(key(&row)).or_insert(at as u32);
        }
        firsts
    }
}
