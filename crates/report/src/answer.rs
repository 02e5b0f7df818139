//! Results ready for any format: values for JSON, a document for people, and optionally a page and metrics.
//!
//! Responsible for: what every result has ([`Answer`]), and the common fields of its JSON. Excludes
//! destinations.

use crate::document::Document;
use crate::prometheus::Metric;
use crate::{Terminal, clean, delimited};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Version of the JSON of every command. It increases if a field changes its meaning or is removed; new
/// fields do not change it.
pub const SCHEMA_VERSION: u32 = 2;

/// A result, ready for any format.
pub trait Answer {
    /// The `kind` of the result in JSON.
    const KIND: &'static str;

    /// Its fields in JSON, after `schema_version`, `kind` and `railwright`.
    type Json<'a>: Serialize
    where
        Self: 'a;

    /// Value of the result in JSON.
    fn json(&self) -> Self::Json<'_>;

    /// The result as a document, for the report.
    fn document(&self, terminal: Terminal) -> Document;

    /// The result as HTML; `None` without such a form.
    fn page(&self) -> Option<String> {
        None
    }

    /// The result as metrics; `None` without any.
    fn metrics(&self) -> Option<Vec<Metric>> {
        None
    }

    /// The result as CSV: by default the first table of the document.
    fn csv(&self) -> String {
        delimited::render(&self.document(Terminal::file(false)))
    }
}

/// Common fields of every result.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope<'a, T> {
    /// Increases if a field changes or is removed; new fields may appear at any time.
    schema_version: u32,
    /// The kind of result.
    kind: &'a str,
    /// Version of the program.
    railwright: &'a str,
    #[serde(flatten)]
    fields: T,
}

/// JSON with its version, two spaces deep.
pub fn envelope(kind: &str, fields: &impl Serialize) -> String {
    let whole =
        Envelope { schema_version: SCHEMA_VERSION, kind, railwright: env!("CARGO_PKG_VERSION"), fields };
    // Structures with text keys always serialize.
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    match clean::json(&text) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) => text,
    }
}

/// The name that JSON has for something, with spaces: `optimizer step`.
pub fn words(named: impl Serialize) -> String {
    match serde_json::to_value(named) {
        Ok(Value::String(name)) => name.replace('_', " "),
        _ => String::new(),
    }
}
