//! The model of Megatron's arguments.
//!
//! Responsible for: shapes and Megatron's defaults for them. The vocabulary is in `vocabulary`.

use super::filler::Filler;
use super::hybrid::not_modelled;
use super::vocabulary::vocabulary;
use super::{generation, hybrid};
use crate::RemarkKind;
use railwright_spec::model::{Activation, NormKind, Position};
use railwright_spec::plan::{BIASED_IMBALANCE, FORCED_IMBALANCE, USUAL_IMBALANCE};

/// Reads the model; gives its number of layers.
pub(crate) fn read(f: &mut Filler<'_>) -> Option<u64> {
    specification(f);
    if let Some(layers) = hybrid::read(f) {
        return Some(layers);
    }
    // Other kinds of layers than attention, in an unknown order: no dimension alone describes such a model.
    let hybrid = ["hybrid_layer_pattern", "hybrid_override_pattern"]
        .into_iter()
        .find(|name| f.arguments.word(name).is_some_and(|word| word != "None"))
        .or_else(|| f.arguments.is_on("is_hybrid_model").then_some("is_hybrid_model"));
    if let Some(field) = hybrid {
        let message =
            "a hybrid model whose layers are not in this file, so the model is unknown: pass its config.json";
        f.remark(RemarkKind::Unresolved, field, message);
        let (source, line) = f.arguments.origin(field);
        f.draft.leave_open("model.layers", &source, line, "the order of its layers is not in this file");
        return None;
    }
    let field = if f.arguments.get("num_layers").is_some() { "num_layers" } else { "encoder_num_layers" };
    let layers = f.copy(field, "model.layers");
    let hidden = f.copy("hidden_size", "model.hidden");
    f.copy("num_attention_heads", "model.heads");
    f.copy("max_position_embeddings", "model.max_positions");
    not_modelled(f);
    attention(f);
    normalization(f);
    let biases = f.arguments.switch("add_bias_linear").unwrap_or(true);
    f.set("model.biases", &biases, "add_bias_linear");
    if !biases && f.arguments.is_on("add_qkv_bias") {
        f.set("model.qkv_bias", &true, "add_qkv_bias");
    }
    feed_forward(f, hidden);
    position(f);
    let tied = !f.arguments.is_on("untie_embeddings_and_output_weights");
    f.set("model.tied", &tied, "untie_embeddings_and_output_weights");
    f.copy("mtp_num_layers", "model.mtp").filter(|n| *n > 0);
    vocabulary(f);
    if let Some(layers) = layers {
        experts(f, layers);
    }
    layers
}

/// Layers of a module in Python: those of Megatron-Core follow from the other flags, those of others do not.
fn specification(f: &mut Filler<'_>) {
    let Some(argument) = f.arguments.get("spec") else { return };
    let module = argument.values.first().map(String::as_str).unwrap_or_default();
    let is_own = module.starts_with("megatron.core.") || matches!(module, "local" | "None" | "");
    if !is_own {
        let message = "builds layers in Python, which is not read: they are estimated by the other flags, without parts \
                       that only the code sets";
        f.remark(RemarkKind::NotModelled, "spec", message);
    }
}

fn normalization(f: &mut Filler<'_>) {
    // Forks write the names in lower case.
    let word = f.arguments.word("normalization").map(str::to_ascii_lowercase);
    let norm = match word.as_deref() {
        Some("rmsnorm") => NormKind::RmsNorm,
        None | Some("layernorm" | "layernorm1p") => NormKind::LayerNorm,
        Some(_) => {
            f.remark(RemarkKind::NotModelled, "normalization", "is unknown; estimated as RMSNorm");
            NormKind::RmsNorm
        }
    };
    f.set("model.norm", &norm, "normalization");
}

