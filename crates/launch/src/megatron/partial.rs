//! Scripts with only a part of their run, and unresolved values.
//!
//! Responsible for: keys that depend on an unknown value, and open settings of a partial script. A key is
//! open if another value of the argument would change it. Never states a default for a setting that may be
//! set elsewhere.

use super::arguments::{Argument, Arguments, OpenArgument};
use super::dialect::Stated;
use super::world::World;
use super::{audit, flags, fork, meaning};
use crate::{Draft, RemarkKind};
use std::collections::BTreeMap;

/// Fields that determine the rest of a run: an open one makes a script partial.
const DEGREES: &[&str] = &[
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "tensor_model_parallel_size",
    "pipeline_model_parallel_size",
    "context_parallel_size",
    "expert_model_parallel_size",
    "expert_tensor_parallel_size",
    "num_experts",
];

/// Fields that give the layers of a model.
const LAYERS: &[&str] =
    &["num_layers", "encoder_num_layers", "hybrid_layer_pattern", "hybrid_override_pattern"];

/// Values to try if none are known: sizes, and words of the flags that choose among a few.
const TRIED: &[&str] = &["1", "2", "8", "64", "full", "selective", "hybrid", "RMSNorm", "rope", "True"];

/// Maximum number of open fields to try.
const MOST_TRIED: usize = 200;

/// Reads arguments into a draft, and leaves undetermined settings open.
pub(crate) fn fill(arguments: &Arguments, world: &World, says: &Stated, draft: &mut Draft) {
    let format = draft.format();
    // A model that has a name brings its layers, which the division into stages needs.
    let mut named = arguments.clone();
    if let Some(layers) = says.layers() {
        named.presume("num_layers", &layers.to_string(), "the model's layers");
    }
    let arguments = &named;
    meaning::fill(arguments, world, draft);
    if let Some(why) = why_partial(arguments, says) {
        draft.partial(&why);
    }
    let read = |arguments: &Arguments| -> BTreeMap<String, String> {
        let mut draft = Draft::new(format, "");
        meaning::fill(arguments, world, &mut draft);
        draft.origins().iter().map(|origin| (origin.key.clone(), origin.value.clone())).collect()
    };
    let base: BTreeMap<String, String> =
        draft.origins().iter().map(|origin| (origin.key.clone(), origin.value.clone())).collect();
    // A value may matter only together with another open one, so each is tried with the others absent and
    // present.
    let given = arguments.open().take(MOST_TRIED).fold(arguments.clone(), |all, (name, open)| {
        let some =
            tried(open).into_iter().flatten().nth(1).or_else(|| tried(open).into_iter().flatten().next());
        all.with(name, some)
    });
    for (name, open) in arguments.open().take(MOST_TRIED) {
        for around in [arguments, &given] {
            let absent = open.alternatives.is_empty().then_some(None);
            let results: Vec<_> = tried(open)
                .into_iter()
                .chain(absent)
                .map(|argument| read(&around.with(name, argument)))
                .collect();
            for key in differing(results.iter()) {
                draft.leave_open(&key, &open.source, open.line, open.why.clone());
            }
        }
    }
    if draft.is_partial() {
        leave_defaults_open(arguments, &read, &base, draft);
    }
    fork::leave_open(arguments, draft);
    says.finish(draft);
}

/// Lists flags that decide nothing. A text that a writer made has none, so its reading does without.
pub(crate) fn audit(arguments: &Arguments, world: &World, draft: &mut Draft) {
    audit_lines(arguments, world, draft, &|_| true);
}

/// The same for the flags on some lines, of a configuration over files with every argument.
pub(crate) fn audit_lines(
    arguments: &Arguments,
    world: &World,
    draft: &mut Draft,
    is_stated: &dyn Fn(Option<usize>) -> bool,
) {
    let format = draft.format();
    let with_remarks = |arguments: &Arguments| {
        let mut draft = Draft::new(format, "");
        meaning::fill(arguments, world, &mut draft);
        let mut values: BTreeMap<String, String> =
            draft.origins().iter().map(|origin| (origin.key.clone(), origin.value.clone())).collect();
        // Flags of hybrid models are in it alone.
        values.extend(draft.config_text().map(|text| ("model.config".to_owned(), text.to_owned())));
        (values, draft.messages())
    };
    audit::note(arguments, &with_remarks, draft, is_stated);
}

/// The values to try for a field.
fn tried(open: &OpenArgument) -> Vec<Option<Argument>> {
    if !open.alternatives.is_empty() {
        return open.alternatives.clone();
    }
    let argument = |value: &&str| {
        Some(Argument { values: vec![(*value).to_owned()], source: open.source.clone(), line: open.line })
    };
    TRIED.iter().map(argument).collect()
}

/// Reason why a script shows only a part of its run.
fn why_partial(arguments: &Arguments, says: &Stated) -> Option<String> {
    if let Some(hidden) = arguments.hidden().first() {
        let is_text = hidden.source.starts_with(['$', '-']);
        return Some(if is_text {
            format!("`{}` may hold flags: {}", hidden.source, hidden.why)
        } else {
            format!("{}: {}", hidden.source, hidden.why)
        });
    }
    if !says.names_a_model() && !LAYERS.iter().any(|name| arguments.mentions(name)) {
        return Some("it does not set the number of layers (`--num-layers`)".to_owned());
    }
    let (_, open) = arguments.open().find(|(name, _)| DEGREES.contains(name))?;
    Some(format!("`{}` is not set: {}", open.source, open.why))
}

/// The keys with different values in some of the readings.
fn differing<'a>(readings: impl Iterator<Item = &'a BTreeMap<String, String>>) -> Vec<String> {
    let readings: Vec<_> = readings.collect();
    let mut keys: Vec<String> = readings.iter().flat_map(|reading| reading.keys().cloned()).collect();
    keys.sort();
    keys.dedup();
    keys.retain(|key| readings.iter().any(|reading| reading.get(key) != readings[0].get(key)));
    keys
}

/// In a partial script only explicit settings are known: defaults are removed, and so are values that depend
/// on a missing size.
fn leave_defaults_open(
    arguments: &Arguments,
    read: &dyn Fn(&Arguments) -> BTreeMap<String, String>,
    base: &BTreeMap<String, String>,
    draft: &mut Draft,
) {
    const WHY: &str = "not in this file, which contains only part of the run";
    let defaults: Vec<String> = draft
        .origins()
        .iter()
        .filter(|origin| origin.line.is_none())
        .map(|origin| origin.key.clone())
        .collect();
    for key in defaults {
        draft.leave_open(&key, "", None, WHY);
    }
    for name in DEGREES {
        if arguments.mentions(name) {
            continue;
        }
        let argument = |value: &str| {
            Some(Argument { values: vec![value.to_owned()], source: String::new(), line: None })
        };
        let tried: Vec<_> =
            ["2", "8", "24"].into_iter().map(|value| read(&arguments.with(name, argument(value)))).collect();
        let spelling = flags::by_name(name).map_or_else(|| (*name).to_owned(), |flag| flag.spelling());
        for key in differing(tried.iter().chain([base])) {
            // Values of the file itself stay. Values derived from the file together with the size are left
            // open.
            draft.leave_open(&key, "", None, format!("depends on `{spelling}`, which is {WHY}"));
        }
    }
    draft.forget_conclusions();
    for hidden in arguments.hidden() {
        let message = "its flags are unknown, so absent flags have no default";
        draft.remark(RemarkKind::Unresolved, &hidden.source, hidden.line, message);
    }
}
