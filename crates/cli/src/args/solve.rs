//! What the solvers take: `recompute` and `balance`.

use super::{Output, RunArguments};
use clap::{Args, ValueHint};

pub(super) const RECOMPUTE_EXAMPLES: &str = "Examples:\n  \
    railwright recompute llama-3.1-405b --cluster dgx-h100 --gpus 1024 --tp 8 --pp 16 --uneven --global-batch 512\n  \
    railwright recompute deepseek-v3 --cluster h800 --gpus 2048 --pp 16 --ep 64 --uneven --uniform\n  \
    railwright recompute --run run.toml --allow-offload --save answer.toml\n\n\
    Every stage gets its own fastest choice that fits, unless --uniform. Exit code 1: nothing fits, whatever is recomputed.\n\
    docs/guides/selective-recompute.md walks through an answer.";

pub(super) const BALANCE_EXAMPLES: &str = "Examples:\n  \
    railwright balance llama-3.1-8b --cluster dgx-h100 --gpus 64 --tp 1 --pp 8 --micro-batches 32\n  \
    railwright balance llama-3.1-405b --cluster dgx-h100 --gpus 1024 --tp 8 --pp 16 --with-recompute\n  \
    railwright balance --run run.toml --save balanced.toml\n\n\
    Exit code 1: no division fits. docs/guides/pipeline-balance.md walks through an answer.";

/// Arguments of `recompute`.
#[derive(Args, Debug)]
pub(crate) struct RecomputeArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// The same choice on every stage, as the frameworks' flags have it
    #[arg(long, help_heading = "Choice")]
    pub(crate) uniform: bool,
    /// Let activations go to host memory, too, in sixteenths of a stage's
    #[arg(long, conflicts_with = "uniform", help_heading = "Choice")]
    pub(crate) allow_offload: bool,
    /// Modules that may be recomputed, as in `core_attention,mlp`; all that the model has without it. Whole layers always may
    #[arg(long, value_name = "MODULE,...", value_delimiter = ',', help_heading = "Choice")]
    pub(crate) modules: Vec<String>,
    /// Least probability that every stage fits in memory, from 0.01 to 0.99
    #[arg(long, value_name = "P", default_value_t = 0.9, help_heading = "Choice")]
    pub(crate) fit_probability: f64,
    /// Write the run with its answer to a run file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) save: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `balance`.
#[derive(Args, Debug)]
pub(crate) struct BalanceArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Choose for every stage what it recomputes, too
    #[arg(long, help_heading = "Choice")]
    pub(crate) with_recompute: bool,
    /// Least probability that every stage fits in memory, from 0.01 to 0.99
    #[arg(long, value_name = "P", default_value_t = 0.9, help_heading = "Choice")]
    pub(crate) fit_probability: f64,
    /// Write the run with its answer to a run file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) save: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
