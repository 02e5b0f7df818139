//! The model of a MaxText configuration.
//!
//! Responsible for: MaxText's names of dimensions, scaled as in MaxText. Excludes missing model files.

use super::base;
use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::model::{Activation, Model, Style, by_name};
use railwright_spec::problem::Problem;

/// MaxText's names of models (its folder `configs/models`, e591f30c, August 2026), and the catalogue's.
pub(super) const NAMES: &[(&str, &str)] = &[
    ("deepseek2-16b", "deepseek-v2-lite"),
    ("deepseek2-236b", "deepseek-v2-236b"),
    ("deepseek3-671b", "deepseek-v3-671b"),
    ("gemma-2b", "gemma-2b"),
    ("gemma-7b", "gemma-7b"),
    ("gemma2-2b", "gemma-2-2b"),
    ("gemma2-9b", "gemma-2-9b"),
    ("gemma2-27b", "gemma-2-27b"),
    ("gemma3-12b", "gemma-3-12b"),
    ("gemma3-27b", "gemma-3-27b"),
    ("gpt-oss-20b", "gpt-oss-20b"),
    ("gpt-oss-120b", "gpt-oss-120b"),
    ("gpt3-175b", "gpt3-175b"),
    ("kimi-k2-1t", "kimi-k2-1t"),
    ("llama2-7b", "llama-2-7b"),
    ("llama2-13b", "llama-2-13b"),
    ("llama2-70b", "llama-2-70b"),
    ("llama3.1-8b", "llama-3-8b"),
    ("llama3-8b", "llama-3-8b"),
    ("llama3.1-70b", "llama-3-70b"),
    ("llama3-70b", "llama-3-70b"),
    ("llama3.3-70b", "llama-3-70b"),
    ("llama3.1-405b", "llama-3.1-405b"),
    ("llama3-405b", "llama-3.1-405b"),
    ("llama4-17b-16e", "llama-4-scout-17b-16e"),
    ("llama4-17b-128e", "llama-4-maverick-17b-128e"),
    ("mistral-7b", "mistral-7b-v0.1"),
    ("mixtral-8x7b", "mixtral-8x7b"),
    ("mixtral-8x22b", "mixtral-8x22b"),
    ("olmo3-32b", "olmo-3-32b"),
    ("qwen2.5-1.5b", "qwen2.5-1.5b"),
    ("qwen2.5-7b", "qwen2.5-7b"),
    ("qwen2.5-14b", "qwen2.5-14b"),
    ("qwen3-0.6b", "qwen3-0.6b"),
    ("qwen3-1.7b", "qwen3-1.7b"),
    ("qwen3-4b", "qwen3-4b"),
    ("qwen3-8b", "qwen3-8b"),
    ("qwen3-14b", "qwen3-14b"),
    ("qwen3-32b", "qwen3-32b"),
    ("qwen3-30b-a3b", "qwen3-30b-a3b"),
    ("qwen3-235b-a22b", "qwen3-235b-a22b"),
    ("qwen3-480b-a35b", "qwen3-coder-480b-a35b"),
    ("qwen3-next-80b-a3b", "qwen3-next-80b-a3b"),
];

/// MaxText's name of a model with these dimensions.
pub(super) fn name(model: &Model) -> Option<&'static str> {
    let (maxtext, known) = NAMES.iter().find(|(_, known)| *known == model.name)?;
    let known = by_name(known).ok()?;
    let is_same = known.layers == model.layers
        && known.layer_kinds == model.layer_kinds
        && known.parameters() == model.parameters();
    is_same.then_some(*maxtext)
}

/// Key of MaxText, key of a run file, and the value for "none".
const DIMENSIONS: &[(&str, &str, i64)] = &[
    ("base_num_decoder_layers", "model.layers", 0),
    ("base_emb_dim", "model.hidden", 0),
    ("base_num_query_heads", "model.heads", 0),
    ("base_num_kv_heads", "model.kv_heads", 0),
    ("head_dim", "model.head_dim", 0),
    ("base_mlp_dim", "model.ffn", 0),
    ("vocab_size", "model.vocab", 0),
    ("num_experts", "model.experts", 1),
    ("sliding_window_size", "model.window", 0),
    ("mtp_num_layers", "model.mtp", 0),
];

