//! Minimum duration of a transfer.
//!
//! Responsible for: a lower bound on a transfer with unknown beginning, because no other rank of its group
//! was recorded. Without bytes, ranks or the rate of the link there is no bound.

use crate::Job;
use crate::bandwidth::{accelerator, ceiling};
use crate::groups::{Group, RankSet};
use crate::matching::Part;
use railwright_spec::cluster::Accelerator;
use railwright_step::CollectiveKind;

/// Links of a job, for bounds of transfers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Least {
    accelerator: Option<Accelerator>,
}

/// Bytes over the link of one rank per byte of a collective among `n` ranks: a lower bound for any algorithm.
/// Reduction in the switch (NVLink SHARP, InfiniBand SHARP) takes one byte per byte of an all-reduce, where a
/// ring takes 2(n-1)/n (nccl-tests, PERFORMANCE.md). Gathered or scattered data takes (n-1)/n in either case.
fn least_share(operation: Option<CollectiveKind>, n: u32) -> f64 {
    super::bus_factor(operation, n).min(1.0)
}

impl Least {
    /// Derives the links from the accelerator in a job's traces.
    pub fn of(job: &Job) -> Self {
        Self { accelerator: accelerator(job) }
    }

    /// Minimum bytes over the link, and the rate of the link in bytes per second; `None` if unknown.
    pub(crate) fn load(&self, part: &Part, group: Option<&Group>) -> Option<(f64, f64)> {
        let (bytes, group) = (part.bytes?, group?);
        let ranks: &RankSet = group.ranks.as_ref().filter(|ranks| ranks.len() > 1)?;
        let link = ceiling(self.accelerator.as_ref()?, ranks)?;
        Some((bytes as f64 * least_share(part.operation, ranks.len()), link.bytes_per_second))
    }

    /// Minimum duration of a transfer, in nanoseconds: `bytes x share / rate`.
    pub(crate) fn transfer(&self, part: &Part, group: Option<&Group>) -> Option<i64> {
        let (bytes, rate) = self.load(part, group)?;
        Some((bytes / rate * 1e9) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_share_is_what_any_algorithm_moves() {
        // A ring moves 1.75 bytes, a switch with reduction one.
        assert_eq!(least_share(Some(CollectiveKind::AllReduce), 8), 1.0);
        assert_eq!(least_share(Some(CollectiveKind::AllGather), 8), 0.875);
        assert_eq!(least_share(Some(CollectiveKind::Send), 2), 1.0);
    }
}
