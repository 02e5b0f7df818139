//! Arguments of `pipeline`.

use super::Output;
use clap::{Args, ValueHint};

/// Arguments of `pipeline`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/pipeline-pipeline.txt"))]
pub(crate) struct Pipeline {
    /// Traces or pipeline timers: files, folders, globs or archives
    #[arg(value_name = "PATH", required_unless_present = "predict", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Parallel sizes, innermost first, such as `tp=8,dp=4,pp=2`, if traces do not record groups
    #[arg(long, value_name = "SIZES")]
    pub(crate) layout: Option<String>,
    /// Step to show [default: the one with the largest loss]
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<u32>,
    /// Replica to show [default: the last to finish]
    #[arg(long, value_name = "N")]
    pub(crate) replica: Option<u32>,
    /// Compute the cost of these passes: `kind`, `rank`, `stage`, `replica`, `step` or `micro_batch` with a
    /// value (repeatable)
    #[arg(long, value_name = "PASSES")]
    pub(crate) what_if: Vec<String>,
    /// Maximum rows in the tables of stalls and steps
    #[arg(long, visible_alias = "top", value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Analyse a predicted step from a run file, launch file or log instead of a recording
    #[arg(long, value_name = "RUN", conflicts_with = "paths", value_hint = ValueHint::FilePath)]
    pub(crate) predict: Option<String>,
    #[command(flatten)]
    pub(crate) run_settings: super::RunSettings,
    /// Output the measured and predicted timeline of the step as columns for the web UI
    #[arg(long, help_heading = "Output")]
    pub(crate) columns: bool,
    /// Write an SVG of the step (`-` for standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) svg: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Pipeline {
    /// Arguments for the pipeline view of a step of the paths, with other settings at their defaults.
    pub(crate) fn of(paths: Vec<String>, step: Option<u32>, output: Output) -> Self {
        Self {
            paths,
            layout: None,
            step,
            replica: None,
            what_if: Vec::new(),
            limit: 10,
            predict: None,
            run_settings: super::RunSettings::default(),
            columns: false,
            svg: None,
            output,
        }
    }
}
