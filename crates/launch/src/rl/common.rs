//! Settings that configurations of reinforcement learning and of fine-tuning share: the model's name, nodes times GPUs, adapters, and ranks
//! that share a sequence.
//!
//! Responsible for: their meaning. The callers provide the frameworks' names of the keys.

use crate::adapter;
use crate::fields::Fields;

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
