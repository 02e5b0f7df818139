//! Arguments of `profile` and `compare`.

use super::Output;
use super::choices::choices;
use clap::{Args, ValueEnum, ValueHint};

pub(crate) const PROFILE_EXAMPLES: &str = include_str!("help/profile-profile.txt");

pub(crate) const COMPARE_EXAMPLES: &str = include_str!("help/profile-compare.txt");

/// Options of reading and joining traces.
#[derive(Args, Debug, Default, serde::Deserialize)]
pub(crate) struct Reading {
    /// Parallel sizes, innermost first, such as `tp=8,cp=1,dp=4,pp=2`
    #[arg(long, value_name = "SIZES", help_heading = "Traces")]
    pub(crate) layout: Option<String>,
    /// Additional kernel-family patterns, checked first
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Traces")]
    pub(crate) families: Option<String>,
    /// Additional communication-kernel patterns, checked first
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Traces")]
    pub(crate) kernels: Option<String>,
}

/// Model options, for MFU.
#[derive(Args, Debug, Default, serde::Deserialize)]
pub(crate) struct Needed {
    /// Run file, launch file or log: compute the model FLOPs of a step from it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "model_flops", help_heading = "Model")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) run_settings: super::RunSettings,
    /// Model FLOPs per step over all ranks, such as `1.2e18`
    #[arg(long, value_name = "FLOP", help_heading = "Model")]
    pub(crate) model_flops: Option<f64>,
    /// Accelerator [default: from the traces]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) accelerator: Option<String>,
    /// Number format for peak FLOP/s
    #[arg(long, value_name = "FORMAT", help_heading = "Model")]
    pub(crate) precision: Option<String>,
}

/// A tool whose tables are reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
pub(crate) enum Compat {
    /// HolisticTraceAnalysis
    Hta,
}

choices! {
    /// Key of the sums.
    Origin as railwright_profiler::origins::By {
        /// Modules (`nn.Module`), by the path of their classes
        Module,
        /// Python functions outside the framework, with file and line
        Source,
    }
}

/// Arguments of `profile`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Profile {
    /// Traces: files, folders, globs or archives (.json, .json.gz, .json.zst, .tar)
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Show one step, by number
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) step: Option<u64>,
    /// Read these steps only, such as `10..12`, `10..` or `..12`
    #[arg(long, value_name = "A..B", help_heading = "Selection")]
    pub(crate) steps: Option<String>,
    /// Show one rank, or up to 16 with `--columns`; waits still refer to all ranks
    #[arg(long, value_name = "R,...", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) rank: Vec<u32>,
    /// Depth of the breakdown: 1 labels, 2 phases, 3 operator families, 4 kernels
    #[arg(long, value_name = "LEVELS", default_value_t = 3, help_heading = "Selection")]
    pub(crate) depth: u8,
    /// Number of kernels to list
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Selection")]
    pub(crate) top: usize,
    /// Also sum time, exposed waits and idle time by `module` or Python `source` line
    #[arg(long, value_name = "LEVEL", help_heading = "Selection")]
    pub(crate) by: Option<Origin>,
    /// Reproduce the tables of another tool, with its definitions and units
    #[arg(long, value_name = "TOOL", help_heading = "Selection", conflicts_with_all = ["step", "steps", "rank", "html"])]
    pub(crate) compat: Option<Compat>,
    /// Output the timeline of one step as columns for the web UI
    #[arg(long, help_heading = "Columns", conflicts_with_all = ["aggregate", "compat", "html"])]
    pub(crate) columns: bool,
    /// Sum the spans of one step by name, within `--between`
    #[arg(long, help_heading = "Columns", conflicts_with_all = ["compat", "html"])]
    pub(crate) aggregate: bool,
    /// Rows to aggregate: `passes`, `device`, `streams`, `threads` or track numbers [default: streams]
    #[arg(long, value_name = "ROWS", help_heading = "Columns")]
    pub(crate) rows: Option<String>,
    /// Include host threads in columns
    #[arg(long, help_heading = "Columns")]
    pub(crate) host: bool,
    #[command(flatten)]
    pub(crate) cut: super::timeline::Cut,
    #[command(flatten)]
    pub(crate) needed: Needed,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Also write an HTML report; `-o FILE.html` writes only the report
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `compare`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Compare {
    /// Baseline: a trace, a folder or archive of traces, a training log, a launch file or a run file
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub(crate) first: String,
    /// Candidate, of the same kinds as A; without it, a training log is compared with the prediction of its
    /// run
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub(crate) second: Option<String>,
    /// Launch file or run file, for a training log without arguments
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "second", help_heading = "Prediction")]
    pub(crate) launch: Option<String>,
    /// Exit with code 1 if the change from A to B exceeds noise and meets this condition, such as
    /// `step_time>+3%` (repeatable)
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<String>,
    /// Compare one step, by number
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) step: Option<u64>,
    /// Number of kernels to list
    #[arg(long, value_name = "N", default_value_t = 15, help_heading = "Selection")]
    pub(crate) top: usize,
    /// Apply a calibration to the prediction
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Prediction")]
    pub(crate) calibration: Option<String>,
    #[command(flatten)]
    pub(crate) run_settings: super::RunSettings,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) output: Output,
}
