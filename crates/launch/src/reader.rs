//! What a reader of launch files is, and the list of all of them.

use crate::{Format, Launch, accelerate, deepspeed, maxtext, megatron, nanotron, nemo, torchtitan};
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Reads one kind of launch file.
pub trait Reader: Sync {
    /// The kind.
    fn format(&self) -> Format;

    /// Whether a text looks like that kind, and why. Looks at content alone: names of files lie.
    fn recognise(&self, text: &str) -> Option<Evidence>;

    /// Reads a text; `file` is what messages call it. All that is wrong with it is told at once.
    fn read(&self, text: &str, file: &str) -> Result<Launch, Vec<Problem>>;
}

/// Why a text is taken for a kind of file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// How strong the evidence is.
    pub strength: Strength,
    /// What was seen, such as "the keys `parallelism` and `tokens`".
    pub why: String,
}

/// How strong evidence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// It may be so, if nothing else fits better.
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

/// Every reader; where two see evidence of one strength, the earlier wins.
pub fn readers() -> &'static [&'static dyn Reader] {
    &[
        &megatron::LogReader,
        &megatron::ScriptReader,
        &megatron::CommandReader,
        &megatron::YamlReader,
        &torchtitan::TorchtitanReader,
        &deepspeed::DeepspeedReader,
        &nanotron::NanotronReader,
        &nemo::BridgeReader,
        &nemo::NemoReader,
        &accelerate::AccelerateReader,
        &maxtext::MaxTextReader,
    ]
}
