//! Collectives timed by simulating them as flows on a topology, in place of the closed form.
//!
//! Responsible for: the network of a cluster as a design, and a [`CollectiveTimer`] that scales the closed
//! form by the slowdown on the topology. Excludes contention between dimensions: see [`crate::simulate`].
//!
//! **Method.** The closed form is `latency + growing(bytes)`, both fitted to measurements on non-blocking
//! networks. All groups of a kind are simulated at once as max-min fair flows, and
//!
//! `time = latency + growing(bytes) x (bandwidth time on the topology / bandwidth time at the devices' own
//! ports)`
//!
//! where growing is that of the same machine without oversubscription. On a non-blocking fabric the quotient
//! is 1 and both agree to rounding. On other fabrics it includes oversubscription, hash collisions and failed
//! parts. Losses of kernels and protocols remain as measured.

use crate::exchanges::algorithm;
use railwright_calculator::collectives::{
    Collective, CollectiveCost, CollectiveTimer, Fabric, TORUS_SHARE, torus_dimensions,
};
use railwright_calculator::costing::Machine;
use railwright_network::simulate::{Class, Part, Wiring, exchange_time};
use railwright_network::topology::{Design, DesignSpec, Kind};
use railwright_network::traffic::{Exchange, Groups, Numbering};
use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Group;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use railwright_step::{Dimension, Phase};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum speed of a link in a design. It replaces unlimited links.
const MOST: BytesPerSecond = BytesPerSecond::new(1e15);

/// Network settings of a cluster, overridden by those of the user: number of devices, domains, bandwidths.
/// The default is a rail-optimized tree without oversubscription, with packet spraying
/// ([`Kind::usual_routing`]), which is non-blocking.
pub fn design_of(cluster: &Cluster, specified: &DesignSpec) -> DesignSpec {
    let domain = cluster.scale_up.domain_size.clamp(1, cluster.devices.max(1));
    let is_one_domain = domain >= cluster.devices;
    let kind = specified.kind.unwrap_or(if is_one_domain { Kind::ScaleUp } else { Kind::RailOptimized });
    let mut spec = specified.clone();
    spec.kind = Some(kind);
    spec.devices = specified.devices.or(Some(cluster.devices.next_multiple_of(domain)));
    spec.domain = specified.domain.or((kind != Kind::ScaleUp && kind != Kind::Torus).then_some(domain));
    spec.domain_bandwidth = specified.domain_bandwidth.or(Some(cluster.domain_bandwidth().min(MOST)));
    spec.speed =
        specified.speed.or((kind != Kind::ScaleUp).then_some(device_bandwidth(kind, cluster).min(MOST)));
    if kind == Kind::Torus && specified.dimensions.is_none() && torus_dimensions(cluster) == Some(2) {
        spec.dimensions = spec.devices.map(most_even);
    }
    spec.routing = specified.routing.or(kind.usual_routing());
    spec.server = specified.server.or_else(|| server_of(cluster, spec.domain.unwrap_or(domain)));
    spec
}

/// Devices of a server, if its domains consist of whole ones.
pub fn server_of(cluster: &Cluster, domain: u64) -> Option<u64> {
    let node = cluster.devices_per_node;
    (node > 0 && domain.is_multiple_of(node)).then_some(node)
}

/// Bandwidth of a device into a network of a kind, one direction: of its NIC, or of the links of a torus if
/// the cluster is one.
pub fn device_bandwidth(kind: Kind, cluster: &Cluster) -> BytesPerSecond {
    if kind == Kind::Torus && torus_dimensions(cluster).is_some() {
        cluster.scale_up.bandwidth
    } else {
        cluster.network.bandwidth
    }
}

/// The warning about NICs that are faster than the devices behind them; `None` without any.
pub fn idle_nics(design: &Design, cluster: &Cluster) -> Option<Warning> {
    let (bought, used) = (design.nic_bandwidth, design.clone().fed(cluster.device_limit()).nic_bandwidth);
    let gbit = |speed: BytesPerSecond| (speed.get() * 8.0 / 1e9).round();
    (used < bought).then(|| {
        let message = format!(
            "NICs of {} Gbit/s are limited by the link of the {}, {} Gbit/s: the step uses {} Gbit/s, and the bill has the full NICs",
            gbit(bought),
            cluster.accelerator.name,
            gbit(used),
            gbit(used)
        );
        Warning::new("network-nic-idle", message)
    })
}

