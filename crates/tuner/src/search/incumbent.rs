//! The best score that any worker knows, shared without locks, and the rows of families that any worker knows.
//!
//! Responsible for: two numbers that only fall, and rows that only improve. What is strictly worse than it can be left out; what ties with
//! it is kept, so the answer does not depend on who was first.

use super::families::{Cut, Families};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A score that is known to be reached as often as results are wanted: anything strictly above it is of no interest.
#[derive(Debug)]
pub struct Incumbent {
    score: AtomicU64,
    /// What rows of families are cut at, as [`Cut::to_bits`] has it.
    cut: AtomicU64,
    /// What workers know of rows, exchanged between pieces.
    families: Mutex<Option<Families>>,
}

impl Default for Incumbent {
    fn default() -> Self {
        Self {
            score: AtomicU64::new(f64::INFINITY.to_bits()),
            cut: AtomicU64::new(Cut::OPEN.to_bits()),
            families: Mutex::new(None),
        }
    }
}

impl Incumbent {
    /// The score, infinite at first.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.score.load(Ordering::Relaxed))
    }

    /// Lowers it. Scores are positive, so their bits order as they do.
    pub fn lower(&self, score: f64) {
        if score >= 0.0 {
            self.score.fetch_min(score.to_bits(), Ordering::Relaxed);
        }
    }

    /// What rows of families are cut at.
    pub(super) fn cut(&self) -> Cut {
        Cut::from_bits(self.cut.load(Ordering::Relaxed))
    }

    /// Exchanges rows of families: afterwards the worker knows what any worker has handed over.
    pub(super) fn exchange(&self, own: &mut Families) {
        let mut shared = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        let all = shared.get_or_insert_with(|| own.clone());
        all.merge(own);
        own.clone_from(all);
    }

    /// Lowers the cut.
    pub(super) fn lower_cut(&self, cut: Cut) {
        self.cut.fetch_min(cut.to_bits(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_only_falls() {
        let incumbent = Incumbent::default();
        incumbent.lower(3.0);
        incumbent.lower(5.0);
        assert_eq!(incumbent.get(), 3.0);
        incumbent.lower(-1.0);
        incumbent.lower(f64::NAN);
        assert_eq!(incumbent.get(), 3.0);
    }
}
