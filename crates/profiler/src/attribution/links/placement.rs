//! Links of a job by the place of their ends.
//!
//! Responsible for: the kind of link between two ranks, and whether a link explains a transfer. Hosts are taken from the traces; without
//! them, placement is inferred as for bandwidth ceilings. Boundaries that another link may explain are doubts.

use crate::Job;
use crate::collectives::bandwidth::accelerator;
use crate::collectives::{LinkKind, ceiling};
use crate::groups::RankSet;
use railwright_spec::cluster::Accelerator;

/// Maximum ratio of a transfer to its time over the network at full rate for a healthy link: half of the rate is common for single messages.
const OF_NETWORK: f64 = 2.0;

/// Minimum share of the steps of an excess that excludes the verdict "no straggler".
const NOTABLE: f64 = 0.02;

/// A boundary with long messages: a slow link, or one of another kind.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::attribution) struct Apart {
    pub(super) label: String,
    /// Ratio to the usual message of the same size.
    pub(super) factor: f64,
    /// Time beyond the usual messages, in nanoseconds of all steps.
    pub(super) excess: f64,
}

impl Apart {
    /// Reason against the verdict "no straggler" in steps of `base` nanoseconds altogether.
    pub(in crate::attribution) fn doubt(&self, base: i64) -> Option<String> {
        (self.excess > NOTABLE * base as f64).then(|| {
            format!(
                "{} take {:.1} times as long as messages of the same size at other stage boundaries: a slow link, or a link between nodes",
                self.label, self.factor
            )
        })
    }
}

/// Accelerator of a job, and whether the host of every rank is known.
pub(super) struct Placement {
    accelerator: Option<Accelerator>,
    has_hosts: bool,
}

impl Placement {
    pub(super) fn of(job: &Job) -> Self {
        let has_hosts = job.members.iter().all(|member| member.trace.identity.host.is_some());
        Self { accelerator: accelerator(job), has_hosts }
    }

    /// Kind of the link between two ranks.
    pub(super) fn link(&self, job: &Job, (one, other): (u32, u32)) -> Option<LinkKind> {
        if self.has_hosts {
            let host = |rank: u32| job.members.get(job.position(rank)?)?.trace.identity.host.as_deref();
            let within = host(one)? == host(other)?;
            return Some(if within { LinkKind::ScaleUp } else { LinkKind::Network });
        }
        Some(ceiling(self.accelerator.as_ref()?, &RankSet::new(&[one, other]))?.kind)
    }

    /// Tests whether a healthy link may take this long for a message, in nanoseconds. With known hosts the compared links are of one kind.
    /// Otherwise the ends may be on two nodes, whatever their numbers.
    pub(super) fn explains(&self, transfer: f64, bytes: u64) -> bool {
        if self.has_hosts {
            return false;
        }
        let rate = self.accelerator.as_ref().and_then(|accelerator| accelerator.network_bandwidth);
        rate.is_none_or(|rate| transfer * 1e-9 <= OF_NETWORK * bytes as f64 / rate.get())
    }
}
