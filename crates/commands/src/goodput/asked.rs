//! The job of `goodput`, as options describe it.

/// Checkpoints of a job, as typed.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    /// Time until a checkpoint is restorable.
    pub time: Option<String>,
    /// Size of a checkpoint.
    pub bytes: Option<String>,
    /// Bandwidth of the storage for the whole job.
    pub bandwidth: Option<String>,
    /// Training pause per checkpoint.
    pub stall: Option<String>,
    /// Training time between checkpoints.
    pub interval: Option<String>,
}

/// A job; texts have units.
#[derive(Clone, Debug, Default)]
pub struct Goodput {
    /// Model, launch file or log.
    pub model: Option<String>,
    /// A run file.
    pub run: Option<String>,
    /// Number of GPUs.
    pub gpus: Option<u64>,
    /// The cluster.
    pub cluster: Option<String>,
    /// Number of NICs.
    pub nics: Option<u64>,
    /// Price of a GPU-hour in dollars.
    pub price_per_device_hour: Option<f64>,
    /// Checkpoints.
    pub checkpoints: Checkpoints,
    /// Mean time between failures of the whole job.
    pub mtbf: Option<String>,
    /// Mean hours between failures of one component, as `component=hours`.
    pub component_mtbf: Vec<String>,
    /// Time to detect a failure and replace hosts.
    pub detection_time: Option<String>,
    /// Time to restart and load the checkpoint.
    pub restart_time: Option<String>,
    /// Spare hosts.
    pub spares: Option<u32>,
    /// Time to repair a host.
    pub repair_time: Option<String>,
    /// Share of hosts that are slow at any time.
    pub slow_share: Option<f64>,
    /// Factor by which a slow host lengthens a step.
    pub slow_factor: Option<f64>,
    /// Tables of flaps and slow parts of the network.
    pub rates: Vec<String>,
}
