//! Checks of recompute per stage: one entry per stage, existing layers, existing modules.

use super::super::{Plan, Recompute, RecomputeModule, StageRecompute};
use crate::model::{FeedForward, Mixer, Model};
use crate::problem::Problem;
use std::collections::BTreeSet;

/// Layers of each virtual stage in pipeline order, if the plan sets them.
fn layers_of_chunks(model: &Model, plan: &Plan) -> Option<Vec<u64>> {
    let (pp, vp) = (plan.pipeline_parallel, plan.virtual_stages);
    let chunks = (pp * vp) as usize;
    match &plan.layers_per_stage {
        Some(list) if list.len() == chunks => Some(list.clone()),
        // One entry per stage: divided among its chunks, with the remainder in the first ones.
        Some(list) if list.len() == pp as usize => Some(
            (0..vp).flat_map(|chunk| list.iter().map(move |&n| n / vp + u64::from(chunk < n % vp))).collect(),
        ),
        None if model.num_layers().is_multiple_of(chunks as u64) => {
            Some(vec![model.num_layers() / chunks as u64; chunks])
        }
        _ => None,
    }
}

pub(super) fn check(model: &Model, plan: &Plan, list: &[StageRecompute], problems: &mut Vec<Problem>) {
    let key = "plan.stage_recompute";
    if plan.recompute != Recompute::None {
        problems.push(
            Problem::new("recompute is set for all stages and per stage")
                .at_key(key)
                .hint("set plan.recompute to none, or omit one of them"),
        );
    }
    let (pp, entries) = (plan.pipeline_parallel as usize, list.len());
    let chunks = pp * plan.virtual_stages as usize;
    if entries != pp && entries != chunks {
        let each = if chunks == pp { String::new() } else { format!(" or {chunks} virtual stages") };
        problems.push(
            Problem::new(format!("{entries} entries for {pp} stages{each}"))
                .at_key(key)
                .hint("use `none` for a stage without recompute, `none*14` for 14 of them"),
        );
        return;
    }
    let layers = layers_of_chunks(model, plan);
    for (index, stage) in list.iter().enumerate() {
        let what = if entries == pp { "stage" } else { "virtual stage" };
        let here = layers.as_ref().map(|layers| {
            if entries == chunks {
                return layers[index];
            }
            let own = plan.schedule.local_chunks(plan.pipeline_parallel, plan.virtual_stages, index as u64);
            own.into_iter().filter_map(|chunk| layers.get(chunk as usize)).sum()
        });
        let counted = stage.counted();
        if here.is_some_and(|here| counted > here) || counted > model.num_layers() {
            let has = here.unwrap_or_else(|| model.num_layers());
            problems.push(
                Problem::new(format!(
                    "{counted} layers are set to be recomputed on {what} {index}, which has only {has}"
                ))
                .at_key(key)
                .hint("a policy without a number covers all remaining layers"),
            );
        }
        if stage.offload.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            problems.push(
                Problem::new(format!("the offloaded share of {what} {index} is not between 0 and 1"))
                    .at_key(key)
                    .hint("use a share from 0 to 1, as in `offload:0.5`"),
            );
        }
    }
    modules(model, list, problems);
}

/// The modules to recompute must exist in the model.
fn modules(model: &Model, list: &[StageRecompute], problems: &mut Vec<Problem>) {
    let has = |module: RecomputeModule| {
        model.layer_kinds.iter().any(|layer| match module {
            RecomputeModule::CoreAttention => matches!(layer.mixer, Mixer::Attention(_) | Mixer::Latent(_)),
            RecomputeModule::LatentUpProjection => matches!(layer.mixer, Mixer::Latent(_)),
            RecomputeModule::Mlp => matches!(layer.feed_forward, FeedForward::Dense(_)),
            RecomputeModule::Moe => matches!(layer.feed_forward, FeedForward::MixtureOfExperts(_)),
            RecomputeModule::Norm | RecomputeModule::Activation | RecomputeModule::Operators => true,
        })
    };
    let named: BTreeSet<RecomputeModule> = list
        .iter()
        .flat_map(|stage| &stage.segments)
        .filter_map(|segment| match segment {
            Recompute::Selective { modules, .. } => Some(modules.iter().copied()),
            _ => None,
        })
        .flatten()
        .collect();
    for module in named.into_iter().filter(|module| !has(*module)) {
        problems.push(
            Problem::new(format!("{} has no {} to recompute", model.name, module.name()))
                .at_key("plan.stage_recompute")
                .hint(format!("omit `{}`", module.name())),
        );
    }
}