fn attention(f: &mut Filler<'_>) {
    if f.arguments.is_on("multi_latent_attention") {
        latent(f);
    } else {
        let grouped = f.arguments.is_on("group_query_attention");
        if f.arguments.word("attention_head_type") == Some("multiquery") {
            // BigCode's fork: all heads share one pair of keys and values.
            f.set("model.kv_heads", &1, "attention_head_type");
        } else if f.arguments.get("num_key_value_heads").is_some() {
            f.copy("num_key_value_heads", "model.kv_heads");
        } else if grouped {
            let groups = f.count("num_query_groups").unwrap_or(1);
            f.set("model.kv_heads", &groups, "num_query_groups");
        } else if f.arguments.switch("group_query_attention").is_none()
            && f.count("num_query_groups").is_some_and(|n| n > 1)
        {
            f.remark(
                RemarkKind::Conflict,
                "num_query_groups",
                "has no effect without `--group-query-attention`; every head has its own keys and values",
            );
        }
        f.copy("kv_channels", "model.head_dim");
    }
    if f.arguments.is_on("qk_layernorm") && !f.arguments.is_on("multi_latent_attention") {
        f.set("model.qk_norm", &true, "qk_layernorm");
    }
    let window = f.arguments.get("window_size").map(|argument| argument.values.join(","));
    let left = window.and_then(|text| {
        text.trim_matches(['(', ')', '[', ']', '\'', '"'])
            .split([',', ' '])
            .next()?
            .trim()
            .parse::<u64>()
            .ok()
    });
    if let Some(left) = left.filter(|left| *left > 0) {
        // Megatron counts the tokens before the own one.
        f.set("model.window", &(left + 1), "window_size");
        if let Some(every) = f.arguments.word("window_attn_skip_freq").map(str::to_owned) {
            match every.parse::<u64>() {
                Ok(every) if every > 0 => {
                    f.set("model.full_attention_every", &every, "window_attn_skip_freq");
                }
                _ => match regular(&every, f.count("num_layers")) {
                    Some(every) => f.set("model.full_attention_every", &every, "window_attn_skip_freq"),
                    None => f.remark(
                        RemarkKind::NotModelled,
                        "window_attn_skip_freq",
                        "irregular list, or not one entry for each layer; all layers are assumed to have the window",
                    ),
                },
            }
        }
    }
}

/// The period of a list in which one layer per period is 0 (global attention) and the others are 1.
fn regular(list: &str, layers: Option<u64>) -> Option<u64> {
    let list = super::lists::read(list)?;
    if layers.is_some_and(|layers| layers != list.len() as u64) {
        return None;
    }
    let every = list.iter().position(|flag| *flag == 0)? as u64 + 1;
    let fits = |(index, flag): (usize, &u64)| (*flag == 0) == (index as u64 + 1).is_multiple_of(every);
    list.iter().enumerate().all(fits).then_some(every)
}

fn latent(f: &mut Filler<'_>) {
    // Default of Megatron's configuration class.
    const RANK: u64 = 512;
    if f.copy("q_lora_rank", "model.q_lora_rank").is_none() {
        f.remark(RemarkKind::Assumed, "q_lora_rank", "is not set: queries are projected directly");
    }
    if f.copy("kv_lora_rank", "model.kv_lora_rank").is_none() {
        f.set("model.kv_lora_rank", &RANK, "kv_lora_rank");
        f.remark(RemarkKind::Assumed, "kv_lora_rank", format!("not set; {RANK} is assumed"));
    }
    f.copy("qk_head_dim", "model.qk_nope_head_dim");
    f.copy("qk_pos_emb_head_dim", "model.qk_rope_head_dim");
    f.copy("v_head_dim", "model.v_head_dim");
}

