//! Marks: findings of analyses with their place.
//!
//! Responsible for: the value. Findings come from the analyses.

use serde::Serialize;

/// Severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Information without cost.
    #[default]
    Note,
    /// Problem with a cost.
    Warning,
    /// Problem with a large cost.
    Fault,
}

/// A finding with its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// Identifier for `railwright explain`; empty if there is none.
    pub id: String,
    /// The most affected rank, whose tracks may be hidden; `None` if the whole job is affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Index of the track; `None` for the whole step.
    pub track: Option<u32>,
    /// Index of the span on the track; `None` unless the finding is about one span.
    pub span: Option<u32>,
    /// Start time in nanoseconds since the step began.
    pub at: i64,
    /// Duration in nanoseconds.
    pub length: i64,
    /// Title of one line.
    pub title: String,
    /// Additional details.
    pub detail: String,
    /// Severity.
    pub severity: Severity,
    /// Cost per step in nanoseconds; `None` if unknown.
    pub cost_ns: Option<i64>,
    /// True if the cost is an upper bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}
