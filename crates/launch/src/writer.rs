//! What a writer of launch files is, and the list of all of them.

use crate::{Format, megatron, torchtitan};
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::problem::Warning;
use railwright_spec::run::{Run, Section};
use serde::Serialize;

/// Writes a run as one kind of launch file.
pub trait Writer: Sync {
    /// The kind.
    fn format(&self) -> Format;

    /// What it is called behind `--to`.
    fn name(&self) -> &'static str;

    /// Writes a run that is valid. Reading the first file gives the same plan and the same model, but for what is listed as
    /// not expressed.
    fn write(&self, run: &Run) -> Written;
}

/// A run as launch files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Written {
    /// The files, the one that readers understand first.
    pub files: Vec<WrittenFile>,
    /// What the format has no word for, or not this value.
    pub not_expressed: Vec<Lost>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenFile {
    /// Its usual name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A key of a run whose value a format cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The key of a run file, such as `plan.offload.activations`.
    pub key: String,
    /// What is lost and what holds instead, in a lowercase fragment.
    pub message: String,
}

impl Lost {
    /// As a warning.
    pub fn warning(&self) -> Warning {
        Warning::new("launch-not-expressed", format!("`{}`: {}", self.key, self.message))
    }
}

/// Keys of a run file in which two plans differ, such as `plan.micro_batch`; empty for equal plans.
pub fn differences(a: &Plan, b: &Plan) -> Vec<String> {
    let (a, b) = (PlanSpec::from_plan(a), PlanSpec::from_plan(b));
    PlanSpec::KEYS
        .iter()
        .filter(|key| a.get(key.name) != b.get(key.name))
        .map(railwright_spec::run::Key::path)
        .collect()
}

/// Every writer.
pub fn writers() -> &'static [&'static dyn Writer] {
    &[&megatron::FlagsWriter, &torchtitan::TorchtitanWriter]
}
