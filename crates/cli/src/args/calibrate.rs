//! Arguments of `calibrate`.

use super::{Output, Reading};
use crate::input::measured::Measurements;
use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = include_str!("help/calibrate.txt");

/// Arguments of `calibrate`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Calibrate {
    /// Traces and training logs of one run: files, folders, globs or archives
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Read nccl-tests or rccl-tests logs: text, or the JSON of `-J`
    #[arg(long, value_name = "LOG", num_args = 1.., value_hint = ValueHint::FilePath, help_heading = "Measurements")]
    pub(crate) nccl_tests: Vec<String>,
    /// Read micro-benchmark tables: CSV with operator, format, m, n, k and time_us
    #[arg(long, value_name = "CSV", num_args = 1.., value_hint = ValueHint::FilePath, help_heading = "Measurements")]
    pub(crate) operators: Vec<String>,
    /// Step time of a layout of the run, such as `tp=8,pp=4=38.2s` (repeatable)
    #[arg(long, value_name = "LAYOUT=SECONDS", allow_hyphen_values = true, help_heading = "Measurements")]
    pub(crate) step: Vec<String>,
    /// Number format of GEMMs if kernel names do not contain it, such as `bf16`
    #[arg(long, visible_alias = "gemm-format", value_name = "FORMAT", help_heading = "Measurements")]
    pub(crate) product_format: Option<String>,
    /// Run file or launch file of the measured run
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Measured run")]
    pub(crate) run: Option<String>,
    /// Cluster: a name from `clusters list` or `gpus list`, or a file [default: the device in the traces]
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath, help_heading = "Measured run")]
    pub(crate) cluster: Option<String>,
    /// Software generation, if --run does not set it
    #[arg(long, value_name = "GENERATION", help_heading = "Measured run")]
    pub(crate) software: Option<String>,
    /// Set any run-file key, such as `plan.micro_batch=2` (repeatable)
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Measured run")]
    pub(crate) set: Vec<String>,
    /// Treat attention as non-causal
    #[arg(long, help_heading = "Measured run")]
    pub(crate) not_causal: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Fit to the first half of the traces and validate on the second
    #[arg(long, conflicts_with = "judge", help_heading = "Answer")]
    pub(crate) hold_out: bool,
    /// Validate an existing calibration on the measurements, without fitting
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Answer")]
    pub(crate) judge: Option<String>,
    /// Show the contents of a calibration
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["judge", "hold_out", "run", "nccl_tests", "operators"], help_heading = "Answer")]
    pub(crate) show: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl From<&Calibrate> for Measurements {
    fn from(arguments: &Calibrate) -> Self {
        Self {
            paths: arguments.paths.clone(),
            nccl_tests: arguments.nccl_tests.clone(),
            operators: arguments.operators.clone(),
            steps: arguments.step.clone(),
            product_format: arguments.product_format.clone(),
            families: arguments.reading.families.clone(),
            kernels: arguments.reading.kernels.clone(),
            layout: arguments.reading.layout.clone(),
            run: arguments.run.clone(),
            cluster: arguments.cluster.clone(),
            software: arguments.software.clone(),
            set: arguments.set.clone(),
        }
    }
}