/// Dimensions that apply only with experts.
const OF_EXPERTS: &[(&str, &str, i64)] = &[
    ("num_experts_per_tok", "model.top_k", 0),
    ("base_moe_mlp_dim", "model.moe_ffn", 0),
    ("first_num_dense_layers", "model.first_dense_layers", 0),
    ("interleave_moe_layer_step", "model.moe_every", 0),
];

/// Dimensions that apply only with latent attention.
const OF_LATENTS: &[(&str, &str, i64)] = &[
    ("q_lora_rank", "model.q_lora_rank", 0),
    ("kv_lora_rank", "model.kv_lora_rank", 0),
    ("qk_nope_head_dim", "model.qk_nope_head_dim", 0),
    ("qk_rope_head_dim", "model.qk_rope_head_dim", 0),
    ("v_head_dim", "model.v_head_dim", 0),
];

pub(super) fn read(fields: &mut Fields<'_>) {
    // Distillation trains the student.
    fields.document.rename(&[("student_overrides.model_name", "model_name")]);
    if fields.document.has("teacher_overrides") {
        let message = "the teacher's forward pass and memory are not modelled";
        fields.draft.remark(RemarkKind::NotModelled, "teacher_overrides", None, message);
    }
    let path = "model_name";
    if let Some(name) = fields.word(path).filter(|name| name != "default" && !name.is_empty()) {
        let listed =
            NAMES.iter().find(|(known, _)| *known == name).and_then(|(_, model)| by_name(model).ok());
        if let Some(model) = listed.or_else(|| by_name(&name).ok()) {
            fields.set("model.name", &model.name, path);
        } else {
            let (source, line) = fields.source(path);
            fields.draft.unknown_model(&name, &source, line);
        }
        changed(fields, path);
        // The model file overrides the dimensions of the base file.
        for (path, ..) in DIMENSIONS.iter().chain(OF_EXPERTS).chain(OF_LATENTS) {
            fields.integer(path);
        }
        return;
    }
    let path = "global_parameter_scale";
    let scale = fields.count(path).filter(|&scale| scale != 1);
    if fields.document.get("base_emb_dim").is_none() {
        if scale.is_some() {
            let message = "scales dimensions that are not in this file, so the model is unknown";
            fields.remark(RemarkKind::Unresolved, path, message);
        }
        return;
    }
    take(fields, DIMENSIONS);
    if let Some(scale) = scale {
        let Some([width, heads, layers]) = base::exponents(scale) else {
            let problem = Problem::new(format!("expected a power of two, found {scale}"));
            return fields.problem(problem, path);
        };
        let model = fields.draft.spec().model.clone();
        for (key, value, exponent) in [
            ("model.hidden", model.hidden, width),
            ("model.heads", model.heads, heads),
            ("model.kv_heads", model.kv_heads, heads),
            ("model.ffn", model.ffn, heads),
            ("model.layers", model.layers, layers),
        ] {
            if let Some(value) = value {
                // Exponents are at most a third of 64 bits.
                fields.set(key, &value.saturating_mul(1 << exponent), path);
            }
        }
    }
    windows(fields);
    block(fields);
    fields.default("model.style", &Style::Llama, "MaxText uses llama decoders by default");
    let path = "logits_via_embedding";
    if let Some(tied) = fields.flag(path) {
        fields.set("model.tied", &tied, path);
    }
    let path = "use_qk_norm";
    if fields.flag(path) == Some(true) {
        fields.set("model.qk_norm", &true, path);
    }
    let path = "mlp_activations";
    if let Some(activations) = fields.words(path) {
        fields.set("model.gated_mlp", &(activations.len() > 1), path);
        let activation = match activations.first().map(String::as_str) {
            Some("gelu") => Activation::Gelu,
            Some("relu") => Activation::Relu,
            _ => Activation::Silu,
        };
        fields.set("model.activation", &activation, path);
    }
    if fields.draft.spec().model.experts.is_some() {
        take(fields, OF_EXPERTS);
        let path = "shared_experts";
        let width = fields.draft.spec().model.moe_ffn.or(fields.draft.spec().model.ffn);
        if let (Some(count), Some(width)) = (fields.count(path).filter(|&n| n > 0), width) {
            fields.set("model.shared_ffn", &count.saturating_mul(width), path);
        }
    }
    if fields.word("attention_type").as_deref() == Some("mla") {
        take(fields, OF_LATENTS);
    }
}

