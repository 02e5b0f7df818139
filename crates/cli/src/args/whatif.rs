//! Arguments of `whatif` and `sensitivity`.

use super::simulate::Pricing;
use super::{Output, RunArguments};
use clap::Args;

/// Examples under `whatif --help`.
pub(crate) const WHATIF_EXAMPLES: &str = "Examples:\n  \
    railwright whatif llama-3.1-405b --cluster dgx-h100 --gpus 16384 --tp 8 --pp 16 --uneven \\\n    \
    --change precision=fp8 --change nic_gbps=800 --change overlap.tensor=true\n  \
    railwright whatif --run examples/runs/deepseek-v3.toml --change slow.rank=0.8 --change slow.nic=0.5\n  \
    railwright whatif llama-3-8b --cluster dgx-h100 --fsdp --change cluster=dgx-b200 --change hbm=x2,memory=x1.5\n\n\
    A change is KEY=VALUE, or several separated by commas. KEY is a run-file key, with or without its section, or a \
    hardware parameter (nic, nvlink, hbm, bf16_tflops, fp8_tflops, tdp, nodes, ...). Numeric values may be relative (x2, +10%).\n\
    slow.rank, slow.node, slow.host, slow.nic, slow.scale_up and slow.stage.N set the remaining share of the rate. Append \
    `.N` to select the rank, node or part [default: the most expensive one].\n\n\
    The layout, batch, sequence length and device count stay the same. Exit code 1: the run with all changes is impossible or does \
    not fit.";

/// Arguments of `whatif`.
#[derive(Args, Debug)]
pub(crate) struct WhatIf {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Change to apply, such as `plan.micro_batch=2`; repeat to compare each change and all combined
    #[arg(long, short, value_name = "KEY=VALUE,...", required = true, help_heading = "Change")]
    pub(crate) change: Vec<String>,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Examples under `sensitivity --help`.
pub(crate) const SENSITIVITY_EXAMPLES: &str = "Examples:\n  \
    railwright sensitivity llama-3.1-405b --cluster dgx-h100 --gpus 16384 --tp 8 --pp 16 --uneven\n  \
    railwright sensitivity --run examples/runs/deepseek-v3.toml --format csv\n\n\
    Elasticity is the change in step time, in percent, per 1% increase of the parameter.\n\
    For example, -0.6 means that a 1% increase shortens the step by 0.6%.";

/// Arguments of `sensitivity`.
#[derive(Args, Debug)]
pub(crate) struct Sensitivity {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    #[command(flatten)]
    pub(crate) output: Output,
}
