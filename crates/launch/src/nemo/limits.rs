//! Configurations that are not read, models that are not supported, and dimensions that contradict a known
//! model.
//!
//! Responsible for: open dimensions of a model whose configuration was not read, dimensions that change a
//! model named elsewhere, and the features of models that are not supported: an encoder and a decoder, or a
//! vision tower.

use super::started::Started;
use crate::document::{Data, Entry};
use crate::{Draft, RemarkKind, effects};
use railwright_spec::model::{Mixer, Model, by_name, catalogue};
use railwright_spec::problem::Problem;

/// Dimensions of a model whose configuration was not read have no default.
pub(super) fn unread(started: &Started, draft: &mut Draft) {
    let (source, line, why) = match &started.unread {
        Some((source, line, why)) => (source.clone(), Some(*line), why.clone()),
        None => ("no --config-name".to_owned(), None, "the program has its own configuration".to_owned()),
    };
    draft.remark(RemarkKind::Unresolved, &source, line, format!("the configuration is not read: {why}"));
    for key in ["model.ffn", "model.gated_mlp", "model.tied", "model.norm", "model.position"] {
        if draft.value(key).is_none() {
            draft.leave_open(key, &source, line, why.clone());
        }
    }
}

/// Tests whether a text occurs in a value or its names.
fn mentions(data: &Data, part: &str) -> bool {
    match data {
        Data::List(items) => items.iter().any(|item| mentions(&item.data, part)),
        Data::Table(pairs) => {
            pairs.iter().any(|(name, value)| name.contains(part) || mentions(&value.data, part))
        }
        other => other.plain().contains(part),
    }
}

/// The kind of model that a key describes, if it is not supported.
pub(super) fn unsupported(entry: &Entry) -> Option<&'static str> {
    // NeMo 1's `neva` and `video_neva` have the language model and the vision tower in this section.
    let is_multimodal = ["model.mm_cfg.vision_encoder.", "model.mm_cfg.llm."]
        .iter()
        .any(|section| entry.path.starts_with(section));
    if is_multimodal {
        return Some("a vision-language model (NeVA)");
    }
    is_of_two_stacks(entry).then_some("a model with an encoder and a decoder (T5, UL2, BART)")
}

/// Tests whether a key describes a model of an encoder and a decoder.
fn is_of_two_stacks(entry: &Entry) -> bool {
    let is_composed = entry.path.starts_with("defaults")
        && ["@model.encoder", "@model.decoder"]
            .iter()
            .any(|group| entry.path.contains(group) || mentions(&entry.data, group));
    let own = [
        "model.encoder.num_layers",
        "model.decoder.num_layers",
        "model.seq_length_dec",
        "model.data.seq_length_dec",
    ];
    is_composed || (own.contains(&entry.path.as_str()) && !effects::is_off(&entry.data))
}

/// Removes single dimensions without the number of layers, which change a model named elsewhere: a run file
/// has a whole model or none.
pub(super) fn whole_models_only(draft: &mut Draft) {
    if draft.spec().model.layers.is_some() {
        return;
    }
    let dimensions: Vec<(String, String, Option<usize>)> = draft
        .origins()
        .iter()
        .filter(|origin| {
            origin.key.starts_with("model.") && !matches!(origin.key.as_str(), "model.name" | "model.config")
        })
        .map(|origin| (origin.key.clone(), origin.source.clone(), origin.line))
        .collect();
    let keys: Vec<String> = dimensions.iter().map(|(key, ..)| key.clone()).collect();
    draft.take_back(&keys);
    // A tokenizer is of the model that is named.
    for (_, source, line) in dimensions.into_iter().filter(|(key, ..)| key != "model.vocab") {
        let message = "changes a model defined elsewhere: the model is estimated without this change";
        draft.remark(RemarkKind::NotModelled, &source, line, message);
    }
}

/// A model of the catalogue that has the same layers, width and heads, and differs elsewhere: one of the two
/// is wrong.
pub(super) fn conflicts(draft: &mut Draft) {
    let spec = draft.spec().model.clone();
    let (Some(layers), Some(hidden), Some(heads)) = (spec.layers, spec.hidden, spec.heads) else { return };
    let Ok(own) = spec.resolve(|_| Err(Problem::new("no file"))) else { return };
    let alike: Vec<Model> = catalogue()
        .iter()
        .filter_map(|entry| by_name(entry.name).ok())
        .filter(|known| {
            let known_heads = known.layer_kinds.first().and_then(|layer| match &layer.mixer {
                Mixer::Attention(attention) => Some(attention.heads),
                _ => None,
            });
            known.num_layers() == layers && known.hidden_size == hidden && known_heads == Some(heads)
        })
        .collect();
    let groups = |model: &Model| {
        model.layer_kinds.first().and_then(|layer| match &layer.mixer {
            Mixer::Attention(attention) => Some(attention.kv_heads),
            _ => None,
        })
    };
    // Different families share these three sizes: one that agrees is enough.
    let Some(known) = alike.first().filter(|_| !alike.iter().any(|known| groups(known) == groups(&own)))
    else {
        return;
    };
    if let (Some(a), Some(b)) = (groups(&own), groups(known)) {
        let origin = draft.spec().place("model.kv_heads").cloned().unwrap_or_default();
        let message = format!(
            "{a} key-value heads, but {}, with the same layers, width and heads, has {b}: one of the two is \
             wrong; those of the file are used",
            known.name
        );
        let source = origin.key.unwrap_or_else(|| "model.num_query_groups".to_owned());
        draft.remark(RemarkKind::Conflict, &source, origin.line, message);
    }
}
