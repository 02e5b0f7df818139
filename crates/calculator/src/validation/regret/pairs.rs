//! Pairs of layouts that differ, and the number predicted in the right order.
//!
//! Responsible for: counting in n log n, because a table may contain every layout of a search. Excludes pairs
//! whose measured times differ by less than the measurement noise.

use railwright_spec::Portable as _;

/// Counts pairs of (predicted, measured) times whose measured times differ by more than a share, and those of
/// them predicted in the same order. All times are positive and in order of predicted time. Of two equal
/// predictions the later one counts as the faster.
pub(super) fn ordered(times: &[(f64, f64)], share: f64) -> (usize, usize) {
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[a].1.total_cmp(&times[b].1).then(a.cmp(&b)));
    let least = share.portable_ln_1p();
    let (mut faster, mut taken) = (Counts::new(times.len()), 0);
    let (mut pairs, mut right) = (0, 0);
    for &slow in &order {
        while let Some(&fast) =
            order.get(taken).filter(|&&fast| (times[slow].1 / times[fast].1).portable_ln() > least)
        {
            faster.add(fast);
            taken += 1;
        }
        pairs += taken;
        let predicted = times[slow].0;
        let first_equal = times.partition_point(|time| time.0 < predicted);
        let after_equal = times.partition_point(|time| time.0 <= predicted);
        right += faster.below(first_equal) + faster.below(after_equal) - faster.below(slow + 1);
    }
    (pairs, right)
}

/// Counts by position, summed in a binary indexed tree.
struct Counts(Vec<usize>);

impl Counts {
    fn new(places: usize) -> Self {
        Self(vec![0; places + 1])
    }

    fn add(&mut self, place: usize) {
        let mut at = place + 1;
        while let Some(sum) = self.0.get_mut(at) {
            *sum += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// Sum of the counts of all positions before one.
    fn below(&self, place: usize) -> usize {
        let (mut at, mut sum) = (place, 0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same counts by comparing every pair.
    fn one_by_one(times: &[(f64, f64)], share: f64) -> (usize, usize) {
        let (mut pairs, mut right) = (0, 0);
        for (at, (later, slow)) in times.iter().enumerate() {
            for (earlier, fast) in &times[..at] {
                if (slow / fast).ln().abs() > share.ln_1p() {
                    pairs += 1;
                    right += usize::from((slow > fast) == (later > earlier));
                }
            }
        }
        (pairs, right)
    }

    proptest! {
        #[test]
        fn counting_is_going_through_all_pairs(times in proptest::collection::vec((1_u32..9, 1_u32..40), 0..60)) {
            let mut times: Vec<(f64, f64)> = times.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).collect();
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            prop_assert_eq!(ordered(&times, 0.02), one_by_one(&times, 0.02));
        }
    }
}
