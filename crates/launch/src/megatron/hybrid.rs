//! Models that only a `config.json` can describe: layers by a pattern of letters, gated delta nets, sparse
//! attention, sinks.
//!
//! Responsible for: writing that text from Megatron's arguments. Patterns with unknown letters are errors.

mod allocation;

use super::filler::Filler;
use super::vocabulary::of_tokenizer;
use crate::RemarkKind;
use serde_json::{Map, Value, json};

/// Maximum number of layers of a pattern.
const MOST_LAYERS: usize = 4096;

/// Specifications of layers that start as Mamba layers only.
const STACKS: [&str; 2] = ["mamba_stack_spec", "hybrid_stack_spec"];

/// The model as a `config.json`, if no simpler form can describe it. Returns its number of layers.
pub(crate) fn read(f: &mut Filler<'_>) -> Option<u64> {
    let pattern = ["hybrid_layer_pattern", "hybrid_override_pattern"]
        .into_iter()
        .find(|name| f.arguments.get(name).is_some());
    let (config, field) = if let Some(field) = pattern {
        let text = f.arguments.word(field)?.to_owned();
        (letters(f, field, &text)?, field)
    } else if let Some((field, text)) = of_shares(f) {
        (letters(f, field, &text)?, field)
    } else {
        match f.arguments.word("experimental_attention_variant") {
            Some("gated_delta_net" | "gdn") => (delta_net(f)?, "experimental_attention_variant"),
            Some("dsa") => (sparse(f)?, "experimental_attention_variant"),
            _ => (sinks(f)?, "softmax_type"),
        }
    };
    if field == "experimental_attention_variant" {
        not_modelled(f);
    }
    let layers = config.get("num_hidden_layers").and_then(Value::as_u64)?;
    let (source, line) = f.arguments.origin(field);
    let text = serde_json::to_string_pretty(&Value::Object(config)).ok()?;
    f.draft.model_config(text, &source, line);
    let multiple = f.count("make_vocab_size_divisible_by").filter(|n| *n > 0).unwrap_or(128);
    f.set("plan.vocabulary_multiple", &multiple, "make_vocab_size_divisible_by");
    Some(layers)
}

/// Pattern of a model whose layers are given by shares, with the field that decides it. `None` without shares
/// and such a specification.
fn of_shares(f: &mut Filler<'_>) -> Option<(&'static str, String)> {
    let layers = f.count("num_layers").filter(|layers| *layers > 0 && *layers <= MOST_LAYERS as u64)?;
    let mut share =
        |name: &str| f.arguments.number(name, f.draft).filter(|share| *share > 0.0 && *share <= 1.0);
    let (attention, mlp) = (share("hybrid_attention_ratio"), share("hybrid_mlp_ratio"));
    let field = match (attention, mlp) {
        (Some(_), _) => "hybrid_attention_ratio",
        (None, Some(_)) => "hybrid_mlp_ratio",
        (None, None) => {
            let spec = f.arguments.get("spec")?;
            spec.values.iter().find(|word| STACKS.contains(&word.as_str()))?;
            "spec"
        }
    };
    Some((field, allocation::allocated(layers as usize, attention.unwrap_or(0.0), mlp.unwrap_or(0.0))))
}

/// Properties common to all hybrid models.
fn common(f: &mut Filler<'_>, family: &str) -> Option<Map<String, Value>> {
    let hidden = f.count("hidden_size")?;
    let heads = f.count("num_attention_heads")?;
    let grouped = f.arguments.is_on("group_query_attention");
    let kv = if grouped { f.count("num_query_groups").unwrap_or(1) } else { heads };
    // A tokenizer without a file adds a token that ends documents.
    let is_null = f.arguments.word("tokenizer_type").is_some_and(|word| word.starts_with("Null"));
    let source = f.count("vocab_size").map(|rows| rows.saturating_add(u64::from(is_null)));
    let vocabulary = source.or_else(|| f.count("padded_vocab_size"));
    let vocabulary = vocabulary.or_else(|| of_tokenizer(f).map(|(rows, _)| rows));
    if vocabulary.is_none() {
        // The line of the width, so that an override of another file shows it as well.
        let (_, line) = f.arguments.origin("hidden_size");
        f.draft.remark(RemarkKind::Assumed, "vocab_size", line, "not set; 128,000 rows are assumed");
    }
    let ffn = f.count("ffn_hidden_size").unwrap_or(hidden.saturating_mul(4));
    let value = json!({
        "model_type": family,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "intermediate_size": ffn,
        "vocab_size": vocabulary.unwrap_or(128_000),
        "max_position_embeddings": f.count("max_position_embeddings").unwrap_or(4096),
        "tie_word_embeddings": !f.arguments.is_on("untie_embeddings_and_output_weights"),
    });
    let Value::Object(mut map) = value else { return None };
    if let Some(width) = f.count("kv_channels") {
        map.insert("head_dim".to_owned(), json!(width));
    }
    Some(map)
}

fn put(f: &mut Filler<'_>, map: &mut Map<String, Value>, pairs: &[(&str, &str)]) {
    for (name, key) in pairs {
        if let Some(value) = f.count(name) {
            map.insert((*key).to_owned(), json!(value));
        }
    }
}

