//! What `profile` and `compare` take.

use super::Output;
use clap::{Args, ValueEnum, ValueHint};

pub(crate) const PROFILE_EXAMPLES: &str = "Examples:\n  \
    railwright profile traces/\n  \
    railwright profile traces/*.json.gz --step 12 --rank 3\n  \
    railwright profile job.tar --layout tp=8,dp=4,pp=2 --run run.toml\n  \
    railwright profile traces/ --model-flops 1.2e18 -o report.html\n  \
    railwright profile traces/ --compat hta --json\n\n\
    Every nanosecond of every rank counts once: arithmetic hides communication, communication hides copies, and what is left is \
    idle. With the model's operations known (a run file or --model-flops) the parts are points of MFU.";

pub(crate) const COMPARE_EXAMPLES: &str = "Examples:\n  \
    railwright compare before/ after/\n  \
    railwright compare before.json.gz after.json.gz --fail-if 'step_time>+3%' --fail-if 'host>+2ms'\n  \
    railwright compare run.toml traces/\n  \
    railwright compare run.toml traces/ --calibration calibration.toml --set plan.recompute=full\n\n\
    A run file in the place of a trace is what the calculator predicts of it. Exit code 1: a condition of --fail-if is met.";

/// How traces are read and their ranks joined.
#[derive(Args, Debug, Default)]
pub(crate) struct Reading {
    /// Sizes of the parallel dimensions, the innermost first, such as `tp=8,cp=1,dp=4,pp=2`
    #[arg(long, value_name = "SIZES", help_heading = "Traces")]
    pub(crate) layout: Option<String>,
    /// A table of kernel names and their families, asked before the shipped one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Traces")]
    pub(crate) families: Option<String>,
    /// A table of names that communicate, asked before the shipped one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Traces")]
    pub(crate) kernels: Option<String>,
}

/// What the model needs, for MFU.
#[derive(Args, Debug, Default)]
pub(crate) struct Needed {
    /// A run file, or a launch file or log of a framework: its model and batch say the operations of a step
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "model_flops", help_heading = "Model")]
    pub(crate) run: Option<String>,
    /// The model's operations of one step, all ranks together, such as `1.2e18`
    #[arg(long, value_name = "FLOP", help_heading = "Model")]
    pub(crate) model_flops: Option<f64>,
    /// The accelerator, where it is not the one that the traces name
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) accelerator: Option<String>,
    /// The format whose peak counts
    #[arg(long, value_name = "FORMAT", help_heading = "Model")]
    pub(crate) precision: Option<String>,
}

/// A tool whose tables are reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// HolisticTraceAnalysis
    Hta,
}

/// Arguments of `profile`.
#[derive(Args, Debug)]
pub(crate) struct Profile {
    /// Traces: files, folders, globs, archives (.json, .json.gz, .json.zst, .tar)
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// One step alone, by its number
    #[arg(long, value_name = "N", help_heading = "What is shown")]
    pub(crate) step: Option<u64>,
    /// One rank alone; the others still say for whom it waits
    #[arg(long, value_name = "R", help_heading = "What is shown")]
    pub(crate) rank: Option<u32>,
    /// Levels of the tree: 1 labels, 2 phases, 3 families of operators, 4 kernels
    #[arg(long, value_name = "LEVELS", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=4), help_heading = "What is shown")]
    pub(crate) depth: u8,
    /// How many kernels to list
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "What is shown")]
    pub(crate) top: usize,
    /// The tables of another tool instead, by its definitions and in its units
    #[arg(long, value_name = "TOOL", help_heading = "What is shown", conflicts_with_all = ["step", "rank", "html"])]
    pub(crate) compat: Option<Compat>,
    /// One step as a timeline in columns, which the page's canvas draws: all ranks on one clock, findings tied to their places
    #[arg(long, help_heading = "Columns", conflicts_with_all = ["compat", "html"])]
    pub(crate) columns: bool,
    /// The threads of hosts, too, in columns
    #[arg(long, help_heading = "Columns", requires = "columns")]
    pub(crate) host: bool,
    #[command(flatten)]
    pub(crate) cut: super::timeline::Cut,
    #[command(flatten)]
    pub(crate) needed: Needed,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Write a page for a browser as well; `-o FILE.html` writes it alone
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// The first: a trace, a folder or archive of them, or a run file
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub(crate) first: String,
    /// The second, likewise
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub(crate) second: String,
    /// End with exit code 1 if this holds of the change from A to B, such as `step_time>+3%`; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<String>,
    /// One step alone, by its number, of both
    #[arg(long, value_name = "N", help_heading = "What is shown")]
    pub(crate) step: Option<u64>,
    /// How many kernels to list
    #[arg(long, value_name = "N", default_value_t = 15, help_heading = "What is shown")]
    pub(crate) top: usize,
    /// A calibration that the run file's prediction is priced with
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Prediction")]
    pub(crate) calibration: Option<String>,
    /// Set any key of the run file, as in `plan.micro_batch=2`; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Prediction")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) output: Output,
}
