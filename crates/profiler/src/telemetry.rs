//! Counters of devices and network cards with a trace: why a device is slow.
//!
//! Responsible for: samples of `nvidia-smi --query-gpu`, `dcgmi dmon`, dcgm-exporter and the node exporter ([`read`]), and what they record of each rank while it was traced
//! ([`health`]). Refuses a cause without a sample, and samples of a host or device that no rank names: these are counted.

mod health;
mod names;
mod read;

pub use health::{Counter, Health, RankHealth, health};
pub use names::{Metric, throttle_reasons};
pub use read::{matches, read};

use serde::Serialize;

/// One reading of one counter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The host, if the file names it.
    pub host: Option<String>,
    /// Which device: the index of a GPU, the name of a network card with its port.
    pub device: String,
    /// Time, in nanoseconds since 1970, if the file records it.
    pub time: Option<i64>,
    /// Content.
    pub metric: Metric,
    /// The value, in the metric's unit.
    pub value: f64,
}
