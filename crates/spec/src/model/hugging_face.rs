//! The reader of Hugging Face's `config.json`: dispatch from `model_type` to the family that interprets the
//! keys.
//!
//! Responsible for: detection of the format, the language model inside multimodal files, dispatch. Each
//! family is one function in a sub-module. Does not guess: an unknown `model_type` is a problem with the
//! nearest name.

mod common;
mod deepseek;
mod experts;
mod gemma;
mod gpt;
mod hybrid;
mod llama;
mod moe;
mod olmo;
mod other;
mod per_layer;
mod qwen;

use super::Model;
use super::fields::Fields;
use super::{grammar, tolerant};
use crate::problem::{Problem, did_you_mean};
use common::Source;
use serde_json::Value;

/// Reader of one family. `model_type` keeps the file's spelling.
type Reader = fn(&Source<'_>) -> Result<Model, Problem>;

/// All `model_type`s with their readers. A `_text` suffix is removed before the lookup.
const FAMILIES: &[(&str, Reader)] = &[
    ("bailing_moe_v2", moe::glm4),
    ("bloom", gpt::bloom),
    ("cohere", other::cohere),
    ("dbrx", moe::dbrx),
    ("deepseek_v2", deepseek::read),
    ("deepseek_v3", deepseek::read),
    ("deepseek_v32", deepseek::read),
    ("deepseek_v4", deepseek::v4),
    ("falcon", gpt::falcon),
    ("gemma", gemma::gemma),
    ("gemma2", gemma::gemma2),
    ("gemma3", gemma::gemma2),
    ("gemma4", gemma::gemma4),
    ("gemma4_unified", gemma::gemma4),
    ("glm", other::glm),
    ("glm4", other::glm),
    ("glm4_moe", moe::glm4),
    ("glm_moe_dsa", deepseek::read),
    ("gpt2", gpt::gpt2),
    ("gpt_neox", gpt::gpt_neox),
    ("gpt_oss", moe::gpt_oss),
    ("granite", llama::llama_tied),
    ("kimi_k2", deepseek::read),
    ("kimi_linear", hybrid::kimi_linear),
    ("llama", llama::llama),
    ("llama4", moe::llama4),
    ("mimo", qwen::dense),
    ("minimax_m2", moe::minimax_m2),
    ("mistral", llama::mistral),
    ("mixtral", moe::mixtral),
    ("mpt", gpt::mpt),
    ("nemotron", gpt::nemotron),
    ("nemotron_h", hybrid::nemotron_h),
    ("olmo", olmo::olmo),
    ("olmo2", olmo::olmo2),
    ("olmo3", olmo::olmo2),
    ("olmoe", olmo::olmoe),
    ("opt", gpt::opt),
    ("phi", gpt::phi),
    ("phi3", llama::mistral),
    ("phimoe", other::phimoe),
    ("qwen2", qwen::dense),
    ("qwen2_5_vl", qwen::dense),
    ("qwen2_moe", qwen::moe),
    ("qwen2_vl", qwen::dense),
    ("qwen3", qwen::dense),
    ("qwen3_5", qwen::hybrid),
    ("qwen3_5_moe", qwen::hybrid),
    ("qwen3_moe", qwen::moe),
    ("qwen3_next", qwen::hybrid),
    ("qwen3_vl", qwen::dense),
    ("qwen3_vl_moe", qwen::moe),
    ("seed_oss", other::seed_oss),
    ("smollm3", llama::llama_tied),
    ("starcoder2", other::starcoder2),
];

/// Keys of the type: that of transformers, and that of diffusers.
const TYPE: &[&str] = &["model_type", "_class_name"];

/// Longest accepted text in bytes; real files have a few kilobytes.
const MAX_TEXT: usize = 8 << 20;

/// Reads the text of a `config.json`. `name` is the name of the model in results.
pub fn from_hugging_face(text: &str, name: &str) -> Result<Model, Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let value = parse(text)?;
    let Value::Object(map) = &value else {
        return Err(Problem::new("a config.json contains one object, but this is another JSON value"));
    };
    let outer = Fields::new(map, text);
    let fields = language_model(outer)?;
    let mut notes = Vec::new();
    if outer.has("quantization_config") || fields.has("quantization_config") {
        notes.push(
            "`quantization_config` describes the stored checkpoint and is ignored; training uses the precision of the plan"
                .into(),
        );
    }
    let own = fields.string(TYPE)?;
    let Some(model_type) = own.map_or_else(|| outer.string(TYPE), |t| Ok(Some(t)))? else {
        return Err(not_a_config(map));
    };
    let mut model = one(model_type, fields, outer, name, &notes)?;
    let kind = outer.string(TYPE)?.unwrap_or(model_type);
    attach_towers(&mut model, [kind, model_type], fields, outer)?;
    Ok(model)
}