/// A pattern of letters: `M` Mamba, `*` attention, `-` an MLP, `E` experts.
fn letters(f: &mut Filler<'_>, field: &str, text: &str) -> Option<Map<String, Value>> {
    // Prediction modules follow a slash; `|` marks stages.
    let pattern: String = text.split('/').next().unwrap_or_default().chars().filter(|c| *c != '|').collect();
    if pattern.is_empty() || pattern.len() > MOST_LAYERS || !pattern.chars().all(|c| "M*-E".contains(c)) {
        let message = "has letters other than `M`, `*`, `-` and `E`; ignored";
        f.remark(RemarkKind::Unresolved, field, message);
        return None;
    }
    let mut map = common(f, "nemotron_h")?;
    if text.contains('/') || f.count("mtp_num_layers").is_some_and(|n| n > 0) {
        let message = "multi-token-prediction modules of hybrid models are not counted: a lower bound on time and memory";
        f.remark(RemarkKind::NotModelled, field, message);
    }
    map.insert("num_hidden_layers".to_owned(), json!(pattern.len()));
    map.insert("hybrid_override_pattern".to_owned(), json!(pattern));
    map.insert(
        "mlp_hidden_act".to_owned(),
        json!(if f.arguments.is_on("squared_relu") { "relu2" } else { "silu" }),
    );
    put(
        f,
        &mut map,
        &[
            ("mamba_num_heads", "mamba_num_heads"),
            ("mamba_head_dim", "mamba_head_dim"),
            ("mamba_state_dim", "ssm_state_size"),
            ("mamba_num_groups", "n_groups"),
            ("mamba_d_conv", "conv_kernel"),
            ("mamba_expand", "expand"),
            ("num_experts", "n_routed_experts"),
            ("moe_router_topk", "num_experts_per_tok"),
            ("moe_ffn_hidden_size", "moe_intermediate_size"),
            ("moe_shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"),
            ("moe_latent_size", "moe_latent_size"),
        ],
    );
    // Megatron's defaults.
    for (key, usual) in [("mamba_head_dim", 64), ("ssm_state_size", 128), ("n_groups", 8)] {
        map.entry(key.to_owned()).or_insert_with(|| json!(usual));
    }
    let hidden = map.get("hidden_size").and_then(Value::as_u64).unwrap_or(0);
    let width = map.get("mamba_head_dim").and_then(Value::as_u64).unwrap_or(64).max(1);
    map.entry("mamba_num_heads".to_owned())
        .or_insert_with(|| json!((hidden.saturating_mul(2) / width).max(1)));
    if map.contains_key("moe_shared_expert_intermediate_size") {
        map.insert("n_shared_experts".to_owned(), json!(1));
    }
    Some(map)
}

/// Gated delta nets with full attention in between.
fn delta_net(f: &mut Filler<'_>) -> Option<Map<String, Value>> {
    let layers = f.count("num_layers")?;
    let with_experts = f.count("num_experts").is_some_and(|n| n > 1);
    let mut map = common(f, if with_experts { "qwen3_next" } else { "qwen3_5" })?;
    map.insert("num_hidden_layers".to_owned(), json!(layers));
    put(
        f,
        &mut map,
        &[
            ("linear_attention_freq", "full_attention_interval"),
            ("linear_key_head_dim", "linear_key_head_dim"),
            ("linear_value_head_dim", "linear_value_head_dim"),
            ("linear_num_key_heads", "linear_num_key_heads"),
            ("linear_num_value_heads", "linear_num_value_heads"),
            ("linear_conv_kernel_dim", "linear_conv_kernel_dim"),
            ("num_experts", "num_experts"),
            ("moe_router_topk", "num_experts_per_tok"),
            ("moe_ffn_hidden_size", "moe_intermediate_size"),
            ("moe_shared_expert_intermediate_size", "shared_expert_intermediate_size"),
        ],
    );
    Some(map)
}

