//! Features of a software generation in addition to the plan: token dispatcher, fused kernels, CUDA graphs.
//!
//! Responsible for: the Megatron-LM flags of these, from a table of generations, and conflicts with the plan.
//! Their effect is in the calculator.

use super::Group;
use super::choices::{has, offloaded_layers, overlaps_experts, recompute_words};
use crate::Lost;
use crate::megatron::features::{Features, Graphs, IN_PLACE_LOSS, features};
use railwright_spec::model::{FeedForward, Mixer};
use railwright_spec::plan::{Recompute, RecomputeModule};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use railwright_spec::software;

/// The flags, and the omitted settings.
pub(super) fn flags(run: &Run) -> (Group, Vec<Lost>) {
    let mut group = Group::new("KERNEL_ARGS");
    let mut lost = Vec::new();
    let features = features(&run.plan.software);
    let is_in_place = run.plan.software.split('+').any(|part| part == IN_PLACE_LOSS);
    if features.fusions || is_in_place {
        group.flag("--cross-entropy-loss-fusion");
        group.value("--cross-entropy-fusion-impl", if is_in_place { "te" } else { "native" });
    }
    if run.model.is_mixture_of_experts() {
        group.flag_if(features.fusions, "--moe-permute-fusion");
        group.flag_if(features.fusions, "--moe-router-fusion");
        dispatcher(run, features, &mut group);
    }
    graphs(run, features, &mut group, &mut lost);
    (group, lost)
}

/// Tests whether tokens use a fused dispatcher: only between ranks, and only if DeepEP or HybridEP run.
fn has_fused_dispatch(run: &Run, features: Features) -> bool {
    features.fused_dispatch
        && run.plan.expert_parallel > 1
        && software::Software::dispatches_fused_on(&run.cluster.accelerator.architecture)
}

/// Flags of the dispatcher: HybridEP for scale-up domains of more than one node, DeepEP for others.
fn dispatcher(run: &Run, features: Features, group: &mut Group) {
    /// GPUs of the largest node that is a scale-up domain by itself.
    const NODE: u64 = 8;
    if !has_fused_dispatch(run, features) {
        let own = if features.gathers_tokens { "allgather" } else { "alltoall" };
        return group.value("--moe-token-dispatcher-type", own);
    }
    group.value("--moe-token-dispatcher-type", "flex");
    let is_rack = run.cluster.scale_up.domain_size > NODE;
    group.value("--moe-flex-dispatcher-backend", if is_rack { "hybridep" } else { "deepep" });
    // Both transfer the router's probabilities in fp32.
    group.value("--moe-router-dtype", "fp32");
}

fn graphs(run: &Run, features: Features, group: &mut Group, lost: &mut Vec<Lost>) {
    if features.graphs == Graphs::None {
        return;
    }
    let moe = run.model.is_mixture_of_experts();
    let is_full_recompute = matches!(run.plan.recompute, Recompute::Full { .. });
    let is_rack = run.cluster.scale_up.domain_size > 8;
    // A graph of the whole iteration needs experts whose shapes stay on the device: HybridEP and fused
    // grouped GEMMs.
    let static_experts = !moe
        || (has_fused_dispatch(run, features)
            && is_rack
            && run.plan.precision.compute == DataType::Mxfp8
            && run.plan.expert_capacity.is_none());
    let has_masks = run.plan.dropout && !recompute_words(run).is_empty();
    if features.graphs == Graphs::Full && static_experts && !has_masks {
        group.value("--cuda-graph-impl", "full_iteration");
        group.flag("--no-check-for-nan-in-loss-and-grad");
        if moe {
            group.value("--moe-expert-rank-capacity-factor", 1.5);
            group.flag("--moe-paged-stash");
            group.flag("--use-transformer-engine-op-fuser");
        }
        return;
    }
    let refused = if is_full_recompute {
        Some("whole layers are recomputed")
    } else if offloaded_layers(run).is_some() {
        Some("activations are offloaded")
    } else if has_masks {
        Some("dropout is on with recomputed modules")
    } else {
        None
    };
    let modules = modules(run);
    let missing = match refused {
        None if modules.is_empty() => Some("experts are recomputed"),
        other => other,
    };
    if let Some(why) = missing {
        let message = format!(
            "`{}` is estimated with CUDA graphs, which Megatron-LM rejects if {why}; the script does not use \
             them",
            run.plan.software
        );
        return lost.push(Lost { key: "software".to_owned(), message });
    }
    group.value("--cuda-graph-impl", "transformer_engine");
    group.value("--cuda-graph-modules", modules.join(" "));
    if features.graphs == Graphs::Full {
        let message = format!(
            "`{}` is estimated with full-iteration CUDA graphs, which experts support only with HybridEP and \
             mxfp8; the script uses partial CUDA graphs",
            run.plan.software
        );
        lost.push(Lost { key: "software".to_owned(), message });
    }
}

/// The parts of layers that a graph can contain.
fn modules(run: &Run) -> Vec<&'static str> {
    let recomputes_experts = matches!(&run.plan.recompute,
        Recompute::Selective { modules, .. } if modules.contains(&RecomputeModule::Moe));
    let mut out = Vec::new();
    if has(&run.model, |mixer, _| matches!(mixer, Mixer::Attention(_) | Mixer::Latent(_))) {
        out.push("attn");
    }
    if has(&run.model, |mixer, _| matches!(mixer, Mixer::StateSpace(_))) {
        out.push("mamba");
    }
    if has(&run.model, |_, feed_forward| matches!(feed_forward, FeedForward::Dense(_)))
        && !overlaps_experts(run)
    {
        out.push("mlp");
    }
    if run.model.is_mixture_of_experts() && !recomputes_experts {
        out.push("moe_router");
        // With a capacity the preprocessing copies counts to the host.
        if run.plan.expert_capacity.is_none() {
            out.push("moe_preprocess");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::megatron::features::TABLE;

    /// The calculator's table has every generation of this one, and both agree.
    #[test]
    fn generations_agree_with_what_is_priced() {
        let text = railwright_catalog::SOFTWARE;
        let table: toml::Table = text.parse().expect("TOML");
        let generations = table["generation"].as_array().expect("a list");
        let find = |id: &str| generations.iter().find(|row| row["id"].as_str() == Some(id));
        for line in TABLE.lines().skip(1) {
            let id = line.split(',').next().unwrap_or_default();
            let mut row = find(id).unwrap_or_else(|| panic!("{id} is not a generation"));
            let fused = loop {
                match (row.get("fused_expert_dispatch"), row.get("based_on")) {
                    (Some(value), _) => break value.as_bool() == Some(true),
                    (None, Some(base)) => row = find(base.as_str().unwrap_or_default()).expect("a base"),
                    (None, None) => break false,
                }
            };
            assert_eq!(features(id).fused_dispatch, fused, "{id}");
        }
    }
}
