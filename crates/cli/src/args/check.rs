//! Arguments of `check`.

use super::{Output, RunFlags};
use clap::{Args, ValueHint};

/// Examples and exit codes.
pub(crate) const EXAMPLES: &str = include_str!("help/check.txt");

/// Arguments of `check`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Check {
    /// Launch files, logs or run files
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<String>,
    /// Earlier version of the file, to report the change (one FILE only)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) against: Option<String>,
    /// Variables and arguments of the launch scripts, such as `"TP=2 PP=8 7B 1"`
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) launch_args: Option<String>,
    /// Cluster: a name from `clusters list` or `gpus list`, or a file
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath)]
    pub(crate) cluster: Option<String>,
    /// Set any run-file key, such as `plan.micro_batch=2` (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: RunFlags,
    #[command(flatten)]
    pub(crate) output: Output,
}
