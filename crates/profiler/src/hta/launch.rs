//! Launches, the launched kernels, and the lengths of queues.
//!
//! Responsible for: the launch statistics and the numbers of waiting kernels. Excludes kernels without a
//! launch in the trace.

use super::events::Events;
use railwright_spec::{median, quantiles};
use serde::Serialize;
use std::collections::BTreeMap;

/// Launches of one rank, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaunchRow {
    /// The rank.
    pub rank: u32,
    /// Number of pairs of a launch and its kernel.
    pub pairs: usize,
    /// Duration of the calls, in microseconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub cpu_duration: i64,
    /// Duration of the kernels, in microseconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub gpu_duration: i64,
    /// Sum of the delays from the end of a call to the start of its kernel, in microseconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub launch_delay: i64,
    /// Median delay, in microseconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub launch_delay_median: f64,
    /// Largest delay, in microseconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub launch_delay_max: i64,
    /// Number of kernels shorter than their call, for calls up to 50 microseconds.
    pub short_kernels: usize,
    /// Number of calls above 50 microseconds.
    pub slow_calls: usize,
    /// Number of delays above 100 microseconds.
    pub long_delays: usize,
}

/// Queue of one stream: launched kernels that have not started, sampled after every change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueRow {
    /// The rank.
    pub rank: u32,
    /// The stream.
    pub stream: u32,
    /// Number of changes: one for each launch and one for each start.
    pub count: usize,
    /// Mean length over changes, not over time.
    pub mean: f64,
    /// Sample standard deviation of the length.
    pub deviation: f64,
    /// Smallest length.
    pub min: f64,
    /// Lower quartile of the length.
    pub quarter: f64,
    /// Median of the length.
    pub median: f64,
    /// Upper quartile of the length.
    pub three_quarters: f64,
    /// Largest length.
    pub max: f64,
}

/// Threshold of a slow call, in microseconds.
const SLOW_CALL: i64 = 50;
/// Threshold of a long delay, in microseconds.
const LONG_DELAY: i64 = 100;

pub(super) fn statistics(rank: u32, events: &Events<'_>) -> LaunchRow {
    let mut row = LaunchRow {
        rank,
        pairs: 0,
        cpu_duration: 0,
        gpu_duration: 0,
        launch_delay: 0,
        launch_delay_median: 0.0,
        launch_delay_max: 0,
        short_kernels: 0,
        slow_calls: 0,
        long_delays: 0,
    };
    let mut delays = Vec::new();
    for event in &events.gpu {
        let Some(call) = events.call(event).filter(|c| c.launches) else { continue };
        let (host, device) = (call.end - call.start, event.duration());
        let delay = (event.start - call.end).max(0);
        row.pairs += 1;
        row.cpu_duration += host;
        row.gpu_duration += device;
        row.launch_delay += delay;
        row.launch_delay_max = row.launch_delay_max.max(delay);
        row.short_kernels += usize::from(device < host && host <= SLOW_CALL);
        row.slow_calls += usize::from(host > SLOW_CALL);
        row.long_delays += usize::from(delay > LONG_DELAY);
        delays.push(delay as f64);
    }
    row.launch_delay_median = median(&mut delays);
    row
}

pub(super) fn queues(rank: u32, events: &Events<'_>) -> Vec<QueueRow> {
    let mut streams: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    for event in events.gpu.iter().filter(|e| e.is_work()) {
        let Some(call) = events.call(event).filter(|c| c.queues) else { continue };
        let changes = streams.entry(event.stream).or_default();
        // The tool's sort leaves the order within a microsecond open; here launches come first.
        changes.push((call.start, 1));
        changes.push((event.start, -1));
    }
    streams
        .into_iter()
        .map(|(stream, mut changes)| {
            changes.sort_by_key(|&(time, change)| (time, -change));
            let mut length = 0;
            let lengths: Vec<f64> = changes
                .iter()
                .map(|(_, change)| {
                    length += change;
                    length as f64
                })
                .collect();
            queue(rank, stream, lengths)
        })
        .collect()
}

fn queue(rank: u32, stream: u32, mut lengths: Vec<f64>) -> QueueRow {
    let count = lengths.len();
    let mean = lengths.iter().sum::<f64>() / count.max(1) as f64;
    let squares: f64 = lengths.iter().map(|l| (l - mean).powi(2)).sum();
    let [min, quarter, median, three_quarters, max] =
        quantiles(&mut lengths, [0.0, 0.25, 0.5, 0.75, 1.0]).unwrap_or_default();
    QueueRow {
        rank,
        stream,
        count,
        mean,
        deviation: (squares / (count.max(2) - 1) as f64).sqrt(),
        min,
        quarter,
        median,
        three_quarters,
        max,
    }
}
