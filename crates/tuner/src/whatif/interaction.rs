//! Whether the gains of several changes add up.

use super::Rehearsal;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// What changes gain together against what they gain alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interaction {
    /// Product of the speed-ups alone: what independent gains would come to, each shortening what the others left.
    pub product_alone: f64,
    /// Speed-up together.
    pub together: f64,
    /// Together over the product, less 1: below 0 the changes compete for the same part of the step, above 0 they help each other.
    pub beyond: f64,
    /// Time saved alone, summed.
    pub saved_alone: Seconds,
    /// Time saved together.
    pub saved_together: Seconds,
    /// In words.
    pub verdict: String,
}

/// Gains this close to the product are called independent.
const CLOSE: f64 = 0.005;

/// `S_all / product of S_i - 1` over the changes that could be priced.
pub(super) fn of(alone: &[Rehearsal], together: &Rehearsal) -> Option<Interaction> {
    let all = together.possible()?;
    let mut product = 1.0;
    let mut saved = Seconds::ZERO;
    for possible in alone.iter().filter_map(Rehearsal::possible) {
        let difference = &possible.difference;
        product *= difference.speedup;
        saved += difference.step_time * -1.0;
    }
    let speedup = all.difference.speedup;
    let beyond = speedup / product - 1.0;
    let verdict = if beyond.abs() <= CLOSE {
        "the changes do not touch each other: their factors multiply"
    } else if beyond < 0.0 {
        "less than their product: they shorten the same part of the step, or one takes away what the other hides behind"
    } else {
        "more than their product: one makes room for the other"
    };
    Some(Interaction {
        product_alone: product,
        together: speedup,
        beyond,
        saved_alone: saved,
        saved_together: all.difference.step_time * -1.0,
        verdict: verdict.to_owned(),
    })
}
