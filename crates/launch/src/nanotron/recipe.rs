//! nanotron's configurations in Python (`config = Config(...)`), mapped to the keys of its YAML.
//!
//! Responsible for: classes that YAML has as flags or words: the model's family, the optimizer, engines and
//! modes. Does not follow arguments of the program: values that depend on them stay open.

use crate::Context;
use crate::document::{Data, Document, Entry};
use crate::python::{self, Recipe};
use railwright_spec::problem::Problem;

/// Sections in which something matters.
const SECTIONS: &[&str] = &["parallelism", "tokens", "model", "optimizer"];

/// Tests whether a text builds a configuration of nanotron in Python.
pub(super) fn is_one(text: &str) -> bool {
    text.contains("ParallelismArgs(") && text.contains("TokensArgs(") && python::imports(text, "nanotron")
}

pub(super) fn is_wanted(path: &str) -> bool {
    SECTIONS.contains(&path.split('.').next().unwrap_or(path))
}

/// Reads a configuration: its keys under the names of the YAML, and the open keys.
pub(super) fn read(text: &str, file: &str, context: &Context<'_>) -> Result<(Document, Recipe), Problem> {
    let accepts = |recipe: &Recipe| SECTIONS.iter().all(|section| recipe.document.has(section));
    let recipe = python::read(text, file, context, |_| false, &accepts)?;
    let mut document = recipe.document.clone();
    classes(&mut document);
    Ok((document, recipe))
}

/// Settings of classes and of members of enumerations.
fn classes(document: &mut Document) {
    let mut add = Vec::new();
    for entry in &document.entries {
        let class = entry.data.plain();
        let class = class.rsplit('.').next().unwrap_or_default();
        let (path, data) = match entry.path.as_str() {
            "model.model_config._target_" => {
                let flag = match class {
                    "LlamaConfig" => "is_llama_config",
                    "Qwen2Config" => "is_qwen2_config",
                    "Starcoder2Config" => "is_starcoder2_config",
                    _ => continue,
                };
                (format!("model.model_config.{flag}"), Data::Flag(true))
            }
            "optimizer.optimizer_factory._target_" => {
                let name = class.trim_end_matches("OptimizerArgs").to_owned();
                ("optimizer.optimizer_factory.name".to_owned(), Data::Text(name))
            }
            "parallelism.pp_engine._target_" => {
                ("parallelism.pp_engine".to_owned(), Data::Text(class.to_owned()))
            }
            _ => continue,
        };
        add.push(Entry { path: path.clone(), name: path, data, ..entry.clone() });
    }
    for entry in &mut document.entries {
        // `torch.bfloat16`, `TensorParallelLinearMode.REDUCE_SCATTER`
        if matches!(entry.path.as_str(), "model.dtype" | "parallelism.tp_mode")
            && let Data::Text(text) = &mut entry.data
        {
            *text = text.rsplit('.').next().unwrap_or_default().to_owned();
        }
    }
    document.entries.retain(|entry| {
        let last = entry.path.rsplit('.').next().unwrap_or_default();
        !matches!(last, "_target_" | "_args_") && !entry.path.starts_with("data_stages.")
    });
    document.entries.extend(add);
}
