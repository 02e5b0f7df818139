//! Choices of a piece outside the pipeline: sharding, switches, sequence and context.
//!
//! Responsible for: valid combinations, and those that need no trial. Does not price.

use super::counts::divisors;
use super::pieces::Degrees;
use super::shapes::Shape;
use super::space::{Shardings, Space, overlap};
use super::strategy::Strategy;
use railwright_spec::plan::{ContextKind, Overlap, Schedule, Sharding};
use railwright_spec::software::Offers;

pub(super) fn sequence_parallel(space: &Space, degrees: &Degrees) -> Vec<bool> {
    if degrees.tensor > 1 {
        space.sequence_parallel.clone()
    } else {
        vec![space.specified.sequence_parallel.unwrap_or(false)]
    }
}

pub(super) fn context_kinds(space: &Space, degrees: &Degrees) -> Vec<ContextKind> {
    if degrees.context > 1 { space.context_kinds.clone() } else { vec![space.base.context_kind] }
}

/// Sharding choices among the ranks of a piece.
pub(super) fn shardings(space: &Space, degrees: &Degrees) -> Vec<Sharding> {
    let ranks = degrees.data * degrees.context;
    let nothing = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
    let (stages, groups, reshard) = match &space.sharding {
        Shardings::Listed(list) => {
            let divides = |group: u64| group > 0 && ranks.is_multiple_of(group);
            return list
                .iter()
                .copied()
                .filter(|s| s.zero_stage == 0 || s.group.is_none_or(divides))
                .collect();
        }
        Shardings::Open { stages, groups, reshard } => (stages, groups, reshard),
    };
    // A single rank has nothing to shard over.
    if ranks == 1 {
        return vec![nothing];
    }
    let mut found = Vec::new();
    for &zero_stage in stages {
        let works = space.offers.as_ref().is_none_or(|o| {
            (degrees.pipeline == 1 || o.zero_stages_with_pipeline.contains(&zero_stage))
                && (degrees.tensor == 1 || o.zero_stages_with_tensor.contains(&zero_stage))
        });
        if !works {
            continue;
        }
        let mut sizes = vec![None];
        if zero_stage > 0 {
            let suggested = divisors(ranks).into_iter().filter(|&g| g > 1 && g < ranks);
            let some = groups.of(suggested).into_iter().filter(|g| *g > 0 && ranks.is_multiple_of(*g));
            sizes.extend(some.map(Some));
        }
        let again: &[bool] = if zero_stage == 3 { reshard } else { &[false] };
        for group in sizes {
            found.extend(again.iter().map(|&reshard_after_forward| Sharding {
                zero_stage,
                group,
                reshard_after_forward,
            }));
        }
    }
    found
}

/// The best setting of the switches, and the number of their possible settings.
///
/// Overlap is never slower: hidden communication costs at most its slowdown share of its exposed cost (a
/// share below 1 in every generation). A pipeline's recurrence has only sums and maxima, so shorter passes
/// and transfers never lengthen it. The one exception is [`blocks_too`]. Memory does not depend on the
/// switches.
pub(super) fn switches(space: &Space, strategy: &Strategy) -> (Overlap, u64) {
    let best = overlap(space);
    let base = space.base.overlap;
    // Replicas of an expert can have peers where nothing else does.
    let copies = strategy.tensor * strategy.context * strategy.data;
    let peers = strategy.data * strategy.context > 1 || copies > strategy.expert * strategy.expert_tensor;
    let mut ways = 1;
    let mut set = |matters: bool, list: &[bool], best: bool, base: bool| {
        if !matters {
            return if list.len() == 1 { list[0] } else { base };
        }
        ways *= list.len() as u64;
        best
    };
    // Overlapping kernels need the sequence-parallel form of the collectives. If the user allows only these,
    // it is not required.
    let form = space.offers.is_none() || strategy.sequence_parallel || !space.overlap_tensor.contains(&false);
    let overlap = Overlap {
        gradient_reduce: set(
            peers,
            &space.overlap_gradient_reduce,
            best.gradient_reduce,
            base.gradient_reduce,
        ),
        parameter_gather: set(
            peers,
            &space.overlap_parameter_gather,
            best.parameter_gather,
            base.parameter_gather,
        ),
        tensor: set(strategy.tensor > 1 && form, &space.overlap_tensor, best.tensor, false),
        pipeline: set(strategy.pipeline > 1, &space.overlap_pipeline, best.pipeline, base.pipeline),
        expert: set(strategy.expert > 1, &space.overlap_expert, best.expert, base.expert),
    };
    (overlap, ways)
}

/// Tests whether the software overlaps transfers under a schedule. If the user allows only overlapped ones,
/// it is not asked.
pub(super) fn overlaps_transfers(space: &Space, schedule: Schedule, virtual_stages: u64) -> bool {
    let offered = |offers: &Offers| offers.overlaps_transfers(schedule, virtual_stages);
    space.offers.as_ref().is_none_or(offered) || !space.overlap_pipeline.contains(&false)
}

/// Tests whether only some shapes hide exchanges of experts. If the user allows only hidden ones, all do.
pub(super) fn splits_shapes(space: &Space, strategy: &Strategy) -> bool {
    let is_open = space.overlap_expert.contains(&true) && space.overlap_expert.contains(&false);
    strategy.expert > 1
        && is_open
        && space.offers.as_ref().is_some_and(|offers| !offers.overlaps_experts(strategy.pipeline, 1))
}

/// Tests whether a strategy hides exchanges of experts as its software does under a shape.
pub(super) fn suits(space: &Space, strategy: &Strategy, shape: &Shape) -> bool {
    let offered = |offers: &Offers| offers.overlaps_experts(strategy.pipeline, shape.virtual_stages);
    !splits_shapes(space, strategy) || space.offers.as_ref().is_some_and(offered) == strategy.overlap.expert
}

/// Tests whether blocking transfers must be tried in addition to overlapped ones. Steps of zero-bubble
/// schedules follow each other at the time from a stage's first pass to its last, and a late start shortens
/// that.
pub(super) fn blocks_too(space: &Space, schedule: Schedule, pipeline: u64) -> bool {
    pipeline > 1
        && schedule.validates_afterwards()
        && space.overlap_pipeline.contains(&true)
        && space.overlap_pipeline.contains(&false)
}

#[cfg(test)]
mod tests {
    use railwright_calculator::software::generations;

    #[test]
    fn hiding_is_never_slower_in_any_generation() {
        for generation in generations() {
            let shares = [
                generation.overlap_slowdown,
                generation.tensor_overlap_exposed,
                generation.expert_overlap_exposed,
                generation.weight_gather_exposed,
            ];
            assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{}", generation.id);
        }
    }
}
