//! Best score of all workers, shared without locks, and rows of families of all workers.
//!
//! Responsible for: two numbers that only decrease, and rows that only improve. Strictly worse strategies can
//! be pruned. Ties are kept, so the result is independent of the order of workers.

use super::families::{Cut, Families};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A score that enough results are known to reach: anything strictly above it can be pruned.
#[derive(Debug)]
pub struct Incumbent {
    score: AtomicU64,
    /// Cut of the rows of families, as [`Cut::to_bits`].
    cut: AtomicU64,
    /// Rows of all workers, exchanged between pieces.
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

    /// Lowers the score. Scores are positive, so their bits have the same order.
    pub fn lower(&self, score: f64) {
        if score >= 0.0 {
            self.score.fetch_min(score.to_bits(), Ordering::Relaxed);
        }
    }

    /// Cut of the rows of families.
    pub(super) fn cut(&self) -> Cut {
        Cut::from_bits(self.cut.load(Ordering::Relaxed))
    }

    /// Exchanges rows of families: afterwards the worker has the merged rows of all workers.
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
