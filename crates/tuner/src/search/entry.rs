//! A strategy with its evaluation, and its order.

use super::strategy::{Key, Strategy};

/// A strategy with its evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The choices.
    pub strategy: Strategy,
    /// Step time in seconds, including the slowdown near the memory limit: the sort key.
    pub time: f64,
    /// Bytes reported by the device with the largest need.
    pub memory: f64,
}

impl Entry {
    /// Sort key of an entry for a score.
    fn order(&self, score: Score) -> (f64, f64, Key) {
        match score {
            Score::Time => (self.time, self.memory, self.strategy.key()),
            Score::Memory => (self.memory, self.time, self.strategy.key()),
        }
    }

    pub(super) fn score(&self, score: Score) -> f64 {
        match score {
            Score::Time => self.time,
            Score::Memory => self.memory,
        }
    }

    pub(super) fn is_before(&self, other: &Self, score: Score) -> bool {
        let (a, b) = (self.order(score), other.order(score));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)).is_lt()
    }
}

/// Sort key of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Time, ascending.
    Time,
    /// Memory, ascending.
    Memory,
}
