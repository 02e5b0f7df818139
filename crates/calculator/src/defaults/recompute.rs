//! Recompute policies worth trying for a model and its software.
//!
//! Responsible for: the modules whose recompute frees memory, for defaults and for searches; the order in
//! which a default layout tries policies. Prices nothing.

use railwright_spec::cluster::Cluster;
use railwright_spec::model::{FeedForward, Layer, Mixer, Model};
use railwright_spec::plan::{AttentionKernel, Plan, PlanSpec, Recompute, RecomputeModule};
use railwright_spec::software::{Offers, Software};
use std::collections::BTreeSet;

/// Modules that the software can recompute and whose recompute frees memory in at least half of the model's
/// layers.
pub fn modules(
    model: &Model,
    plan: &Plan,
    software: &Software,
    cluster: &Cluster,
    offers: &Offers,
) -> Vec<RecomputeModule> {
    let kernel = software.asked_kernel(plan, cluster.accelerator.device_architecture());
    let layers = model.num_layers().max(1);
    let is_common = |test: &dyn Fn(&Layer) -> bool| {
        let of_kind = |kind: &&usize| model.layer_kinds.get(**kind).is_some_and(test);
        2 * model.layers.iter().filter(of_kind).count() as u64 >= layers
    };
    let frees = |module: &RecomputeModule| match module {
        // Fused attention keeps no scores, so it frees almost nothing.
        RecomputeModule::CoreAttention => kernel == AttentionKernel::Unfused,
        RecomputeModule::Norm | RecomputeModule::Activation | RecomputeModule::Operators => true,
        RecomputeModule::Mlp => is_common(&|l| matches!(l.feed_forward, FeedForward::Dense(_))),
        RecomputeModule::Moe => is_common(&|l| matches!(l.feed_forward, FeedForward::MixtureOfExperts(_))),
        RecomputeModule::LatentUpProjection => is_common(&|l| matches!(l.mixer, Mixer::Latent(_))),
    };
    let is_possible = |module: &RecomputeModule| offers.recomputes(*module, model);
    offers.recompute.iter().copied().filter(is_possible).filter(frees).collect()
}

/// Policies of a layout, roughly in ascending order of recomputed work: none, element-wise modules one after
/// the other, small GEMMs, operators, some layers, feed-forward modules, all layers. A default layout uses
/// the first that fits. `plan` is the layout without recompute.
pub(crate) fn policies(
    layout: &PlanSpec,
    model: &Model,
    plan: &Plan,
    software: &Software,
    cluster: &Cluster,
) -> Vec<Recompute> {
    if let Some(specified) = &layout.recompute {
        return vec![specified.clone()];
    }
    let mut list = vec![Recompute::None];
    if layout.stage_recompute.is_some() {
        return list;
    }
    let offers = &software.offers;
    let known = modules(model, plan, software, cluster, offers);
    let order = [
        RecomputeModule::Norm,
        RecomputeModule::Activation,
        RecomputeModule::LatentUpProjection,
        RecomputeModule::CoreAttention,
    ];
    let mut set = BTreeSet::new();
    for module in order.into_iter().filter(|module| known.contains(module)) {
        set.insert(module);
        list.push(Recompute::Selective { modules: set.clone(), layers: None });
    }
    if known.contains(&RecomputeModule::Operators) {
        let modules = BTreeSet::from([RecomputeModule::Operators]);
        list.push(Recompute::Selective { modules, layers: None });
    }
    if offers.full_recompute && offers.recompute_layers {
        let of_stage = model.num_layers().div_ceil(plan.pipeline_parallel.max(1));
        // Every virtual stage recomputes the same number of layers, so with few layers on each it can be all
        // of them.
        let chunks = plan.virtual_stages.max(1);
        let leaves_some = |count: &u64| count.div_ceil(chunks).saturating_mul(chunks) < of_stage;
        let some = [of_stage.div_ceil(4), of_stage.div_ceil(2)].into_iter().filter(leaves_some);
        list.extend(some.map(|layers| Recompute::Full { layers: Some(layers) }));
    }
    // Both repeat the large GEMMs of every layer, but not attention.
    for module in [RecomputeModule::Mlp, RecomputeModule::Moe].into_iter().filter(|m| known.contains(m)) {
        set.insert(module);
        list.push(Recompute::Selective { modules: set.clone(), layers: None });
    }
    if offers.full_recompute {
        list.push(Recompute::Full { layers: None });
    }
    list
}
