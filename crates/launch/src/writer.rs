//! Interface of writers of launch files, and comparison of plans as they write them.

use crate::Format;
use railwright_spec::plan::{Optimizer, Plan, PlanSpec, Schedule, Sharding};
use railwright_spec::problem::Warning;
use railwright_spec::run::{Run, Section};
use serde::Serialize;

/// Writes a run as one kind of launch file.
pub trait Writer: Sync {
    /// The kind.
    fn format(&self) -> Format;

    /// Name after `--to`.
    fn name(&self) -> &'static str;

    /// True if its files can train adapters.
    fn trains_adapters(&self) -> bool {
        TRAIN_ADAPTERS.contains(&self.name())
    }

    /// True if its files wrap any module, not only language models.
    fn wraps_any_model(&self) -> bool {
        WRAP_ANY_MODEL.contains(&self.name())
    }

    /// Composes the files of a run whose kind of training the format supports.
    fn compose(&self, run: &Run) -> Written;

    /// Composes the files for one of [`Writer::versions`].
    fn compose_for(&self, run: &Run, version: &str) -> Written {
        let _ = version;
        self.compose(run)
    }

    /// Writes a valid run. Reading the first file gives the same plan and the same model, except for settings
    /// listed as not expressed. Refuses adapters in a format without them: the file would train all
    /// parameters. Refuses models without a vocabulary in a format for language models.
    fn write(&self, run: &Run) -> Written {
        refusal(self, run).unwrap_or_else(|| self.compose(run))
    }

    /// Versions of the framework with different files, newest first; empty if all known versions read the
    /// same files.
    fn versions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Writes a run for one of [`Writer::versions`], as [`Writer::write`] does.
    fn write_for(&self, run: &Run, version: &str) -> Written {
        refusal(self, run).unwrap_or_else(|| self.compose_for(run, version))
    }

    /// The part of a run that a user's file of this format determines: adapters that it cannot name are set
    /// elsewhere.
    fn determined(&self, run: &Run) -> Run {
        let mut run = run.clone();
        if run.plan.optimizer == Optimizer::Lora && !self.trains_adapters() {
            (run.plan.optimizer, run.plan.lora) = (Optimizer::Adam, None);
        }
        run
    }
}

/// Names of the writers whose files can train adapters.
pub(crate) const TRAIN_ADAPTERS: [&str; 4] = ["megatron-bridge", "accelerate", "llama-factory", "axolotl"];

/// Names of the writers whose files wrap any module.
pub(crate) const WRAP_ANY_MODEL: [&str; 2] = ["deepspeed", "accelerate"];

/// Names in quotes.
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The refusal of adapters by a format without them, and of models without a vocabulary by a format for
/// language models.
fn refusal<W: Writer + ?Sized>(writer: &W, run: &Run) -> Option<Written> {
    let name = writer.name();
    if run.model.vocabulary == 0 && !writer.wraps_any_model() {
        let message = format!(
            "files of `{name}` train language models, and {} has no vocabulary; those of {} wrap any model",
            run.model.name,
            quoted(&WRAP_ANY_MODEL)
        );
        return Some(Written::refused(Lost { key: "model".to_owned(), message }));
    }
    if writer.trains_adapters() || run.plan.optimizer != Optimizer::Lora {
        return None;
    }
    let message = format!("files of `{name}` train no adapters; those of {} do", quoted(&TRAIN_ADAPTERS));
    Some(Written::refused(Lost { key: "plan.optimizer".to_owned(), message }))
}

/// A run as launch files.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Written {
    /// The files; the first is the one that readers support.
    pub files: Vec<WrittenFile>,
    /// Settings or values that the format cannot express.
    pub not_expressed: Vec<Lost>,
    /// Reason why nothing was written: a feature that the framework lacks. A file without it would describe
    /// another run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Lost>,
}

impl Written {
    /// No files, with the reason.
    pub(crate) fn refused(why: Lost) -> Self {
        Self { files: Vec::new(), not_expressed: Vec::new(), refused: vec![why] }
    }

    /// All settings that cannot be expressed: the reason why nothing was written, and the omitted ones.
    pub fn inexpressible(&self) -> impl Iterator<Item = &Lost> {
        self.refused.iter().chain(&self.not_expressed)
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// Its usual name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The version of the framework for this file, such as `2026-08`; empty if all known versions read it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub version: &'static str,
}

impl WrittenFile {
    /// A file that all known versions read.
    pub(crate) fn new(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), text, version: "" }
    }
}

/// A key of a run whose value a format cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// The key of a run file, such as `plan.offload.activations`.
    pub key: String,
    /// Lost setting and the value that applies instead, as a lowercase fragment.
    pub message: String,
}

impl Lost {
    /// The lost setting as a warning.
    pub fn warning(&self) -> Warning {
        Warning::new("launch-not-expressed", format!("`{}`: {}", self.key, self.message))
    }
}

/// Keys of a run file in which two plans differ, such as `plan.micro_batch`; empty for equal plans. Choices
/// without effect, such as sequence parallelism on one tensor-parallel rank, do not count.
pub fn differences(a: &Plan, b: &Plan) -> Vec<String> {
    let (a, b) = (PlanSpec::from_plan(&settled(a)), PlanSpec::from_plan(&settled(b)));
    PlanSpec::KEYS
        .iter()
        .filter(|key| a.get(key.name) != b.get(key.name))
        .map(railwright_spec::run::Key::path)
        .collect()
}

/// The plan with every choice that has no effect at its plain value.
pub(crate) fn settled(plan: &Plan) -> Plan {
    let mut plan = plan.clone().placed_alike();
    let everyone = plan.data_parallel * plan.context_parallel;
    if plan.tensor_parallel == 1 {
        plan.sequence_parallel = false;
        plan.overlap.tensor = false;
    }
    if plan.pipeline_parallel == 1 {
        plan.schedule = Schedule::OneForwardOneBackward;
        plan.overlap.pipeline = false;
    }
    if plan.sharding.group == Some(everyone) {
        plan.sharding.group = None;
    }
    if everyone == 1 && plan.expert_data_parallel() == 1 {
        plan.sharding = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
        plan.overlap.gradient_reduce = false;
    }
    if plan.sharding.zero_stage == 0 {
        plan.overlap.parameter_gather = false;
    }
    plan
}
