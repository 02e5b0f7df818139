//! The best uniform choice on all stages: among those with launch flags of the plan's framework, and among
//! all.
//!
//! Responsible for: testing all of the few candidates. One policy covers the first layers of every virtual
//! stage, or all of them. Excludes mixed policies within a stage.

use super::flags::{self, Framework};
use super::trial::Trial;
use super::{Variant, lay};
use railwright_spec::plan::{Plan, Recompute, StageRecompute};
use railwright_spec::problem::Problem;

/// The fastest candidate that fits. `None` if none does.
pub(super) fn best(
    trial: &Trial<'_>,
    bare: &Plan,
    split: &[u64],
    policies: &[Recompute],
) -> Result<Option<Variant>, Problem> {
    let framework = Framework::of(&bare.software);
    let most = split.iter().copied().max().unwrap_or(0);
    let mut candidates: Vec<Recompute> = policies
        .iter()
        .filter(|policy| flags::is_expressible(trial.model, framework, policy))
        .cloned()
        .collect();
    if framework == Framework::Megatron {
        candidates.extend((1..most).map(|layers| Recompute::Full { layers: Some(layers) }));
    }
    let mut best: Option<Variant> = None;
    for policy in candidates {
        let plan = everywhere(bare, split, &policy);
        let variant = trial.variant(&plan)?;
        if variant.fits && best.as_ref().is_none_or(|best| variant.step_time < best.step_time) {
            best = Some(variant);
        }
    }
    Ok(best)
}

/// The fastest that fits of every policy on any number of layers, with or without framework flags. Of one
/// policy, the minimum number of layers that fits is the fastest: each additional layer costs time and frees
/// memory.
pub(super) fn best_of_any(
    trial: &Trial<'_>,
    bare: &Plan,
    split: &[u64],
    policies: &[Recompute],
) -> Result<Option<Variant>, Problem> {
    let most = split.iter().copied().max().unwrap_or(0);
    let mut best: Option<Variant> = None;
    for policy in policies {
        let on = |layers: u64| {
            let policy = if layers < most { policy.on(layers) } else { policy.clone() };
            trial.variant(&everywhere(bare, split, &policy))
        };
        let mut fewest = on(most)?;
        if !fewest.fits {
            continue;
        }
        let (mut fails, mut fits) = (0, most);
        while *policy != Recompute::None && fits - fails > 1 {
            let middle = fails.midpoint(fits);
            let variant = on(middle)?;
            if variant.fits {
                (fits, fewest) = (middle, variant);
            } else {
                fails = middle;
            }
        }
        if best.as_ref().is_none_or(|best| fewest.step_time < best.step_time) {
            best = Some(fewest);
        }
    }
    Ok(best)
}

/// The policy on every virtual stage: the first layers of each, or all.
fn everywhere(bare: &Plan, split: &[u64], policy: &Recompute) -> Plan {
    let entry = |&layers: &u64| {
        let policy = match policy.layers() {
            Some(n) if n >= layers => policy.everywhere(),
            _ => policy.clone(),
        };
        let segments = if policy == Recompute::None { Vec::new() } else { vec![policy] };
        StageRecompute { segments, offload: None }
    };
    let mut entries: Vec<StageRecompute> = split.iter().map(entry).collect();
    // Whole layers up to a number include multi-token prediction only if they are all.
    if policy.layers().is_some() {
        for (entry, layers) in entries.iter_mut().zip(split) {
            for segment in entry.segments.iter_mut().filter(|s| s.layers().is_none() && *layers > 0) {
                *segment = segment.on(*layers);
            }
        }
    }
    lay::plan(bare, entries)
}
