//! The best score that any worker knows, shared without locks.
//!
//! Responsible for: one number that only falls. What is strictly worse than it can be left out; what ties with it is kept, so the
//! answer does not depend on who was first.

use std::sync::atomic::{AtomicU64, Ordering};

/// A score that is known to be reached as often as results are wanted: anything strictly above it is of no interest.
#[derive(Debug)]
pub struct Incumbent(AtomicU64);

impl Default for Incumbent {
    fn default() -> Self {
        Self(AtomicU64::new(f64::INFINITY.to_bits()))
    }
}

impl Incumbent {
    /// The score, infinite at first.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Lowers it. Scores are positive, so their bits order as they do.
    pub fn lower(&self, score: f64) {
        if score >= 0.0 {
            self.0.fetch_min(score.to_bits(), Ordering::Relaxed);
        }
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
