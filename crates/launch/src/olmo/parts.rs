//! The sections of a configuration, from the functions of a script.
//!
//! Responsible for: one function that returns an experiment, or one builder per section with the values that
//! OLMo-core passes to them. Chooses no builder among several.

use super::values::{last, whole};
use crate::Context;
use crate::document::{Data, Document, Entry, Spot};
use crate::python::{self, Given, Recipe};
use railwright_spec::problem::Problem;

/// The keys of a configuration, and those with computed values: path, line, reason.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) document: Document,
    pub(super) open: Vec<(String, usize, String)>,
    /// Settings that the script takes from elsewhere, with the conclusions.
    pub(super) assumed: Vec<(String, String)>,
}

/// Arguments of OLMo-core's `build_config` and older `main`, and the values that builders receive as
/// `common`.
const LENGTHS: [&str; 2] = ["max_sequence_length", "sequence_length"];
const COMMON_LENGTHS: [&str; 4] = [
    "max_sequence_length",
    "sequence_length",
    "dataset.effective_sequence_length",
    "dataset.sequence_length",
];
/// Constants of the script itself, by OLMo-core's custom.
const LENGTH_CONSTANTS: [&str; 4] =
    ["SEQUENCE_LENGTH", "MAX_SEQUENCE_LENGTH", "CONTEXT_LENGTH", "DEFAULT_SEQUENCE_LENGTH"];

/// Tests whether a path is a section or lies in it. A section whose own value is open has no keys.
pub(super) fn is_of(path: &str, section: &str) -> bool {
    path == section || path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

/// Reads the sections.
pub(super) fn of(text: &str, file: &str) -> Result<Parts, Problem> {
    let top = python::variables(text, file, &Context::default())?.document;
    let mut parts = Parts::default();
    let builder = builder(&top);
    let argument = |name: &str| integer(&top, &format!("{}.{name}", builder.as_deref()?));
    let constant = |names: &[&str]| names.iter().find_map(|name| integer(&top, name));
    let length = LENGTHS.iter().find_map(|name| argument(name)).or_else(|| constant(&LENGTH_CONSTANTS));
    let batch = argument("global_batch_size").or_else(|| constant(&["GLOBAL_BATCH_SIZE"]));
    // `--sequence-length` of OLMo-core's own command line has no default.
    let is_own = text.contains("olmo_core.script_utils");
    let of_command = Given { parameter: "opts", field: "sequence_length", value: None };
    let mut given: Vec<Given<'_>> = is_own.then_some(of_command).into_iter().collect();
    if let Some(length) = &length {
        let of_common = |field| Given { parameter: "common", field, value: Some(length.value) };
        given.extend(COMMON_LENGTHS.iter().map(|field| of_common(field)));
    }
    if let Some(batch) = &batch {
        given.push(Given { parameter: "common", field: "global_batch_size", value: Some(batch.value) });
    }
    let results = python::results(text, file, &given)?;
    let is_whole = |recipe: &Recipe| recipe.document.has("train_module._target_");
    let whole: Vec<&Recipe> = results.iter().filter(|recipe| is_whole(recipe)).collect();
    match whole.as_slice() {
        [recipe] => parts.add(recipe, ""),
        [first, ..] => {
            let names: Vec<&str> = whole.iter().map(|recipe| recipe.name.as_str()).collect();
            let message = format!("this file contains {} configurations: {}", names.len(), names.join(", "));
            let hint = format!("keep one function, such as `{}`, in a separate file", first.name);
            return Err(Problem::new(message).hint(hint).in_file(file));
        }
        [] => sections(&mut parts, &results, &top, builder.as_deref(), file)?,
    }
    if is_own || text.contains(".add_argument(") {
        let message = "the script is read with the defaults of its command line, without overrides";
        parts.assumed.push(("the command line".to_owned(), message.to_owned()));
    }
    let mut put = |path: &str, found: Option<&Found>| {
        let is_set = parts.document.has(path) || parts.open.iter().any(|(open, ..)| open == path);
        if let (Some(found), false) = (found, is_set) {
            let entry = Entry::new(path.to_owned(), Data::Integer(found.value), found.spot);
            parts.document.entries.push(Entry { name: found.name.clone(), ..entry });
        }
    };
    put("data_loader.global_batch_size", batch.as_ref());
    put("train_module.max_sequence_length", length.as_ref());
    Ok(parts)
}

/// A whole number of the script, with its name.
struct Found {
    name: String,
    value: i64,
    spot: Spot,
}

fn integer(document: &Document, path: &str) -> Option<Found> {
    let entry = document.get(path)?;
    let Data::Integer(value) = entry.data else { return None };
    Some(Found { name: entry.name.clone(), value, spot: entry.spot })
}

/// The variable that holds the call of OLMo-core's `build_config` with the script's builders.
fn builder(top: &Document) -> Option<String> {
    top.entries.iter().find_map(|entry| {
        let path = entry.path.strip_suffix("._target_")?;
        (last(whole(&entry.data)?) == "build_config").then(|| path.to_owned())
    })
}

/// Sections from builders of their own.
fn sections(
    parts: &mut Parts,
    results: &[Recipe],
    top: &Document,
    builder: Option<&str>,
    file: &str,
) -> Result<(), Problem> {
    for (section, class, argument) in [
        ("model", "TransformerConfig", "model_config_builder"),
        ("train_module", "TransformerTrainModuleConfig", "train_module_config_builder"),
    ] {
        let makes = |recipe: &&Recipe| {
            let target = recipe.document.get("_target_").and_then(|entry| whole(&entry.data));
            target.is_some_and(|target| target.split('.').any(|part| part == class))
        };
        let named = builder
            .and_then(|builder| top.get(&format!("{builder}.{argument}")))
            .and_then(|entry| whole(&entry.data));
        let found: Vec<&Recipe> = results
            .iter()
            .filter(makes)
            .filter(|recipe| named.is_none_or(|named| named == recipe.name))
            .collect();
        match found.as_slice() {
            [recipe] => parts.add(recipe, section),
            [] if section == "train_module" => {
                let message = "no function of this file returns a training module with literal values";
                return Err(Problem::new(message).in_file(file));
            }
            [] => parts.open.push((section.to_owned(), 1, "is made by other code".to_owned())),
            _ => {
                let names: Vec<&str> = found.iter().map(|recipe| recipe.name.as_str()).collect();
                let why = format!("several functions make it: {}", names.join(", "));
                parts.open.push((section.to_owned(), 1, why));
            }
        }
    }
    if let Some(data) = results.iter().find(|recipe| recipe.document.has("data_loader._target_")) {
        parts.add(data, "");
    }
    Ok(())
}

impl Parts {
    /// Takes the keys of a function's result over, below a section.
    fn add(&mut self, recipe: &Recipe, section: &str) {
        let below = |path: &str| match (section, path) {
            ("", path) => path.to_owned(),
            (section, "") => section.to_owned(),
            (section, path) => format!("{section}.{path}"),
        };
        self.document.entries.extend(recipe.document.entries.iter().map(|entry| {
            let path = below(&entry.path);
            Entry { name: path.clone(), path, ..entry.clone() }
        }));
        let open = recipe.open_keys();
        self.open.extend(open.map(|open| (below(&open.path), open.line, open.why.clone())));
    }
}
