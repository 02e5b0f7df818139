//! YAML to a document.
//!
//! Responsible for: a budget that no configuration exceeds, but every alias bomb does. The last occurrence of
//! a repeated key counts, as in PyYAML, which the frameworks use; the key is listed. Several documents in one
//! text are an error.

use super::{DEEPEST, Data, Document, MOST_VALUES, Node, Spot, check_length};
use railwright_spec::problem::Problem;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Options, Spanned};
use std::collections::{BTreeMap, BTreeSet};

/// Reads YAML.
pub(crate) fn yaml(text: &str, file: &str) -> Result<Document, Problem> {
    check_length(text, file)?;
    let root: Spanned<Data> = serde_saphyr::from_str_with_options(text, options())
        .map_err(|error| problem(&error, text).in_file(file))?;
    let mut root = Node { data: root.value, spot: Spot { line: 1, column: 1 } };
    let mut repeated = Vec::new();
    keep_last(&mut root, "", &mut repeated);
    Ok(Document { repeated, ..Document::new(root) })
}

/// Removes all but the last of repeated keys in one table, and lists the keys with the place of the last.
fn keep_last(node: &mut Node, path: &str, repeated: &mut Vec<(String, Spot)>) {
    match &mut node.data {
        Data::List(items) => {
            for item in items {
                keep_last(item, path, repeated);
            }
        }
        Data::Table(pairs) => {
            let mut last: BTreeMap<&str, usize> = BTreeMap::new();
            for (index, (name, _)) in pairs.iter().enumerate() {
                last.insert(name, index);
            }
            if last.len() < pairs.len() {
                let kept: BTreeSet<usize> = last.values().copied().collect();
                let earlier: BTreeSet<String> = pairs
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| !kept.contains(index))
                    .map(|(_, (name, _))| name.clone())
                    .collect();
                let mut index = 0;
                pairs.retain(|_| {
                    index += 1;
                    kept.contains(&(index - 1))
                });
                let found = pairs.iter().filter(|(name, _)| earlier.contains(name));
                repeated.extend(found.map(|(name, node)| (below(path, name), node.spot)));
            }
            for (name, node) in pairs {
                keep_last(node, &below(path, name), repeated);
            }
        }
        _ => {}
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4 * MOST_VALUES,
            max_nodes: MOST_VALUES,
            max_depth: DEEPEST,
            max_aliases: 1000,
            max_anchors: 1000,
            max_total_scalar_bytes: super::LONGEST,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 2 * MOST_VALUES,
            max_replay_stack_depth: 16,
            max_alias_expansions_per_anchor: 1000,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        with_snippet: false,
    }
}

fn problem(error: &serde_saphyr::Error, text: &str) -> Problem {
    let whole = error.without_snippet().to_string();
    let message = whole.lines().next().unwrap_or("not YAML").trim();
    // The place is reported separately from the message.
    let message = message.split(" at line ").next().unwrap_or(message);
    let message = match message.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest,
        _ => message,
    };
    let problem = Problem::new(message.to_owned());
    match error.location() {
        Some(location) if location.line() > 0 => {
            let line = usize::try_from(location.line()).unwrap_or(usize::MAX);
            let column = usize::try_from(location.column()).unwrap_or(1);
            let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let inside: usize = text[before.min(text.len())..]
                .chars()
                .take(column.saturating_sub(1))
                .map(char::len_utf8)
                .sum();
            problem.at_offset(text, before + inside)
        }
        _ => problem,
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Data;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Data::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Data, E> {
        Ok(Data::Flag(flag))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Data, E> {
        Ok(Data::Integer(n))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Data, E> {
        Ok(i64::try_from(n).map_or(Data::Number(n as f64), Data::Integer))
    }

    fn visit_i128<E>(self, n: i128) -> Result<Data, E> {
        Ok(Data::Number(n as f64))
    }

    fn visit_u128<E>(self, n: u128) -> Result<Data, E> {
        Ok(Data::Number(n as f64))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Data, E> {
        Ok(Data::Number(x))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Spanned<Data>>()? {
            items.push(node(item));
        }
        Ok(Data::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut pairs = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            pairs.push((name, node(map.next_value::<Spanned<Data>>()?)));
        }
        Ok(Data::Table(pairs))
    }
}

fn node(item: Spanned<Data>) -> Node {
    let at = item.referenced;
    let from = |n: u64| usize::try_from(n).unwrap_or(0);
    Node { data: item.value, spot: Spot { line: from(at.line()), column: from(at.column()) } }
}