/// The two closest factors of a number.
fn most_even(n: u64) -> Vec<u64> {
    let side = (1..=n.isqrt()).rev().find(|side| n.is_multiple_of(*side)).unwrap_or(1);
    vec![n / side, side]
}

/// A machine whose collectives are simulated on a topology with failed parts.
pub fn machine(cluster: &Cluster, wiring: Wiring) -> Result<Machine, Problem> {
    let mut machine = Machine::new(cluster);
    machine.fabric = machine.fabric.answered_by(Arc::new(FlowTimer::new(cluster, wiring)?));
    Ok(machine)
}

/// A machine that simulates collectives, after one that is never slower: the closed form on a non-blocking
/// network.
pub fn quick_and_simulated(cluster: &Cluster, wiring: Wiring) -> Result<(Machine, Machine), Problem> {
    let quick = Machine::new(&unblocked(cluster, &wiring));
    Ok((quick, machine(cluster, wiring)?))
}

/// The wiring of a cluster's run on a design. Rejects settings without an effect on the step: latencies, and
/// a torus of devices that share domains.
pub fn wiring(cluster: &Cluster, specified: &DesignSpec, failed: &[Part]) -> Result<Wiring, Problem> {
    let wiring = Wiring::new(&design(cluster, specified)?, failed)?;
    wiring.check(u32::try_from(cluster.devices).unwrap_or(u32::MAX))?;
    Ok(wiring)
}

/// The validated design of a cluster's run.
fn design(cluster: &Cluster, specified: &DesignSpec) -> Result<Design, Problem> {
    let latencies = [("domain_latency", specified.domain_latency), ("link_latency", specified.link_latency)];
    if let Some((key, _)) = latencies.iter().find(|(_, specified)| specified.is_some()) {
        return Err(Problem::new(
            "a simulated step uses the latencies of the cluster, so those of a design have no effect",
        )
        .at_key(format!("design.{key}"))
        .hint(format!("omit design.{key}; set `cluster.network.latency` for a hop between nodes")));
    }
    let design = design_of(cluster, specified).resolve()?.fed(cluster.device_limit());
    let own = cluster.scale_up.domain_size.min(cluster.devices);
    let is_torus = design.kind == Kind::Torus && torus_dimensions(cluster).is_some();
    if design.domain.size != own && design.kind == Kind::Torus && !is_torus {
        return Err(Problem::new(format!(
            "a torus connects single devices, but the cluster has scale-up domains of {own}"
        ))
        .at_key("design.kind")
        .hint("use a torus cluster such as `tpu-v5p-pod`, or set `cluster.scale_up.domain = 1`"));
    }
    if design.domain.size != own && design.kind != Kind::ScaleUp && !is_torus {
        return Err(Problem::new(format!(
            "the topology has scale-up domains of {} devices, but the cluster of {own}",
            design.domain.size
        ))
        .at_key("design.domain")
        .hint("omit design.domain, or change `cluster.scale_up.domain`"));
    }
    Ok(design)
}

/// Machines of a changing cluster on one topology: simulations are shared by all clusters with the same
/// network.
#[derive(Debug, Default)]
pub struct OnTopology {
    specified: DesignSpec,
    built: Mutex<Vec<Built>>,
}

#[derive(Clone, Debug)]
struct Built {
    wiring: Arc<Wiring>,
    ranks: u64,
    is_torus: bool,
    known: Arc<Known>,
}

/// Slowdowns by operation and group.
type Known = Mutex<BTreeMap<(Collective, Group), Result<f64, Problem>>>;

impl OnTopology {
    /// Open settings of the design are taken from each cluster.
    pub fn new(specified: DesignSpec) -> Self {
        Self { specified, built: Mutex::default() }
    }

    /// The machine of a cluster.
    pub fn machine(&self, cluster: &Cluster) -> Result<Machine, Problem> {
        self.paced(cluster, (1.0, 1.0))
    }

