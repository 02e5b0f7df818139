//! Names of models in torchtitan.
//!
//! Responsible for: a table that maps name and flavour to the catalogue. Excludes flavours with dimensions in
//! code only.

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::model::{Model, by_name};
use railwright_spec::problem::Problem;

/// Name, flavour, model of the catalogue.
pub(super) const FLAVOURS: &[(&str, &str, &str)] = &[
    ("llama3", "1B", "llama-3.2-1b"),
    ("llama3", "3B", "llama-3.2-3b"),
    ("llama3", "8B", "llama-3-8b"),
    ("llama3", "70B", "llama-3-70b"),
    ("llama3", "405B", "llama-3.1-405b"),
    ("llama2", "7B", "llama-2-7b"),
    ("llama2", "13B", "llama-2-13b"),
    ("llama2", "70B", "llama-2-70b"),
    ("llama4", "17bx16e", "llama-4-scout-17b-16e"),
    ("llama4", "17bx128e", "llama-4-maverick-17b-128e"),
    ("deepseek_v3", "16B", "deepseek-v2-lite"),
    ("deepseek_v3", "236B", "deepseek-v2-236b"),
    ("deepseek_v3", "671B", "deepseek-v3-671b"),
    ("qwen3", "0.6B", "qwen3-0.6b"),
    ("qwen3", "1.7B", "qwen3-1.7b"),
    ("qwen3", "4B", "qwen3-4b"),
    ("qwen3", "8B", "qwen3-8b"),
    ("qwen3", "14B", "qwen3-14b"),
    ("qwen3", "32B", "qwen3-32b"),
    ("qwen3", "30B-A3B", "qwen3-30b-a3b"),
    ("qwen3", "235B-A22B", "qwen3-235b-a22b"),
    ("qwen3_vl", "2B", "qwen3-vl-2b"),
    ("qwen3_vl", "8B", "qwen3-vl-8b"),
    ("qwen3_vl", "30B-A3B", "qwen3-vl-30b-a3b"),
    ("gpt_oss", "20b", "gpt-oss-20b"),
    ("gpt_oss", "120b", "gpt-oss-120b"),
];

/// Names of models that generate images.
const DIFFUSION: [&str; 1] = ["flux"];

/// The model of a configuration, by name and flavour, or by the name of a configuration in the registry
/// (`llama3_8b`).
pub(super) fn read(fields: &mut Fields<'_>) {
    // The backend of Hugging Face's Transformers takes an identifier.
    let path = "hf_model";
    if let Some(name) = fields.word(path).filter(|name| by_name(name).is_ok()) {
        return fields.named_model(path, &name);
    }
    let name = fields.word("model.name");
    if name.as_deref().is_some_and(|name| name.split('.').any(|part| DIFFUSION.contains(&part))) {
        let problem = Problem::new("diffusion models are not supported, only causal language models");
        return fields.problem(problem, "model.name");
    }
    let flavour = fields.word("model.flavor");
    let registered = fields.word("model.config_name");
    let (path, flavour) = match (flavour, &registered) {
        (Some(flavour), _) => ("model.flavor", flavour),
        (None, Some(registered)) => ("model.config_name", registered.clone()),
        (None, None) => {
            if name.is_some() {
                let message = "the flavour is not set, so the model is unknown";
                fields.remark(RemarkKind::Unresolved, "model.name", message);
            }
            return;
        }
    };
    // Some flavours are the published name themselves: `moonlight-16B-A3B`.
    let model = find(name.as_deref(), &flavour)
        .map(str::to_owned)
        .or_else(|| by_name(&flavour).ok().map(|model| model.name));
    match model {
        Some(model) => {
            let is_tied = by_name(&model).is_ok_and(|model| model.tied_embeddings);
            fields.set("model.name", &model, path);
            if is_tied {
                let message = "the output layer shares the embedding, as in the published model; versions without \
                    `enable_weight_tying` have a separate one";
                fields.remark(RemarkKind::Assumed, path, message);
            }
        }
        None => fields.remark(
            RemarkKind::Unresolved,
            path,
            "the dimensions of this flavour are in the code of torchtitan, so the model is unknown: set it, or \
             pass its config.json",
        ),
    }
}

/// The catalogue's model for a name and a flavour; `None` if unknown.
fn find(name: Option<&str>, flavour: &str) -> Option<&'static str> {
    // `torchtitan.experiments.simple_fsdp.llama3`, `llama3_ft` and `simple_fsdp.llama3` are all llama3.
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
    let wanted = plain(flavour);
    FLAVOURS.iter().find_map(|(known, size, model)| {
        let known_plain = plain(known);
        let family = match name {
            Some(name) => name.split('.').any(|part| is_family(&plain(part), &known_plain)),
            None => true,
        };
        let size = plain(size);
        let is_size = wanted == size && name.is_some();
        (family && (is_size || wanted == format!("{known_plain}{size}"))).then_some(*model)
    })
}

/// Tests whether a model's name is a family, or a variant of it with the same dimensions: `llama3_ft`.
/// `qwen3_vl`, `qwen3_5` and `deepseek_v32` are other families.
fn is_family(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| {
        !rest.starts_with(|c: char| c.is_ascii_digit())
            && !["vl", "omni", "next", "coder"].iter().any(|other| rest.starts_with(other))
    })
}

/// Name and flavour of a model, if torchtitan provides it.
pub(super) fn flavour(model: &Model) -> Option<(&'static str, &'static str)> {
    // Llama 2 was no longer a flavour in the last versions that read TOML, and Qwen3-VL none yet.
    FLAVOURS.iter().filter(|(name, ..)| !matches!(*name, "llama2" | "qwen3_vl")).find_map(
        |(name, flavour, known)| {
            let known = by_name(known).ok()?;
            let is_same = known.layers == model.layers
                && known.layer_kinds == model.layer_kinds
                && known.parameters() == model.parameters();
            is_same.then_some((*name, *flavour))
        },
    )
}

/// The number of layers of the model, if it is known by now.
pub(super) fn layers(fields: &Fields<'_>) -> Option<u64> {
    let spec = &fields.draft.spec().model;
    spec.layers.or_else(|| by_name(spec.name.as_deref()?).ok().map(|model| model.num_layers()))
}
