//! Dimension of a group inferred from its operations.
//!
//! Responsible for: distinguishing activations from gradients and parameters by their phase. Activations are
//! also reduced in the forward pass, gradients never. Without recorded phases, their order decides. Ambiguous
//! cases stay unknown.

use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// An observed operation of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operation; `None` if unknown.
    pub operation: Option<CollectiveKind>,
    /// Size in bytes; `None` if unknown.
    pub bytes: Option<u64>,
    /// Start time in nanoseconds.
    pub start: i64,
    /// Its phase; [`Phase::Other`] if unknown.
    pub phase: Phase,
}

/// Operations of a group on its busiest rank, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupProfile {
    /// The operations in order.
    pub calls: Vec<Call>,
    /// Start and end of that rank's recording, in nanoseconds.
    pub recorded: (i64, i64),
    /// Number of recorded steps.
    pub steps: u32,
    /// True if names in that rank's recording mention experts.
    pub experts: bool,
}

/// Gradient norms, losses and overflow flags have at most this size (eight numbers of 4 bytes); activations
/// or gradients of a layer are larger.
const SCALARS: u64 = 32;

/// Maximum share of a phase (0 to 1) that is ignored as stray: loss and metrics are averaged in the forward
/// pass, too.
const STRAY: f64 = 0.02;

/// Minimum share for a classification: half of the all-reduces of tensor parallel layers belong to the
/// forward pass, a third with recomputation.
const REGULAR_SHARE: f64 = 0.2;

/// Minimum share of operations with a known phase.
const KNOWN: f64 = 0.8;

/// Threshold of the share of time in pauses of more than twice the usual length. Between the gradients of two
/// steps there is a forward pass, at least a quarter of the time. Activations are exchanged during the whole
/// step, so their share is below.
const PAUSES: f64 = 0.2;

/// Minimum number of all-reduces of activations per step: twice forward and twice backward, for two layers.
const LAYERS: usize = 8;

/// Minimum number of layers whose parameters are gathered before the first gradients are scattered.
/// Activations have at most three successive gathers (the weight gradient gathers its input again).
const GATHERED: usize = 4;

impl GroupProfile {
    fn count(&self, wanted: impl Fn(CollectiveKind) -> bool) -> usize {
        self.calls.iter().filter(|call| call.operation.is_some_and(&wanted)).count()
    }

    /// Number of calls by size of an operation; unknown sizes count as one size.
    fn sizes(&self, operation: CollectiveKind) -> BTreeMap<Option<u64>, usize> {
        let mut sizes = BTreeMap::new();
        for call in self.calls.iter().filter(|call| call.operation == Some(operation)) {
            *sizes.entry(call.bytes).or_default() += 1;
        }
        sizes
    }

    /// Share of an operation in the forward pass (0 to 1), by bytes if all sizes are known, otherwise by
    /// calls. `None` if phases are unknown.
    fn forward(&self, operation: CollectiveKind) -> Option<f64> {
        let calls = || self.calls.iter().filter(|call| call.operation == Some(operation));
        let sized = calls().all(|call| call.bytes.is_some());
        let weight = |call: &Call| if sized { call.bytes.unwrap_or(0) as f64 } else { 1.0 };
        let sum = |wanted: &dyn Fn(Phase) -> bool| -> f64 {
            calls().filter(|call| wanted(call.phase)).map(weight).sum()
        };
        let all = sum(&|_| true);
        let known = sum(&|phase| phase != Phase::Other);
        (all > 0.0 && known >= KNOWN * all)
            .then(|| sum(&|phase| matches!(phase, Phase::Forward | Phase::Recompute)) / known)
    }

    /// Share of the recording (0 to 1) in long pauses of an operation: longer than twice the usual one.
    /// Includes the time before the first and after the last call.
    fn pauses(&self, operation: CollectiveKind) -> f64 {
        let (from, to) = self.recorded;
        let starts =
            self.calls.iter().filter(|call| call.operation == Some(operation)).map(|call| call.start);
        let moments: Vec<i64> = [from].into_iter().chain(starts).chain([to]).collect();
        let mut pauses: Vec<i64> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        pauses.sort_unstable();
        let usual = pauses[pauses.len() / 2];
        let long: i64 = pauses.iter().filter(|pause| **pause > usual.saturating_mul(2)).sum();
        long as f64 / (to - from).max(1) as f64
    }

