//! MindSpeed-LLM: Megatron on Ascend with its own flags for experts, context parallelism and adapters.
//!
//! Responsible for: these flags as Megatron's fields, and empty layers and lists of layers as a division
//! among stages.

use super::super::arguments::{Argument, Arguments};
use super::super::pipeline::layout_of;
use super::Stated;
use crate::{Draft, RemarkKind};

/// Names of matrices in Megatron-LM's legacy models, and in Megatron-Core.
const MATRICES: &[(&str, &str)] = &[
    ("query_key_value", "linear_qkv"),
    ("dense", "linear_proj"),
    ("dense_h_to_4h", "linear_fc1"),
    ("dense_4h_to_h", "linear_fc2"),
];

/// Translates the flags in every dialect: no other program has flags of these names.
pub(super) fn translate(arguments: &mut Arguments, says: &mut Stated, draft: &mut Draft) {
    if let Some(stage) = arguments.word("stage").map(str::to_ascii_lowercase)
        && !matches!(stage.as_str(), "sft" | "pt" | "pretrain" | "cpt")
    {
        let (source, line) = arguments.origin("stage");
        let message = "reference models, pairs and generation are not modelled: estimated as plain training, a lower bound";
        draft.remark(RemarkKind::NotModelled, &source, line, message);
    }
    rename(arguments, "moe_intermediate_size", "moe_ffn_hidden_size", |word| Some(word.to_owned()));
    rename(arguments, "context_parallel_algo", "cp_comm_type", |word| match word {
        "ulysses_cp_algo" => Some("a2a".to_owned()),
        "hybrid_cp_algo" | "hybrid_adaptive_cp_algo" => Some("a2a+p2p".to_owned()),
        "megatron_cp_algo" | "adaptive_cp_algo" => Some("p2p".to_owned()),
        _ => None,
    });
    // Linear attention with full attention in every n-th layer is a variant of attention in Megatron-Core.
    if arguments.mentions("full_attention_interval") {
        rename(arguments, "full_attention_interval", "linear_attention_freq", |word| Some(word.to_owned()));
        let name = "experimental_attention_variant";
        rename(arguments, "full_attention_interval", name, |_| Some("gated_delta_net".to_owned()));
    }
    // Shared experts are counted, each as wide as a routed one.
    if let (Some(count), Some(width)) =
        (number(arguments, "n_shared_experts"), number(arguments, "moe_ffn_hidden_size"))
    {
        let width = count.saturating_mul(width).to_string();
        rename(arguments, "n_shared_experts", "moe_shared_expert_intermediate_size", |_| Some(width.clone()));
    }
    // Layers from `--first-k-dense-replace` on have experts if `--moe-layer-freq` divides their number: -1 is
    // every layer (MindSpeed-LLM, `core/transformer/transformer_block.py`).
    if arguments.word("moe_layer_freq") == Some("-1")
        && arguments.word("first_k_dense_replace").is_none_or(|first| matches!(first, "-1" | "0"))
    {
        let (source, line) = arguments.origin("moe_layer_freq");
        let every = Argument { values: vec!["1".to_owned()], source, line };
        *arguments = arguments.with("moe_layer_freq", Some(every));
    }
    // The first layers have a dense MLP; Megatron-Core writes the same as a list.
    if let (Some(dense), Some(layers)) =
        (number(arguments, "first_k_dense_replace"), number(arguments, "num_layers"))
        && number(arguments, "moe_layer_freq").is_none_or(|every| every == 1)
        && (1..layers).contains(&dense)
    {
        let empty = empty_layers(arguments).unwrap_or_default();
        let filled = |range: std::ops::Range<u64>| range.filter(|layer| !empty.contains(layer)).count();
        let (dense, layers) = (filled(0..dense), filled(0..layers));
        let (source, line) = arguments.origin("first_k_dense_replace");
        let list = format!("([0]*{dense}+[1]*{})", layers - dense);
        *arguments = arguments.with("moe_layer_freq", Some(Argument { values: vec![list], source, line }));
    }
    let is_divided = divide(arguments);
    let is_listed = listed(arguments);
    for (field, key, why) in [
        (
            "noop_layers",
            "model.layers",
            "some of `--num-layers` are empty, and the stages cannot share them evenly",
        ),
        ("num_layer_list", "plan.layers_per_stage", "the list does not divide the layers among the stages"),
    ] {
        let is_read = match field {
            "noop_layers" => is_divided || is_listed,
            _ => is_listed,
        };
        if arguments.mentions(field) && !is_read {
            let (source, line) = arguments.origin(field);
            draft.leave_open(key, &source, line, why);
            if field == "noop_layers" {
                // Without a number of layers the file is partial, so no dependent setting is stated.
                *arguments = arguments.with("num_layers", None);
            }
        }
    }
    if arguments.get("lora_r").is_some() {
        let (source, line) = arguments.origin("lora_r");
        says.adapter = Some((source.clone(), line));
        says.rank = number(arguments, "lora_r").map(|rank| (rank, source, line));
        let (source, line) = arguments.origin("lora_target_modules");
        let names = arguments.get("lora_target_modules").map(|names| names.values.iter());
        let current = |name: &String| {
            let renamed = MATRICES.iter().find(|(old, _)| old == name);
            renamed.map_or(name.as_str(), |(_, now)| now).to_owned()
        };
        says.targets = names.map(|names| (names.map(current).collect(), source, line));
    }
}

