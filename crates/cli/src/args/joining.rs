//! Arguments of the commands that join the traces of many ranks: `comm` and `stragglers`.

use super::Output;
use super::choices::choices;
use clap::{Args, ValueHint};
use railwright_profiler::clocks::ClockPolicy;

/// Options of joining traces.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Joining {
    /// Traces of one job, or NCCL Inspector or XPUTimer output: files, folders, globs or archives
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Clock alignment across ranks
    #[arg(long, value_enum, default_value_t)]
    pub(crate) clocks: Clocks,
    /// Parallel sizes, innermost first, such as `tp=8,cp=1,dp=4,pp=2`
    #[arg(long, alias = "sizes", value_name = "SIZES")]
    pub(crate) layout: Option<String>,
    /// Additional communication-kernel patterns, checked first
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) kernels: Option<String>,
}

choices! {
    /// Clock alignment.
    #[derive(Default)]
    Clocks as ClockPolicy {
        /// Align only if clock offsets exceed those within one host
        #[default]
        Auto,
        /// Always align
        Align,
        /// Keep recorded times
        Recorded,
    }
}

/// Arguments of `comm`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/joining-comm.txt"))]
pub(crate) struct Comm {
    #[command(flatten)]
    pub(crate) joining: Joining,
    /// Number of collectives to list, longest waits first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) collectives: usize,
    /// List every collective of a large job in JSON, not only those with the longest waits
    #[arg(long)]
    pub(crate) all: bool,
    /// Filter by dimension (tensor, context, expert, pipeline, data) or part of a label
    #[arg(long, value_name = "DIMENSION")]
    pub(crate) group: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `stragglers`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/joining-stragglers.txt"))]
pub(crate) struct Stragglers {
    #[command(flatten)]
    pub(crate) joining: Joining,
    /// Maximum number of ranks to show
    #[arg(long, visible_alias = "top", value_name = "N", default_value_t = 8)]
    pub(crate) ranks: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}
