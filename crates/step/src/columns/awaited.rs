//! Work that a bubble waits for.
//!
//! Responsible for: the words for it, names of bubbles from the arrows that lead to them, and the waits of
//! each rank. A bubble without an arrow has no recorded cause: it keeps its name, and its time is counted.
//! Does not find causes.

use super::{ArrowKind, Class, Columns};
use crate::Names;
use serde::Serialize;
use std::collections::BTreeMap;

/// Work of another rank, with the time of a rank's bubbles that wait for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Awaited {
    /// Rank of the work.
    pub rank: u32,
    /// Its pipeline stage.
    pub stage: u32,
    /// Name of the pass, such as `forward`; of the operator without passes.
    pub name: String,
    /// Micro-batch, if known.
    pub micro_batch: Option<u32>,
    /// Bubble time in nanoseconds.
    pub time_ns: i64,
}

/// Maximum number of waits of a rank.
const MOST: usize = 8;

impl Awaited {
    /// The work in words, such as `forward 3 of stage 1`.
    pub fn words(&self, place: &str) -> String {
        let batch = self.micro_batch.map(|batch| format!(" {batch}")).unwrap_or_default();
        format!("{}{batch} of {place}", self.name)
    }

    /// Waits with equal work summed, the longest first, up to a limit.
    pub fn longest(waits: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut sums: BTreeMap<Self, i64> = BTreeMap::new();
        for wait in waits {
            let time = wait.time_ns;
            *sums.entry(Self { time_ns: 0, ..wait }).or_default() += time;
        }
        let mut all: Vec<Self> = sums.into_iter().map(|(wait, time_ns)| Self { time_ns, ..wait }).collect();
        all.sort_by_key(|wait| std::cmp::Reverse(wait.time_ns));
        all.truncate(MOST);
        all
    }
}

/// Name of a bubble that waits for some work.
pub fn waiting(bubble: &str, work: &str) -> String {
    format!("{bubble}, waits for {work}")
}

impl Columns {
    /// Names the bubbles that an arrow leads to by the work at its start, and adds the waits to the rows of
    /// [`Columns::bubbles`]. `names` are those of the spans.
    pub fn name_bubbles(&mut self, names: &mut Names) {
        let mut firsts: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, track) in self.tracks.iter().enumerate() {
            firsts.entry(&track.group).or_insert(at);
        }
        let arrows = &self.arrows;
        let mut named: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut waits: BTreeMap<u32, Vec<Awaited>> = BTreeMap::new();
        for at in 0..arrows.kind.len() {
            let (track, span) = (arrows.to_track[at], arrows.to_span[at]);
            let is_new = arrows.kind[at] == ArrowKind::Awaited as u8 && !named.contains_key(&(track, span));
            if !is_new || !self.is_bubble(track as usize, span as usize) {
                continue;
            }
            let from = (arrows.from_track[at] as usize, arrows.from_span[at] as usize);
            let Some(group) = self.tracks.get(from.0).map(|of| of.group.as_str()) else { continue };
            let Some((mut work, is_one)) = self.work(from, firsts.get(group).copied(), names) else {
                continue;
            };
            if !is_one {
                continue;
            }
            let own = &self.tracks[track as usize];
            let name = own.names[span as usize];
            let bubble = names.get(crate::NameId(name)).to_owned();
            named.insert((track, span), names.intern(&waiting(&bubble, &work.words(group))).0);
            if firsts.get(own.group.as_str()) == Some(&(track as usize)) {
                work.time_ns = own.lengths[span as usize];
                waits.entry(own.rank).or_default().push(work);
            }
        }
        for row in &mut self.bubbles {
            let own = firsts.values().filter(|at| self.tracks[**at].rank == row.rank);
            let all: i64 = own.map(|at| self.tracks[*at].time_of(Class::Bubble)).sum();
            let found = waits.remove(&row.rank).unwrap_or_default();
            let known: i64 = found.iter().map(|wait| wait.time_ns).sum();
            row.no_cause_ns = (all - known).max(0);
            row.waits = Awaited::longest(found);
        }
        for ((track, span), name) in named {
            self.tracks[track as usize].names[span as usize] = name;
        }
    }

    /// Tests whether a span is one bubble.
    fn is_bubble(&self, track: usize, span: usize) -> bool {
        let Some(track) = self.tracks.get(track) else { return false };
        track.colours.get(span) == Some(&(Class::Bubble as u8))
            && track.counts.get(span).is_none_or(|count| *count == 1)
    }

    /// The pass in which a span lies, by the first track of its group, otherwise the span itself; and whether
    /// it is not a merged one.
    fn work(
        &self,
        (track, span): (usize, usize),
        first: Option<usize>,
        names: &Names,
    ) -> Option<(Awaited, bool)> {
        let own = self.tracks.get(track)?;
        let middle = own.starts.get(span)? + own.lengths.get(span)? / 2;
        let pass = first.and_then(|at| {
            let passes = &self.tracks[at];
            let span = passes.starts.partition_point(|start| *start <= middle).checked_sub(1)?;
            let is_in = passes.starts[span] + passes.lengths[span] > middle;
            (is_in && passes.micro_batch.get(span).is_some_and(|batch| *batch >= 0)).then_some((at, span))
        });
        let (track, span) = pass.unwrap_or((track, span));
        let shown = &self.tracks[track];
        let batch = shown.micro_batch.get(span).and_then(|batch| u32::try_from(*batch).ok());
        let name = names.get(crate::NameId(shown.names[span])).to_owned();
        let is_one = shown.counts.get(span).is_none_or(|count| *count == 1);
        Some((Awaited { rank: shown.rank, stage: shown.stage, name, micro_batch: batch, time_ns: 0 }, is_one))
    }
}
