//! Interface of readers of launch files.

use crate::{Context, Format, Launch};
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Reads one kind of launch file.
pub trait Reader: Sync {
    /// The kind.
    fn format(&self) -> Format;

    /// Tests whether a text is of this kind, with the evidence. Uses the content alone, because names of
    /// files can be wrong.
    fn recognise(&self, text: &str) -> Option<Evidence>;

    /// Reads a text with its context: variables, arguments of a script, files that it reads. `file` is its
    /// name in messages. All problems are returned at once. Readers of self-contained files ignore the
    /// context.
    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>>;

    /// Reads a text without context.
    fn read(&self, text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
        self.read_with(text, file, &Context::default())
    }
}

/// Reason for the detection of a kind of file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Strength of the evidence.
    pub strength: Strength,
    /// Evidence, such as "the keys `parallelism` and `tokens`".
    pub why: String,
}

/// Strength of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Possible, if no other kind fits better.
    Weak,
    /// Several marks of the format.
    Likely,
    /// A mark that no other format has.
    Certain,
}

impl Evidence {
    /// Evidence.
    pub fn new(strength: Strength, why: impl Into<String>) -> Self {
        Self { strength, why: why.into() }
    }
}
