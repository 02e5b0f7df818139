//! A launch file as a run specification with the origin of every value, and remarks.
//!
//! Responsible for: the result of every reader. Remarks have a kind, and the caller selects which to report.

use crate::Format;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::run::RunSpec;
use serde::Serialize;

/// Content of a launch file.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kind of file.
    pub format: Format,
    /// The file, or a name in its place.
    pub file: String,
    /// Its run settings; all others are open.
    pub spec: RunSpec,
    /// The text of a `config.json`, if the keys of a run file cannot express the model. `spec.model.config`
    /// is then [`Launch::file`], and the caller that resolves the specification provides this text under
    /// that name.
    pub model_config: Option<String>,
    /// Origin of each value, in the order of reading.
    pub origins: Vec<Origin>,
    /// All remarks.
    pub remarks: Vec<Remark>,
    /// Reason why the file shows only a part of the run; `None` for a complete file. Open settings of a
    /// partial file have no defaults.
    pub partial: Option<String>,
    /// Values that the file sets but that are unknown, or that a partial file leaves open.
    pub open: Vec<Open>,
    /// Measurements of the run, if the file is a log.
    pub measured: Option<Measured>,
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The key of a run file, such as `plan.tensor_parallel`.
    pub key: String,
    /// Value in the form of a run file.
    pub value: String,
    /// The text of the file, such as `--tensor-model-parallel-size 8`, or the default.
    pub source: String,
    /// The line, from 1; `None` for a default of the framework.
    pub line: Option<usize>,
    /// The file of that line; `None` if it is the launch file itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A value that stays open.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Open {
    /// The key of a run file for it.
    pub key: String,
    /// The text of the file; empty if none.
    pub source: String,
    /// The line, from 1, if there is one.
    pub line: Option<usize>,
    /// The file of that line; `None` if it is the launch file itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Reason why it is open, as a lowercase fragment.
    pub why: String,
}

/// A remark on a launch file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remark {
    /// Kind.
    pub kind: RemarkKind,
    /// Its subject: a flag, a key, a variable.
    pub source: String,
    /// The line, from 1, if there is one.
    pub line: Option<usize>,
    /// The remark, a lowercase fragment without the subject.
    pub message: String,
    /// The file of that line; `None` if it is the launch file itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Kinds of remarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// Two different values.
    Conflict,
    /// An unknown value: a variable without a value, an interpolation that refers to another file.
    Unresolved,
    /// A value that its option does not accept: the framework fails to start.
    Invalid,
    /// A name that is not known; the nearest known one is in the message.
    Unknown,
    /// Known, changes time or memory, and not expressible in the calculator.
    NotModelled,
    /// An inferred value.
    Assumed,
    /// Known, without effect on time and memory.
    Ignored,
}

impl RemarkKind {
    /// Identifier of the resulting warning, as described by `railwright explain`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Conflict => "launch-conflict",
            Self::Unresolved => "launch-unresolved",
            Self::Invalid => "launch-invalid",
            Self::Unknown => "launch-unknown",
            Self::NotModelled => "launch-not-modelled",
            Self::Assumed => "launch-assumed",
            Self::Ignored => "launch-ignored",
        }
    }
}

impl Remark {
    /// The remark as a warning: `train.sh:12: --foo: ...`.
    pub fn warning(&self, file: &str) -> Warning {
        let file = self.file.as_deref().unwrap_or(file);
        let place = self.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
        Warning::new(self.kind.id(), format!("{place}: `{}`: {}", self.source, self.message))
    }
}

/// Measurements of a run in its log. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// Iterations that the log reports on, over all restarts.
    pub reported: u64,
    /// Starts of the run in this log: 1, or more with restarts.
    pub starts: u64,
    /// Iterations left out as warm-up.
    pub left_out: u64,
    /// Iterations left out because they have another batch size than the last.
    pub other_batch: u64,
    /// Seconds of one step: the median of the reports that were kept, each weighted with the iterations that
    /// it averages over.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub step_time: f64,
    /// The tenth and ninetieth percentile of the same.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub step_time_range: (f64, f64),
    /// Tokens per step, if the log has batch and sequence length.
    pub tokens_per_step: Option<f64>,
    /// Model TFLOP/s of one device as in the log, the median of the reports that were kept.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "TFLOP/s")))]
    pub tflops_per_device: Option<f64>,
    /// Maximum memory allocated on a rank, in bytes.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B")))]
    pub allocated: Option<f64>,
    /// Maximum memory reserved by the allocator on a rank, in bytes.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B")))]
    pub reserved: Option<f64>,
}

impl Launch {
    /// Tests whether the file sets the model.
    pub fn has_model(&self) -> bool {
        self.spec.model != railwright_spec::run::ModelSpec::default()
    }

    /// Tests whether an estimate needs a setting of the model that the file leaves open, although it sets the
    /// others: the routed experts, and for dimensions of its own the rows of the vocabulary and
    /// the experts per token.
    pub fn needs_of_model(key: &str, spec: &RunSpec) -> bool {
        let has_dimensions = spec.model.name.is_none() && spec.model.layers.is_some();
        match key {
            "model.experts" => has_dimensions || spec.plan.expert_parallel.is_some_and(|ranks| ranks > 1),
            "model.vocab" | "model.top_k" | "model.ffn" => has_dimensions,
            _ => false,
        }
    }

    /// The same for an open setting: a text of the file about a dimension of its own model is asked for.
    pub fn needs(open: &Open, spec: &RunSpec) -> bool {
        let has_dimensions = spec.model.name.is_none() && spec.model.layers.is_some();
        let is_about = !open.source.is_empty() && open.key.starts_with("model.") && has_dimensions;
        is_about || Self::needs_of_model(&open.key, spec)
    }

    /// The action that sets the number of devices, which is a multiple of one replica of the layout.
    pub fn devices_hint(spec: &RunSpec) -> String {
        let plan = &spec.plan;
        let size = |size: Option<u64>| size.unwrap_or(1).max(1);
        let dense = size(plan.tensor_parallel).saturating_mul(size(plan.context_parallel));
        let experts = size(plan.expert_parallel).saturating_mul(size(plan.expert_tensor_parallel));
        // Both divide the devices of a pipeline stage.
        let (more, fewer) = (dense.max(experts), dense.min(experts).min(1 << 16));
        let both = (1..=fewer).map(|n| more.saturating_mul(n)).find(|all| all.is_multiple_of(fewer));
        match size(plan.pipeline_parallel).saturating_mul(both.unwrap_or(more)) {
            1 => "add the number, as in `--gpus 64`".to_owned(),
            least => format!(
                "add the number, a multiple of {} by the layout, as in `--gpus {}`",
                human::whole(least),
                least.saturating_mul(64_u64.div_ceil(least))
            ),
        }
    }

    /// Remarks of one kind.
    pub fn remarks_of(&self, kind: RemarkKind) -> impl Iterator<Item = &Remark> {
        self.remarks.iter().filter(move |remark| remark.kind == kind)
    }
}
