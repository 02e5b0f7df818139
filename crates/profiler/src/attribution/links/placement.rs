//! Links of a job by the place of their ends.
//!
//! Responsible for: the kind of link between two ranks, and whether a link explains a transfer. Hosts are
//! taken from the traces; without them, placement is inferred as for bandwidth ceilings. Boundaries that
//! another link may explain are doubts.

use crate::Job;
use crate::bandwidth::accelerator;
use crate::collectives::{LinkKind, ceiling};
use crate::groups::RankSet;
use railwright_spec::cluster::Accelerator;

/// Maximum ratio of a transfer to its time over the network at full rate for a healthy link: half of the rate
/// is common for single messages.
const OF_NETWORK: f64 = 2.0;

/// Minimum share of the steps of an excess that excludes the verdict "no straggler".
const NOTABLE: f64 = 0.02;

/// What long messages are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::attribution) enum Reference {
    /// Messages of the same size at other boundaries.
    Boundaries,
    /// The network at full rate, without another boundary that crosses it.
    FullRate,
}

/// A boundary with long messages: a slow link, or one of a different kind.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::attribution) struct Apart {
    pub(super) label: String,
    /// Its reference.
    pub(super) reference: Reference,
    /// Ratio to the reference.
    pub(super) factor: f64,
    /// Time beyond the usual messages, in nanoseconds of all steps.
    pub(super) excess: f64,
}

impl Apart {
    /// Reason against the verdict "no straggler" in steps of `base` nanoseconds altogether.
    pub(in crate::attribution) fn doubt(&self, base: i64) -> Option<String> {
        (self.excess > NOTABLE * base as f64).then(|| {
            let reason = match self.reference {
                Reference::Boundaries => {
                    "as messages of the same size at other stage boundaries: a slow link, or a link between nodes"
                }
                Reference::FullRate => "as at the network's full rate: a slow link, or a slower network",
            };
            format!("{} take {:.1} times as long {reason}", self.label, self.factor)
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

    /// Tests whether a healthy link may take this long for a message, in nanoseconds. With known hosts the
    /// compared links are of one kind. Otherwise the ends may be on two nodes, whatever their numbers.
    pub(super) fn explains(&self, transfer: f64, bytes: u64) -> bool {
        if self.has_hosts {
            return false;
        }
        self.at_full_rate(bytes).is_none_or(|time| transfer <= OF_NETWORK * time)
    }

    /// Time of a message over the network at full rate, in nanoseconds; `None` without a known rate.
    pub(super) fn at_full_rate(&self, bytes: u64) -> Option<f64> {
        let rate = self.accelerator.as_ref()?.network_bandwidth?;
        Some(bytes as f64 / rate.get() * 1e9)
    }

    /// Time of a message at full rate if this one is far longer, over a link whose ends are on two nodes.
    pub(super) fn exceeds_network(&self, link: Option<LinkKind>, transfer: f64, bytes: u64) -> Option<f64> {
        let time = self.at_full_rate(bytes).filter(|_| link == Some(LinkKind::Network))?;
        (transfer > OF_NETWORK * time).then_some(time)
    }
}
