//! One report of a step in a log.

use serde::Serialize;
use std::collections::BTreeMap;

/// Framework that wrote the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Framework {
    /// Megatron-LM, and frameworks with its lines: MindSpeed, Megatron-Bridge, Primus, Megatron-DeepSpeed.
    Megatron,
    /// DeepSpeed's engine.
    Deepspeed,
    /// torchtitan.
    Torchtitan,
    /// nanotron.
    Nanotron,
    /// NeMo on Lightning.
    Nemo,
    /// MaxText.
    Maxtext,
    /// The Trainer of Hugging Face, and frameworks based on it: TRL, Axolotl, LLaMA-Factory, ms-swift.
    Trainer,
}

impl Framework {
    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Megatron => "Megatron-LM",
            Self::Deepspeed => "DeepSpeed",
            Self::Torchtitan => "torchtitan",
            Self::Nanotron => "nanotron",
            Self::Nemo => "NeMo",
            Self::Maxtext => "MaxText",
            Self::Trainer => "Hugging Face Trainer",
        }
    }
}

/// A timer of a report: times of the fastest and of the slowest rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timer {
    /// Milliseconds on the fastest rank; equal to `max_ms` if the log has one number.
    pub min_ms: f64,
    /// Milliseconds on the slowest rank.
    pub max_ms: f64,
}

/// One report of one or of several iterations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The reported iteration; the last one of an average over several.
    pub iteration: u64,
    /// Number of iterations in the average.
    pub weight: u64,
    /// Number of the run's start that the report belongs to, from 0.
    pub start: u32,
    /// The line in the log, counted from 1.
    pub line: u64,
    /// Time as written in the log.
    pub at: Option<String>,
    /// Seconds per iteration.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub seconds: f64,
    /// Model TFLOP/s of one device, from the log.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "TFLOP/s")))]
    pub tflops: Option<f64>,
    /// MFU from the log (0 to 1).
    pub mfu: Option<f64>,
    /// Sequences of a step.
    pub batch: Option<u64>,
    /// Tokens per second and device.
    pub tokens_per_second: Option<f64>,
    /// Sequences per second of all devices, from DeepSpeed's report of this step.
    pub samples_per_second: Option<f64>,
    /// The loss.
    pub loss: Option<f64>,
    /// The norm of the gradients.
    pub gradient_norm: Option<f64>,
    /// The learning rate.
    pub learning_rate: Option<f64>,
    /// Number of iterations with a skipped update.
    pub skipped: u64,
    /// Number of iterations whose loss is not a number.
    pub not_a_number: u64,
    /// Timers after the report.
    pub timers: BTreeMap<String, Timer>,
}
