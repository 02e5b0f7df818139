//! Tables of HolisticTraceAnalysis by its definitions, including artefacts: for comparison with existing
//! reports.
//!
//! Responsible for: temporal, overlap, kernel type, kernel, idle, launch and queue tables as that tool prints
//! them, in whole microseconds. Known errors of the tool are kept: the profiler's own report has the
//! corrected values.

mod events;
mod idle;
mod intervals;
mod kernels;
mod launch;
mod temporal;

pub use idle::{IdleCause, IdleRow};
pub use kernels::{KernelRow, KernelTypeRow};
pub use launch::{LaunchRow, QueueRow};
pub use temporal::{OverlapRow, TemporalRow};

use crate::Job;
use serde::Serialize;

/// All tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HtaTables {
    /// Device time breakdown of each rank.
    pub temporal: Vec<TemporalRow>,
    /// Share of communication overlapped with compute.
    pub overlap: Vec<OverlapRow>,
    /// Time by mix of concurrent kernel types, summed over ranks.
    pub kernel_types: Vec<KernelTypeRow>,
    /// Kernels with the largest time, by type and rank.
    pub kernels: Vec<KernelRow>,
    /// Idle time of streams by cause.
    pub idle: Vec<IdleRow>,
    /// Launches with their kernels.
    pub launches: Vec<LaunchRow>,
    /// Queue lengths of streams.
    pub queues: Vec<QueueRow>,
}

/// Tables of a job. Excludes ranks without device activity, as the tool does.
pub fn tables(job: &Job) -> HtaTables {
    let mut all = HtaTables::default();
    let mut types = kernels::Types::default();
    for member in &job.members {
        let rank = member.rank;
        let events = events::Events::of(&member.trace);
        if events.gpu.is_empty() {
            continue;
        }
        all.temporal.push(temporal::temporal(rank, &events));
        all.overlap.push(temporal::overlap(rank, &events));
        types.add(&events);
        all.kernels.extend(kernels::breakdown(rank, &events));
        all.idle.extend(idle::breakdown(rank, &events));
        all.launches.push(launch::statistics(rank, &events));
        all.queues.extend(launch::queues(rank, &events));
    }
    all.kernel_types = types.rows();
    all
}

/// Rounds to two digits, halves to even, as Python does.
fn two_digits(value: f64) -> f64 {
    rounded(value, 100.0)
}

/// Rounds to one digit.
fn one_digit(value: f64) -> f64 {
    rounded(value, 10.0)
}

fn rounded(value: f64, scale: f64) -> f64 {
    if value.is_finite() { (value * scale).round_ties_even() / scale } else { value }
}

/// Sum, extremes, mean and sample deviation of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The sum.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub sum: i64,
    /// The largest.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub max: i64,
    /// The smallest.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub min: i64,
    /// The mean.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub mean: f64,
    /// Sample standard deviation; 0 for a single value.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub deviation: f64,
}

impl Summary {
    /// Statistics of some values.
    fn of(values: &[i64]) -> Self {
        let count = values.len() as f64;
        let sum: i64 = values.iter().sum();
        let mean = if values.is_empty() { 0.0 } else { sum as f64 / count };
        let squares: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
        let deviation = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self {
            sum,
            max: values.iter().copied().max().unwrap_or_default(),
            min: values.iter().copied().min().unwrap_or_default(),
            mean,
            deviation,
        }
    }
}