    /// The machine with other latencies, as multiples, inside domains and between them.
    pub(crate) fn paced(&self, cluster: &Cluster, pace: (f64, f64)) -> Result<Machine, Problem> {
        let design = design(cluster, &self.specified)?;
        let (ranks, is_torus) =
            (cluster.devices, design.kind == Kind::Torus && torus_dimensions(cluster).is_some());
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = built
            .iter()
            .find(|b| (b.ranks, b.is_torus) == (ranks, is_torus) && b.wiring.topology.design == design)
            .cloned();
        let one = if let Some(known) = alike {
            known
        } else {
            let wiring = Arc::new(wiring(cluster, &self.specified, &[])?);
            let one = Built { wiring, ranks, is_torus, known: Arc::default() };
            built.push(one.clone());
            one
        };
        let plain = Fabric::new(&unblocked(cluster, &one.wiring)).with_latencies(pace.0, pace.1);
        let timer = FlowTimer { plain, is_torus, wiring: one.wiring, ranks, known: one.known };
        let mut machine = Machine::new(cluster);
        machine.fabric = machine.fabric.answered_by(Arc::new(timer));
        Ok(machine)
    }
}

/// The machine of a cluster: on a topology, or in closed form.
pub(crate) fn machine_on(network: Option<&OnTopology>, cluster: &Cluster) -> Result<Machine, Problem> {
    network.map_or_else(|| Ok(Machine::new(cluster)), |network| network.machine(cluster))
}

/// A cluster on a non-blocking network with the NICs and the scale-up domains of a topology.
pub fn unblocked(cluster: &Cluster, wiring: &Wiring) -> Cluster {
    let mut free = cluster.clone();
    for tier in &mut free.network.tiers {
        tier.oversubscription = 1.0;
    }
    let design = &wiring.topology.design;
    if design.kind == Kind::Torus && torus_dimensions(cluster).is_some() {
        free.scale_up.bandwidth = design.nic_bandwidth;
        return free;
    }
    if design.fabric_tiers() > 0 || design.kind == Kind::Torus {
        free.network.bandwidth = design.nic_bandwidth;
    }
    if design.kind == Kind::ScaleUp {
        free.scale_up.domain_size = free.devices;
    }
    // Devices without scale-up links keep their class of links, unless a design sets a bandwidth.
    if design.kind != Kind::Torus && design.domain.bandwidth != cluster.domain_bandwidth() {
        free.scale_up.bandwidth = design.domain.bandwidth;
    }
    free
}

/// Warnings of a run with a given topology, without those of the cluster's own tiers, which carry no traffic.
pub fn without_own_tiers(mut warnings: Vec<Warning>) -> Vec<Warning> {
    warnings.retain(|warning| warning.id != "fabric-too-small");
    warnings
}

/// Tests whether a run on a network uses the model of a torus.
pub(crate) fn is_torus_law(cluster: &Cluster, wiring: &Wiring) -> bool {
    wiring.topology.design.kind == Kind::Torus && torus_dimensions(cluster).is_some()
}

/// Collectives as flows.
#[derive(Debug)]
pub struct FlowTimer {
    /// The closed form without oversubscription.
    plain: Fabric,
    /// True if the closed form is that of a torus, which assumes the number of dimensions of a group and the
    /// distance of messages.
    is_torus: bool,
    wiring: Arc<Wiring>,
    ranks: u64,
    known: Arc<Known>,
}

impl FlowTimer {
    /// A timer on a network; the run is on its first devices.
    pub fn new(cluster: &Cluster, wiring: Wiring) -> Result<Self, Problem> {
        wiring.check(u32::try_from(cluster.devices).unwrap_or(u32::MAX))?;
        Ok(Self {
            plain: Fabric::new(&unblocked(cluster, &wiring)),
            ranks: cluster.devices,
            is_torus: is_torus_law(cluster, &wiring),
            wiring: Arc::new(wiring),
            known: Arc::default(),
        })
    }

