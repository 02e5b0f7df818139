//! Counters of devices and network cards with a trace: evidence for slow devices.
//!
//! Responsible for: samples of `nvidia-smi --query-gpu`, `dcgmi dmon`, dcgm-exporter and the node exporter
//! ([`read`]), and the counters of each rank during the recording ([`health`]) and over a step (`series`).
//! Without a sample there is no cause. Samples of hosts or devices outside the job are counted and excluded.

mod health;
mod names;
mod read;
mod series;

pub use health::{Counter, Health, RankHealth, health};
pub use names::{Metric, throttle_reasons};
pub use read::{matches, read};
pub(crate) use series::{Changes, of_step};

use serde::Serialize;

/// One reading of one counter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The host, if the file contains it.
    pub host: Option<String>,
    /// The device: index of a GPU, or name of a network card with its port.
    pub device: String,
    /// Time in nanoseconds since 1970, if recorded.
    pub time: Option<i64>,
    /// The metric.
    pub metric: Metric,
    /// The value, in the metric's unit.
    pub value: f64,
}