fn number(arguments: &Arguments, name: &str) -> Option<u64> {
    arguments.word(name)?.parse().ok()
}

/// Writes the layers of each stage, `--num-layer-list 17,20,22,21`, as a layout; false if their sum is not
/// that of the model.
fn listed(arguments: &mut Arguments) -> bool {
    let stages: Option<Vec<u64>> = arguments
        .word("num_layer_list")
        .and_then(|list| list.split(',').map(|number| number.trim().parse().ok()).collect());
    let layers = number(arguments, "num_layers").filter(|layers| *layers <= 4096);
    let pipeline = number(arguments, "pipeline_model_parallel_size").unwrap_or(1);
    let Some(stages) = stages.filter(|stages| {
        stages.len() as u64 == pipeline
            && stages.iter().try_fold(0_u64, |sum, n| sum.checked_add(*n)) == layers
    }) else {
        return false;
    };
    let (source, line) = arguments.origin("num_layer_list");
    let layout = layout_of(&stages, number(arguments, "mtp_num_layers").unwrap_or(0));
    let argument = Argument { values: vec![layout], source, line };
    *arguments = arguments.with("noop_layers", Some(argument));
    true
}

/// Numbers of the layers that are empty, from 0.
fn empty_layers(arguments: &Arguments) -> Option<Vec<u64>> {
    arguments.word("noop_layers")?.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// Translates empty layers to their purpose: a model with fewer layers, and unequal chunks. Megatron-Core
/// writes these as a layout.
fn divide(arguments: &mut Arguments) -> bool {
    let number = |name: &str| number(arguments, name);
    let (Some(empty), Some(layers)) = (empty_layers(arguments), number("num_layers")) else { return false };
    let stages = number("pipeline_model_parallel_size").unwrap_or(1).max(1);
    let of_chunks =
        number("virtual_pipeline_model_parallel_size").map(|chunks| chunks.saturating_mul(stages));
    let each = match (number("num_layers_per_virtual_pipeline_stage"), of_chunks) {
        (Some(each), _) => each,
        (None, Some(chunks)) => layers.checked_div(chunks).unwrap_or(0),
        (None, None) => layers / stages,
    };
    let is_even = each > 0 && layers.is_multiple_of(each) && (layers / each).is_multiple_of(stages);
    if !is_even || layers / each > 4096 || empty.iter().any(|&layer| layer >= layers) {
        return false;
    }
    let chunks: Vec<u64> = (0..layers / each)
        .map(|chunk| (chunk * each..(chunk + 1) * each).filter(|layer| !empty.contains(layer)).count() as u64)
        .collect();
    let layout = layout_of(&chunks, number("mtp_num_layers").unwrap_or(0));
    let (source, line) = arguments.origin("noop_layers");
    let filled =
        Argument { values: vec![chunks.iter().sum::<u64>().to_string()], source: source.clone(), line };
    *arguments = arguments.with("num_layers", Some(filled));
    // Not written as Megatron-Core's own flag, which would date the software.
    *arguments = arguments.with("noop_layers", Some(Argument { values: vec![layout], source, line }));
    true
}

/// Takes a flag for another field that is not given.
fn rename(arguments: &mut Arguments, from: &str, to: &str, value: impl Fn(&str) -> Option<String>) {
    if arguments.mentions(to) {
        return;
    }
    let Some(text) = arguments.word(from).and_then(value) else { return };
    let (source, line) = arguments.origin(from);
    *arguments = arguments.with(to, Some(Argument { values: vec![text], source, line }));
}
