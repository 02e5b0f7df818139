//! Interaction of several changes: combined gain or loss compared with the single ones.

use super::ChangeResult;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// Combined gain of changes relative to their individual gains.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interaction {
    /// Product of the single speed-ups: expected value of independent gains, each applied to the remaining
    /// time.
    pub product_alone: f64,
    /// Combined speed-up.
    pub together: f64,
    /// Combined speed-up over the product, minus 1. Below 0 the changes affect the same part of the step,
    /// above 0 they reinforce each other.
    pub beyond: f64,
    /// Sum of the times saved by individual changes.
    pub saved_alone: Seconds,
    /// Time saved by the combination.
    pub saved_together: Seconds,
    /// Verdict as text.
    pub verdict: String,
}

/// Verdict as text, by the numbers of single changes that make the step faster and slower.
fn verdict(beyond: f64, faster: usize, slower: usize) -> &'static str {
    if beyond.abs() <= CLOSE {
        return "the changes are independent";
    }
    match (beyond > 0.0, faster, slower) {
        (true, 0, 2..) => "faster than expected: the largest slowdown hides the smaller ones",
        (true, _, 1..) => "faster than expected: one change removes part of the cost of the other",
        (true, ..) => "faster than expected: the changes reinforce each other",
        (false, 0, 2..) => "slower than expected: one change exposes the cost of the other",
        (false, _, 1..) => "slower than expected: the changes interfere",
        (false, ..) => "slower than expected: the changes shorten the same part of the step",
    }
}

/// Maximum relative difference from the product for independent gains.
const CLOSE: f64 = 0.005;

/// `S_all / product of S_i - 1` over the changes that could be priced.
pub(super) fn of(alone: &[ChangeResult], together: &ChangeResult) -> Option<Interaction> {
    let all = together.possible()?;
    let mut product = 1.0;
    let mut saved = Seconds::ZERO;
    let (mut faster, mut slower) = (0, 0);
    for possible in alone.iter().filter_map(ChangeResult::possible) {
        let difference = &possible.difference;
        product *= difference.speedup;
        faster += usize::from(difference.speedup > 1.0 + CLOSE);
        slower += usize::from(difference.speedup < 1.0 - CLOSE);
        saved += difference.step_time * -1.0;
    }
    let speedup = all.difference.speedup;
    let beyond = speedup / product - 1.0;
    let verdict = verdict(beyond, faster, slower);
    Some(Interaction {
        product_alone: product,
        together: speedup,
        beyond,
        saved_alone: saved,
        saved_together: all.difference.step_time * -1.0,
        verdict: verdict.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn losses_are_reported_as_losses() {
        assert!(verdict(0.1, 0, 3).contains("the largest slowdown hides the smaller ones"));
        assert!(verdict(0.1, 2, 0).starts_with("faster than"));
        assert!(verdict(-0.1, 2, 0).starts_with("slower than"));
        assert!(verdict(-0.1, 1, 1).starts_with("slower than"));
        assert!(verdict(0.001, 0, 2).starts_with("the changes are independent"));
    }
}
