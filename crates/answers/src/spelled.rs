//! A run as equivalent arguments, for the web UI, which changes one argument at a time.
//!
//! Responsible for: argument names of the web UI, and exactness: the arguments resolve to the same run. Runs
//! that arguments cannot express keep their file as the argument.

use crate::{aliases_of, flag_of};
use railwright_spec::run::{Key, RunSpec, Value, keys};

/// Keys with a different name in the web UI than their first flag.
const CALLED: &[(&str, &str)] = &[
    ("cluster.devices", "gpus"),
    ("plan.tensor_parallel", "tp"),
    ("plan.pipeline_parallel", "pp"),
    ("plan.virtual_stages", "vp"),
    ("plan.context_parallel", "cp"),
    ("plan.expert_parallel", "ep"),
    ("plan.expert_tensor_parallel", "etp"),
];

/// Name of an argument in the web UI.
fn name_of(key: &Key) -> Option<String> {
    let path = key.path();
    match path.as_str() {
        "model.name" | "model.config" => Some("model".to_owned()),
        "cluster.preset" => Some("cluster".to_owned()),
        path => {
            let called = CALLED.iter().find(|(known, _)| *known == path).map(|(_, name)| (*name).to_owned());
            called.or_else(|| flag_of(key))
        }
    }
}

/// The name in the web UI for any alias of a flag.
pub fn called(flag: &str) -> String {
    let has = |key: &&Key| flag_of(key).is_some_and(|own| own == flag) || aliases_of(key).contains(&flag);
    keys().iter().find(has).and_then(name_of).unwrap_or_else(|| flag.to_owned())
}

/// Name of the argument of a dotted key in the web UI.
pub fn called_by_key(path: &str) -> Option<String> {
    keys().iter().find(|key| key.path() == path).and_then(name_of)
}

/// The arguments of a run, model first; `None` if arguments cannot express it.
pub fn spelled(spec: &RunSpec) -> Option<Vec<(String, String)>> {
    let mut flags: Vec<(String, String)> = Vec::new();
    let mut again = RunSpec::default();
    for key in keys() {
        let path = key.path();
        // A path determines the model; its name is only a label.
        if path == "model.name" && spec.model.config.is_some() {
            again.model.name.clone_from(&spec.model.name);
            continue;
        }
        let Some(value) = spec.get(&path) else { continue };
        let text = text_of(&value)?;
        again.set_flag("", &path, &text).ok()?;
        flags.push((name_of(&key)?, text));
    }
    let is_same = again.model == spec.model
        && again.cluster == spec.cluster
        && again.plan == spec.plan
        && again.training == spec.training
        && again.cost == spec.cost;
    is_same.then_some(flags)
}

/// A value as typed.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Flag(truth) => Some(truth.to_string()),
        Value::List(list) => {
            let parts: Option<Vec<String>> = list.iter().map(text_of).collect();
            parts.filter(|parts| parts.iter().all(|part| !part.contains(','))).map(|parts| parts.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::run::parse;

    #[test]
    fn examples_are_spelled_out() {
        for name in ["llama-3-8b-fsdp", "llama-3.1-405b", "gpt3-175b", "deepseek-v3"] {
            let path = format!("{}/../../examples/runs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let spec = parse(&std::fs::read_to_string(&path).expect("an example"), &path).expect("a run");
            let flags = spelled(&spec).unwrap_or_else(|| panic!("{name} cannot be spelled out"));
            assert_eq!(flags[0].0, "model", "{flags:?}");
            assert!(flags.iter().any(|(name, _)| name == "gpus"), "{flags:?}");
            let mut names: Vec<&String> = flags.iter().map(|(name, _)| name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), flags.len(), "a name occurs twice: {flags:?}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let text = "[model]\nname = \"x\"\n[plan]\ndisabled = 1";
        assert!(parse(text, "x").is_err());
        let mut spec = RunSpec::default();
        spec.set("model.name=llama-3-8b").expect("a key");
        assert_eq!(spelled(&spec), Some(vec![("model".to_owned(), "llama-3-8b".to_owned())]));
        spec.model.name = Some("a name that\nno word, can ".to_owned());
        assert_eq!(spelled(&spec), None);
    }
}