    /// Bandwidth time of all groups like this at once, relative to that at the devices' own ports. Fails if
    /// groups exceed the network's devices, or if one is disconnected.
    pub fn slowdown(&self, operation: Collective, group: &Group) -> Result<f64, Problem> {
        let key = (shape(operation), *group);
        if let Some(known) = self.known().get(&key) {
            return known.clone();
        }
        let (numbering, exchange) = exchange(operation, group, self.ranks);
        let devices = u64::from(self.wiring.devices());
        let slowdown = if numbering.ranks() > devices {
            Err(Problem::new(format!(
                "groups of {} ranks with stride {} need {} devices, but the network has {devices}",
                group.ranks,
                group.stride,
                numbering.ranks()
            ))
            .at_key("design.gpus")
            .hint("use a network with at least as many devices, or parallel sizes that divide the devices of the run"))
        } else {
            exchange_time(&self.wiring, &numbering, std::slice::from_ref(&exchange))
                .map(|together| together.exchanges.first().map_or(1.0, |exchange| exchange.slowdown))
                .map(|slowdown| {
                    slowdown
                        * if self.is_torus {
                            self.beyond_ports(key.0, group, &exchange, &numbering)
                        } else {
                            1.0
                        }
                })
        };
        self.known().insert(key, slowdown.clone());
        slowdown
    }

    /// On a torus: the bandwidth time at a device's own links relative to that in the closed form, without
    /// the share of links that transfers reach.
    fn beyond_ports(
        &self,
        operation: Collective,
        group: &Group,
        exchange: &Exchange,
        numbering: &Numbering,
    ) -> f64 {
        let ports = Class::of(exchange, numbering, None, &self.wiring.topology.design).ideal;
        torus_ratio(&self.plain, operation, group, (exchange.bytes, ports))
    }

    /// The cached results. A lock poisoned by a panic still contains complete values.
    fn known(&self) -> MutexGuard<'_, BTreeMap<(Collective, Group), Result<f64, Problem>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The group in this network's domains. A scale-up network is one domain of all devices.
    fn laid(&self, group: &Group) -> Group {
        if self.wiring.topology.design.kind == Kind::ScaleUp {
            Group { per_domain: group.ranks, least: group.ranks, ..*group }
        } else {
            *group
        }
    }

    /// A cost that cannot be simulated is unchanged; [`CollectiveTimer::problem`] has the reason, and the
    /// step is rejected.
    fn stretched(&self, cost: CollectiveCost, operation: Collective, group: &Group) -> CollectiveCost {
        if cost.time <= Seconds::ZERO {
            return cost;
        }
        let growing = cost.time - cost.latency;
        let slowdown = self.slowdown(operation, group).unwrap_or(1.0);
        CollectiveCost { time: cost.latency + growing * slowdown, ..cost }
    }
}

impl CollectiveTimer for FlowTimer {
    fn time(&self, operation: Collective, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        let group = self.laid(group);
        self.stretched(self.plain.time(operation, bytes, &group, sharing), operation, &group)
    }

    fn send(&self, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        let group = self.laid(group);
        self.stretched(self.plain.send(bytes, &group, sharing), Collective::SendReceive, &group)
    }

    fn problem(&self) -> Option<Problem> {
        self.known().values().find_map(|known| known.as_ref().err().cloned())
    }
}

/// `ports`, the bandwidth time of a call at the links of a device on a torus, relative to that of the closed
/// form.
pub(crate) fn torus_ratio(
    plain: &Fabric,
    operation: Collective,
    group: &Group,
    (bytes, ports): (Bytes, f64),
) -> f64 {
    let cost = plain.time(operation, bytes, group, 1.0);
    let growing = (cost.time - cost.latency).get() * TORUS_SHARE;
    if growing > 0.0 { ports / growing } else { 1.0 }
}

/// A representative of the operations with equal shares between equal pairs of ranks.
pub(crate) fn shape(operation: Collective) -> Collective {
    match operation {
        Collective::AllReduce | Collective::ReduceScatter => Collective::AllGather,
        other => other,
    }
}

/// The exchange of all groups like this one over all ranks; bytes have no effect on a quotient.
pub(crate) fn exchange(operation: Collective, group: &Group, ranks: u64) -> (Numbering, Exchange) {
    let block = group.ranks * group.stride;
    let numbering = Numbering::pipeline_outermost(1, (ranks / block.max(1)).max(1) * block);
    let exchange = Exchange {
        dimension: Dimension::Other,
        purpose: "",
        phase: Phase::Forward,
        kind: shape(operation).into(),
        algorithm: algorithm(operation),
        bytes: Bytes::new(1e9),
        count: 1.0,
        groups: Groups::within(&numbering, vec![0], group.ranks, group.stride),
    };
    (numbering, exchange)
}

#[cfg(test)]
mod tests;
