//! What `search` and `size` take: a run of which anything may be left open, several clusters and numbers of devices.

use super::simulate::Pricing;
use super::{Output, RunFlags};
use clap::{Args, ValueEnum, ValueHint};

/// A run to choose the rest of.
#[derive(Args, Clone, Debug)]
pub(crate) struct OpenRun {
    /// A model: a name of `models list`, a config.json or the folder that holds it, or `-` for stdin
    #[arg(value_name = "MODEL", value_hint = ValueHint::AnyPath)]
    pub(crate) model: Option<String>,
    /// A run file; what it and the flags say is fixed, the rest is searched
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) run: Option<String>,
    /// Clusters: names of `clusters list` or `gpus list`, or files; several with commas, or said again
    #[arg(long, value_name = "CLUSTER,...", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub(crate) cluster: Vec<String>,
    /// Set any key of a run file, as in `plan.micro_batch=2`; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Shard parameters, gradients and optimizer states over all replicas; short for `--sharding fsdp`
    #[arg(long, conflicts_with_all = ["hsdp", "plan.sharding"], help_heading = "Plan")]
    pub(crate) fsdp: bool,
    /// Shard among so many ranks and replicate beyond; short for `--sharding hsdp:N`
    #[arg(long, value_name = "N", conflicts_with = "plan.sharding", help_heading = "Plan")]
    pub(crate) hsdp: Option<u64>,
    #[command(flatten)]
    pub(crate) flags: RunFlags,
}

/// How a search goes about it.
#[derive(Args, Clone, Debug)]
pub(crate) struct Effort {
    /// Narrow a dimension: `tp=2..8`, `micro_batch=1,2`, `recompute=none,full`; names as in flags or run files; repeatable
    #[arg(long, value_name = "KEY=VALUES", help_heading = "Search")]
    pub(crate) space: Vec<String>,
    /// Least probability that a layout fits in memory, from 0 to 1
    #[arg(long, value_name = "P", help_heading = "Search")]
    pub(crate) fit_probability: Option<f64>,
    /// Offer also what the software generation does not ship, as far as it can be priced
    #[arg(long, help_heading = "Search")]
    pub(crate) unlimited: bool,
    /// Threads; as many as the machine runs at once without it. The answer is the same with any number
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub(crate) threads: Option<usize>,
}

/// Arguments of `search`.
#[derive(Args, Debug)]
pub(crate) struct Search {
    #[command(flatten)]
    pub(crate) run: OpenRun,
    #[command(flatten)]
    pub(crate) effort: Effort,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    /// What is best
    #[arg(long, value_name = "WHAT", default_value = "time", help_heading = "Search")]
    pub(crate) objective: Goal,
    /// Instead of one best, every layout that no other beats in both: `time,memory`
    #[arg(
        long,
        value_name = "WHAT,WHAT",
        value_delimiter = ',',
        num_args = 1,
        conflicts_with = "objective",
        help_heading = "Search"
    )]
    pub(crate) pareto: Vec<Goal>,
    /// Layouts to show
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    pub(crate) top: usize,
    /// Why not this one: the best layout that has it, against the winner, as in `tp=8,pp=4`; repeatable
    #[arg(long, value_name = "KEY=VALUE,...", help_heading = "Output")]
    pub(crate) why_not: Vec<String>,
    /// Write the best as a run file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) save: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What a search makes small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// Time per step
    Time,
    /// Rent of the devices per token
    Cost,
    /// Number of devices
    Gpus,
    /// Memory that a device needs
    Memory,
}

/// Arguments of `size`.
#[derive(Args, Debug)]
pub(crate) struct Size {
    #[command(flatten)]
    pub(crate) run: OpenRun,
    /// Latest end of the training, as in `90d` or `2000h`
    #[arg(long, value_name = "TIME", help_heading = "Goal")]
    pub(crate) deadline: Option<String>,
    /// Most that the rent of all devices may come to, in dollars, as in `30M`
    #[arg(long, value_name = "DOLLARS", help_heading = "Goal")]
    pub(crate) budget: Option<String>,
    /// Let the global batch grow with the devices from what it is at the fewest. It changes how the training converges
    #[arg(long, help_heading = "Goal")]
    pub(crate) growing_batch: bool,
    /// Least share of its work at the fewest devices that an added device must do to be worth adding
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, help_heading = "Goal")]
    pub(crate) worth: f64,
    #[command(flatten)]
    pub(crate) effort: Effort,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    #[command(flatten)]
    pub(crate) output: Output,
}
