//! Events of several ranks in one file, as tools write that merge the traces of a job.
//!
//! Responsible for: the rank of an event in its `args`. Without such ranks all events are of one rank.

use super::event::Event;
use super::fill::Fill;
use super::{arguments, numbers};
use std::collections::BTreeMap;

/// Maximum rank: larger numbers are no ranks.
const MOST: u32 = 1 << 20;

/// Ranks of a merged file.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// True if the first complete event with arguments has a rank; `None` before it. Later events of other
    /// files are not searched.
    ranked: Option<bool>,
    /// Rank of the first event.
    pub(super) first: Option<u32>,
    /// Columns of the other ranks.
    pub(super) others: BTreeMap<u32, Fill>,
}

impl Merged {
    /// Rank of an event that is not of the first rank.
    pub(super) fn of(&mut self, event: &Event<'_>) -> Option<u32> {
        if self.ranked == Some(false) || event.phase != b'X' || event.arguments.len() <= 2 {
            return None;
        }
        let rank = numbers::small(arguments::rank(event.arguments)).filter(|rank| *rank < MOST);
        self.ranked = Some(self.ranked.unwrap_or(rank.is_some()));
        let rank = rank?;
        (*self.first.get_or_insert(rank) != rank).then_some(rank)
    }
}
