//! Arguments of `goodput`.

use super::Output;
use clap::{Args, ValueHint};

pub(super) const EXAMPLES: &str = include_str!("help/goodput.txt");

/// Arguments of `goodput`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Goodput {
    /// Model, launch file or log of the job: sets the checkpoint size and, if a file, the number of GPUs
    #[arg(value_name = "MODEL", value_hint = ValueHint::AnyPath)]
    pub(crate) model: Option<String>,
    /// Run file of the job, for its checkpoint size, GPUs and cluster
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "model")]
    pub(crate) run: Option<String>,
    /// GPUs of the job [default: those of the file]
    #[arg(long, value_name = "N")]
    pub(crate) gpus: Option<u64>,
    /// Cluster, for GPUs per host and the price: a name from `clusters list` or `gpus list`, or a file
    /// [default: that of the run file, else dgx-h100]
    #[arg(long, value_name = "CLUSTER")]
    pub(crate) cluster: Option<String>,
    /// NICs of the job [default: one per GPU]
    #[arg(long, value_name = "N")]
    pub(crate) nics: Option<u64>,
    /// Price of a GPU-hour in dollars [default: that of the run file, else the catalogue's]
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) price_per_device_hour: Option<f64>,
    /// Time from the start of a checkpoint until it can be restored [default: that of the run file]
    #[arg(long, value_name = "TIME", conflicts_with = "storage_bandwidth", help_heading = "Checkpoints")]
    pub(crate) checkpoint_time: Option<String>,
    /// Size of a checkpoint, for --storage-bandwidth [default: weights and optimizer states of the run]
    #[arg(long, value_name = "BYTES", help_heading = "Checkpoints")]
    pub(crate) checkpoint_bytes: Option<String>,
    /// Bandwidth of the storage for the whole job
    #[arg(long, value_name = "RATE", help_heading = "Checkpoints")]
    pub(crate) storage_bandwidth: Option<String>,
    /// Training pause per checkpoint [default: the whole checkpoint time]
    #[arg(long, value_name = "TIME", help_heading = "Checkpoints")]
    pub(crate) checkpoint_stall: Option<String>,
    /// Training time between checkpoints [default: the one with the highest goodput]
    #[arg(long, value_name = "TIME", help_heading = "Checkpoints")]
    pub(crate) interval: Option<String>,
    /// Mean time between failures of the whole job [default: from its components]
    #[arg(long, value_name = "TIME", conflicts_with = "component_mtbf", help_heading = "Failures")]
    pub(crate) mtbf: Option<String>,
    /// Mean hours between failures of one `gpu`, `host`, `nic`, `network` or `software` (repeatable)
    /// [default: published value]
    #[arg(long, value_name = "COMPONENT=HOURS", help_heading = "Failures")]
    pub(crate) component_mtbf: Vec<String>,
    /// Time to detect a failure and replace hosts [default: published value]
    #[arg(long, value_name = "TIME", help_heading = "Failures")]
    pub(crate) detection_time: Option<String>,
    /// Time to restart and load the checkpoint [default: published value]
    #[arg(long, value_name = "TIME", help_heading = "Failures")]
    pub(crate) restart_time: Option<String>,
    /// Spare hosts [default: one for every failure]
    #[arg(long, value_name = "N", help_heading = "Failures")]
    pub(crate) spares: Option<u32>,
    /// Time to repair a host
    #[arg(long, value_name = "TIME", help_heading = "Failures")]
    pub(crate) repair_time: Option<String>,
    /// Share of hosts that are slow at any time, 0 to 1
    #[arg(long, value_name = "SHARE", help_heading = "Failures")]
    pub(crate) slow_share: Option<f64>,
    /// Factor by which a slow host lengthens a step
    #[arg(long, value_name = "X", help_heading = "Failures")]
    pub(crate) slow_factor: Option<f64>,
    /// Table of flaps and slow parts of the network, as for `network failures` (repeatable) [default: that
    /// of the run file]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Failures")]
    pub(crate) rates: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
