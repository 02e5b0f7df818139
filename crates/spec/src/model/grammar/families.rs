//! Family descriptions in `catalog/families`: one table per model type, a flat list of names with
//! expressions.
//!
//! Responsible for: reading all descriptions once, and inheritance through `like`. Independent of the meaning
//! of names, which is defined in `stack` and `mixers`.

use super::expression::{Expression, parse};
use crate::problem::Problem;
use railwright_catalog::FAMILIES as FILES;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Place of weights that no other name covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Outside,
    Head,
    Layer,
    Mixer,
    FeedForward,
}

/// A description with everything inherited.
#[derive(Clone, Debug, Default)]
pub(super) struct Family {
    /// Key of the object with the tower's fields; empty for the top level of the file.
    pub(super) at: String,
    pub(super) definitions: BTreeMap<String, Expression>,
    /// Weights beyond those of mixers and feed-forwards: by place and name.
    pub(super) extra: BTreeMap<(Place, String), Expression>,
    /// Further stacks, by name.
    pub(super) towers: BTreeMap<String, Family>,
}

/// Byte offset of a table in the text: its own header, or that of the first table inside it.
fn place(text: &str, name: &str) -> usize {
    let at = |pattern: String| text.find(&pattern).unwrap_or(usize::MAX);
    at(format!("\n[{name}]")).min(at(format!("\n[{name}.")))
}

type Families = BTreeMap<String, Family>;

fn families() -> &'static Result<Families, Problem> {
    static FAMILIES: OnceLock<Result<Families, Problem>> = OnceLock::new();
    FAMILIES.get_or_init(|| {
        let mut families = Families::new();
        for (file, text) in FILES {
            let table: toml::Table = toml::from_str(text).map_err(|error| {
                Problem::new(error.to_string()).in_file(format!("catalog/families/{file}.toml"))
            })?;
            // In the order of the text, because a description inherits from an earlier one.
            let mut names: Vec<(usize, &String)> =
                table.keys().map(|name| (place(text, name), name)).collect();
            names.sort_unstable();
            for (_, name) in names {
                let family =
                    read(&families, table.get(name), name, Family::default()).map_err(|problem| {
                        problem.at_key(name.clone()).in_file(format!("catalog/families/{file}.toml"))
                    })?;
                families.insert(name.clone(), family);
            }
        }
        Ok(families)
    })
}

/// Description of a model type; `None` without one.
pub(super) fn family(name: &str) -> Result<Option<&'static Family>, Problem> {
    families().as_ref().map(|families| families.get(name)).map_err(Clone::clone)
}

/// Model types with a description, in alphabetical order. Names with a leading `_` are only inherited from.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    families()
        .as_ref()
        .map(|families| families.keys())
        .into_iter()
        .flatten()
        .map(String::as_str)
        .filter(|n| !n.starts_with('_'))
}

/// Merges a table with the one it inherits from. A tower without `like` inherits from the same tower of the
/// parent type.
fn read(
    known: &Families,
    value: Option<&toml::Value>,
    name: &str,
    inherited: Family,
) -> Result<Family, Problem> {
    let table = value.and_then(toml::Value::as_table).ok_or_else(|| Problem::new("expected a table"))?;
    let mut family = match table.get("like").and_then(toml::Value::as_str) {
        Some(like) => known
            .get(like)
            .cloned()
            .ok_or_else(|| Problem::new(format!("`{like}` is not defined before `{name}`")))?,
        None => inherited,
    };
    for (key, value) in table {
        match (key.as_str(), value) {
            ("like", _) => {}
            ("at", toml::Value::String(at)) => family.at.clone_from(at),
            ("towers", toml::Value::Table(towers)) => {
                for (tower, value) in towers {
                    let inherited = family.towers.get(tower).cloned().unwrap_or_default();
                    family.towers.insert(tower.clone(), read(known, Some(value), tower, inherited)?);
                }
            }
            (
                "outside" | "head_extra" | "layer_extra" | "mixer_extra" | "feed_forward_extra",
                toml::Value::Table(extra),
            ) => {
                let place = match key.as_str() {
                    "outside" => Place::Outside,
                    "head_extra" => Place::Head,
                    "layer_extra" => Place::Layer,
                    "mixer_extra" => Place::Mixer,
                    _ => Place::FeedForward,
                };
                for (weight, value) in extra {
                    family.extra.insert((place, weight.clone()), expression(value)?);
                }
            }
            (key, value) => {
                family.definitions.insert(key.to_owned(), expression(value)?);
            }
        }
    }
    Ok(family)
}

fn expression(value: &toml::Value) -> Result<Expression, Problem> {
    match value {
        toml::Value::String(text) => parse(text),
        toml::Value::Integer(number) => Ok(Expression::Whole(i128::from(*number))),
        toml::Value::Boolean(flag) => Ok(Expression::Flag(*flag)),
        other => Err(Problem::new(format!("expected an expression, found {other}"))),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_description_is_read() {
        let families = super::families().as_ref();
        assert!(families.is_ok(), "{}", families.err().map(ToString::to_string).unwrap_or_default());
    }
}