    /// Largest number of successive gathers without a scatter between them.
    fn longest_row_of_gathers(&self) -> usize {
        let mut longest = 0;
        let mut row = 0;
        for call in &self.calls {
            match call.operation {
                Some(CollectiveKind::AllGather) => row += 1,
                Some(CollectiveKind::ReduceScatter) => row = 0,
                _ => {}
            }
            longest = longest.max(row);
        }
        longest
    }

    /// Tests whether the group transfers only single numbers: norms, losses, flags. No dimension serves that
    /// purpose.
    pub(super) fn scalars(&self) -> bool {
        let scalar = |call: &Call| call.bytes.is_some_and(|bytes| bytes <= SCALARS);
        let moves = |call: &&Call| call.operation != Some(CollectiveKind::Barrier);
        self.calls.iter().any(|call| moves(&call)) && self.calls.iter().filter(moves).all(scalar)
    }

    /// Dimension inferred from the operations; `None` if ambiguous.
    pub(super) fn dimension(&self) -> Option<Dimension> {
        let all = self.calls.len();
        if all == 0 {
            return None;
        }
        if self.count(CollectiveKind::is_message) * 2 > all {
            return Some(Dimension::Pipeline);
        }
        if self.scalars() {
            return None;
        }
        let exchanges = self.count(|o| {
            matches!(
                o,
                CollectiveKind::AllToAll
                    | CollectiveKind::Dispatch
                    | CollectiveKind::Combine
                    | CollectiveKind::Notify
            )
        });
        if exchanges * 2 > all {
            return Some(Dimension::Expert);
        }
        if self.count(|o| o == CollectiveKind::AllReduce) * 2 > all {
            return self.of_all_reduces();
        }
        let gathers = self.count(|o| o == CollectiveKind::AllGather);
        let scatters = self.count(|o| o == CollectiveKind::ReduceScatter);
        ((gathers + scatters) * 2 > all && gathers > 0 && scatters > 0).then(|| self.of_shards()).flatten()
    }

    /// Activations (tensor parallel) or gradients (data parallel).
    fn of_all_reduces(&self) -> Option<Dimension> {
        match self.forward(CollectiveKind::AllReduce) {
            Some(share) if share >= REGULAR_SHARE => return Some(Dimension::Tensor),
            Some(share) if share <= STRAY => return Some(Dimension::Data),
            Some(_) => return None,
            None => {}
        }
        // Activations have one size throughout the step; buckets of gradients occur in its second half.
        let steps = self.steps.max(1) as usize;
        let sizes = self.sizes(CollectiveKind::AllReduce);
        let most = sizes.values().copied().max().unwrap_or(0);
        if most >= LAYERS * steps && most * 2 > self.calls.len() {
            return (self.pauses(CollectiveKind::AllReduce) < PAUSES).then_some(Dimension::Tensor);
        }
        (most <= steps * 2 && self.calls.len() >= 2 && !sizes.contains_key(&None)).then_some(Dimension::Data)
    }

    /// Activations of sequence parallel layers (tensor parallel), or parameters and gradients (data
    /// parallel).
    fn of_shards(&self) -> Option<Dimension> {
        match self.forward(CollectiveKind::ReduceScatter) {
            Some(share) if share >= REGULAR_SHARE => return Some(Dimension::Tensor),
            Some(share) if share <= STRAY => return Some(Dimension::Data),
            Some(_) => return None,
            None => {}
        }
        if self.longest_row_of_gathers() >= GATHERED {
            return Some(Dimension::Data);
        }
        // Every shard has its own size, so there are as many operations as sizes.
        let sizes: BTreeSet<Option<u64>> = self.calls.iter().map(|call| call.bytes).collect();
        let steps = self.steps.max(1) as usize;
        (sizes.len() > 1 && sizes.len() * steps * 4 >= self.calls.len()).then_some(Dimension::Data)
    }

