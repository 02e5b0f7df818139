//! Definition of a sweep, and the targets of regrets.

use crate::validation::table::Cells;
use serde::Serialize;

/// Minimum number of layouts of a sweep.
pub const FEWEST_LAYOUTS: usize = 3;

/// Minimum spread of a sweep, slowest over fastest minus 1: less is measurement noise.
pub const SMALLEST_SPREAD: f64 = 0.05;

/// Minimum difference of a pair: below it there is no correct order.
pub const SMALLEST_DIFFERENCE: f64 = 0.02;

/// Targets of the regrets, over all sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Targets {
    /// Maximum median regret.
    pub median: f64,
    /// Maximum regret in `share` of the sweeps.
    pub tail: f64,
    /// Share of the sweeps that the tail covers.
    pub share: f64,
}

/// Within 3% of the best measured layout in the median, within 10% in nine sweeps of ten.
pub const TARGETS: Targets = Targets { median: 0.03, tail: 0.10, share: 0.9 };

/// Identity of a sweep: the settings that its layouts share.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep {
    /// Source of the measurements.
    pub source: String,
    /// Name of the model.
    pub model: String,
    /// Layers, widths, heads and experts: names alone do not distinguish the models of one study.
    pub dimensions: String,
    /// Accelerator.
    pub accelerator: String,
    /// Number of devices.
    pub devices: u64,
    /// Tokens per sequence.
    pub sequence_length: u64,
    /// Sequences per step.
    pub global_batch: u64,
    /// Training framework.
    pub framework: String,
    /// Number format.
    pub precision: String,
}

impl Sweep {
    /// The sweep of a row, from its cells.
    pub fn of(cells: &Cells) -> Self {
        let text = |column: &str| cells.text(column).unwrap_or_default().to_owned();
        let count = |column: &str| cells.count(column).unwrap_or_default();
        Self {
            source: text("source"),
            model: text("model_name"),
            dimensions: ["n_layers", "hidden", "ffn_hidden", "n_heads", "n_kv_heads", "n_experts"]
                .map(text)
                .join("/"),
            accelerator: text("gpu"),
            devices: count("n_gpus"),
            sequence_length: count("seq_len"),
            global_batch: count("global_batch_seqs"),
            framework: text("framework"),
            precision: text("dtype"),
        }
    }
}
