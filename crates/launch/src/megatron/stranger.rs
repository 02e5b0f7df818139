//! Programs whose arguments share names with Megatron's.
//!
//! Responsible for: flags that belong to other parsers, because Megatron has the setting under a different
//! name. A program with such a flag has arguments of its own, so the defaults of Megatron are not its
//! defaults.

use super::flags;
use std::collections::BTreeSet;

/// Flags of trainers on Hugging Face models, with underscores.
const FLAGS: &[&str] = &[
    "gradient_accumulation_steps",
    "intermediate_size",
    "per_device_train_batch_size",
    "per_gpu_train_batch_size",
    "num_epochs",
    "num_train_epochs",
    "learning_rate",
    "model_name_or_path",
    "base_model",
    "cutoff_len",
    "gradient_checkpointing",
    "enable_gradient_checkpointing",
];

/// Number of such flags from which a text without a name of Megatron is another program's.
const MOST: usize = 2;

/// Tests whether a text starts a performance script of Megatron-Bridge: a recipe by its parts, on a number of
/// GPUs. It has flags of the same names.
pub(crate) fn starts_recipe(text: &str) -> bool {
    let has = |flag: &str| {
        text.split_whitespace()
            .any(|word| word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
    };
    (has("--model_recipe_name") || (has("--model_name") && has("--model_size"))) && has("--num_gpus")
}

/// Tests whether a word is a flag of another parser.
pub(super) fn is_flag(word: &str) -> bool {
    let spelling = word.split('=').next().unwrap_or(word);
    spelling.strip_prefix("--").is_some_and(|name| {
        FLAGS.contains(&name.replace('-', "_").as_str()) && flags::by_spelling(spelling).is_none()
    })
}

/// Number of flags without a meaning in Megatron, for each that has one, from which a text without a name of
/// Megatron is another program's.
const SHARE: usize = 2;
/// Number of such flags at least.
const FEWEST: usize = 8;

/// Tests whether words are those of another program: several of its flags, or mostly flags that Megatron does
/// not have, and no name of Megatron.
pub(super) fn starts<'a>(words: impl IntoIterator<Item = &'a str>) -> bool {
    let (mut own, mut known, mut unknown) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for word in words {
        if ["pretrain_gpt", "megatron", "Megatron"].iter().any(|name| word.contains(name)) {
            return false;
        }
        let spelling = word.split('=').next().unwrap_or(word);
        if is_flag(word) {
            own.insert(spelling);
        }
        if !spelling.starts_with("--") || spelling.len() < 3 || flags::is_launcher(spelling) {
            continue;
        }
        let is_known = flags::by_spelling(spelling).is_some();
        if is_known { &mut known } else { &mut unknown }.insert(spelling);
    }
    own.len() >= MOST || (unknown.len() >= FEWEST && unknown.len() >= SHARE * known.len())
}
