//! A flow of a program as text.
//!
//! Responsible for: its properties, common to tables and JSON. Does not interpret them: see [`super::rows`].

use railwright_spec::problem::Problem;
use std::borrow::Cow;

/// Properties of a flow; the first [`NEEDED`] are required.
pub(super) const COLUMNS: [&str; 6] = ["source", "destination", "bytes", "start", "after", "name"];
pub(super) const NEEDED: usize = 3;

/// A flow as text. Empty cells have defaults.
pub(super) struct Row<'a> {
    pub(super) source: Cow<'a, str>,
    pub(super) destination: Cow<'a, str>,
    pub(super) bytes: Cow<'a, str>,
    pub(super) start: Cow<'a, str>,
    pub(super) after: Vec<String>,
    pub(super) name: Cow<'a, str>,
}

/// Receives a row with its number: its line in a table, or its index in JSON.
pub(super) type Add<'a> = &'a mut dyn FnMut(u64, Row<'_>) -> Result<(), Problem>;