fn feed_forward(f: &mut Filler<'_>, hidden: Option<u64>) {
    let (gated, activation, field) = if f.arguments.is_on("swiglu") {
        (true, Activation::Silu, "swiglu")
    } else if f.arguments.is_on("geglu") {
        (true, Activation::Gelu, "geglu")
    } else if f.arguments.is_on("quick_geglu") {
        let clamp = f.arguments.number("activation_func_clamp_value", f.draft);
        let activation = clamp.map_or(Activation::Gelu, |_| Activation::ClampedQuickGelu);
        (true, activation, "quick_geglu")
    } else if f.arguments.is_on("squared_relu") {
        (false, Activation::SquaredRelu, "squared_relu")
    } else {
        (false, Activation::Gelu, "swiglu")
    };
    f.set("model.gated_mlp", &gated, field);
    f.set("model.activation", &activation, field);
    if f.copy("ffn_hidden_size", "model.ffn").is_none()
        && let Some(hidden) = hidden.filter(|hidden| *hidden < 1 << 40)
    {
        // Megatron's rule: 4 x hidden, or 8/3 of it rounded down to a multiple of 64 if a gate needs a third
        // matrix.
        if let Some(multiple) = f.count("multiple_of").filter(|&multiple| gated && multiple > 0) {
            // FlagScale's (`flagscale/runner/auto_tuner/utils.py`): 8/3 of it, times a factor, rounded up to
            // a multiple.
            let factor = f.arguments.number("hidden_dim_multiplier", f.draft).filter(|factor| *factor > 0.0);
            let width = ((8 * hidden / 3) as f64 * factor.unwrap_or(1.0)) as u64;
            if let Some(width) = width.checked_next_multiple_of(multiple) {
                f.set("model.ffn", &width, "multiple_of");
            }
        } else {
            let width = if gated { 8 * hidden / 3 / 64 * 64 } else { 4 * hidden };
            f.set("model.ffn", &width, "ffn_hidden_size");
        }
    }
}

fn position(f: &mut Filler<'_>) {
    let (position, field) = if f.arguments.is_on("use_rotary_position_embeddings") {
        (Position::Rotary, "use_rotary_position_embeddings")
    } else {
        let kind =
            match f.arguments.word("position_embedding_type").map(|w| w.rsplit('.').next().unwrap_or(w)) {
                Some("rope" | "mrope" | "yarn" | "rotary") => Position::Rotary,
                Some("alibi") => Position::Alibi,
                Some("none" | "nope" | "relative") => Position::None,
                None | Some("learned_absolute" | "learned") => Position::Learned,
                Some(_) => {
                    // Every kind since 2023 is a rotation, which has no table of positions.
                    let message = "is unknown; estimated as rotary, without parameters";
                    f.remark(RemarkKind::NotModelled, "position_embedding_type", message);
                    Position::Rotary
                }
            };
        (kind, "position_embedding_type")
    };
    f.set("model.position", &position, field);
}

fn experts(f: &mut Filler<'_>, layers: u64) {
    // Megatron-DeepSpeed takes a number for each layer with experts.
    let differs = f.arguments.get("num_experts").is_some_and(|argument| {
        let mut values = argument.values.iter();
        let first = values.next();
        values.any(|value| Some(value) != first)
    });
    if differs {
        let (source, line) = f.arguments.origin("num_experts");
        let why = "layers have different numbers of experts, which is not modelled";
        f.draft.leave_open("model.experts", &source, line, why);
        return;
    }
    let experts = f.count("num_experts").filter(|n| *n > 1);
    let Some(experts) = experts else {
        if let (false, Some((source, line))) =
            (f.arguments.mentions("num_experts"), f.arguments.possible_experts())
        {
            let why = "an unknown flag may set the number of experts: pass --experts";
            f.draft.leave_open("model.experts", source, *line, why);
            f.draft.remark(RemarkKind::Unresolved, source, *line, why);
        }
        return;
    };
    f.set("model.experts", &experts, "num_experts");
    let top_k = if f.arguments.get("topk").is_some() { "topk" } else { "moe_router_topk" };
    // `--topk` of Megatron-DeepSpeed is 1 by default.
    let usual = if f.arguments.is_on("deepspeed") { 1 } else { 2 };
    if f.arguments.mentions(top_k) || usual == 1 || generation::has_new_router(f) {
        let count = f.count(top_k).unwrap_or(usual);
        f.set("model.top_k", &count, top_k);
    } else {
        // Megatron-LM of 2023 had no such flag: a token had one expert.
        let (source, line) = f.arguments.origin("num_experts");
        let why = "the program's version is unknown, and the default changed from 1 expert per token to 2 in 2024: pass --top-k";
        f.draft.leave_open("model.top_k", &source, line, why);
        f.remark(RemarkKind::Unresolved, "num_experts", why);
    }
    f.copy("moe_ffn_hidden_size", "model.moe_ffn");
    if let Some(shared) = f.count("moe_shared_expert_intermediate_size").filter(|n| *n > 0) {
        f.set("model.shared_ffn", &shared, "moe_shared_expert_intermediate_size");
        if f.arguments.is_on("moe_shared_expert_gate") {
            f.set("model.shared_gate", &true, "moe_shared_expert_gate");
        }
    }
    if let Some(groups) = f.count("moe_router_num_groups").filter(|n| *n > 1) {
        f.set("model.routing_groups", &groups, "moe_router_num_groups");
        f.copy("moe_router_group_topk", "model.top_k_groups");
    }
    let capacity = if f.arguments.get("moe_train_capacity_factor").is_some() {
        "moe_train_capacity_factor"
    } else {
        "moe_expert_capacity_factor"
    };
    if let Some(factor) = f.arguments.number(capacity, f.draft).filter(|x| *x > 0.0) {
        f.set("plan.expert_capacity", &factor, capacity);
    } else {
        routing(f);
    }
    which_layers(f, layers);
}

