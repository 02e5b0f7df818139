//! JSON Schema of every result, one file per kind under `docs/reference/schema`.
//!
//! Responsible for: the list of kinds, and files that agree with the types. `SCHEMA_UPDATE=1` writes them.
//! Part of the tests alone: the program does not contain the generator.

use super as c;
use railwright_report::{Answer, Envelope, SCHEMA_VERSION};
use railwright_reports as r;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The types of results of one kind.
struct Kind {
    generator: SchemaGenerator,
    shapes: Vec<Value>,
}

#[derive(Default)]
struct Kinds(BTreeMap<String, Kind>);

impl Kinds {
    fn add<T: JsonSchema>(&mut self, kind: &str) {
        let new = || Kind {
            generator: SchemaSettings::draft2020_12().for_serialize().into_generator(),
            shapes: Vec::new(),
        };
        let Kind { generator, shapes } = self.0.entry(kind.to_owned()).or_insert_with(new);
        let mut shape = <Envelope<'static, T>>::json_schema(generator).to_value();
        shape["properties"]["kind"] = json!({ "const": kind });
        shape["properties"]["schema_version"]["const"] = json!(SCHEMA_VERSION);
        shapes.push(shape);
    }

    fn add_answer<A: Answer + 'static>(&mut self)
    where
        A::Json<'static>: JsonSchema,
    {
        self.add::<A::Json<'static>>(A::KIND);
    }

    /// File names and schemas.
    fn finish(self) -> BTreeMap<String, Value> {
        let written = |(kind, mut of): (String, Kind)| {
            let mut whole = Map::new();
            whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
            whole.insert("title".to_owned(), json!(kind));
            match (of.shapes.pop(), of.shapes.is_empty()) {
                (Some(Value::Object(only)), true) => whole.extend(only),
                (last, _) => {
                    of.shapes.extend(last);
                    whole.insert("anyOf".to_owned(), Value::Array(of.shapes));
                }
            }
            whole.insert("$defs".to_owned(), Value::Object(of.generator.take_definitions(true)));
            let mut whole = Value::Object(whole);
            plain(&mut whole);
            (kind, whole)
        };
        self.0.into_iter().map(written).collect()
    }
}

/// Descriptions without the links of rustdoc, in terms of JSON.
fn plain(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                match inner {
                    Value::String(text) if key == "description" => {
                        *text = text.replace("[`", "`").replace("`]", "`").replace("`None`", "`null`");
                    }
                    other => plain(other),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(plain),
        _ => {}
    }
}

macro_rules! kinds {
    ($($answer:path),* $(,)?) => {{
        let mut all = Kinds::default();
        $(all.add_answer::<$answer>();)*
        all
    }};
}

fn all() -> BTreeMap<String, Value> {
    let mut all = kinds![
        r::balance::Balance,
        r::calibrate::shown::Shown,
        r::calibrate::Calibrated,
        r::check::Answered,
        r::clusters::Clusters,
        r::clusters::Preset,
        r::comm::Communication,
        r::compare::Compared,
        r::compare::logs::Logged,
        r::compare::modelled::Against,
        r::detect::Detected,
        r::estimate::Estimated,
        r::explain::Explained,
        r::explain::Topics,
        r::explain::Generations,
        r::goodput::Answered,
        r::gpus::Gpus,
        r::gpus::Gpu,
        r::hang::Verdict,
        r::keys::Keys,
        r::log::Read,
        r::memory::Memory,
        r::memory_snapshot::Shown,
        r::models::Models,
        r::models::show::Shown,
        r::monitored::Communication,
        r::monitored::Stragglers,
        r::network::collective::Answered,
        r::network::cost::Compared,
        r::network::design::Answered,
        r::network::failures::Answered,
        r::network::flows::Answered,
        r::network::rail_only::Paper,
        r::network::show::Shown,
        r::network::simulate::Simulated,
        r::network::sites::Answered,
        r::network::topologies::Kinds,
        r::network::topologies::OneKind,
        r::network::topologies::Published,
        r::network::traffic::Sums,
        r::pipeline::Page,
        r::profile::Shown,
        r::profile::range::Shown,
        r::profile_compat::Shown,
        c::recorded::query::Rows,
        c::recorded::query::Schema,
        r::recompute::Recompute,
        r::search::Answered,
        r::sensitivity::Ranking,
        r::size::Answered,
        r::stragglers::Stragglers,
        r::tune::Tuned,
        r::validate::Validated,
        r::validate::network::Measured,
        r::validate::regret::Judged,
        r::values::Values,
        r::whatif::WhatIfReport,
    ];
    all.add::<c::planned::export::ExportFields<'static>>("export");
    all.finish()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schema")
}

#[test]
fn schemas_agree_with_the_types() {
    let updates = std::env::var_os("SCHEMA_UPDATE").is_some();
    let mut stale = Vec::new();
    for (kind, schema) in all() {
        let path = folder().join(format!("{kind}.json"));
        let mut text = serde_json::to_string_pretty(&schema).expect("JSON");
        text.push('\n');
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if updates {
            std::fs::write(&path, text).expect("writable");
        } else {
            stale.push(kind);
        }
    }
    assert!(stale.is_empty(), "stale schemas: {stale:?}; SCHEMA_UPDATE=1 writes them");
}

/// Numbers that are times by their name, and neither have a unit there nor in their schema.
fn unitless_times(node: &Value, name: &str, found: &mut Vec<String>) {
    const TIMES: [&str; 12] = [
        "time", "times", "duration", "wait", "waits", "waiting", "transfer", "lateness", "start", "end",
        "offset", "noise",
    ];
    match node {
        Value::Object(map) => {
            let is_number = map.get("type").is_some_and(|kind| {
                kind == "number" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("number")))
            });
            let is_time = TIMES.contains(&name) || name.ends_with("_time");
            if is_number && is_time && !map.contains_key("x-unit") {
                found.push(name.to_owned());
            }
            for (key, inner) in map {
                match (key.as_str(), inner) {
                    ("properties" | "$defs", Value::Object(members)) => {
                        members.iter().for_each(|(member, inner)| unitless_times(inner, member, found));
                    }
                    (
                        "items" | "anyOf" | "oneOf" | "allOf" | "prefixItems" | "additionalProperties",
                        inner,
                    ) => {
                        unitless_times(inner, name, found);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| unitless_times(inner, name, found)),
        _ => {}
    }
}

#[test]
fn times_have_units() {
    let mut found = Vec::new();
    for (kind, schema) in all() {
        let mut of_kind = Vec::new();
        unitless_times(&schema, "", &mut of_kind);
        found.extend(of_kind.into_iter().map(|name| format!("{kind}: {name}")));
    }
    // Relative to the step, and sums of elasticities.
    found.retain(|one| one != "log: noise" && one != "sensitivity: times");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
