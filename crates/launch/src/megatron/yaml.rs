//! Megatron-LM's `--yaml-cfg`: the fields of its configuration classes, in two groups and at the top level.
//!
//! Responsible for: fields of those classes with other names on the command line. Excludes YAML of other
//! tools.

use super::arguments::{Argument, Arguments};
use super::world::World;
use super::{flags, meaning};
use crate::{Context, Draft, Evidence, Format, Launch, Reader, RemarkKind, Strength};
use railwright_spec::problem::Problem;
use serde_json::Value;

/// Fields of the classes, and their names on the command line.
const RENAMED: &[(&str, &str)] = &[
    ("num_moe_experts", "num_experts"),
    ("layernorm_epsilon", "norm_epsilon"),
    ("fp8_param", "fp8_param_gather"),
    ("num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers"),
    ("num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers"),
];

/// Longer texts are not configurations.
const LONGEST: usize = 1 << 20;

/// Reads YAML configurations.
#[derive(Debug)]
pub struct YamlReader;

impl Reader for YamlReader {
    fn format(&self) -> Format {
        Format::MegatronYaml
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let has = |key: &str| {
            text.lines().any(|line| line.trim_end() == key || line.starts_with(&format!("{key} ")))
        };
        (has("language_model:") && has("model_parallel:"))
            .then(|| Evidence::new(Strength::Certain, "the keys `language_model` and `model_parallel`"))
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let mut draft = Draft::new(Format::MegatronYaml, file);
        if text.len() > LONGEST {
            draft.problem(Problem::new("larger than 1 MiB, the limit of configurations"));
            return draft.finish();
        }
        let value: Value = match serde_saphyr::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                let message = error.to_string();
                draft.problem(Problem::new(format!(
                    "not valid YAML: {}",
                    message.lines().next().unwrap_or_default()
                )));
                return draft.finish();
            }
        };
        let Value::Object(top) = &value else {
            draft.problem(Problem::new(
                "a configuration is a YAML mapping, but this text is another YAML \
                value",
            ));
            return draft.finish();
        };
        let mut arguments = Arguments::default();
        for (key, value) in top {
            match value {
                Value::Object(group) => {
                    for (key, value) in group {
                        take(key, value, text, &mut arguments, &mut draft);
                    }
                }
                value => take(key, value, text, &mut arguments, &mut draft),
            }
        }
        derived(&value, &mut arguments, &mut draft);
        meaning::fill(&arguments, &World::default(), &mut draft);
        draft.finish()
    }
}

fn take(key: &str, value: &Value, text: &str, arguments: &mut Arguments, draft: &mut Draft) {
    let line = line_of(text, key);
    let name = RENAMED.iter().find(|(class, _)| *class == key).map_or(key, |(_, flag)| *flag);
    let source = format!("{key}: {}", words(value).join(" "));
    let Some(flag) = flags::by_name(name) else {
        if !matches!(value, Value::Null | Value::Bool(_)) && flags::near(key).is_some() {
            let near =
                flags::near(key).map_or_else(String::new, |near| format!("; the nearest known is `{near}`"));
            draft.remark(RemarkKind::Ignored, &source, line, format!("unknown, ignored{near}"));
        }
        return;
    };
    arguments.insert(flag.name, Argument { values: words(value), source, line }, draft);
}

/// Settings of classes that differ from flags.
fn derived(value: &Value, arguments: &mut Arguments, draft: &mut Draft) {
    let group = value.get("language_model");
    let field = |key: &str| group.and_then(|group| group.get(key));
    let mut add = |name: &str, values: &str, source: String| {
        if arguments.get(name).is_none() {
            arguments.insert(name, Argument { values: vec![values.to_owned()], source, line: None }, draft);
        }
    };
    match field("activation_func").and_then(Value::as_str) {
        Some("swiglu") => add("swiglu", "True", "activation_func: swiglu".to_owned()),
        Some("squared_relu") => add("squared_relu", "True", "activation_func: squared_relu".to_owned()),
        Some("geglu") => add("geglu", "True", "activation_func: geglu".to_owned()),
        _ => {}
    }
    if let Some(groups) = field("num_query_groups").and_then(Value::as_u64) {
        add("group_query_attention", "True", format!("num_query_groups: {groups}"));
    }
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Null => vec!["None".to_owned()],
        Value::Bool(true) => vec!["True".to_owned()],
        Value::Bool(false) => vec!["False".to_owned()],
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().take(1000).flat_map(words).collect(),
        Value::Number(number) => vec![number.to_string()],
        Value::Object(_) => Vec::new(),
    }
}

fn line_of(text: &str, key: &str) -> Option<usize> {
    text.lines()
        .position(|line| {
            line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
        .map(|i| i + 1)
}
