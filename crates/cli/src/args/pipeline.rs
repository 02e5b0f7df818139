//! Arguments of `pipeline`.

use super::Output;
use clap::{Args, ValueHint};

/// Arguments of `pipeline`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright pipeline run/pp_rank_*.json run/config.json\n  \
    railwright pipeline traces/ --step 12 --svg step.svg\n  \
    railwright pipeline jobs.parquet --what-if stage=3 --what-if \"kind=forward rank=0\"\n  \
    railwright pipeline run/ --json | jq '.pipeline.stalls[:3]'\n  \
    railwright pipeline --predict run.toml --svg expected.svg\n\n\
    Takes pipeline timers (Primus, Megatron's tracer), operator tables (Parquet) and traces of PyTorch's profiler, whose passes are found by annotations, else \
    by messages. A cost is what a step would have saved, by replay of its own passes; 0: slack absorbed it.")]
pub(crate) struct Pipeline {
    /// What was recorded: files, folders, patterns, archives
    #[arg(value_name = "PATH", required_unless_present = "predict", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Sizes of the parallel dimensions, the innermost first, such as `tp=8,dp=4,pp=2`, where traces do not say groups
    #[arg(long, value_name = "SIZES")]
    pub(crate) layout: Option<String>,
    /// Show this step instead of the one that lost most
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<u32>,
    /// Show this replica instead of the one that ended last
    #[arg(long, value_name = "N")]
    pub(crate) replica: Option<u32>,
    /// What passes cost: pairs of `kind`, `rank`, `stage`, `replica`, `step`, `micro_batch` and values; repeatable
    #[arg(long, value_name = "PASSES")]
    pub(crate) what_if: Vec<String>,
    /// Rows of the tables of stalls and steps
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// The page of a step that the calculator predicts from a run file, instead of a recording
    #[arg(long, value_name = "RUN", conflicts_with = "paths", value_hint = ValueHint::FilePath)]
    pub(crate) predict: Option<String>,
    /// The step as a timeline in columns, which the page's canvas draws: what was measured, and beneath it what was to be expected
    #[arg(long, help_heading = "Output")]
    pub(crate) columns: bool,
    /// Draw the step into a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) svg: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Pipeline {
    /// The page of a step of what paths hold, all else as by default.
    pub(crate) fn of(paths: Vec<String>, step: Option<u32>, output: Output) -> Self {
        Self {
            paths,
            layout: None,
            step,
            replica: None,
            what_if: Vec::new(),
            limit: 10,
            predict: None,
            columns: false,
            svg: None,
            output,
        }
    }
}
