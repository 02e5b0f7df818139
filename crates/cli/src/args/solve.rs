//! Arguments of the solvers `recompute` and `balance`.

use super::{Output, RunArguments};
use clap::{Args, ValueHint};
use railwright_calculator::memory::SURE_TO_FIT;

pub(super) const RECOMPUTE_EXAMPLES: &str = include_str!("help/solve-recompute.txt");

pub(super) const BALANCE_EXAMPLES: &str = include_str!("help/solve-balance.txt");

/// Arguments of `recompute`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct RecomputeArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Use the same policy on all stages, as framework flags do
    #[arg(long, help_heading = "Choice")]
    pub(crate) uniform: bool,
    /// Allow offload of activations to host memory, in steps of 1/16 of a stage's activations
    #[arg(long, conflicts_with = "uniform", help_heading = "Choice")]
    pub(crate) allow_offload: bool,
    /// Modules to consider besides full layers, such as `core_attention,mlp` [default: all]
    #[arg(long, value_name = "MODULE,...", value_delimiter = ',', help_heading = "Choice")]
    pub(crate) modules: Vec<String>,
    /// Minimum probability that all stages fit in memory, 0.01 to 0.99
    #[arg(long, value_name = "P", default_value_t = SURE_TO_FIT, help_heading = "Choice")]
    pub(crate) fit_probability: f64,
    /// Write the resulting run to a run file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) save: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `balance`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct BalanceArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Also choose a recompute policy per stage
    #[arg(long, help_heading = "Choice")]
    pub(crate) with_recompute: bool,
    /// Minimum probability that all stages fit in memory, 0.01 to 0.99
    #[arg(long, value_name = "P", default_value_t = SURE_TO_FIT, help_heading = "Choice")]
    pub(crate) fit_probability: f64,
    /// Write the resulting run to a run file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) save: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