/// gpt-oss: a sink in each head's softmax, and experts with biases, the router's included.
fn sinks(f: &mut Filler<'_>) -> Option<Map<String, Value>> {
    let is = |name: &str, word: &str| f.arguments.word(name) == Some(word);
    let has_experts = f.arguments.get("num_experts").is_some() && f.arguments.is_on("quick_geglu");
    let every = f.arguments.get("moe_layer_freq").map(|argument| argument.values.join(" "));
    let everywhere = every.is_none_or(|text| {
        text == "1" || super::lists::read(&text).is_some_and(|list| list.iter().all(|flag| *flag == 1))
    });
    let is_family = is("softmax_type", "learnable")
        && is("normalization", "RMSNorm")
        && is("position_embedding_type", "rope")
        && f.arguments.get("activation_func_clamp_value").is_some()
        && f.arguments.switch("add_bias_linear").unwrap_or(true);
    // The family has none of these: the ordinary reader has them.
    let others = ["mtp_num_layers", "moe_shared_expert_intermediate_size", "moe_latent_size"];
    let is_other =
        others.iter().any(|name| f.arguments.get(name).is_some()) || f.arguments.is_on("qk_layernorm");
    if !(is_family && has_experts && everywhere) || is_other {
        return None;
    }
    let layers = f.count("num_layers").filter(|layers| *layers <= MOST_LAYERS as u64)?;
    let mut map = common(f, "gpt_oss")?;
    let (hidden, heads) = (f.count("hidden_size")?, f.count("num_attention_heads")?.max(1));
    map.entry("head_dim".to_owned()).or_insert_with(|| json!(hidden / heads));
    map.insert("num_hidden_layers".to_owned(), json!(layers));
    let pairs = [
        ("num_experts", "num_local_experts"),
        ("moe_router_topk", "num_experts_per_tok"),
        ("moe_ffn_hidden_size", "intermediate_size"),
    ];
    put(f, &mut map, &pairs);
    let words = f.arguments.get("window_size").map(|argument| argument.values.join(","));
    let left = words.and_then(|text| {
        text.trim_matches(['(', ')', '\'', '"']).split(',').next()?.trim().parse::<u64>().ok()
    });
    if let Some(left) = left {
        map.insert("sliding_window".to_owned(), json!(left.saturating_add(1)));
    }
    let skipped = f.arguments.word("window_attn_skip_freq").map(str::to_owned).unwrap_or_default();
    let list = super::lists::read(&skipped);
    // Megatron reads the entry of each layer (`is_layer_window_attention`), and stops at a missing one.
    let entries = list.as_ref().map_or(layers, |list| list.len() as u64);
    if entries != layers && left.is_some() && skipped.parse::<u64>().is_err() {
        let field = "window_attn_skip_freq";
        if entries < layers {
            let why = format!("has {entries} entries for {layers} layers");
            let (source, line) = f.arguments.origin(field);
            f.draft.leave_open("model.name", &source, line, &why);
            f.remark(RemarkKind::Unresolved, field, format!("{why}: the layers with a window are unknown"));
            return None;
        }
        let message = format!("has {entries} entries for {layers} layers: the first {layers} are used");
        f.remark(RemarkKind::Assumed, field, message);
    }
    let slides = |layer: u64| match (&list, skipped.parse::<u64>()) {
        _ if left.is_none() => false,
        (_, Ok(every)) => every == 0 || !(layer + 1).is_multiple_of(every),
        (Some(list), _) => list.get(layer as usize).is_some_and(|flag| *flag == 1),
        _ => true,
    };
    let kind = |layer: u64| if slides(layer) { "sliding_attention" } else { "full_attention" };
    map.insert("layer_types".to_owned(), json!((0..layers).map(kind).collect::<Vec<_>>()));
    Some(map)
}

/// Latent attention with a learned index.
fn sparse(f: &mut Filler<'_>) -> Option<Map<String, Value>> {
    let layers = f.count("num_layers")?;
    let mut map = common(f, "deepseek_v32")?;
    map.insert("num_hidden_layers".to_owned(), json!(layers));
    let text =
        f.arguments.get("moe_layer_freq").map(|argument| argument.values.join(" ")).unwrap_or_default();
    let dense =
        super::lists::read(&text).map_or(0, |list| list.iter().take_while(|flag| **flag == 0).count());
    map.insert("first_k_dense_replace".to_owned(), json!(dense));
    put(
        f,
        &mut map,
        &[
            ("q_lora_rank", "q_lora_rank"),
            ("kv_lora_rank", "kv_lora_rank"),
            ("qk_head_dim", "qk_nope_head_dim"),
            ("qk_pos_emb_head_dim", "qk_rope_head_dim"),
            ("v_head_dim", "v_head_dim"),
            ("num_experts", "n_routed_experts"),
            ("moe_router_topk", "num_experts_per_tok"),
            ("moe_ffn_hidden_size", "moe_intermediate_size"),
            ("moe_router_num_groups", "n_group"),
            ("moe_router_group_topk", "topk_group"),
            ("dsa_indexer_n_heads", "index_n_heads"),
            ("dsa_indexer_head_dim", "index_head_dim"),
            ("dsa_indexer_topk", "index_topk"),
            ("mtp_num_layers", "num_nextn_predict_layers"),
        ],
    );
    let shared = f.count("moe_shared_expert_intermediate_size").unwrap_or(0);
    let width = f.count("moe_ffn_hidden_size").unwrap_or(0).max(1);
    map.insert("n_shared_experts".to_owned(), json!(shared / width));
    Some(map)
}

/// Remarks on settings that only some forms of a model have, for the forms without them.
pub(super) fn not_modelled(f: &mut Filler<'_>) {
    if f.arguments.get("moe_latent_size").is_some() {
        let message = "experts in a narrower latent space; its effect on time and memory is not modelled";
        f.remark(RemarkKind::NotModelled, "moe_latent_size", message);
    }
    if f.arguments.word("softmax_type") == Some("learnable") {
        let message = "a learned sink adds one parameter per head; its effect on memory is not modelled";
        f.remark(RemarkKind::NotModelled, "softmax_type", message);
    }
}
