//! The result of a query.
//!
//! Responsible for: names of columns and rows of cells, as values. Limited to the requested number of rows.

use serde::Serialize;

/// A cell of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Cell {
    /// Nothing (`NULL`).
    None,
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
}

/// The rows that a question brought.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The names of the columns, as the question gives them.
    pub columns: Vec<String>,
    /// The rows, each as long as [`Self::columns`].
    pub rows: Vec<Vec<Cell>>,
    /// Whether there are more rows than requested.
    pub more: bool,
}
