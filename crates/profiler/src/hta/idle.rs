//! Reasons for idle time of streams between two kernels.
//!
//! Responsible for: the idle table by stream. Excludes gaps before the first and after the last kernel.

use super::events::{Events, OnStream};
use super::summary::two_digits;
use serde::Serialize;
use std::collections::BTreeMap;

/// Reason why a stream was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IdleCause {
    /// The next kernel had not been launched when the last one ended.
    HostWait,
    /// The next kernel had been launched, and started within 30 microseconds.
    KernelWait,
    /// The next kernel had been launched, and started later.
    Other,
}

/// Idle time of one stream for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleRow {
    /// The rank.
    pub rank: u32,
    /// The stream.
    pub stream: u32,
    /// The cause.
    pub idle_category: IdleCause,
    /// Idle time, in microseconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub idle_time: i64,
    /// Share of the stream's idle time (0 to 1); `None` if it was never idle.
    pub idle_time_ratio: Option<f64>,
}

/// Gaps below this are caused by the device, in microseconds.
const CONSECUTIVE: i64 = 30;

pub(super) fn breakdown(rank: u32, events: &Events<'_>) -> Vec<IdleRow> {
    let mut streams: BTreeMap<u32, Vec<&OnStream>> = BTreeMap::new();
    for event in events.gpu.iter().filter(|e| e.is_work()) {
        streams.entry(event.stream).or_default().push(event);
    }
    let mut rows = Vec::new();
    for (stream, mut kernels) in streams {
        kernels.sort_by_key(|k| k.start);
        // The first kernel has no gap and counts as another cause of zero length.
        let mut causes = BTreeMap::from([(IdleCause::Other, 0)]);
        for pair in kernels.windows(2) {
            let gap = pair[1].start - pair[0].end;
            let late = events.call(pair[1]).is_some_and(|call| call.start > pair[0].end);
            let cause = match (late, gap < CONSECUTIVE) {
                (true, _) => IdleCause::HostWait,
                (false, true) => IdleCause::KernelWait,
                (false, false) => IdleCause::Other,
            };
            *causes.entry(cause).or_insert(0) += gap;
        }
        let whole: i64 = causes.values().sum();
        let ratio = |time: i64| (whole != 0).then(|| two_digits(time as f64 / whole as f64));
        rows.extend(causes.into_iter().map(|(idle_category, idle_time)| IdleRow {
            rank,
            stream,
            idle_category,
            idle_time,
            idle_time_ratio: ratio(idle_time),
        }));
    }
    rows
}
