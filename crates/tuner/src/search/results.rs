//! What pieces of a search found, and how it adds up the same way in any order.
//!
//! Responsible for: short lists, fronts, near misses and counters, and their merging. Refuses to evaluate.

use super::families::Families;
use super::pieces::Degrees;
use super::strategy::{Key, Strategy};
use serde::Serialize;

/// Strategies of a search by outcome. Every valid strategy is counted once as enumerated and once below.
///
/// What pruning left out depends on which thread was first. It is not serialized: the same question has the same answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// Valid strategies.
    pub enumerated: u64,
    /// Combinations that are no strategies (refused degrees, batches, schedules), each counted once however much hangs below it.
    pub invalid: u64,
    /// Of the valid: did not fit by their own memory estimate.
    #[serde(skip)]
    pub did_not_fit: u64,
    /// Of the valid ones: pruned together, because a bound excludes that any fits.
    #[serde(skip)]
    pub did_not_fit_as_group: u64,
    /// Of the valid: left out because a lower bound of their time is above what is wanted.
    #[serde(skip)]
    pub bounded_away: u64,
    /// Of the valid: left out because another strategy of the space is provably as fast and as small.
    #[serde(skip)]
    pub dominated: u64,
    /// Of the valid: timed to the last digit.
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

/// A strategy with what was found about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The choices.
    pub strategy: Strategy,
    /// Seconds of a step, slowed down near the memory limit: what ranks.
    pub time: f64,
    /// Bytes that the fullest device shows.
    pub memory: f64,
}

impl Entry {
    /// What orders entries by a score.
    fn order(&self, score: Score) -> (f64, f64, Key) {
        match score {
            Score::Time => (self.time, self.memory, self.strategy.key()),
            Score::Memory => (self.memory, self.time, self.strategy.key()),
        }
    }

    fn score(&self, score: Score) -> f64 {
        match score {
            Score::Time => self.time,
            Score::Memory => self.memory,
        }
    }

    fn is_before(&self, other: &Self, score: Score) -> bool {
        let (a, b) = (self.order(score), other.order(score));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)).is_lt()
    }
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Time, ascending.
    Time,
    /// Memory, ascending.
    Memory,
}

/// The best few, one of each layout unless every detail counts.
#[derive(Clone, Debug)]
pub struct ShortList {
    score: Score,
    keep: usize,
    every_detail: bool,
    entries: Vec<Entry>,
}

impl ShortList {
    /// An empty one.
    pub fn new(score: Score, keep: usize) -> Self {
        Self { score, keep: keep.clamp(1, 10_000), every_detail: false, entries: Vec::new() }
    }

    /// The same with every strategy for itself. Each may be offered once.
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

    /// Offers an entry; whether the list changed.
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

/// The entries that no other beats in both time and memory.
#[derive(Clone, Debug, Default)]
pub struct Front(Vec<Entry>);

impl Front {
    /// By time ascending, so by memory descending.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Whether something known is at least as good as both bounds and better than one.
    pub fn beats(&self, time: f64, memory: f64) -> bool {
        // Among those no slower, the last has the least memory.
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

/// What a piece found, or several.
#[derive(Clone, Debug)]
pub struct Results {
    /// The best.
    pub best: ShortList,
    /// Those that need least memory, of what does not fit.
    pub misses: ShortList,
    /// The front of time and memory, where one is wanted.
    pub front: Front,
    /// The rows of families, where these are wanted.
    pub families: Option<Families>,
    /// What became of all.
    pub counters: Counters,
    /// The least that any strategy of a piece can take.
    pub(super) least: Vec<(Degrees, f64)>,
    /// Pieces merged.
    pub pieces: usize,
}

/// Near misses that are kept.
const MISSES: usize = 3;

/// An empty list of near misses.
pub(super) fn near_misses() -> ShortList {
    ShortList::new(Score::Memory, MISSES)
}

impl Results {
    /// Nothing yet.
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

    /// Takes over what another found. The order of merging does not matter.
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