    /// Tests whether most operations of a group reduce and gather in several sizes: gradients and parameter
    /// shards. Activations have one size.
    pub(super) fn reduces_many_sizes(&self) -> bool {
        let is_it = |operation: CollectiveKind| {
            matches!(
                operation,
                CollectiveKind::AllReduce | CollectiveKind::ReduceScatter | CollectiveKind::AllGather
            )
        };
        let wanted = || self.calls.iter().filter(|call| call.operation.is_some_and(is_it));
        let sizes: BTreeSet<u64> = wanted().filter_map(|call| call.bytes).collect();
        let reduces = wanted().any(|call| call.operation != Some(CollectiveKind::AllGather));
        reduces && sizes.len() >= 3 && wanted().count() * 2 > self.calls.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of `layers` layers: their operations in the forward pass and in the backward pass at equal
    /// distances, and the operations at the end of the step.
    fn profile(
        steps: u32,
        layers: i64,
        forward: &[(CollectiveKind, u64)],
        backward: &[(CollectiveKind, u64)],
        last: &[(CollectiveKind, u64)],
        phased: bool,
    ) -> GroupProfile {
        let mut calls = Vec::new();
        let mut now = 0;
        let mut does = |list: &[(CollectiveKind, u64)], phase: Phase, length: i64| {
            for (k, &(operation, bytes)) in list.iter().enumerate() {
                let start = now + length * k as i64 / list.len() as i64;
                let phase = if phased { phase } else { Phase::Other };
                calls.push(Call { operation: Some(operation), bytes: Some(bytes), start, phase });
            }
            now += length;
        };
        for _ in 0..steps {
            (0..layers).for_each(|_| does(forward, Phase::Forward, 100));
            (0..layers).for_each(|_| does(backward, Phase::Backward, 200));
            does(last, Phase::Optimizer, 30);
        }
        GroupProfile { calls, recorded: (0, now), steps, experts: false }
    }

    use CollectiveKind::{AllGather, AllReduce, ReduceScatter};

    #[test]
    fn norms_and_flags_are_no_gradients() {
        for phased in [true, false] {
            let norms = profile(3, 12, &[], &[], &[(AllReduce, 4), (AllReduce, 8)], phased);
            assert!(norms.scalars() && norms.dimension().is_none());
            let more = profile(3, 12, &[], &[(AllReduce, 25 << 20)], &[(AllReduce, 4)], phased);
            assert!(!more.scalars());
        }
    }

    #[test]
    fn activations_are_reduced_in_the_forward_pass_too() {
        for steps in [1, 2, 5] {
            for phased in [true, false] {
                let of = |forward: &[_], backward: &[_], last: &[_]| {
                    profile(steps, 12, forward, backward, last, phased).dimension()
                };
                let twice = [(AllReduce, 8_192), (AllReduce, 8_192)];
                let label = format!("{steps} steps, phases {phased}");
                assert_eq!(of(&twice, &twice, &[]), Some(Dimension::Tensor), "{label}");
                // Buckets of equal size, more than three per step.
                assert_ne!(of(&[], &[(AllReduce, 25 << 20)], &[]), Some(Dimension::Tensor), "{label}");
                if phased {
                    assert_eq!(of(&[], &[(AllReduce, 25 << 20)], &[]), Some(Dimension::Data), "{label}");
                }
                assert_eq!(
                    of(&[], &[], &[(AllReduce, 99), (AllReduce, 77)]),
                    Some(Dimension::Data),
                    "{label}"
                );
                // Sequence parallel layers.
                let layer = [(AllGather, 64), (ReduceScatter, 64), (AllGather, 64), (ReduceScatter, 64)];
                let back = [
                    (AllGather, 64),
                    (AllGather, 64),
                    (ReduceScatter, 64),
                    (AllGather, 64),
                    (ReduceScatter, 64),
                ];
                let expected = phased.then_some(Dimension::Tensor);
                assert_eq!(of(&layer, &back, &[]), expected, "{label}");
                // Sharded parameters, all layers of one size.
                let back = [(AllGather, 1 << 20), (ReduceScatter, 1 << 20)];
                assert_eq!(of(&[(AllGather, 1 << 20)], &back, &[]), Some(Dimension::Data), "{label}");
                // Not gathered again.
                let back = [(ReduceScatter, 1 << 20)];
                assert_eq!(of(&[(AllGather, 1 << 20)], &back, &[]), Some(Dimension::Data), "{label}");
            }
        }
    }

    #[test]
    fn a_loss_averaged_in_the_forward_pass_does_not_make_activations_of_gradients() {
        let mut profile = profile(2, 4, &[], &[(AllReduce, 25 << 20)], &[], true);
        profile.calls.push(Call {
            operation: Some(AllReduce),
            bytes: Some(4),
            start: 5,
            phase: Phase::Forward,
        });
        assert_eq!(profile.dimension(), Some(Dimension::Data));
    }
}
