//! Arguments of the commands that need no trace of a job: `log`, `hang` and `memory-snapshot`.

use super::Output;
use clap::{Args, ValueHint};

/// Arguments of `log`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/records-log.txt"))]
pub(crate) struct Log {
    /// Training log, or `-` for stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
    /// Accelerator of the run, from `gpus list`
    #[arg(long, value_name = "ACCELERATOR")]
    pub(crate) accelerator: Option<String>,
    /// Global batch in sequences, if a DeepSpeed log lacks `train_batch_size`
    #[arg(long, value_name = "SEQUENCES")]
    pub(crate) batch_size: Option<u64>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `hang`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/records-hang.txt"))]
pub(crate) struct Hang {
    /// Flight-recorder dumps: files, folders or globs
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `memory-snapshot`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/records-memorysnapshot.txt"))]
pub(crate) struct MemorySnapshot {
    /// Snapshot or trace
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
    /// Run file, launch file or log: compare its predicted memory with the measurement
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Model")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) run_settings: super::RunSettings,
    /// Accelerator [default: from the run]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) accelerator: Option<String>,
    /// Pipeline stage of the recorded rank [default: the stage with the highest peak]
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub(crate) stage: Option<usize>,
    /// Number of allocation sites to list
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = "Output")]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}
