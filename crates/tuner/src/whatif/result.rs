//! Results of changes: possible or not, with the difference.

use super::evidence::Evidence;
use super::facts::Moved;
use super::summary::{Difference, Summary};
use railwright_spec::problem::{Problem, Warning};
use serde::Serialize;

/// Result of one change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeResult {
    /// The change as given by the user.
    pub name: String,
    /// Keys whose values differ, including derived ones.
    pub moved: Vec<Moved>,
    /// Prediction error for changes of this kind, from pairs of measured runs.
    pub evidence: Option<Evidence>,
    /// Remarks: location of slow members, reason for no effect.
    pub notes: Vec<String>,
    /// The result.
    pub outcome: Outcome,
}

/// Outcome of a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The changed run can be priced; it fits or not, see [`Summary::fit`].
    Possible(Box<Possible>),
    /// The changed run cannot be priced; all reasons.
    Impossible {
        /// The reasons.
        problems: Vec<Problem>,
    },
}

/// A changed run that can be priced.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Possible {
    /// The changed run.
    pub after: Summary,
    /// Difference from the run before.
    pub difference: Difference,
    /// New warnings, which the run before did not have.
    pub warnings: Vec<Warning>,
    /// Identifiers of warnings that no longer apply.
    pub resolved: Vec<String>,
}

impl ChangeResult {
    /// The changed run. `None` if it is impossible.
    pub fn possible(&self) -> Option<&Possible> {
        match &self.outcome {
            Outcome::Possible(possible) => Some(possible),
            Outcome::Impossible { .. } => None,
        }
    }
}
