//! Marks: what an analysis found, and where.
//!
//! Responsible for: the value. Refuses to find anything.

use serde::Serialize;

/// Severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Note,
    /// It costs something.
    Warning,
    /// It costs much.
    Fault,
}

/// Something that was found, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// What `railwright explain` knows it by; empty when it is no finding.
    pub id: String,
    /// The track; none is the whole step.
    pub track: Option<u32>,
    /// The span on it, where it is one.
    pub span: Option<u32>,
    /// Start time in nanoseconds since the step began.
    pub at: i64,
    /// Duration.
    pub length: i64,
    /// What it is, in a line.
    pub title: String,
    /// Additional details.
    pub detail: String,
    /// Severity.
    pub severity: Severity,
    /// Cost per step in nanoseconds, if known.
    pub cost_ns: Option<i64>,
    /// Whether the cost is the most that it can be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}
