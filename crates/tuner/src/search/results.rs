//! Results of pieces of a search, with a merge independent of the order.
//!
//! Responsible for: short lists, fronts, near misses and counters, and their merging. Does not evaluate.

use super::entry::{Entry, Score};
use super::families::Families;
use super::pieces::Degrees;
use serde::Serialize;

/// Strategies of a search by outcome. Every valid strategy is counted once as enumerated and once below.
///
/// The numbers pruned depend on the order of threads. They are not serialized: the same search has the same
/// result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// Valid strategies.
    pub enumerated: u64,
    /// Invalid combinations (rejected sizes, batches, schedules), each counted once, regardless of the
    /// number of strategies below it.
    pub invalid: u64,
    /// Valid strategies that did not fit by their own memory estimate.
    #[serde(skip)]
    pub did_not_fit: u64,
    /// Valid strategies pruned together, because a bound excludes that any fits.
    #[serde(skip)]
    pub did_not_fit_as_group: u64,
    /// Valid strategies pruned because a lower bound on their time is above the limit.
    #[serde(skip)]
    pub bounded_away: u64,
    /// Valid strategies pruned because another strategy of the space is provably as fast and as small.
    #[serde(skip)]
    pub dominated: u64,
    /// Valid strategies that were timed exactly.
    #[serde(skip)]
    pub timed: u64,
}

impl Counters {
    /// Adds another piece's counts.
    pub fn add(&mut self, other: &Self) {
        self.enumerated += other.enumerated;
        self.invalid += other.invalid;
        self.did_not_fit += other.did_not_fit;
        self.did_not_fit_as_group += other.did_not_fit_as_group;
        self.bounded_away += other.bounded_away;
        self.dominated += other.dominated;
        self.timed += other.timed;
    }
}

/// The best few entries, one per layout unless every detail is requested.
#[derive(Clone, Debug)]
pub struct ShortList {
    score: Score,
    keep: usize,
    every_detail: bool,
    entries: Vec<Entry>,
}

impl ShortList {
    /// An empty list.
    pub fn new(score: Score, keep: usize) -> Self {
        Self { score, keep: keep.clamp(1, 10_000), every_detail: false, entries: Vec::new() }
    }

    /// A list that keeps every strategy separately. Each may be offered once.
    #[must_use]
    pub fn with_details(self, every_detail: bool) -> Self {
        Self { every_detail, ..self }
    }

    /// The entries, best first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Scores strictly above this do not change the list.
    pub fn threshold(&self) -> f64 {
        if self.entries.len() < self.keep {
            f64::INFINITY
        } else {
            self.entries.last().map_or(f64::INFINITY, |e| e.score(self.score))
        }
    }

    /// Offers an entry. Returns true if the list changed.
    pub fn offer(&mut self, entry: &Entry) -> bool {
        if entry.score(self.score) > self.threshold() {
            return false;
        }
        let layout = entry.strategy.layout();
        let is_same = |e: &Entry| e.strategy.layout() == layout;
        let same = if self.every_detail { None } else { self.entries.iter().position(is_same) };
        if let Some(at) = same {
            if !entry.is_before(&self.entries[at], self.score) {
                return false;
            }
            self.entries.remove(at);
        }
        let at = self.entries.partition_point(|e| e.is_before(entry, self.score));
        if at >= self.keep {
            return false;
        }
        self.entries.insert(at, *entry);
        self.entries.truncate(self.keep);
        true
    }
}

/// The entries that no other one dominates in time and memory.
#[derive(Clone, Debug, Default)]
pub struct Front(Vec<Entry>);

impl Front {
    /// The entries, in ascending order of time and descending order of memory.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Tests whether a known entry is at least as good as both bounds and better than one.
    pub fn beats(&self, time: f64, memory: f64) -> bool {
        // Among those that are no slower, the last has the least memory.
        let at = self.0.partition_point(|e| e.time <= time);
        at > 0 && {
            let e = &self.0[at - 1];
            e.memory < memory || (e.memory <= memory && e.time < time)
        }
    }

    /// Offers an entry.
    pub fn offer(&mut self, entry: &Entry) {
        if self.beats(entry.time, entry.memory) {
            return;
        }
        if let Some(same) = self.0.iter_mut().find(|e| e.time == entry.time && e.memory == entry.memory) {
            if entry.strategy.key() < same.strategy.key() {
                *same = *entry;
            }
            return;
        }
        self.0.retain(|e| e.time < entry.time || e.memory < entry.memory);
        let at = self.0.partition_point(|e| e.time < entry.time);
        self.0.insert(at, *entry);
    }
}

/// Results of one or several pieces.
#[derive(Clone, Debug)]
pub struct Results {
    /// The best strategies.
    pub best: ShortList,
    /// Strategies that do not fit, with the least memory.
    pub misses: ShortList,
    /// The front of time and memory, if requested.
    pub front: Front,
    /// The rows of families, if requested.
    pub families: Option<Families>,
    /// Numbers of strategies by outcome.
    pub counters: Counters,
    /// Lower bound on the time of any strategy, by piece.
    pub(super) least: Vec<(Degrees, f64)>,
    /// Number of merged pieces.
    pub pieces: usize,
}

/// Number of near misses to keep.
const MISSES: usize = 3;

/// An empty list of near misses.
pub(super) fn near_misses() -> ShortList {
    ShortList::new(Score::Memory, MISSES)
}

impl Results {
    /// Lower bounds on the time of the searched pieces' strategies, in seconds.
    pub fn least(&self) -> impl Iterator<Item = (Degrees, f64)> + '_ {
        self.least.iter().copied()
    }

    /// Empty results.
    pub fn new(score: Score, keep: usize) -> Self {
        Self {
            best: ShortList::new(score, keep),
            misses: near_misses(),
            front: Front::default(),
            families: None,
            counters: Counters::default(),
            least: Vec::new(),
            pieces: 0,
        }
    }

    /// Merges other results. The order of merging has no effect.
    pub fn merge(&mut self, other: &Self) {
        for entry in other.best.entries() {
            self.best.offer(entry);
        }
        for entry in other.misses.entries() {
            self.misses.offer(entry);
        }
        for entry in other.front.entries() {
            self.front.offer(entry);
        }
        match (&mut self.families, &other.families) {
            (Some(own), Some(other)) => own.merge(other),
            (own @ None, Some(other)) => *own = Some(other.clone()),
            (_, None) => {}
        }
        self.counters.add(&other.counters);
        self.least.extend_from_slice(&other.least);
        self.pieces += other.pieces;
    }
}
