//! Model types as data: a family description in `catalog/families` and a configuration make a model.
//!
//! Responsible for: lookup of a description and its towers, and a guess for unknown types by field names.
//! `catalog/families/README.md` defines the language of descriptions. Independent of family names.

mod evaluate;
mod expression;
mod families;
mod feed_forwards;
mod layers;
mod mixers;
mod stack;

use super::{Model, Tower};
use crate::problem::Problem;
use serde_json::{Map, Value};
use stack::Stack;

/// Names of the types with a description.
pub(super) fn types() -> impl Iterator<Item = &'static str> {
    families::names()
}

/// Reads a configuration by the description of its type; `None` without a description.
pub(super) fn read(
    kind: &str,
    own: &Map<String, Value>,
    outer: &Map<String, Value>,
    name: &str,
    notes: &[String],
) -> Result<Option<Model>, Problem> {
    let Some(family) = families::family(kind)?.filter(|family| !family.definitions.is_empty()) else {
        return Ok(None);
    };
    Stack::new(family, own, outer).model(name, kind, notes.to_vec()).map(Some)
}

/// Each tower with the key of its object in the file (empty: the top level), or the problem of reading it.
/// `None` if the file's class does not have the tower.
pub(super) type Towers = Vec<(String, Result<Option<Tower>, Problem>)>;

/// Towers of a type that a file has; `None` if no description defines towers of the type.
pub(super) fn towers(
    kind: &str,
    own: &Map<String, Value>,
    outer: &Map<String, Value>,
) -> Result<Option<Towers>, Problem> {
    let Some(family) = families::family(kind)?.filter(|family| !family.towers.is_empty()) else {
        return Ok(None);
    };
    let mut towers = Vec::new();
    for (name, tower) in &family.towers {
        let fields = match tower.at.as_str() {
            "" => Some(own),
            at => outer.get(at).and_then(Value::as_object),
        };
        let Some(fields) = fields else { continue };
        let (key, stack) = (tower.at.clone(), Stack::new(tower, fields, outer));
        let tower = if stack.flag("when")? { stack.tower(name, kind).map(Some) } else { Ok(None) };
        towers.push((key, tower));
    }
    Ok(Some(towers))
}

/// Summary of a file of an unknown type, read by its field names. Only for hints, never for results.
pub(super) fn guess(own: &Map<String, Value>, outer: &Map<String, Value>) -> Option<String> {
    let like =
        |name: &str| Stack::new(families::family(name).ok()??, own, outer).model("", name, Vec::new()).ok();
    let (experts, plain) = (like("_experts"), like("_decoder"));
    let (model, words) = match (own.keys().any(|key| key.contains("experts")), experts, plain) {
        (true, Some(model), _) => (model, "with experts, as `qwen3_moe` reads them"),
        (false, _, Some(model)) => (model, "as `llama` reads them"),
        _ => return None,
    };
    let total = model.parameters().total;
    Some(format!(
        "its fields {words} result in {} layers and {total} parameters, which may be wrong; set `model_type` if they are correct",
        model.num_layers()
    ))
}
