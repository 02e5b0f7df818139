//! Normal durations of passes.
//!
//! Responsible for: medians and spreads of each rank's own passes, and the ideal of each kind over the job.
//! Uses medians where a single stall would affect a mean.

use super::gaps::median;
use crate::passes::{Pass, PassKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// Spread of the durations of passes of one kind, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Number of passes.
    pub count: usize,
    /// Median duration.
    #[serde(rename = "median_ns")]
    pub median: i64,
    /// Median absolute deviation.
    #[serde(rename = "deviation_ns")]
    pub deviation: i64,
}

impl Spread {
    fn of(values: &mut [i64]) -> Self {
        let middle = median(values);
        for value in values.iter_mut() {
            *value = (*value - middle).abs();
        }
        Self { count: values.len(), median: middle, deviation: median(values) }
    }
}

/// Normal durations of passes by rank, chunk and kind, over all steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Normal {
    own: BTreeMap<(u32, u32, PassKind), Spread>,
    /// By stage, chunk and kind, over ranks.
    peers: BTreeMap<(u32, u32, PassKind), Spread>,
}

impl Normal {
    pub(super) fn of(passes: &[Pass], durations: &[i64]) -> Self {
        let spreads = |key: fn(&Pass) -> (u32, u32, PassKind)| {
            let mut values: BTreeMap<_, Vec<i64>> = BTreeMap::new();
            for (pass, &duration) in passes.iter().zip(durations) {
                values.entry(key(pass)).or_default().push(duration);
            }
            values.into_iter().map(|(key, mut values)| (key, Spread::of(&mut values))).collect()
        };
        Self { own: spreads(|p| (p.rank, p.chunk, p.kind)), peers: spreads(|p| (p.stage, p.chunk, p.kind)) }
    }

    /// Normal duration of a pass: of its own rank, or with too few passes of its peers.
    pub fn of_pass(&self, pass: &Pass) -> Spread {
        let own = self.own.get(&(pass.rank, pass.chunk, pass.kind)).copied().unwrap_or_default();
        if own.count >= 3 { own } else { self.of_peers(pass).unwrap_or(own) }
    }

    /// Normal duration on a pass's stage; `None` if unknown.
    pub fn of_peers(&self, pass: &Pass) -> Option<Spread> {
        self.peers.get(&(pass.stage, pass.chunk, pass.kind)).copied()
    }

    /// Mean over ranks and chunks of the medians of a kind, in nanoseconds; `None` without passes of the
    /// kind.
    pub fn balanced(&self, kind: PassKind) -> Option<i64> {
        let medians: Vec<i64> = self.own.iter().filter(|(k, _)| k.2 == kind).map(|(_, s)| s.median).collect();
        let sum: i128 = medians.iter().map(|&m| i128::from(m)).sum();
        (!medians.is_empty()).then(|| (sum / medians.len() as i128) as i64)
    }
}

/// The ideal of a job without stragglers: all passes of a kind take the same, over all ranks and steps.
/// Compute takes the mean (the work has to be done), communication the median transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ideal {
    by_kind: BTreeMap<PassKind, i64>,
}

impl Ideal {
    pub(super) fn of(passes: impl Iterator<Item = (PassKind, i64)>) -> Self {
        let mut values: BTreeMap<PassKind, Vec<i64>> = BTreeMap::new();
        for (kind, duration) in passes {
            values.entry(kind).or_default().push(duration);
        }
        let ideal = |(kind, mut values): (PassKind, Vec<i64>)| {
            let sum: i128 = values.iter().map(|&v| i128::from(v)).sum();
            let mean = (sum / values.len().max(1) as i128) as i64;
            (kind, if kind.is_communication() { median(&mut values) } else { mean })
        };
        Self { by_kind: values.into_iter().map(ideal).collect() }
    }

    /// Ideal duration of a pass, in nanoseconds; 0 for an unknown kind.
    pub fn duration(&self, pass: &Pass) -> i64 {
        self.by_kind.get(&pass.kind).copied().unwrap_or(0)
    }
}
