//! The same traffic in fewer exchanges: equal routes are summed.
//!
//! Responsible for: an all-reduce, two gathers and a scatter over one ring becoming one exchange, so that
//! sums over pairs visit each ring once. Purposes are no longer separate.

use super::{Algorithm, Axis, Exchange, Groups, Traffic};
use railwright_spec::quantity::Bytes;
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Kinds whose flows differ only in bytes, with the factor on the bytes: an all-reduce is a scatter and a
/// gather.
const fn family(kind: CollectiveKind) -> (CollectiveKind, f64) {
    match kind {
        CollectiveKind::AllReduce => (CollectiveKind::AllGather, 2.0),
        CollectiveKind::ReduceScatter => (CollectiveKind::AllGather, 1.0),
        CollectiveKind::Receive => (CollectiveKind::Send, 1.0),
        other => (other, 1.0),
    }
}

type Key = (Axis, [Axis; 2], CollectiveKind, Algorithm);

impl Traffic {
    /// Traffic with the same bytes between every two ranks, of few exchanges that each group makes once.
    #[must_use]
    pub fn merged(&self) -> Self {
        let mut sums: BTreeMap<Key, BTreeMap<u32, (f64, &Exchange)>> = BTreeMap::new();
        for exchange in &self.exchanges {
            let (kind, factor) = family(exchange.kind);
            let key = (exchange.groups.members, exchange.groups.positions, kind, exchange.algorithm);
            let stages = sums.entry(key).or_default();
            for stage in &exchange.groups.stages {
                stages.entry(*stage).or_insert((0.0, exchange)).0 +=
                    exchange.bytes.get() * exchange.count * factor;
            }
        }
        let mut exchanges: Vec<Exchange> = Vec::new();
        for ((_, _, kind, _), stages) in sums {
            let first = exchanges.len();
            for (stage, (bytes, like)) in stages {
                let bytes = Bytes::new(bytes);
                match exchanges[first..].iter_mut().find(|known| known.bytes == bytes) {
                    Some(known) => known.groups.stages.push(stage),
                    None => exchanges.push(Exchange {
                        kind,
                        bytes,
                        count: 1.0,
                        groups: Groups { stages: vec![stage], ..like.groups.clone() },
                        ..like.clone()
                    }),
                }
            }
        }
        Self { numbering: self.numbering, exchanges }
    }

    /// The same with other algorithms: one for gathers and reductions, one for all-to-alls other than
    /// dispatch. Messages with fewer bytes than members stay on their ring.
    #[must_use]
    pub fn by(mut self, rotations: Algorithm, all_to_all: Algorithm) -> Self {
        for exchange in &mut self.exchanges {
            let is_a_number = exchange.bytes.get() < exchange.groups.members.extent as f64;
            match exchange.kind {
                CollectiveKind::AllReduce | CollectiveKind::AllGather | CollectiveKind::ReduceScatter
                    if !is_a_number =>
                {
                    exchange.algorithm = rotations;
                }
                CollectiveKind::AllToAll if !matches!(exchange.algorithm, Algorithm::Dispatch { .. }) => {
                    exchange.algorithm = all_to_all;
                }
                _ => {}
            }
        }
        self
    }
}
