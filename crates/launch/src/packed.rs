//! Micro-batches that are filled with samples up to a number of tokens.
//!
//! Responsible for: the number of samples of maximum length in one. Reads no configuration.

use railwright_spec::run::RunSpec;

/// Samples of `length` tokens that fit into `tokens`: at least one, and a number that divides all samples of
/// a replica, as a plan has equal micro-batches.
pub(crate) fn samples(tokens: u64, length: u64, all: Option<u64>) -> u64 {
    let most = tokens.checked_div(length).unwrap_or(1).clamp(1, 4096);
    let divides = |count: &u64| all.is_none_or(|all| all.is_multiple_of(*count));
    (1..=most).rev().find(divides).unwrap_or(1)
}

/// Samples of a replica in a step, where `ranks` share each sequence; those of all replicas if their number
/// is unknown.
pub(crate) fn share(spec: &RunSpec, ranks: u64) -> Option<u64> {
    let global = spec.plan.global_batch?;
    let replicas =
        spec.cluster.devices.map(|devices| devices / ranks.max(1)).filter(|&replicas| replicas > 0);
    let of_each =
        replicas.filter(|&replicas| global.is_multiple_of(replicas)).map(|replicas| global / replicas);
    Some(of_each.unwrap_or(global))
}

#[cfg(test)]
mod tests {
    use super::samples;

    #[test]
    fn as_many_as_fit_and_divide() {
        // OpenRLHF's `train_prorlv2_math_hybrid_engine.sh`: 32,768 tokens, samples of 9,216, 1,024 of them in
        // a step.
        assert_eq!(samples(32_768, 9216, Some(1024)), 2);
        assert_eq!(samples(32_768, 9216, None), 3);
        assert_eq!((samples(100, 9216, Some(7)), samples(1, 0, None)), (1, 1));
    }
}
