//! The model of a nanotron configuration.
//!
//! Responsible for: common and different properties of the three nanotron families and llama. Values that are
//! not understood are reported.

use crate::RemarkKind;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::model::{Activation, NormKind, Position, Style};
use railwright_spec::problem::Problem;

const CONFIG: &str = "model.model_config";

/// A fork's model with a tower has the language model in a section of its own.
pub(super) fn of_text(fields: &mut Fields<'_>) {
    let section = format!("{CONFIG}.text_config.");
    let inner: Vec<(String, String)> = fields
        .document
        .entries
        .iter()
        .filter_map(|entry| {
            Some((entry.path.clone(), format!("{CONFIG}.{}", entry.path.strip_prefix(&section)?)))
        })
        .collect();
    if inner.is_empty() {
        return;
    }
    let pairs: Vec<(&str, &str)> = inner.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    fields.document.rename(&pairs);
    let tower = format!("{CONFIG}.vision_config");
    if fields.document.has(&tower) {
        fields.draft.remark(RemarkKind::NotModelled, &tower, None, crate::lost::TOWER_IS_LEFT_OUT);
        let section = format!("{tower}.");
        fields.document.entries.retain(|entry| !entry.path.starts_with(&section));
    }
}

pub(super) fn read(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("{CONFIG}.{key}");
    let path = at("is_mamba_config");
    if fields.flag(&path) == Some(true) {
        let problem = Problem::new("Mamba models of nanotron are not supported")
            .hint("pass the model's config.json, as in `railwright estimate config.json --launch FILE`");
        return fields.problem(problem, &path);
    }
    let llama = fields.flag(&at("is_llama_config"));
    let qwen = fields.flag(&at("is_qwen2_config"));
    let starcoder = fields.flag(&at("is_starcoder2_config"));
    let llamoe = fields.flag(&at("is_llamoe_config"));
    for (family, known) in
        [("is_llama_config", llama), ("is_qwen2_config", qwen), ("is_llamoe_config", llamoe)]
    {
        if known == Some(true) {
            fields.set("model.style", &Style::Llama, &at(family));
        }
    }
    if starcoder == Some(true) {
        let path = at("is_starcoder2_config");
        fields.set("model.style", &Style::Gpt, &path);
        fields.set("model.position", &Position::Rotary, &path);
        fields.set("model.norm", &NormKind::LayerNorm, &path);
        if fields.flag(&at("multi_query")) == Some(true) {
            fields.set("model.kv_heads", &1_u64, &at("multi_query"));
        }
        fields.flag(&at("grouped_query"));
    } else if fields.document.has(CONFIG) {
        fields.default("model.style", &Style::Llama, "nanotron models are llama-style by default");
        fields.default("model.tied", &false, "nanotron models have an untied head by default");
    }
    let path = at("hidden_act");
    match fields.word(&path).map(|word| word.to_ascii_lowercase()).as_deref() {
        None => {}
        Some("silu" | "swish") => fields.set("model.activation", &Activation::Silu, &path),
        Some(gelu) if gelu.starts_with("gelu") => fields.set("model.activation", &Activation::Gelu, &path),
        Some("relu") => fields.set("model.activation", &Activation::Relu, &path),
        Some(_) => fields.remark(RemarkKind::NotModelled, &path, "estimated as silu"),
    }
    let path = at("sliding_window_size");
    if let Some(window) = fields.count(&path).filter(|&n| n > 0) {
        fields.set("model.window", &window, &path);
    }
    experts(fields);
}

fn experts(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("{CONFIG}.moe_config.{key}");
    if fields.draft.spec().model.experts.is_none() {
        return;
    }
    let shared = fields.flag(&at("enable_shared_expert"));
    let width = fields.count(&at("shared_expert_intermediate_size"));
    if shared == Some(true) {
        let own = fields.draft.spec().model.moe_ffn.or(fields.draft.spec().model.ffn);
        match width.or(own) {
            Some(width) => fields.set("model.shared_ffn", &width, &at("enable_shared_expert")),
            None => {
                fields.remark(RemarkKind::Unresolved, &at("enable_shared_expert"), "its width is not set");
            }
        }
    }
    let path = at("layers");
    let Some(Data::List(listed)) = fields.take(&path).map(|entry| entry.data) else { return };
    let layers: Option<Vec<u64>> = listed
        .iter()
        .map(|item| match item.data {
            Data::Integer(n) => u64::try_from(n).ok(),
            _ => None,
        })
        .collect();
    // -1 is all of them.
    let Some(layers) = layers.filter(|layers| !layers.is_empty()) else { return };
    let total = fields.draft.spec().model.layers.unwrap_or(0);
    let first = layers[0];
    let every = layers.get(1).map_or(1, |second| second.saturating_sub(first)).max(1);
    let regular = (first..total).step_by(usize::try_from(every).unwrap_or(1)).eq(layers.iter().copied());
    if !regular || first + 1 < every {
        let problem = Problem::new("irregular expert layers are not supported here")
            .hint("pass the model's config.json, or set the model");
        return fields.problem(problem, &path);
    }
    fields.set("model.first_dense_layers", &(first + 1 - every), &path);
    fields.set("model.moe_every", &every, &path);
}
