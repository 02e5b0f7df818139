//! Clock offsets during the inference of groups.
//!
//! Responsible for: clock offsets between ranks, from recorders of one host and from streams with known
//! groups, and the contradiction between a new comparison and them. Groups with equal timing and a constant
//! lag end together like one group whose clocks differ by that lag. Only clock offsets from other sources
//! distinguish them. Ignores drifts: accuracy is tens of microseconds.

use std::collections::BTreeMap;

/// Accuracy of clock comparisons, in nanoseconds: recorders of one host differ by this much, and drifts add
/// to it.
pub(super) const CLOSE: f64 = 100_000.0;

/// Ranks with tied clocks, each with its offset to the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ties {
    /// By member: its reference member, and its lead over that in nanoseconds.
    of: BTreeMap<u32, (u32, f64)>,
}

impl Ties {
    /// The first tied member of a member, and the member's lead over it in nanoseconds.
    fn root(&self, member: u32) -> (u32, f64) {
        self.of.get(&member).copied().unwrap_or((member, 0.0))
    }

    /// Lead of the second clock over the first in nanoseconds; `None` if unknown.
    pub(super) fn between(&self, first: u32, second: u32) -> Option<f64> {
        let ((a, ahead), (b, other)) = (self.root(first), self.root(second));
        (a == b).then_some(other - ahead)
    }

    /// Ties two members: the second clock is ahead of the first by `ahead` nanoseconds. Returns the
    /// contradiction to the known offset in nanoseconds, beyond the accuracy of comparisons; 0 without a
    /// known offset.
    pub(super) fn tie(&mut self, first: u32, second: u32, ahead: f64) -> f64 {
        if let Some(known) = self.between(first, second) {
            return ((known - ahead).abs() - CLOSE).max(0.0);
        }
        let ((a, own), (b, other)) = (self.root(first), self.root(second));
        // A clock that shows `t` on the second's root shows this much less on the first's.
        let moved = own + ahead - other;
        self.of.entry(a).or_insert((a, 0.0));
        self.of.entry(b).or_insert((b, 0.0));
        for (root, ahead) in self.of.values_mut().filter(|(root, _)| *root == b) {
            *root = a;
            *ahead += moved;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_known_through_others() {
        let mut ties = Ties::default();
        assert_eq!(ties.between(0, 1), None);
        assert_eq!(ties.tie(0, 1, 5e6), 0.0);
        assert_eq!(ties.tie(2, 3, -2e6), 0.0);
        assert_eq!((ties.between(1, 0), ties.between(0, 2)), (Some(-5e6), None));
        assert_eq!(ties.tie(1, 3, 1e6), 0.0);
        // 0 -> 1 is 5, 1 -> 3 is 1, 3 -> 2 is 2.
        assert_eq!(ties.between(0, 2), Some(8e6));
        assert_eq!(ties.tie(0, 2, 8.05e6), 0.0);
        assert_eq!(ties.tie(0, 2, 10e6), 1.9e6);
    }
}
