//! Kernels by type and by name.
//!
//! Responsible for: the time of each mix of types, and the kernels with the largest time. Excludes types
//! outside the tool's table.

use super::Summary;
use super::events::{Events, OnStream, Type};
use super::intervals::union;
use super::summary::one_digit;
use serde::Serialize;
use std::collections::BTreeMap;

/// Time of one mix of types, over all ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelTypeRow {
    /// Concurrent types, with the tool's names.
    pub kernel_type: String,
    /// Time in microseconds, summed over ranks.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub sum: i64,
    /// Percent of the busy time.
    pub percent: f64,
}

/// One kernel of one rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelRow {
    /// The rank.
    pub rank: u32,
    /// Its type, with the tool's name.
    pub kernel_type: String,
    /// Its name, or `others`.
    pub name: String,
    /// Its times, in microseconds.
    #[serde(flatten)]
    pub time: Summary,
}

const TYPES: [(Type, &str); 3] =
    [(Type::Compute, "COMPUTATION"), (Type::Communication, "COMMUNICATION"), (Type::Memory, "MEMORY")];

/// State of the sums of type mixes.
#[derive(Clone, Debug, Default)]
pub(super) struct Types {
    time: [i64; 8],
}

impl Types {
    /// Adds a rank: a sweep over the ends of the three unions, with a bit for each active type.
    pub(super) fn add(&mut self, events: &Events<'_>) {
        let mut changes: Vec<(i64, i64)> = Vec::new();
        for (bit, (of, _)) in TYPES.iter().enumerate() {
            for (start, end) in union(events.gpu.iter().filter(|e| e.of == *of).map(|e| (e.start, e.end))) {
                changes.push((start, 1 << bit));
                changes.push((end, -(1 << bit)));
            }
        }
        changes.sort_unstable_by_key(|&(time, _)| time);
        // A part that ends before it starts clears its bit first: without an active type nothing counts.
        let (mut running, mut since) = (0, 0);
        for (time, change) in changes {
            let mix = usize::try_from(running).ok().filter(|&mix| mix > 0);
            if let Some(sum) = mix.and_then(|mix| self.time.get_mut(mix)) {
                *sum += time - since;
            }
            running += change;
            since = time;
        }
    }

    /// The table, the largest first.
    pub(super) fn rows(&self) -> Vec<KernelTypeRow> {
        let whole: i64 = self.time.iter().sum();
        let name = |mask: usize| {
            let words = TYPES.iter().enumerate().filter(|(bit, _)| mask & 1 << bit != 0);
            words.map(|(_, (_, name))| *name).collect::<Vec<_>>().join(" overlapping ")
        };
        let mut rows: Vec<KernelTypeRow> = (1..8)
            .filter(|&mask| self.time[mask] > 0)
            .map(|mask| KernelTypeRow {
                kernel_type: name(mask),
                sum: self.time[mask],
                percent: one_digit(100.0 * self.time[mask] as f64 / whole as f64),
            })
            .collect();
        rows.sort_by_key(|row| -row.sum);
        rows
    }
}

/// Maximum number of rows per type; the rest is `others`.
const ROWS: usize = 5;
/// Names beyond this share of their type's time are in `others`.
const SHARE: f64 = 0.8;

/// Kernels with the largest time. For a type with few names, statistics are over its events. For a type with
/// many names, the tool sums each name first: maximum, minimum, mean and deviation are over those sums.
pub(super) fn breakdown(rank: u32, events: &Events<'_>) -> Vec<KernelRow> {
    let mut rows = Vec::new();
    for (of, kernel_type) in TYPES {
        let mut names: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for event in events.gpu.iter().filter(|e| e.of == of) {
            names.entry(events.trace.names.get(event.name)).or_default().push(OnStream::duration(event));
        }
        let mut kernels: Vec<(&str, Vec<i64>)> = names.into_iter().collect();
        kernels.sort_by_key(|(_, times)| -times.iter().sum::<i64>());
        let mut put = |name: &str, times: &[i64]| {
            let time = Summary::of(times);
            rows.push(KernelRow { rank, kernel_type: kernel_type.to_owned(), name: name.to_owned(), time });
        };
        if kernels.len() <= ROWS {
            for (name, times) in &kernels {
                put(name, times);
            }
            continue;
        }
        let sums: Vec<i64> = kernels.iter().map(|(_, times)| times.iter().sum()).collect();
        let whole: i64 = sums.iter().sum();
        let (mut before, mut others) = (0, Vec::new());
        for (place, ((name, _), &sum)) in kernels.iter().zip(&sums).enumerate() {
            if place < ROWS && (before as f64) <= SHARE * whole as f64 {
                put(name, &[sum]);
            } else {
                others.push(sum);
            }
            before += sum;
        }
        if !others.is_empty() {
            put("others", &others);
        }
    }
    rows
}
