//! Idle, compute and other time of a rank's device, and overlap of communication.
//!
//! Responsible for: the temporal breakdown and the overlap percentage. Excludes causes.

use super::events::{Events, Type};
use super::intervals::{common, length, union};
use super::summary::two_digits;
use serde::Serialize;

/// Device time of a rank by activity, in microseconds. Exposed copies count as non-compute; overlapped
/// communication does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TemporalRow {
    /// The rank.
    pub rank: u32,
    /// Time without activity.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub idle_time: i64,
    /// Time with compute.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub compute_time: i64,
    /// Time with other activity and without compute.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub non_compute_time: i64,
    /// Time from the first start to the last end.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub kernel_time: i64,
    /// Percent of `kernel_time`.
    pub idle_percent: f64,
    /// Percent of `kernel_time`.
    pub compute_percent: f64,
    /// Percent of `kernel_time`.
    pub non_compute_percent: f64,
}

/// Share of a rank's communication overlapped with compute.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverlapRow {
    /// The rank.
    pub rank: u32,
    /// Percent of the communication; `None` without communication.
    pub overlap_percent: Option<f64>,
}

pub(super) fn temporal(rank: u32, events: &Events<'_>) -> TemporalRow {
    let all = union(events.gpu.iter().map(|e| (e.start, e.end)));
    let compute = union(events.gpu.iter().filter(|e| e.of == Type::Compute).map(|e| (e.start, e.end)));
    let first = events.gpu.iter().map(|e| e.start).min().unwrap_or_default();
    let last = events.gpu.iter().map(|e| e.end).max().unwrap_or_default();
    let kernel_time = last - first;
    let idle_time = kernel_time - length(&all);
    let compute_time = length(&compute);
    let non_compute_time = length(&all) - compute_time;
    let percent =
        |part: i64| if kernel_time > 0 { two_digits(100.0 * part as f64 / kernel_time as f64) } else { 0.0 };
    TemporalRow {
        rank,
        idle_time,
        compute_time,
        non_compute_time,
        kernel_time,
        idle_percent: percent(idle_time),
        compute_percent: percent(compute_time),
        non_compute_percent: percent(non_compute_time),
    }
}

pub(super) fn overlap(rank: u32, events: &Events<'_>) -> OverlapRow {
    let spans = |of: Type| union(events.gpu.iter().filter(|e| e.of == of).map(|e| (e.start, e.end)));
    let communication = spans(Type::Communication);
    let whole = length(&communication);
    let under = common(&spans(Type::Compute), &communication);
    OverlapRow { rank, overlap_percent: (whole > 0).then(|| two_digits(100.0 * under as f64 / whole as f64)) }
}
