//! Arguments of the commands that join the traces of many ranks: `comm` and `stragglers`.

use super::Output;
use clap::{Args, ValueEnum, ValueHint};

/// How traces are joined.
#[derive(Args, Debug)]
pub(crate) struct Joining {
    /// Traces of the ranks of one job, else lines of NCCL Inspector or metrics of XPUTimer: files, folders, patterns, archives
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Move the ranks' clocks onto one time, or leave them
    #[arg(long, value_enum, default_value_t = Clocks::Auto)]
    pub(crate) clocks: Clocks,
    /// Sizes of the parallel dimensions, the innermost first, such as `tp=8,cp=1,dp=4,pp=2`
    #[arg(long, alias = "sizes", value_name = "SIZES")]
    pub(crate) layout: Option<String>,
    /// Names of kernels that communicate, asked before the built-in table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) kernels: Option<String>,
}

/// What to do with the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clocks {
    /// Leave them when they agree as those of one host do, else align them
    Auto,
    /// Align them in any case
    Align,
    /// Leave them as they were recorded
    Recorded,
}

/// Arguments of `comm`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright comm traces/\n  \
    railwright comm 'traces/rank*.json.gz' --layout tp=8,dp=4,pp=2\n  \
    railwright comm traces.tar --collectives 20 --group tensor\n  \
    railwright comm traces/ --json | jq '.groups[] | {label, operation, bus_bandwidth}'\n\n\
    A wait ends when the last rank enters a collective; what follows is transfer. Bandwidths are of the transfer alone.\n\
    docs/guides/comm.md explains the columns.")]
pub(crate) struct Comm {
    #[command(flatten)]
    pub(crate) joining: Joining,
    /// List that many collectives, the longest waits first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) collectives: usize,
    /// Only groups and collectives of this dimension (tensor, context, expert, pipeline, data, or part of a label)
    #[arg(long, value_name = "DIMENSION")]
    pub(crate) group: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `stragglers`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright stragglers traces/\n  \
    railwright stragglers traces/ --clocks align --ranks 20\n  \
    railwright stragglers traces/ --json | jq '.culprits[] | select(.is_straggler) | {rank, cause, cost}'\n\n\
    Cost is by replay: the recorded steps again, with the rank as fast as the median of its peers.\n\
    Exit code 1: there is a straggler. docs/guides/stragglers.md explains causes and evidence.")]
pub(crate) struct Stragglers {
    #[command(flatten)]
    pub(crate) joining: Joining,
    /// Show at most that many ranks
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) ranks: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}
