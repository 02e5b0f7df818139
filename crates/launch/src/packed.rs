//! Micro-batches that are filled with samples up to a number of tokens.
//!
//! Responsible for: the number of samples of maximum length in one. Reads no configuration.

/// Samples of `length` tokens that fit into `tokens`: at least one, and a number that divides the samples of a step, as a plan has equal
/// micro-batches.
pub(crate) fn samples(tokens: u64, length: u64, global: Option<u64>) -> u64 {
    let most = tokens.checked_div(length).unwrap_or(1).clamp(1, 4096);
    let divides = |count: &u64| global.is_none_or(|global| global.is_multiple_of(*count));
    (1..=most).rev().find(divides).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::samples;

    #[test]
    fn as_many_as_fit_and_divide() {
        // OpenRLHF's `train_prorlv2_math_hybrid_engine.sh`: 32,768 tokens, samples of 9,216, 1,024 of them in a step.
        assert_eq!(samples(32_768, 9216, Some(1024)), 2);
        assert_eq!(samples(32_768, 9216, None), 3);
        assert_eq!((samples(100, 9216, Some(7)), samples(1, 0, None)), (1, 1));
    }
}
