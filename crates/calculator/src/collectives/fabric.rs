//! The links of one cluster, prepared so that one collective is priced in tens of nanoseconds.

use super::calibrated::{self, Measured};
use super::domain;
use super::law::{Law, bus_factor};
use super::link::LinkClass;
use super::network::{Network, Span};
use super::torus::Torus;
use super::{Collective, CollectiveCost, CollectiveTimer, Source, expert};
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Group;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use std::sync::Arc;

/// Group sizes with cached models; larger ones are computed on demand.
const KEPT_RANKS: u64 = 128;
const OPERATIONS: [Collective; 5] = [
    Collective::AllReduce,
    Collective::AllGather,
    Collective::ReduceScatter,
    Collective::AllToAll,
    Collective::SendReceive,
];

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

/// One kind of link that connects a set of devices.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) class: LinkClass,
    pub(super) bandwidth: f64,
    reduces: bool,
    torus: Option<Torus>,
    /// Multiple of the models' base latency; 1 is normal.
    pub(super) pace: f64,
    kept: Vec<[(Law, Source); OPERATIONS.len()]>,
    /// Models measured by a calibration.
    measured: Vec<Measured>,
}

impl Links {
    fn new(
        class: LinkClass,
        bandwidth: BytesPerSecond,
        reduces: bool,
        [domain, slice]: [u64; 2],
        calibration: Option<&Calibration>,
    ) -> Self {
        let bandwidth = if bandwidth.get() > 0.0 { bandwidth.get() } else { 16e9 };
        let torus = match class {
            LinkClass::Torus(dimensions) => Some(Torus::of_slice(slice, dimensions, bandwidth)),
            _ => None,
        };
        let mut links =
            Self { class, bandwidth, reduces, torus, pace: 1.0, kept: Vec::new(), measured: Vec::new() };
        if let Some(calibration) = calibration {
            links.measured = calibrated::measured(calibration, &|op, ranks| links.catalogued(op, ranks));
        }
        links.kept = (0..=domain.min(KEPT_RANKS))
            .map(|ranks| OPERATIONS.map(|op| links.unkept(op, ranks.max(1))))
            .collect();
        links
    }

    #[cfg(test)]
    pub(super) fn of_domain(cluster: &Cluster) -> Self {
        Fabric::new(cluster).inner
    }

    /// The catalogue's model.
    fn catalogued(&self, op: Collective, ranks: u64) -> (Law, Source) {
        domain::law(self.class, op, ranks, self.bandwidth, self.reduces)
    }

    /// The model of the calibration, or of the catalogue.
    fn unkept(&self, op: Collective, ranks: u64) -> (Law, Source) {
        let catalogued = self.catalogued(op, ranks);
        calibrated::law(&self.measured, op, ranks, catalogued).unwrap_or(catalogued)
    }

    /// The model for `ranks` ranks on these links.
    pub(super) fn law(&self, op: Collective, ranks: u64) -> (Law, Source) {
        let column = match op {
            Collective::AllReduce => 0,
            Collective::AllGather | Collective::Broadcast => 1,
            Collective::ReduceScatter => 2,
            Collective::AllToAll | Collective::ExpertDispatch { .. } => 3,
            Collective::SendReceive => 4,
        };
        let (law, source) = match self.kept.get(ranks as usize) {
            Some(laws) => laws[column],
            None => self.unkept(op, ranks),
        };
        (Law { base: law.base * self.pace, ..law }, source)
    }

    fn time(&self, op: Collective, bytes: f64, ranks: u64) -> CollectiveCost {
        if let Some(torus) = &self.torus {
            return torus.time(op, bytes, ranks);
        }
        let (law, source) = self.law(op, ranks);
        let wire = law.wire(op, bytes, ranks as f64);
        CollectiveCost {
            time: Seconds::new(law.base + law.growing(wire, bytes)),
            latency: Seconds::new(law.base),
            wire_bytes_scale_up: Bytes::new(wire),
            wire_bytes_network: Bytes::ZERO,
            source,
            algorithm: match op {
                Collective::AllReduce if law.in_switch => "nvls",
                Collective::AllToAll => "all-to-all",
                _ => "ring",
            },
        }
    }

    /// One message to a neighbour: as measured, otherwise from a two-rank all-to-all, whose ranks each keep
    /// half of their buffer.
    fn send(&self, bytes: f64) -> CollectiveCost {
        if let Some(torus) = &self.torus {
            return torus.time(Collective::SendReceive, bytes, 2);
        }
        let (law, source, buffer) = if calibrated::has_messages(&self.measured) {
            let (law, source) = self.law(Collective::SendReceive, 2);
            (law, source, bytes)
        } else {
            let (law, source) = self.law(Collective::AllToAll, 2);
            (law, source.max(Source::Interpolated), 2.0 * bytes)
        };
        CollectiveCost {
            time: Seconds::new(law.base + law.growing(bytes, buffer)),
            latency: Seconds::new(law.base),
            wire_bytes_scale_up: Bytes::new(bytes),
            wire_bytes_network: Bytes::ZERO,
            source,
            algorithm: "send",
        }
    }
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

/// Bytes that each rank of a ring sends.
pub(super) fn ring_wire(op: Collective, bytes: f64, ranks: u64) -> f64 {
    bus_factor(op, ranks as f64) * bytes
}
