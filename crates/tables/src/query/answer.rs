//! The result of a query.
//!
//! Responsible for: names of columns and rows of cells, as values. Limited to the requested number of rows.

use serde::Serialize;

/// A cell of a query result.
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

/// Result of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// Names of the columns, from the query.
    pub columns: Vec<String>,
    /// Rows, each as long as [`Self::columns`].
    pub rows: Vec<Vec<Cell>>,
    /// True if there are more rows than requested.
    pub more: bool,
}
