//! The value of a setting that may have several names, or stand in several places.
//!
//! Responsible for: one value, or an open key with the reason. Two different values leave the key open.

use super::parts::{self, last};
use crate::RemarkKind;
use crate::document::Data;
use crate::fields::Fields;

/// Paths of the trained model's keys of these names that have a value.
pub(super) fn paths(fields: &Fields<'_>, list: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for entry in &fields.document.entries {
        let is_one = list.contains(&last(&entry.path).as_str()) && parts::side(&entry.path).is_none();
        if is_one
            && entry.data != Data::Null
            && !matches!(entry.data, Data::Table(_))
            && !found.contains(&entry.path)
        {
            found.push(entry.path.clone());
        }
    }
    found
}

/// Tests whether a value is known only outside this file.
pub(super) fn is_unknown(data: &Data) -> bool {
    matches!(data, Data::Text(text) if text.contains('$') || text.contains("{{") || matches!(text.trim(), "auto" | "???"))
}

/// Leaves a key open because of one of the file's keys.
pub(super) fn open(fields: &mut Fields<'_>, key: &str, path: &str, why: &str) {
    let (source, line) = fields.source(path);
    fields.draft.leave_open(key, &source, line, why);
    fields.draft.remark(RemarkKind::Unresolved, &source, line, format!("{why}: `{key}` stays unset"));
}

/// The path of the only value of some names. Several values, and an unknown one, leave the key open.
pub(super) fn one(fields: &mut Fields<'_>, key: &str, list: &[&str]) -> Option<String> {
    let found = paths(fields, list);
    let values: Vec<Data> =
        found.iter().filter_map(|path| fields.document.get(path).map(|entry| entry.data.clone())).collect();
    for path in &found {
        fields.take(path);
    }
    let path = found.first()?;
    if let Some(at) = values.iter().position(is_unknown) {
        open(fields, key, &found[at], "its value is not in this file");
        return None;
    }
    if let Some(at) = values.iter().position(|value| value.plain() != values[0].plain()) {
        let why = format!("`{}` has another value than `{path}`", found[at]);
        open(fields, key, path, &why);
        return None;
    }
    Some(path.clone())
}

/// A count of at least 1 under one of some names; any other value leaves the key open.
pub(super) fn count(fields: &mut Fields<'_>, key: &str, list: &[&str]) -> Option<(String, u64)> {
    let path = one(fields, key, list)?;
    let value = fields.document.get(&path).and_then(|entry| entry.data.count()).filter(|&count| count > 0);
    if value.is_none() {
        open(fields, key, &path, "its value is not a count");
    }
    value.map(|count| (path, count))
}