/// Reads the stack of a type by a family's reader or a description.
fn one(
    model_type: &str,
    fields: Fields<'_>,
    outer: Fields<'_>,
    name: &str,
    notes: &[String],
) -> Result<Model, Problem> {
    let stem = model_type.strip_suffix("_text").unwrap_or(model_type);
    for family in [model_type, stem] {
        if let Some((family, reader)) = FAMILIES.iter().find(|(known, _)| *known == family) {
            let notes = notes.to_vec();
            return reader(&Source { fields, outer, name: name.to_owned(), family, notes });
        }
        if let Some(model) = grammar::read(family, fields.map(), outer.map(), name, notes)
            .map_err(|problem| fields.locate_again(problem))?
        {
            return Ok(model);
        }
    }
    let list = format!("known families: {}", families().collect::<Vec<_>>().join(", "));
    let shown: String = model_type.chars().take(60).collect();
    let problem = Problem::new(format!("unknown model type `{shown}`"));
    let hint = did_you_mean(stem, families(), &list);
    let hint = match grammar::guess(fields.map(), outer.map()) {
        Some(guess) => format!("{hint}; {guess}"),
        None => hint,
    };
    Err(fields.locate(problem.hint(hint), "model_type"))
}

/// Families supported by [`from_hugging_face`], by name; classes of diffusion transformers are last.
pub fn families() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&str> = FAMILIES.iter().map(|(family, _)| *family).chain(grammar::types()).collect();
    names.sort_unstable_by_key(|name| (name.starts_with(char::is_uppercase), *name));
    names.dedup();
    names.into_iter()
}

/// Objects that describe a stack of layers have one of these keys.
const STACKS: &[&str] =
    &["num_hidden_layers", "depth", "num_layers", "encoder_layers", "n_layer", "layers", "embed_dim"];

/// Adds the towers that a description defines, and lists the ignored parts of the file.
fn attach_towers(
    model: &mut Model,
    kinds: [&str; 2],
    fields: Fields<'_>,
    outer: Fields<'_>,
) -> Result<(), Problem> {
    let mut read = Vec::new();
    for kind in kinds {
        let towers = grammar::towers(kind, fields.map(), outer.map())
            .map_err(|problem| outer.locate_again(problem))?;
        let Some(towers) = towers else { continue };
        for (key, tower) in towers {
            match tower {
                Ok(tower) => {
                    model.towers.extend(tower);
                    read.push(key);
                }
                // An encoder uses the top-level fields, so its missing fields are errors.
                Err(problem) if key.is_empty() => return Err(problem),
                Err(problem) => model.notes.push(format!("`{key}` cannot be read: {}", problem.message)),
            }
        }
        break;
    }
    for (key, value) in outer.map() {
        let Value::Object(object) = value else { continue };
        let describes = STACKS.iter().any(|name| object.contains_key(*name));
        let is_stack = describes || key.ends_with("_config") && object.contains_key("model_type");
        if is_stack && !std::ptr::eq(object, fields.map()) && !read.contains(key) {
            model.left_out.push(key.clone());
        }
    }
    if !model.left_out.is_empty() {
        let list = model.left_out.join(", ");
        model.notes.push(format!("neither counted nor modelled: {list}"));
    }
    Ok(())
}

fn parse(text: &str) -> Result<Value, Problem> {
    if text.len() > MAX_TEXT {
        return Err(Problem::new("the text is longer than 8 MiB").hint(
            "the usual size of a config.json is a \
            few kilobytes",
        ));
    }
    let start = text.trim_start();
    if start.is_empty() {
        return Err(Problem::new("the file is empty"));
    }
    if start.starts_with('<') {
        return Err(Problem::new("this is a web page, not JSON")
            .hint("download the raw file: its address has `resolve` or `raw` instead of `blob`"));
    }
    tolerant::parse(text)
}

/// Fields of the language model, which multimodal files nest.
fn language_model(outer: Fields<'_>) -> Result<Fields<'_>, Problem> {
    for key in ["text_config", "llm_config", "language_config"] {
        if let Some(inner) = outer.object(key)? {
            return Ok(inner);
        }
    }
    Ok(outer)
}

fn not_a_config(map: &serde_json::Map<String, Value>) -> Problem {
    let what = if map.contains_key("zero_optimization") || map.contains_key("train_micro_batch_size_per_gpu")
    {
        "this is a DeepSpeed configuration"
    } else if map.contains_key("traceEvents") {
        "this is a trace"
    } else if map.contains_key("weight_map") {
        "this is an index of weight files"
    } else {
        "`model_type` is missing"
    };
    Problem::new(format!("not a model's config.json: {what}"))
        .hint("a config.json has `model_type`, such as \"llama\"")
        .at_key("model_type")
}
