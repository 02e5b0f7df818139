//! What `network` takes: one subcommand for each question about networks.

use super::Output;
use clap::{Args, Subcommand, ValueHint};

/// The questions.
#[derive(Debug, Subcommand)]
pub(crate) enum Network {
    /// The rail-only paper: every claim beside what comes out here, and its figures
    #[command(
        name = "rail-only",
        after_long_help = "Examples:\n  \
        railwright network rail-only\n  \
        railwright network rail-only --figures figures/\n  \
        railwright network rail-only --json | jq '.domain_sweep'"
    )]
    RailOnly(RailOnly),
}

/// Arguments of `network rail-only`.
#[derive(Args, Debug)]
pub(crate) struct RailOnly {
    /// Draw the paper's figures into this folder, which is made if need be
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) figures: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
