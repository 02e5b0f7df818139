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
    A change is KEY=VALUE, or several behind commas that belong together. KEY is any key of a run file, with or without its \
    section, or a name of hardware (nic, nvlink, hbm, bf16_tflops, fp8_tflops, tdp, nodes, ...). VALUE may be a multiple (x2, \
    +10%) where it is a number. slow.rank, slow.node, slow.host, slow.nic and slow.scale_up (behind a dot which one, else where it \
    costs most) and slow.stage.N take the share of its rate that is left.\n\n\
    Everything else stays: the layout, the batch in sequences, the sequence length, the number of devices. Exit code 1: the run \
    with all changes is impossible or does not fit.";

/// Arguments of `whatif`.
#[derive(Args, Debug)]
pub(crate) struct WhatIf {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// What to change, as in `plan.micro_batch=2`; repeatable: each is priced alone, and all together
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
    The elasticity is the percentage by which the step grows when the figure grows by one percent: -0.6 means that a figure 1% larger \
    shortens the step by 0.6%.";

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
