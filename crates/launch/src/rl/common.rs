//! Settings that configurations of reinforcement learning and of fine-tuning share: the model's name, nodes times GPUs, adapters, and ranks
//! that share a sequence; what verl hands through to Megatron.
//!
//! Responsible for: their meaning. The callers provide the frameworks' names of the keys.

use crate::RemarkKind;
use crate::adapter;
use crate::fields::Fields;
use railwright_spec::plan::Recompute;

/// The model of an identifier or path.
pub(super) fn model(fields: &mut Fields<'_>, path: &str) {
    let Some(name) = fields.word(path) else { return };
    fields.named_model(path, &name);
}

/// Nodes times GPUs.
pub(super) fn devices(fields: &mut Fields<'_>, nodes_path: &str, per_node_path: &str) {
    let per_node = fields.count(per_node_path).filter(|&n| n > 0);
    let nodes = fields.count(nodes_path).filter(|&n| n > 0);
    let (Some(per_node), Some(nodes)) = (per_node, nodes) else { return };
    fields.set("cluster.devices", &per_node.saturating_mul(nodes), per_node_path);
    if nodes > 1 {
        fields.set("cluster.devices_per_node", &per_node, per_node_path);
    }
}

/// Ranks that share one sequence: the product of these degrees.
pub(super) fn sharing(fields: &mut Fields<'_>, paths: &[&str]) -> u64 {
    paths.iter().filter_map(|path| fields.count(path)).fold(1, |all: u64, n| all.saturating_mul(n.max(1)))
}

/// verl's adapters: a rank above 0 trains them.
pub(super) fn adapters(fields: &mut Fields<'_>, rank_path: &str, targets_path: &str) {
    if fields.count(rank_path).is_some_and(|rank| rank > 0) {
        let (source, line) = fields.source(rank_path);
        adapter::lora(&mut fields.draft, &source, line);
    }
    let usual = adapter::Usual { of: "verl", ..adapter::ALL_OF_RANK_8 };
    adapter::read(fields, &[rank_path], &[targets_path], usual);
}

/// Megatron's own fields, which verl hands through: recompute under the engine's section, offload under the optimizer's.
pub(super) fn overrides(fields: &mut Fields<'_>, engine: &str, optimizer: &str) {
    let at = |key: &str| format!("{engine}.override_transformer_config.{key}");
    let granularity = at("recompute_granularity");
    match fields.word(&granularity).as_deref() {
        Some("full") => {
            // `uniform` recomputes every layer, `block` that number in each stage.
            let block = fields.word(&at("recompute_method")).as_deref() == Some("block");
            let layers = fields.count(&at("recompute_num_layers")).filter(|_| block);
            fields.set("plan.recompute", &Recompute::Full { layers }, &granularity);
        }
        Some("selective") => {
            let message = "recompute of single modules is not read from these overrides: it is open";
            fields.remark(RemarkKind::Unresolved, &granularity, message);
        }
        _ => {}
    }
    let at = |key: &str| format!("{optimizer}.override_optimizer_config.{key}");
    let path = at("optimizer_cpu_offload");
    if fields.flag(&path) == Some(true) {
        let share = fields.number(&at("optimizer_offload_fraction")).unwrap_or(1.0);
        fields.set("plan.offload.optimizer", &share, &path);
    }
}

/// verl offloads between phases: while the model trains, everything is on the device.
pub(super) fn offload(fields: &mut Fields<'_>, parameters: &str, optimizer: &str) {
    for path in [parameters, optimizer] {
        if fields.flag(path) == Some(true) {
            let message = "is offloaded between updates only: not an offload during the update";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
}
