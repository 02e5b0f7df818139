//! What a cost that is told is: the same word beside every one of them.
//!
//! Responsible for: telling a cost by replay from a bound and from one that is not known. Refuses degrees in between.

use serde::Serialize;

/// What a cost is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The difference of two replays of everything that ran.
    #[default]
    Replayed,
    /// The most that it can be: what was not recorded may have absorbed it.
    AtMost,
    /// Not told: what was not recorded may have absorbed or caused it.
    Unknown,
}

impl Certainty {
    /// Of a cost of which the most that it can be is told where something is missing.
    pub(crate) const fn bounded(bounds_only: bool) -> Self {
        if bounds_only { Self::AtMost } else { Self::Replayed }
    }

    /// In a word, for a column beside the cost.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replayed => "by replay",
            Self::AtMost => "at most",
            Self::Unknown => "not known",
        }
    }

    /// A cost that is written out, with a sign before it that says when it is a bound.
    pub fn signed(self, cost: &str) -> String {
        match self {
            Self::Replayed => cost.to_owned(),
            Self::AtMost => format!("\u{2264} {cost}"),
            Self::Unknown => "not known".to_owned(),
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
