//! The links of one cluster, prepared so that one collective is priced in tens of nanoseconds.

use super::link::LinkClass;
use super::links::Links;
use super::network::{Network, Span};
use super::{Collective, CollectiveCost, CollectiveTimer, expert};
use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Group;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use std::sync::Arc;

/// The links of a cluster. Build once per run.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Links inside the scale-up domain.
    inner: Links,
    /// Links inside the node but outside the domain (PCIe between NVLink pairs). `None` unless the node is
    /// larger than the domain.
    node: Option<Links>,
    node_size: u64,
    pub(super) network: Network,
    /// Replacement timer, if any.
    timer: Option<Arc<dyn CollectiveTimer>>,
}

impl Fabric {
    /// Prepares a cluster's links.
    pub fn new(cluster: &Cluster) -> Self {
        let class = LinkClass::of(cluster);
        let (host, bandwidth) = (cluster.accelerator.host_link(), cluster.domain_bandwidth());
        let domain = cluster.scale_up.domain_size.max(1);
        let slice = cluster.devices.clamp(1, domain);
        let node_size = cluster.devices_per_node.max(1);
        let calibration = cluster.calibration.as_deref();
        let of_links = calibration.filter(|c| c.link == cluster.scale_up.link);
        // In a node without scale-up links, the calibration measured its bus.
        let (of_domain, of_node) = if domain > 1 { (of_links, None) } else { (None, of_links) };
        Self {
            inner: Links::new(
                class,
                bandwidth,
                cluster.scale_up.in_network_reduction,
                [domain, slice],
                of_domain,
            ),
            node: (node_size > domain)
                .then(|| Links::new(LinkClass::Pcie, host, false, [node_size; 2], of_node)),
            node_size,
            network: Network::new(cluster, class),
            timer: None,
        }
    }

    /// The same fabric with a different timer, such as one that simulates flows on a topology.
    #[must_use]
    pub fn answered_by(mut self, timer: Arc<dyn CollectiveTimer>) -> Self {
        self.timer = Some(timer);
        self
    }

    /// The same fabric with other latencies, as multiples, inside domains and between them. Tori keep theirs.
    #[must_use]
    pub fn with_latencies(mut self, inside: f64, between: f64) -> Self {
        self.inner.pace = inside;
        if let Some(node) = &mut self.node {
            node.pace = inside;
        }
        self.network.pace *= between;
        self
    }

    /// One collective of one group.
    ///
    /// `sharing` counts the concurrent groups that share each NIC; 1 is normal, because each rank has its own
    /// share of the node's NICs in [`railwright_spec::cluster::Network::bandwidth`].
    pub fn time(&self, op: Collective, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        if let Some(timer) = &self.timer {
            return timer.time(op, bytes, group, sharing);
        }
        let (ranks, bytes) = (group.ranks, bytes.get());
        if ranks <= 1 || bytes.is_nan() || bytes <= 0.0 {
            return CollectiveCost::NOTHING;
        }
        let (links, local, least) = self.locality(group);
        if op == Collective::SendReceive {
            return self.message(Bytes::new(bytes), least >= ranks, sharing);
        }
        if let Collective::ExpertDispatch { copies, most_domains } = op {
            let span = Span { ranks, local, least, stride: group.stride, sharing: sharing.max(1.0) };
            return expert::dispatch(links, &self.network, copies, most_domains, bytes, &span);
        }
        if least >= ranks {
            return links.time(op, bytes, ranks);
        }
        let span = Span { ranks, local, least, stride: group.stride, sharing: sharing.max(1.0) };
        let cost = self.network.time(links, op, bytes, &span);
        match self.network.founded(&span) {
            Some(source) => CollectiveCost { source, ..cost },
            None => cost,
        }
    }

    /// One message from a rank of a group to the next. It stays in the domain if the whole group is in it.
    pub fn send(&self, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        match &self.timer {
            Some(timer) => timer.send(bytes, group, sharing),
            None => self.message(bytes, group.is_inside_domain(), sharing),
        }
    }

    /// Reason why a replacement timer failed; `None` without failures. The closed form never fails.
    pub fn problem(&self) -> Option<Problem> {
        self.timer.as_ref().and_then(|timer| timer.problem())
    }

    fn message(&self, bytes: Bytes, same_domain: bool, sharing: f64) -> CollectiveCost {
        if bytes.get().is_nan() || bytes.get() <= 0.0 {
            CollectiveCost::NOTHING
        } else if same_domain {
            self.inner.send(bytes.get())
        } else {
            self.network.send(bytes.get(), sharing.max(1.0))
        }
    }

    /// Tests whether links of one domain or node connect the whole group, so that none of its traffic crosses
    /// the network.
    pub(crate) fn joins(&self, group: &Group) -> bool {
        let (_, _, least) = self.locality(group);
        least >= group.ranks
    }

    /// Links between the group's neighbours, with the maximum and minimum number of its ranks that they
    /// connect.
    pub(super) fn locality(&self, group: &Group) -> (&Links, u64, u64) {
        let in_domain = group.per_domain.clamp(1, group.ranks);
        if let Some(node) = &self.node {
            let in_node = (self.node_size / group.stride.max(1)).clamp(1, group.ranks);
            if in_node > in_domain {
                return (node, in_node, in_node);
            }
        }
        (&self.inner, in_domain, group.least.clamp(1, in_domain))
    }
}

impl CollectiveTimer for Fabric {
    fn time(&self, op: Collective, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        Self::time(self, op, bytes, group, sharing)
    }

    fn send(&self, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        Self::send(self, bytes, group, sharing)
    }
}

#[cfg(test)]
impl Links {
    pub(super) fn of_domain(cluster: &Cluster) -> Self {
        Fabric::new(cluster).inner
    }
}
