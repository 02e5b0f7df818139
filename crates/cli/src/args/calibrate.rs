//! What `calibrate` takes.

use super::{Output, Reading};
use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    railwright calibrate traces/ --run run.toml -o calibration.toml\n  \
    railwright calibrate --nccl-tests logs/*.log --cluster dgx-h100 -o calibration.toml\n  \
    railwright calibrate traces/ --nccl-tests all_reduce-8.log --operators gemm.csv --run run.toml -o calibration.toml\n  \
    railwright calibrate other/ --run run.toml --judge calibration.toml\n  \
    railwright calibrate --show calibration.toml\n  \
    railwright estimate --run run.toml --calibration calibration.toml\n\n\
    Traces say what runs sustain, nccl-tests and micro-benchmarks what kernels and collectives do alone; the two are kept apart. With a run \
    whole steps settle what shapes do not: attention, streams, update, host. Measurements that nothing is fitted to judge better: another \
    trace with --judge, or the second half of the same with --hold-out.";

/// Arguments of `calibrate`.
#[derive(Args, Debug)]
pub(crate) struct Calibrate {
    /// Traces and training logs of one run: files, folders, globs, archives
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Logs of nccl-tests or rccl-tests: text, or the JSON of `-J`
    #[arg(long, value_name = "LOG", num_args = 1.., value_hint = ValueHint::FilePath, help_heading = "Measurements")]
    pub(crate) nccl_tests: Vec<String>,
    /// Tables of micro-benchmarks: CSV with operator, format, m, n, k and time_us
    #[arg(long, value_name = "CSV", num_args = 1.., value_hint = ValueHint::FilePath, help_heading = "Measurements")]
    pub(crate) operators: Vec<String>,
    /// The format of matrix products whose kernels do not tell it, such as `bf16`
    #[arg(long, value_name = "FORMAT", help_heading = "Measurements")]
    pub(crate) product_format: Option<String>,
    /// What was trained, where and how: a run file, or a launch file of a framework
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What was measured")]
    pub(crate) run: Option<String>,
    /// Where, if no run says it: a name of `clusters list` or `gpus list`, or a file; the traces' device otherwise
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath, help_heading = "What was measured")]
    pub(crate) cluster: Option<String>,
    /// With which software generation, if no run says it
    #[arg(long, value_name = "GENERATION", help_heading = "What was measured")]
    pub(crate) software: Option<String>,
    /// Set any key of the run, as in `plan.micro_batch=2`; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "What was measured")]
    pub(crate) set: Vec<String>,
    /// Attention sees later tokens too
    #[arg(long, help_heading = "What was measured")]
    pub(crate) not_causal: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Fit to the first half of the traces alone and judge by the second
    #[arg(long, conflicts_with = "judge", help_heading = "Answer")]
    pub(crate) hold_out: bool,
    /// Fit nothing: judge this calibration by the measurements
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Answer")]
    pub(crate) judge: Option<String>,
    /// Show what a calibration holds
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["judge", "hold_out", "run", "nccl_tests", "operators"], help_heading = "Answer")]
    pub(crate) show: Option<String>,
    /// How and where the answer is written; with `-o FILE.toml` the calibration is
    #[command(flatten)]
    pub(crate) output: Output,
}
