//! Arguments of `whatif` and `sensitivity`.

use super::simulate::Pricing;
use super::{Output, RunArguments};
use clap::Args;

/// Examples under `whatif --help`.
pub(crate) const WHATIF_EXAMPLES: &str = include_str!("help/whatif-whatif.txt");

/// Arguments of `whatif`.
#[derive(Args, Debug, serde::Deserialize)]
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
pub(crate) const SENSITIVITY_EXAMPLES: &str = include_str!("help/whatif-sensitivity.txt");

/// Arguments of `sensitivity`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Sensitivity {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    #[command(flatten)]
    pub(crate) output: Output,
}
