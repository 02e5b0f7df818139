//! A program of flows as JSON: a list of objects, or an object with the list `flows`.
//!
//! Responsible for: the keys of an object, which are the columns of the table. `after` is a name or a list of
//! names. Numbers are bytes and seconds, texts have units. Does not interpret values: see [`super::rows`].

use super::row::{Add, COLUMNS, NEEDED, Row};
use railwright_spec::human::shorten;
use railwright_spec::problem::{Problem, did_you_mean};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Reads the flows of a document.
pub(super) fn read(text: &str, file: &str, add: Add<'_>) -> Result<(), Problem> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        let place = format!("{file}:{}:{}", error.line(), error.column());
        Problem::new("not a JSON document").in_file(place)
    })?;
    let list = match &document {
        Value::Array(list) => Some(list),
        Value::Object(object) => object.get("flows").and_then(Value::as_array),
        _ => None,
    };
    let list = list.ok_or_else(|| {
        Problem::new("no list of flows")
            .in_file(file)
            .hint("write a list, or an object with the list `flows`")
    })?;
    for (number, flow) in list.iter().enumerate() {
        let row = row(flow).map_err(|problem| problem.in_file(format!("{file}: flow {number}")))?;
        add(number as u64, row)?;
    }
    Ok(())
}

fn row(flow: &Value) -> Result<Row<'_>, Problem> {
    let Some(object) = flow.as_object() else { return Err(Problem::new("not an object")) };
    if let Some(key) = object.keys().find(|key| !COLUMNS.contains(&key.as_str())) {
        let list = format!("keys are {}", COLUMNS.join(", "));
        return Err(
            Problem::new(format!("unknown key `{}`", shorten(key))).hint(did_you_mean(key, COLUMNS, &list))
        );
    }
    if let Some(missing) = COLUMNS.iter().take(NEEDED).find(|key| !object.contains_key(**key)) {
        return Err(Problem::new(format!("the key `{missing}` is missing")));
    }
    Ok(Row {
        source: text(object, "source")?,
        destination: text(object, "destination")?,
        bytes: text(object, "bytes")?,
        start: text(object, "start")?,
        after: names(object.get("after"))?,
        name: text(object, "name")?,
    })
}

/// A text or a number as text; empty without a value.
fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Result<Cow<'a, str>, Problem> {
    let Some(value) = object.get(key) else { return Ok(Cow::Borrowed("")) };
    word(value).ok_or_else(|| Problem::new(format!("`{key}` is neither a text nor a number")))
}

fn word(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text.as_str())),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

fn names(value: Option<&Value>) -> Result<Vec<String>, Problem> {
    let list = match value {
        None => &[][..],
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let own = |value: &Value| word(value).map(Cow::into_owned);
    let names: Option<Vec<String>> = list.iter().map(own).collect();
    names.ok_or_else(|| Problem::new("`after` is neither a name nor a list of names"))
}
