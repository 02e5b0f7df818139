//! MindSpeed-LLM: Megatron on Ascend with flags of its own for experts, context parallelism and adapters.
//!
//! Responsible for: these flags as Megatron's fields, and keeping what changes the division of layers open. Refuses to guess a division
//! that a list of layers gives.

use super::super::arguments::{Argument, Arguments};
use super::Stated;
use crate::Draft;

/// Translates the flags wherever they are given: no other program has flags of these names.
pub(super) fn translate(arguments: &mut Arguments, says: &mut Stated, draft: &mut Draft) {
    rename(arguments, "moe_intermediate_size", "moe_ffn_hidden_size", |word| Some(word.to_owned()));
    rename(arguments, "context_parallel_algo", "cp_comm_type", |word| match word {
        "ulysses_cp_algo" => Some("a2a".to_owned()),
        "hybrid_cp_algo" | "hybrid_adaptive_cp_algo" => Some("a2a+p2p".to_owned()),
        "megatron_cp_algo" | "adaptive_cp_algo" => Some("p2p".to_owned()),
        _ => None,
    });
    let number = |arguments: &Arguments, name: &str| arguments.word(name).and_then(|w| w.parse::<u64>().ok());
    // Shared experts are counted, each as wide as a routed one.
    if let (Some(count), Some(width)) =
        (number(arguments, "n_shared_experts"), number(arguments, "moe_ffn_hidden_size"))
    {
        let width = count.saturating_mul(width).to_string();
        rename(arguments, "n_shared_experts", "moe_shared_expert_intermediate_size", |_| Some(width.clone()));
    }
    // The first layers have a dense MLP; Megatron-Core writes the same as a list.
    if let (Some(dense), Some(layers)) =
        (number(arguments, "first_k_dense_replace"), number(arguments, "num_layers"))
        && number(arguments, "moe_layer_freq").is_none_or(|every| every == 1)
        && (1..layers).contains(&dense)
    {
        let (source, line) = arguments.origin("first_k_dense_replace");
        let list = format!("([0]*{dense}+[1]*{})", layers - dense);
        *arguments = arguments.with("moe_layer_freq", Some(Argument { values: vec![list], source, line }));
    }
    for (field, key, why) in [
        ("noop_layers", "model.layers", "some of `--num-layers` are empty, which is not modelled"),
        ("num_layer_list", "plan.layers_per_stage", "the list is not read; give it with --layers-per-stage"),
    ] {
        if arguments.mentions(field) {
            let (source, line) = arguments.origin(field);
            draft.leave_open(key, &source, line, why);
            if field == "noop_layers" {
                // Without a number of layers the file is partial, so nothing that depends on it is stated.
                *arguments = arguments.with("num_layers", None);
            }
        }
    }
    if arguments.get("lora_r").is_some() {
        let (source, line) = arguments.origin("lora_r");
        says.adapter = Some((source.clone(), line));
        says.rank = number(arguments, "lora_r").map(|rank| (rank, source, line));
        let (source, line) = arguments.origin("lora_target_modules");
        says.targets = arguments.get("lora_target_modules").map(|names| (names.values.clone(), source, line));
    }
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
