//! Activations on the host in Megatron-Bridge and NeMo: `cpu_offloading` with a number of layers.
//!
//! Responsible for: the share of the layers, where the model is known only by its name.

use crate::Draft;
use crate::document::{Data, Document, Entry};
use crate::megatron::arguments::Arguments;
use railwright_spec::model::by_name;

const LAYERS: &str = "cpu_offloading_num_layers";

/// Tests whether an entry is the number of layers without the switch: `cpu_offloading` is false by default
/// (Megatron-Core, `transformer_config.py`).
pub(super) fn is_off(document: &Document, entry: &Entry) -> bool {
    let is_on = || document.get("model.cpu_offloading").is_some_and(|switch| switch.data == Data::Flag(true));
    entry.path == format!("model.{LAYERS}") && !is_on()
}

/// The share of the layers whose activations are on the host: moved layers / layers of the model.
/// Megatron-Core has no pipeline with it.
pub(super) fn share(arguments: &Arguments, draft: &mut Draft) {
    let key = "plan.offload.activations";
    let Some(moved) = arguments.get(LAYERS).and_then(|layers| layers.values.first()?.parse::<u64>().ok())
    else {
        return;
    };
    if moved == 0 || draft.value(key).is_some() {
        return;
    }
    let model = &draft.spec().model;
    let named = || model.name.as_deref().and_then(|name| by_name(name).ok()).map(|model| model.num_layers());
    let total = model.layers.or_else(named).filter(|&layers| layers > 0);
    let (source, line) = arguments.origin(LAYERS);
    match total {
        Some(total) => draft.set(key, &(moved as f64 / total as f64).min(1.0), &source, line),
        None => {
            draft.leave_open(key, &source, line, "some of the layers, but their number is not in this file");
        }
    }
}
