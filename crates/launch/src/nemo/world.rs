//! Ranks of NeMo's trainer.
//!
//! Responsible for: nodes and devices of a configuration. Nodes that no line sets stay open: the launcher
//! often sets them.

use crate::document::{Data, Document};
use crate::megatron::world::World;
use crate::{Draft, RemarkKind};

/// Ranks, if set by NeMo's trainer.
pub(super) fn of(document: &Document) -> World {
    let number = |path: &str| match document.get(path).map(|entry| &entry.data) {
        Some(Data::Integer(n)) => u64::try_from(*n).ok().filter(|&n| n > 0),
        _ => None,
    };
    let Some(per_node) = number("trainer.devices") else { return World::default() };
    let nodes = number("trainer.num_nodes").unwrap_or(1);
    World {
        ranks: nodes.checked_mul(per_node),
        per_node: Some(per_node),
        source: format!("trainer.num_nodes {nodes} x trainer.devices {per_node}"),
        line: document.get("trainer.devices").and_then(|entry| entry.spot.line()),
    }
}

/// The same for a configuration that the launcher may complete.
pub(super) fn of_file(document: &Document, draft: &mut Draft) -> World {
    let (world, path) = (of(document), "trainer.devices");
    let devices = document.get(path).filter(|_| document.get("trainer.num_nodes").is_none());
    let Some(devices) = devices else { return world };
    let (source, line) = (format!("{path} = {}", devices.data.shown()), devices.spot.line());
    let why = "devices of a node: the number of nodes is not in this file: pass --gpus";
    draft.leave_open("cluster.devices", &source, line, why);
    draft.remark(RemarkKind::Unresolved, &source, line, why);
    World { per_node: world.per_node, ..World::default() }
}
