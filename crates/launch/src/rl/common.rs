//! Settings common to configurations of reinforcement learning and of fine-tuning: the model's name, nodes
//! times GPUs, adapters, and ranks that share a sequence; and settings that verl passes to Megatron.
//!
//! Responsible for: their meaning. The callers provide the frameworks' names of the keys.

use crate::RemarkKind;
use crate::adapter;
use crate::fields::Fields;
use crate::megatron::pipeline::at_the_ends;
use railwright_spec::model::by_name;
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

/// Ranks that share one sequence: the product of these parallel sizes.
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

/// Megatron's own fields, which verl passes on: recompute under the engine's section, offload under the
/// optimizer's.
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
            let message =
                "recompute of individual modules is not supported in these overrides: it stays unset";
            fields.remark(RemarkKind::Unresolved, &granularity, message);
        }
        _ => {}
    }
    let [first, last] = ["first", "last"].map(|end| at(&format!("num_layers_in_{end}_pipeline_stage")));
    ends(fields, &first, &last);
    accounted(fields, engine);
    let at = |key: &str| format!("{optimizer}.override_optimizer_config.{key}");
    let path = at("optimizer_cpu_offload");
    if fields.flag(&path) == Some(true) {
        let share = fields.number(&at("optimizer_offload_fraction")).unwrap_or(1.0);
        fields.set("plan.offload.optimizer", &share, &path);
    }
}

/// verl offloads between phases: during training everything is on the device.
pub(super) fn offload(fields: &mut Fields<'_>, parameters: &str, optimizer: &str) {
    for path in [parameters, optimizer] {
        if fields.flag(path) == Some(true) {
            let message = "is offloaded only between updates, not during the update";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
}

/// Stages with a separate number of layers. The others share the rest, whose number the model has.
pub(super) fn ends(fields: &mut Fields<'_>, first_path: &str, last_path: &str) {
    let [first, last] = [first_path, last_path].map(|path| fields.count(path).filter(|&n| n > 0));
    if first.is_none() && last.is_none() {
        return;
    }
    let path = if first.is_some() { first_path } else { last_path };
    let name = fields.draft.spec().model.name.clone();
    let layers = name.and_then(|name| by_name(&name).ok()).map(|model| model.layers.len() as u64);
    let stages = fields.draft.spec().plan.pipeline_parallel;
    let chunks = fields.draft.spec().plan.virtual_stages.unwrap_or(1);
    let (Some(layers), Some(stages)) = (layers, stages) else {
        let message = "the other stages depend on the model's layers: the division is unknown, pass `--layers-per-stage`";
        return fields.remark(RemarkKind::Unresolved, path, message);
    };
    if let Some(list) = at_the_ends(layers, stages, chunks, first, last) {
        fields.set("plan.layers_per_stage", &list, path);
    } else {
        let message = "leaves layers that the other stages cannot share evenly";
        fields.remark(RemarkKind::Conflict, path, message);
    }
}

/// Stages of Megatron's `account_for_embedding_in_pipeline_split` and `account_for_loss_in_pipeline_split`:
/// either end counts as a layer, so that the first or the last chunk has a layer less than the others.
fn accounted(fields: &mut Fields<'_>, engine: &str) {
    let at = |key: &str| format!("{engine}.override_transformer_config.account_for_{key}_in_pipeline_split");
    let [embedding, loss] = ["embedding", "loss"].map(at);
    let [first, last] = [&embedding, &loss].map(|path| u64::from(fields.flag(path) == Some(true)));
    let path = if first == 1 { embedding } else { loss };
    let plan = &fields.draft.spec().plan;
    let stages = plan.pipeline_parallel;
    if first + last == 0 || stages == Some(1) || plan.layers_per_stage.is_some() {
        return;
    }
    let chunks = stages.map(|stages| stages.saturating_mul(plan.virtual_stages.unwrap_or(1)));
    let name = fields.draft.spec().model.name.clone();
    let layers = name.and_then(|name| by_name(&name).ok()).map(|model| model.layers.len() as u64);
    let (Some(layers), Some(chunks)) = (layers, chunks.filter(|&chunks| chunks > 1)) else {
        let message =
            "the stages depend on the model's layers: the division is unknown, pass `--layers-per-stage`";
        return fields.remark(RemarkKind::Unresolved, &path, message);
    };
    let (all, each) = (layers + first + last, (layers + first + last) / chunks);
    if !all.is_multiple_of(chunks) || each < 2 {
        let message = "layers, with the ends counted, cannot be divided evenly among the stages";
        return fields.remark(RemarkKind::Conflict, &path, message);
    }
    let list: Vec<u64> = (0..chunks)
        .map(|chunk| each - if chunk == 0 { first } else { 0 } - if chunk + 1 == chunks { last } else { 0 })
        .collect();
    fields.set("plan.layers_per_stage", &list, &path);
}

/// Tests whether a text starts a module of Python: `-m NAME`.
pub(super) fn has_module(text: &str, name: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| matches!(pair[0], "-m" | "--module") && pair[1] == name)
}
