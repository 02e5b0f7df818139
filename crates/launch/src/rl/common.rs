//! What configurations of reinforcement learning and of fine-tuning share: the model's name, and nodes times GPUs.
//!
//! Responsible for: these two keys. Does not know the frameworks' names of them.

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
