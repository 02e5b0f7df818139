//! Certainty of a reported cost.
//!
//! Responsible for: the three states: cost by replay, bound, unknown.

use serde::Serialize;

/// Certainty of a cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The difference of two replays of everything that ran.
    #[default]
    Replayed,
    /// Upper bound: activity that was not recorded may have absorbed the cost.
    AtMost,
    /// Unknown: unrecorded parts may have absorbed or caused it.
    Unknown,
}

impl Certainty {
    /// The certainty of a cost that is an upper bound if recordings are missing.
    pub(crate) const fn bounded(bounds_only: bool) -> Self {
        if bounds_only { Self::AtMost } else { Self::Replayed }
    }

    /// As a word, for a column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replayed => "by replay",
            Self::AtMost => "at most",
            Self::Unknown => "unknown",
        }
    }

    /// A formatted cost, with a prefix if it is a bound.
    pub fn signed(self, cost: &str) -> String {
        match self {
            Self::Replayed => cost.to_owned(),
            Self::AtMost => format!("\u{2264} {cost}"),
            Self::Unknown => "unknown".to_owned(),
        }
    }

    /// The same for sentences.
    pub fn worded(self, cost: &str) -> String {
        match self {
            Self::AtMost => format!("at most {cost}"),
            Self::Replayed | Self::Unknown => self.signed(cost),
        }
    }
}
