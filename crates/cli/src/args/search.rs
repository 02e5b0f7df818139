//! Arguments of `search` and `size`: a run with open settings, several clusters and cluster sizes.

use super::simulate::Pricing;
use super::{Output, RunFlags, Sharding};
use crate::input::open_run;
use clap::{Args, ValueEnum, ValueHint};
use railwright_tuner::search::Objective;

/// A run to choose the rest of.
#[derive(Args, Clone, Debug, serde::Deserialize)]
pub(crate) struct OpenRun {
    /// Model: a name from `models list`, a config.json or its folder, or `-` for stdin; or a launch file or
    /// log
    #[arg(value_name = "MODEL", value_hint = ValueHint::AnyPath)]
    pub(crate) model: Option<String>,
    /// Read a run file, whose settings are fixed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) run: Option<String>,
    /// Clusters: names from `clusters list` or `gpus list`, or files (comma-separated, repeatable)
    #[arg(long, value_name = "CLUSTER,...", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub(crate) cluster: Vec<String>,
    /// Set any run-file key, such as `plan.micro_batch=2` (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) sharding: Sharding,
    #[command(flatten)]
    pub(crate) flags: RunFlags,
}

impl From<&OpenRun> for open_run::OpenRun {
    fn from(arguments: &OpenRun) -> Self {
        let OpenRun { model, run, cluster, set, sharding, flags } = arguments.clone();
        Self { model, run, cluster, set, sharding: sharding.setting(), settings: flags.settings }
    }
}

/// Search effort.
#[derive(Args, Clone, Debug, serde::Deserialize)]
pub(crate) struct Effort {
    /// Restrict a dimension, such as `tp=2..8`, `micro_batch=1,2` or `recompute=none,full` (repeatable)
    ///
    /// Ranges are limited to values that the software supports; listed values are always tried.
    #[arg(long, value_name = "KEY=VALUES", help_heading = "Search")]
    pub(crate) space: Vec<String>,
    /// Minimum probability that a layout fits in memory, 0 to 1
    #[arg(long, value_name = "P", help_heading = "Search")]
    pub(crate) fit_probability: Option<f64>,
    /// Include features the selected framework version does not support
    #[arg(long, help_heading = "Search")]
    pub(crate) unlimited: bool,
    /// Number of threads; does not affect results [default: number of cores]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub(crate) threads: Option<usize>,
}

impl Effort {
    /// At most one thread for each processor; an invalid number is unchanged.
    fn bounded_threads(&self) -> usize {
        match self.threads {
            Some(refused) if !(1..=railwright_answers::MOST_THREADS).contains(&refused) => refused,
            wanted => crate::limits::threads(wanted),
        }
    }

    /// The same for `railwright-answers`.
    pub(crate) fn wanted(&self) -> railwright_answers::Effort {
        railwright_answers::Effort {
            space: self.space.clone(),
            fit_probability: self.fit_probability,
            unlimited: self.unlimited,
            threads: Some(self.bounded_threads()),
        }
    }
}

/// Arguments of `search`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Search {
    #[command(flatten)]
    pub(crate) run: OpenRun,
    /// Keep these settings of a launch file, such as `tp,recompute` (repeatable)
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', help_heading = "Search")]
    pub(crate) keep: Vec<String>,
    /// Also search these settings of a launch file, such as `context_parallel` (repeatable)
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', help_heading = "Search")]
    pub(crate) free: Vec<String>,
    #[command(flatten)]
    pub(crate) effort: Effort,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    /// Objective to minimize
    #[arg(long, value_name = "METRIC", default_value = "time", help_heading = "Search")]
    pub(crate) objective: Goal,
    /// Report the Pareto front of two objectives, such as `time,memory`
    #[arg(
        long,
        value_name = "METRIC,METRIC",
        value_delimiter = ',',
        num_args = 1,
        conflicts_with = "objective",
        help_heading = "Search"
    )]
    pub(crate) pareto: Vec<Goal>,
    /// Number of layouts to show
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    pub(crate) top: usize,
    /// Show all layouts by time, not one row per combination of TP, PP, CP, EP and sharding
    #[arg(long, help_heading = "Output")]
    pub(crate) all: bool,
    /// Compare the winner with the best layout that has these settings, such as `tp=8,pp=4` (repeatable)
    #[arg(long, value_name = "KEY=VALUE,...", help_heading = "Output")]
    pub(crate) why_not: Vec<String>,
    /// Add a map of TP x PP: the shortest step of each pair, or the memory missing in its smallest layout
    #[arg(long, help_heading = "Output")]
    pub(crate) map: bool,
    /// Write the best layout to a run file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) save: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Objective of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
pub(crate) enum Goal {
    /// Step time
    Time,
    /// Rental cost per token
    Cost,
    /// Number of devices
    Gpus,
    /// Peak memory per device
    Memory,
}

/// Arguments of `size`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Size {
    #[command(flatten)]
    pub(crate) run: OpenRun,
    /// Maximum training time, such as `90d` or `2000h`
    #[arg(long, value_name = "TIME", help_heading = "Goal")]
    pub(crate) deadline: Option<String>,
    /// Maximum rental cost in dollars, such as `30M`
    #[arg(long, value_name = "DOLLARS", help_heading = "Goal")]
    pub(crate) budget: Option<String>,
    /// Scale the global batch with the device count (weak scaling). Affects convergence
    #[arg(long, help_heading = "Goal")]
    pub(crate) growing_batch: bool,
    /// Minimum marginal scaling efficiency for adding devices
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, help_heading = "Goal")]
    pub(crate) worth: f64,
    #[command(flatten)]
    pub(crate) effort: Effort,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl From<Goal> for Objective {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Time => Self::Time,
            Goal::Cost => Self::Dollars,
            Goal::Gpus => Self::Devices,
            Goal::Memory => Self::Headroom,
        }
    }
}
