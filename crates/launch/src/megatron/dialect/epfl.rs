//! Megatron-LLM of EPFL: a fork whose flags have underscores.
//!
//! Responsible for: its defaults and flags of the layers (`megatron/arguments.py`): biases on request, gated
//! activations by name, RMSNorm, and an untied head.

use super::super::arguments::{Argument, Arguments};
use super::stated::value;
use crate::Draft;
use crate::shell::Word;

/// Translates the flags of a script of this fork; other scripts stay as they are.
pub(super) fn translate(words: &[Word], arguments: &mut Arguments, draft: &mut Draft) {
    let find = |flag: &str| words.iter().find(|word| word.text == flag);
    if find("--num_layers").is_none() {
        return;
    }
    let why = "no --use_bias; flags with underscores are those of Megatron-LLM";
    if find("--use_bias").is_none() {
        arguments.presume("add_bias_linear", "False", why);
    }
    let line = |word: &Word| (word.line > 0).then_some(word.line);
    let mut set = |name: &str, text: &str, source: String, line: Option<usize>| {
        *arguments = arguments.with(name, Some(Argument { values: vec![text.to_owned()], source, line }));
    };
    if let Some((word, name, source)) = value(words, &["--glu-activation"])
        && name == "swiglu"
    {
        set("swiglu", "True", source, line(word));
        draft.forget(&["--glu_activation"]);
    }
    for (flag, name, text) in [
        ("--use_rms_norm", "normalization", "RMSNorm"),
        ("--no_tie_embed_logits", "untie_embeddings_and_output_weights", "True"),
    ] {
        if let Some(word) = find(flag) {
            set(name, text, word.text.clone(), line(word));
        }
    }
    draft.forget(&["--use_bias", "--no_tie_embed_logits"]);
}
