//! The run file's JSON schema and reference page, from the table of keys.

use super::spec::keys;
use super::value::Kind;
use crate::plan::{AUTO, AutoSize};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// JSON schema of a run file, for editors with TOML completion.
pub fn schema() -> Value {
    let mut root = object();
    for key in keys() {
        let mut place = &mut root;
        let path = key.path();
        let parts: Vec<&str> = path.split('.').collect();
        let (last, parents) = parts.split_last().unwrap_or((&"", &[]));
        for parent in parents {
            place = &mut place["properties"][*parent];
            if place.is_null() {
                *place = object();
            }
        }
        let mut property = of_kind(key.kind);
        if key.section == "plan" && AutoSize::of_key(key.name).is_some() {
            property = json!({ "anyOf": [property, { "const": AUTO }] });
        }
        property["description"] = json!(key.doc.trim());
        property["x-default"] = json!(key.default);
        place["properties"][*last] = property;
    }
    // `precision = "bf16"` is short for `precision.preset`.
    let precision = &mut root["properties"]["plan"]["properties"]["precision"];
    let either = json!({ "anyOf": [precision["properties"]["preset"].clone(), precision.clone()] });
    *precision = either;
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Railwright run file");
    root
}

fn object() -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": Map::new() })
}

fn of_kind(kind: Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(names) => json!({ "enum": names }),
        Kind::Form(examples) => json!({ "type": ["string", "integer"], "examples": examples }),
        Kind::Counts => json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Quantity(examples) => json!({ "type": "string", "examples": examples }),
        Kind::Amount(examples) => json!({ "type": ["number", "string"], "examples": examples }),
    }
}

/// The reference page of the run file, in Markdown.
pub fn reference() -> String {
    let mut out = String::from("# Keys of a run file\n");
    let mut section = "";
    for key in keys() {
        if key.section != section {
            section = key.section;
            let _ = write!(
                out,
                "\n## `[{section}]`\n\n| key | expects | meaning | without it |\n| --- | --- | --- | --- |\n"
            );
        }
        let expects = key.kind.expects().replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {expects} | {} | {} |", key.name, key.doc.trim(), key.default);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_schema_and_reference() {
        let schema = schema();
        let page = reference();
        let all = keys();
        assert!(all.len() > 80);
        for key in &all {
            let pointer =
                format!("/properties/{}/properties/{}", key.section, key.name.replace('.', "/properties/"));
            let pointer = pointer.replace("/precision/properties", "/precision/anyOf/1/properties");
            let property = schema.pointer(&pointer).unwrap_or_else(|| panic!("{pointer}"));
            assert!(property["description"].as_str().is_some_and(|d| d.ends_with('.')), "{pointer}");
            assert!(page.contains(&format!("| `{}` |", key.name)) && !key.default.is_empty());
        }
        let mut paths: Vec<String> = all.iter().map(super::super::Key::path).collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), all.len(), "a key occurs twice");
    }
}