/// Load of the busiest experts by the router: forced by a benchmark, balanced by a bias for each expert, or
/// by an auxiliary loss.
fn routing(f: &mut Filler<'_>) {
    let kind = "moe_router_load_balancing_type";
    let has_loss = f.arguments.get(kind).is_some_and(|types| {
        types.values.iter().any(|name| name.trim_matches(['[', ']', '\'', '"', ',']).ends_with("aux_loss"))
    });
    let (name, imbalance) = if f.arguments.is_on("moe_router_force_load_balancing") {
        ("moe_router_force_load_balancing", FORCED_IMBALANCE)
    } else if f.arguments.is_on("moe_router_enable_expert_bias") {
        ("moe_router_enable_expert_bias", BIASED_IMBALANCE)
    } else if has_loss {
        (kind, USUAL_IMBALANCE)
    } else {
        return;
    };
    f.set("plan.expert_imbalance", &imbalance, name);
}

/// Layers with experts: at an interval from the first, or a list.
fn which_layers(f: &mut Filler<'_>, layers: u64) {
    if let Some(every) = f.count("expert_interval").filter(|n| *n > 0) {
        f.set("model.moe_every", &every, "expert_interval");
        return;
    }
    let Some(argument) = f.arguments.get("moe_layer_freq") else { return };
    let text = argument.values.join(" ");
    let list: Vec<u64> = match text.parse::<u64>() {
        Ok(1) => return,
        Ok(0) => {
            f.remark(
                RemarkKind::Unresolved,
                "moe_layer_freq",
                "is 0; all layers are assumed to have experts",
            );
            return;
        }
        Ok(every) if layers <= super::lists::LONGEST => {
            (0..layers).map(|i| u64::from(i.is_multiple_of(every))).collect()
        }
        _ => {
            let Some(list) = super::lists::read(&text) else {
                let message = "is not a list of 0 and 1; all layers are assumed to have experts";
                f.remark(RemarkKind::Unresolved, "moe_layer_freq", message);
                return;
            };
            list
        }
    };
    if list.len() as u64 != layers {
        let message =
            format!("has {} entries for {layers} layers; all layers are assumed to have experts", list.len());
        f.remark(RemarkKind::Conflict, "moe_layer_freq", message);
        return;
    }
    let dense = list.iter().take_while(|flag| **flag == 0).count();
    if list[dense..].iter().all(|flag| *flag == 1) {
        if dense > 0 {
            f.set("model.first_dense_layers", &(dense as u64), "moe_layer_freq");
        }
    } else {
        let with: Vec<u64> = (0..layers).filter(|i| list[*i as usize] == 1).collect();
        f.set("model.moe_layers", &with, "moe_layer_freq");
    }
}
