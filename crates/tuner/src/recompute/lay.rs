//! Conversion of numbers of layers to a plan: policies of layers in the order of a stage.
//!
//! Responsible for: entries that a plan reads back as exactly these numbers. Does not select.

use super::group::{Group, Solution};
use super::policies::on_layer;
use railwright_calculator::choices::Treatment;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute, StageRecompute};

/// One entry per virtual stage of a group, with its index in the pipeline.
pub(super) fn entries(
    model: &Model,
    treatments: &[Treatment],
    group: &Group<'_>,
    solution: &Solution,
) -> Vec<(usize, StageRecompute)> {
    let used = |counts: &[u64]| counts.iter().position(|n| *n > 0);
    let share = solution.counts.iter().find_map(|c| used(c)).map_or(0.0, |t| treatments[t].offload);
    let offload = (share > 0.0).then_some(share);
    group
        .room
        .chunks
        .iter()
        .map(|chunk| {
            // Remaining layers by kind; the most expensive policies come first, as in Megatron's block
            // method.
            let mut left: Vec<(usize, Vec<u64>)> = group
                .classes
                .iter()
                .zip(&solution.counts)
                .filter(|(class, _)| class.chunk == chunk.chunk)
                .map(|(class, counts)| (class.kind, counts.clone()))
                .collect();
            let layers = &model.layers[chunk.start..chunk.start + chunk.count];
            let mut segments: Vec<(Recompute, u64)> = Vec::new();
            for &kind in layers {
                let Some((_, counts)) = left.iter_mut().find(|(k, _)| *k == kind) else { continue };
                let Some(treatment) = counts.iter().rposition(|n| *n > 0) else { continue };
                counts[treatment] -= 1;
                let policy = on_layer(&treatments[treatment].recompute, &model.layer_kinds[kind]);
                match segments.last_mut() {
                    Some((last, count)) if *last == policy => *count += 1,
                    _ => segments.push((policy, 1)),
                }
            }
            let beside = (group.beside && chunk.head).then(|| {
                let kind = model.multi_token_prediction.as_ref().map_or(0, |mtp| mtp.layer_kind);
                on_layer(&treatments[solution.beside].recompute, &model.layer_kinds[kind])
            });
            (chunk.chunk, StageRecompute { segments: written(segments, beside), offload })
        })
        .collect()
}

/// The shortest form of segments: a policy for all remaining layers has no number.
fn written(mut segments: Vec<(Recompute, u64)>, beside: Option<Recompute>) -> Vec<Recompute> {
    let is_one = segments.len() == 1;
    match beside {
        Some(beside) if beside != Recompute::None => {
            let counted = if segments.last().is_some_and(|(last, _)| *last == beside) {
                segments.len() - 1
            } else {
                segments.len()
            };
            let mut list: Vec<Recompute> = segments[..counted].iter().map(|(p, n)| p.on(*n)).collect();
            list.push(beside);
            list
        }
        beside => {
            if segments.last().is_some_and(|(last, _)| *last == Recompute::None) {
                segments.pop();
            }
            if let ([(policy, _)], true, None) = (segments.as_slice(), is_one, &beside) {
                return vec![policy.clone()];
            }
            segments.into_iter().map(|(policy, count)| policy.on(count)).collect()
        }
    }
}

/// The plan with one entry per virtual stage, or a single one if all are equal.
pub(super) fn plan(bare: &Plan, entries: Vec<StageRecompute>) -> Plan {
    let mut plan = bare.clone();
    let alike = entries.windows(2).all(|pair| pair[0] == pair[1]);
    match entries.first() {
        Some(first) if alike && first.offload.is_none() => match first.segments.as_slice() {
            [] => return plan,
            [policy] if policy.layers().is_none() => {
                plan.recompute = policy.clone();
                return plan;
            }
            _ => {}
        },
        None => return plan,
        _ => {}
    }
    plan.stage_recompute = Some(entries);
    plan
}

/// The plan without any recompute and activation offload.
pub(super) fn bare(plan: &Plan) -> Plan {
    let mut bare = Plan { recompute: Recompute::None, stage_recompute: None, ..plan.clone() };
    bare.offload.activations = 0.0;
    bare
}
