//! The reader of Hugging Face's `config.json`: from `model_type` to the family that knows what the keys mean.
//!
//! Responsible for: telling what the text is, finding the language model inside multimodal files, dispatch. Each family
//! is one function in a sub-module. Refuses to guess: an unknown `model_type` is a problem that names the nearest.

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
use crate::problem::{Problem, did_you_mean};
use common::Source;
use serde_json::Value;

/// Reads one family. `model_type` is the file's own spelling.
type Reader = fn(&Source<'_>) -> Result<Model, Problem>;

/// Every `model_type` with its reader. A `_text` suffix is removed before the lookup.
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

/// Longest text that is looked at; a real file has a few kilobytes.
const MAX_TEXT: usize = 8 << 20;

/// Reads the text of a `config.json` as it is. `name` is what the model is called in the answer.
pub fn from_hugging_face(text: &str, name: &str) -> Result<Model, Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let value = parse(text)?;
    let Value::Object(map) = &value else {
        return Err(Problem::new("a config.json holds one object, this text holds another JSON value"));
    };
    let outer = Fields::new(map, text);
    let (fields, mut notes) = language_model(outer)?;
    if outer.has("quantization_config") || fields.has("quantization_config") {
        notes.push(
            "`quantization_config` tells how the checkpoint is stored; training runs in the plan's precision"
                .into(),
        );
    }
    let own = fields.string(&["model_type"])?;
    let Some(model_type) = own.map_or_else(|| outer.string(&["model_type"]), |t| Ok(Some(t)))? else {
        return Err(not_a_config(map));
    };
    let family = model_type.strip_suffix("_text").unwrap_or(model_type);
    let reader = FAMILIES.iter().find(|(known, _)| *known == family).map(|(_, reader)| reader);
    let Some(reader) = reader else {
        let known = || FAMILIES.iter().map(|(known, _)| *known);
        let list = format!("known families: {}", known().collect::<Vec<_>>().join(", "));
        let shown: String = model_type.chars().take(60).collect();
        let problem = Problem::new(format!("unknown model type `{shown}`"));
        return Err(fields.locate(problem.hint(did_you_mean(family, known(), &list)), "model_type"));
    };
    let source = Source { fields, outer, name: name.to_owned(), family, notes };
    reader(&source)
}

/// Names of the families that [`from_hugging_face`] reads, in alphabetical order.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|(family, _)| *family)
}

fn parse(text: &str) -> Result<Value, Problem> {
    if text.len() > MAX_TEXT {
        return Err(Problem::new("the text is longer than 8 MiB").hint("a config.json has a few kilobytes"));
    }
    let start = text.trim_start();
    if start.is_empty() {
        return Err(Problem::new("the file is empty"));
    }
    if start.starts_with('<') {
        return Err(Problem::new("this is a web page, not JSON")
            .hint("download the raw file: the address has `resolve` or `raw` where the page has `blob`"));
    }
    serde_json::from_str(text).map_err(|error| {
        let offset = line_offset(text, error.line()) + error.column().saturating_sub(1);
        let cause = if error.is_eof() {
            "the JSON ends too early: the file is cut short".to_owned()
        } else {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(cause, _)| cause);
            format!("not valid JSON: {message}")
        };
        Problem::new(cause).at_offset(text, offset)
    })
}

fn line_offset(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}

/// Multimodal files nest the language model; the other towers are skipped, and that is said.
fn language_model(outer: Fields<'_>) -> Result<(Fields<'_>, Vec<String>), Problem> {
    for key in ["text_config", "llm_config", "language_config"] {
        if let Some(inner) = outer.object(key)? {
            let towers: Vec<&str> = ["vision_config", "audio_config", "speech_config"]
                .into_iter()
                .filter(|k| outer.has(k))
                .collect();
            let mut notes = Vec::new();
            if !towers.is_empty() {
                notes.push(format!(
                    "only the language model of `{key}` is counted; skipped: {}",
                    towers.join(", ")
                ));
            }
            return Ok((inner, notes));
        }
    }
    Ok((outer, Vec::new()))
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
    Problem::new(format!("{what}, not a model's config.json"))
        .hint("a config.json has `model_type`, such as \"llama\"")
        .at_key("model_type")
}