/// Leaves a named model open if a short file gives it other dimensions: versions of MaxText differ in which
/// of the two apply.
fn changed(fields: &mut Fields<'_>, path: &str) {
    let named = fields.draft.spec().model.name.as_deref().and_then(|name| by_name(name).ok());
    let Some(model) = named.filter(|_| fields.document.entries.len() <= base::BASE_FILE) else { return };
    let known = [
        ("base_num_decoder_layers", model.num_layers()),
        ("base_emb_dim", model.hidden_size),
        ("vocab_size", model.vocabulary),
    ];
    for (key, value) in known {
        let is_own = fields.document.get(key).is_some_and(|entry| entry.spot.line().is_some());
        let Some(own) = fields.count(key).filter(|&own| is_own && own != value) else { continue };
        let (source, line) = fields.source(key);
        let why = format!("{} of `{}` are {value}, and this file sets {own}", dimension(key), model.name);
        fields.draft.take_back(&["model.name".to_owned()]);
        fields.draft.leave_open("model.name", &source, line, &why);
        fields.remark(RemarkKind::Conflict, path, format!("{why}: the model is unknown"));
        return;
    }
}

const fn dimension(key: &str) -> &'static str {
    match key.as_bytes() {
        b"base_num_decoder_layers" => "the layers",
        b"base_emb_dim" => "the widths",
        _ => "the words",
    }
}

/// Kinds of layers that alternate windows with full attention, and the period of full attention in layers.
const ALTERNATING: &[(&str, u64)] =
    &[("gemma2", 2), ("gpt_oss", 2), ("olmo3", 4), ("gemma3", 6), ("gemma4", 6)];
/// Kinds of layers that all have the window.
const UNIFORM: &[&str] = &["mistral", "mixtral"];

/// Blocks of the kinds that are not variants of llama's. GPT-3's has LayerNorm, biases and learned positions
/// (`src/maxtext/models/gpt3.py`).
fn block(fields: &mut Fields<'_>) {
    let path = "decoder_block";
    let Some(kind) = fields.word(path) else { return };
    match kind.as_str() {
        "gpt3" => {
            fields.set("model.style", &Style::Gpt, path);
            let positions = "trainable_position_size";
            if let Some(rows) = fields.count(positions).filter(|&rows| rows > 0) {
                fields.set("model.max_positions", &rows, positions);
            }
        }
        "qwen3_next" | "simple" | "simple_mlp" => {
            let message = "the layers of this block are not those of a llama: pass the model's config.json";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
        _ => {}
    }
}

/// The layers that a window applies to depend on their kind.
fn windows(fields: &mut Fields<'_>) {
    if fields.draft.spec().model.window.is_none() {
        return;
    }
    let path = "decoder_block";
    let kind = fields.word(path).unwrap_or_default();
    if let Some((_, every)) = ALTERNATING.iter().find(|(name, _)| *name == kind) {
        fields.set("model.full_attention_every", every, path);
    } else if !UNIFORM.contains(&kind.as_str()) {
        let message =
            "the layers with a window depend on the code of this block: the window is estimated on all";
        fields.remark(RemarkKind::NotModelled, "sliding_window_size", message);
    }
}

fn take(fields: &mut Fields<'_>, dimensions: &[(&str, &str, i64)]) {
    for (path, key, none) in dimensions {
        if let Some(n) = fields.integer(path).filter(|n| n > none).and_then(|n| u64::try_from(n).ok()) {
            fields.set(key, &n, path);
        }
    }
}
