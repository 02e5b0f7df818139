//! Objects of a Python text as dotted keys.
//!
//! Responsible for: the form of saved configurations, with `_target_` for the called code and `_args_` for
//! its positional arguments, and a list of open keys. Cycles, and more values than any configuration has, are
//! errors.

use super::run::Program;
use super::value::{Heap, Value};
use crate::document::{Data, Document, Entry, MOST_VALUES, Node, Spot};

/// Objects inside each other.
const DEEPEST: usize = 12;

/// A key with an unknown value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenKey {
    pub(crate) path: String,
    pub(crate) line: usize,
    /// Reason in words after the key: "is computed".
    pub(crate) why: String,
}

/// Keys of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    pub(super) document: Document,
    pub(super) open: Vec<OpenKey>,
}

pub(super) fn flatten(program: &Program<'_>, root: &Value) -> Flat {
    let mut flat = Flat::default();
    let mut above = Vec::new();
    value(program, root, "", 0, true, &mut above, &mut flat);
    flat
}

fn value(
    program: &Program<'_>,
    root: &Value,
    path: &str,
    line: usize,
    is_assigned: bool,
    above: &mut Vec<usize>,
    flat: &mut Flat,
) {
    if flat.document.entries.len() + flat.open.len() > MOST_VALUES {
        return;
    }
    match root {
        Value::Object(id) => object(program, *id, path, line, is_assigned, above, flat),
        Value::Open(why) => {
            flat.open.push(OpenKey { path: path.to_owned(), line, why: why.to_string() });
        }
        Value::List(id) => {
            let items = program.heap.lists.get(*id).map_or(&[][..], Vec::as_slice);
            if items.iter().any(|item| matches!(item, Value::Object(_))) {
                for (index, item) in items.iter().take(200).enumerate() {
                    value(program, item, &format!("{path}.{index}"), line, true, above, flat);
                }
            } else if let Some(data) = data(program, root, 0) {
                put(flat, path, data, line);
            } else {
                let why = "has values that are computed".to_owned();
                flat.open.push(OpenKey { path: path.to_owned(), line, why });
            }
        }
        other => {
            if let Some(data) = data(program, other, 0) {
                put(flat, path, data, line);
            }
        }
    }
}

fn object(
    program: &Program<'_>,
    id: usize,
    path: &str,
    line: usize,
    is_assigned: bool,
    above: &mut Vec<usize>,
    flat: &mut Flat,
) {
    let Some(object) = program.heap.objects.get(id) else { return };
    if above.contains(&id) || above.len() >= DEEPEST {
        return;
    }
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let is_named = !object.callee.is_empty() && object.callee != "dict";
    if is_named {
        put(flat, &below("_target_"), Data::Text(object.callee.clone()), object.line);
        let literal: Vec<Node> = object
            .positional
            .iter()
            .filter_map(|value| data(program, value, 0))
            .map(|data| Node { data, spot: Spot { line: object.line, column: 0 } })
            .collect();
        if !literal.is_empty() {
            put(flat, &below("_args_"), Data::List(literal), object.line);
        }
    }
    if let Some(why) = &object.open {
        flat.open.push(OpenKey { path: path.to_owned(), line: object.line, why: why.to_string() });
    }
    let before = flat.document.entries.len() + flat.open.len();
    above.push(id);
    for field in &object.fields {
        value(program, &field.value, &below(&field.name), field.line, field.is_assigned, above, flat);
    }
    above.pop();
    let is_empty = before == flat.document.entries.len() + flat.open.len();
    if is_empty && is_assigned && !path.is_empty() && object.callee.is_empty() && object.open.is_none() {
        let why = "is given from outside this file".to_owned();
        flat.open.push(OpenKey { path: path.to_owned(), line, why });
    }
}

fn put(flat: &mut Flat, path: &str, data: Data, line: usize) {
    flat.document.entries.push(Entry::new(path.to_owned(), data, Spot { line, column: 0 }));
}

/// A literal; `None` for other values.
fn data(program: &Program<'_>, value: &Value, depth: usize) -> Option<Data> {
    let heap: &Heap = &program.heap;
    Some(match value {
        Value::None => Data::Null,
        Value::Flag(flag) => Data::Flag(*flag),
        Value::Integer(n) => Data::Integer(*n),
        Value::Number(x) => Data::Number(*x),
        Value::Text(text) => Data::Text(text.clone()),
        Value::Name(path) => Data::Text(path.clone()),
        Value::Function(id) => Data::Text(program.functions.get(*id)?.name.clone()),
        Value::Class(id) => Data::Text(program.classes.get(*id)?.name.clone()),
        Value::List(id) if depth < 8 => {
            let items = heap.lists.get(*id)?.iter().take(10_000);
            let nodes = items
                .map(|item| data(program, item, depth + 1).map(|data| Node { data, spot: Spot::default() }));
            Data::List(nodes.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Position of an object in a configuration: the dotted key, empty for the whole.
pub(super) fn path_of(program: &Program<'_>, root: &Value, wanted: usize) -> Option<String> {
    fn search(
        program: &Program<'_>,
        value: &Value,
        wanted: usize,
        path: &str,
        seen: &mut Vec<usize>,
    ) -> Option<String> {
        match value {
            Value::Object(id) if *id == wanted => Some(path.to_owned()),
            Value::Object(id) if !seen.contains(id) && seen.len() < 2000 => {
                seen.push(*id);
                let object = program.heap.objects.get(*id)?;
                object.fields.iter().find_map(|field| {
                    let below =
                        if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
                    search(program, &field.value, wanted, &below, seen)
                })
            }
            _ => None,
        }
    }
    search(program, root, wanted, "", &mut Vec::new())
}
