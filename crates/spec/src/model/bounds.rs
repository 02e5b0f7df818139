//! Limits on dimensions with their reasons. They detect typing errors and limit memory use.

use crate::problem::Problem;

/// Inclusive range of a kind of number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) low: u64,
    pub(super) high: u64,
    /// Reason to reject numbers outside.
    why: &'static str,
}

/// Number of layers. Each is held individually.
pub(super) const LAYERS: Bound = Bound::new(1, 10_000, "the deepest known model has a few hundred layers");
/// Hidden size: the side of every matrix.
pub(super) const HIDDEN: Bound = Bound::new(1, 1_000_000, "the widest known model has a width of 25,600");
/// Attention heads.
pub(super) const HEADS: Bound = Bound::new(1, 100_000, "no known model has more than a few hundred heads");
/// Width of a head, or of a low-rank latent.
pub(super) const HEAD_DIM: Bound =
    Bound::new(1, 100_000, "no known model has heads or latents wider than a few thousand");
/// Inner width of an MLP; 0 without an MLP.
pub(super) const WIDTH: Bound =
    Bound::new(1, 10_000_000, "the widest known MLP has a width of about 100,000");
/// Width that is written as 0 if absent.
pub(super) const WIDTH_OR_ZERO: Bound =
    Bound::new(0, 10_000_000, "the widest known MLP has a width of about 100,000");
/// Rows of the embedding.
pub(super) const VOCABULARY: Bound =
    Bound::new(1, 100_000_000, "the largest known vocabulary has a few hundred thousand tokens");
/// Rows of the embedding; 0 for stacks without word embedding.
pub(super) const VOCABULARY_OR_NONE: Bound =
    Bound::new(0, 100_000_000, "the largest known vocabulary has a few hundred thousand tokens");
/// Positions, windows and chunks.
pub(super) const POSITIONS: Bound =
    Bound::new(0, 1_000_000_000_000, "no known model declares a longer context");
/// Routed experts.
pub(super) const EXPERTS: Bound =
    Bound::new(0, 100_000, "no known model has more than a few thousand experts");
/// Small counts: experts per token, groups, taps, prediction modules.
pub(super) const SMALL: Bound = Bound::new(0, 100_000, "such counts are at most a few dozen");

impl Bound {
    const fn new(low: u64, high: u64, why: &'static str) -> Self {
        Self { low, high, why }
    }

    /// Small count with a limit of its own.
    pub(super) const fn upto(high: u64) -> Self {
        Self::new(0, high, "no known layer has a larger value")
    }

    /// Returns the value if it is inside.
    pub(super) fn check(self, key: &str, value: u64) -> Result<u64, Problem> {
        if (self.low..=self.high).contains(&value) {
            Ok(value)
        } else {
            Err(self.refuse(key, &value.to_string()))
        }
    }

    /// Problem of a number outside, as `written` in the input.
    pub(super) fn refuse(self, key: &str, written: &str) -> Problem {
        let shown: String = written.chars().take(40).collect();
        Problem::new(format!("{shown} is not a whole number from {} to {}", self.low, self.high))
            .hint(format!("check the number of digits: {}", self.why))
            .at_key(key)
    }
}
