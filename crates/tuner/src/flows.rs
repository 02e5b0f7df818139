//! Collectives priced by simulating them as flows on a topology, in place of the closed form.
//!
//! Responsible for: the network of a cluster as a design, and a [`CollectiveTimer`] that stretches what the closed form says by what the
//! topology does to the bytes. Refuses to let exchanges of different dimensions meet on links; [`crate::simulate`] does that.
//!
//! **What is compared.** The closed form is `latency + growing(bytes)`, both fitted to measurements on networks that did not block. All
//! groups of a kind are simulated at once as max-min fair flows, and
//!
//! `time = latency + growing(bytes) x (bandwidth time on the topology / bandwidth time at the devices' own ports)`
//!
//! where growing is that of the same machine without oversubscription. On a fabric that does not block the quotient is 1 and both
//! agree to rounding; elsewhere oversubscription, hash collisions and broken parts show in full, and what kernels and protocols
//! lose stays as it was measured.

use railwright_calculator::collectives::{Collective, CollectiveCost, CollectiveTimer, Fabric};
use railwright_calculator::costing::Machine;
use railwright_network::simulate::{Part, Wiring, exchange_time};
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_network::traffic::{Algorithm, Exchange, Groups, Numbering};
use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Group;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What a cluster says of its network, under what a user says: number of devices, domains, bandwidths. A network of which nothing is
/// said is a rail-optimized tree without oversubscription whose packets are sprayed, which never blocks.
pub fn design_of(cluster: &Cluster, said: &DesignSpec) -> DesignSpec {
    let domain = cluster.scale_up.domain_size.clamp(1, cluster.devices.max(1));
    let is_one_domain = domain >= cluster.devices;
    let kind = said.kind.unwrap_or(if is_one_domain { Kind::ScaleUp } else { Kind::RailOptimized });
    let is_default = said.kind.is_none();
    let mut spec = said.clone();
    spec.kind = Some(kind);
    spec.devices = said.devices.or(Some(cluster.devices.next_multiple_of(domain)));
    spec.domain = said.domain.or((kind != Kind::ScaleUp && kind != Kind::Torus).then_some(domain));
    spec.domain_bandwidth =
        said.domain_bandwidth.or(Some(cluster.scale_up.bandwidth).filter(|bandwidth| bandwidth.get() > 0.0));
    spec.speed = said.speed.or((kind != Kind::ScaleUp).then_some(cluster.network.bandwidth));
    if is_default && !is_one_domain {
        spec.routing = said.routing.or(Some(Routing::Spray));
    }
    spec
}

/// A machine whose collectives are simulated on a topology of which some parts are broken.
pub fn machine(cluster: &Cluster, wiring: Wiring) -> Result<Machine, Problem> {
    let mut machine = Machine::new(cluster);
    machine.fabric = machine.fabric.answered_by(Arc::new(FlowTimer::new(cluster, wiring)?));
    Ok(machine)
}

/// The wiring of a cluster's run on a design.
pub fn wiring(cluster: &Cluster, said: &DesignSpec, failed: &[Part]) -> Result<Wiring, Problem> {
    let design = design_of(cluster, said).resolve()?;
    let own = cluster.scale_up.domain_size.min(cluster.devices);
    if design.domain.size != own && design.kind != Kind::ScaleUp && design.kind != Kind::Torus {
        return Err(Problem::new(format!(
            "the topology has scale-up domains of {} devices and the cluster of {own}",
            design.domain.size
        ))
        .at_key("design.domain")
        .hint("leave design.domain out, or change `cluster.domain_size`"));
    }
    let wiring = Wiring::new(&design, failed)?;
    wiring.check(u32::try_from(cluster.devices).unwrap_or(u32::MAX))?;
    Ok(wiring)
}

/// A cluster as it would be on a network that never blocks, with the NICs of a topology.
pub fn unblocked(cluster: &Cluster, wiring: &Wiring) -> Cluster {
    let mut free = cluster.clone();
    for tier in &mut free.network.tiers {
        tier.oversubscription = 1.0;
    }
    if wiring.topology.design.fabric_tiers() > 0 {
        free.network.bandwidth = wiring.topology.design.nic_bandwidth;
    }
    free
}

/// Collectives as flows.
#[derive(Debug)]
pub struct FlowTimer {
    /// The closed form without oversubscription.
    plain: Fabric,
    wiring: Wiring,
    ranks: u64,
    known: Mutex<BTreeMap<(Collective, Group), f64>>,
}

impl FlowTimer {
    /// On a network; the run is on its first devices.
    pub fn new(cluster: &Cluster, wiring: Wiring) -> Result<Self, Problem> {
        wiring.check(u32::try_from(cluster.devices).unwrap_or(u32::MAX))?;
        Ok(Self {
            plain: Fabric::new(&unblocked(cluster, &wiring)),
            ranks: cluster.devices,
            wiring,
            known: Mutex::new(BTreeMap::new()),
        })
    }

    /// Bandwidth time of all groups like this at once over that at the devices' own ports; infinite if a group is cut off.
    pub fn slowdown(&self, operation: Collective, group: &Group) -> f64 {
        let key = (shape(operation), *group);
        // A lock that a panic poisoned holds finished values all the same.
        let known = |timer: &Self| {
            timer.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(&key).copied()
        };
        if let Some(known) = known(self) {
            return known;
        }
        let (numbering, exchange) = exchange(operation, group, self.ranks);
        let slowdown = if numbering.ranks() > u64::from(self.wiring.devices()) {
            1.0
        } else {
            exchange_time(&self.wiring, &numbering, &[exchange])
                .map_or(f64::INFINITY, |together| together.exchanges[0].slowdown)
        };
        self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(key, slowdown);
        slowdown
    }

    fn stretched(&self, cost: CollectiveCost, operation: Collective, group: &Group) -> CollectiveCost {
        if cost.time <= Seconds::ZERO {
            return cost;
        }
        let growing = cost.time - cost.latency;
        CollectiveCost { time: cost.latency + growing * self.slowdown(operation, group), ..cost }
    }
}

impl CollectiveTimer for FlowTimer {
    fn time(&self, operation: Collective, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        self.stretched(self.plain.time(operation, bytes, group, sharing), operation, group)
    }

    fn send(&self, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost {
        self.stretched(self.plain.send(bytes, group, sharing), Collective::SendReceive, group)
    }
}

/// Operations that put the same shares on the same pairs.
fn shape(operation: Collective) -> Collective {
    match operation {
        Collective::AllReduce | Collective::ReduceScatter => Collective::AllGather,
        other => other,
    }
}

/// The exchange of all groups like this one, of which the ranks are full; bytes do not matter for a quotient.
fn exchange(operation: Collective, group: &Group, ranks: u64) -> (Numbering, Exchange) {
    let block = group.ranks * group.stride;
    let numbering = Numbering::pipeline_outermost(1, (ranks / block.max(1)).max(1) * block);
    let (kind, algorithm) = match operation {
        Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter => {
            (CollectiveKind::AllGather, Algorithm::Ring)
        }
        Collective::AllToAll => (CollectiveKind::AllToAll, Algorithm::Direct),
        Collective::ExpertDispatch { copies, most_domains } => {
            (CollectiveKind::AllToAll, Algorithm::Dispatch { copies, most_domains })
        }
        Collective::Broadcast => (CollectiveKind::Broadcast, Algorithm::Ring),
        Collective::SendReceive => (CollectiveKind::Send, Algorithm::Ring),
    };
    let exchange = Exchange {
        dimension: Dimension::Other,
        purpose: "",
        phase: Phase::Forward,
        kind,
        algorithm,
        bytes: Bytes::new(1e9),
        count: 1.0,
        groups: Groups::within(&numbering, vec![0], group.ranks, group.stride),
    };
    (numbering, exchange)
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster::by_name;

    const OPERATIONS: [Collective; 6] = [
        Collective::AllReduce,
        Collective::AllGather,
        Collective::ReduceScatter,
        Collective::AllToAll,
        Collective::ExpertDispatch { copies: 8, most_domains: 4 },
        Collective::SendReceive,
    ];

    fn groups(devices: u64, domain: u64) -> Vec<Group> {
        let sizes = [2, 3, 4, 8, 12, 16, 64, 72, devices];
        let strides = [1, 2, 4, 8, 16, domain];
        let all = sizes.iter().flat_map(|&n| strides.iter().map(move |&stride| (n, stride)));
        all.filter(|(n, stride)| devices.is_multiple_of(n * stride))
            .map(|(n, stride)| Group::new(n, stride, domain))
            .collect()
    }

    /// The bar of the flow model: on fabrics that do not block, closed form and flows are the same to 1e-6.
    #[test]
    fn flows_agree_with_the_closed_form_where_nothing_blocks() {
        let mut seen = 0;
        for (name, devices) in [("dgx-h100", 128), ("dgx-a100", 64), ("gb200-nvl72", 144), ("h800", 64)] {
            let mut cluster = by_name(name, devices).expect("a preset");
            for tier in &mut cluster.network.tiers {
                tier.oversubscription = 1.0;
            }
            for kind in [None, Some(Kind::RailOptimized), Some(Kind::RailOnly), Some(Kind::Clos)] {
                let said = DesignSpec { kind, routing: Some(Routing::Spray), ..DesignSpec::default() };
                let wiring = wiring(&cluster, &said, &[]).expect("it is built");
                let timer = FlowTimer::new(&cluster, wiring).expect("whole");
                let closed = Fabric::new(&cluster);
                for group in groups(devices, cluster.scale_up.domain_size) {
                    for operation in OPERATIONS {
                        for bytes in [1e3, 1e6, 3e8, 2e10].map(Bytes::new) {
                            let (a, b) = (
                                timer.time(operation, bytes, &group, 1.0),
                                closed.time(operation, bytes, &group, 1.0),
                            );
                            let error = (a.time / b.time - 1.0).abs();
                            assert!(error < 1e-6, "{name} {kind:?} {operation:?} {group:?}: {error}");
                            seen += 1;
                        }
                    }
                }
            }
        }
        assert!(seen > 2000, "{seen}");
    }

    #[test]
    fn oversubscription_and_failures_show() {
        let cluster = by_name("dgx-h100", 256).expect("a preset");
        let slow = |said: &DesignSpec, failed: &[&str], stride| {
            let failed: Vec<Part> = failed.iter().map(|part| Part::parse(part).expect("a part")).collect();
            let timer =
                FlowTimer::new(&cluster, wiring(&cluster, said, &failed).expect("built")).expect("whole");
            timer.slowdown(Collective::AllReduce, &Group::new(256 / stride, stride, 8))
        };
        let rails = DesignSpec { kind: Some(Kind::RailOnly), ..DesignSpec::default() };
        assert!((slow(&rails, &[], 8) - 1.0).abs() < 1e-9);
        assert!((slow(&rails, &["nic:3"], 8) - 8.0 / 7.0).abs() < 1e-9);
        let thin = DesignSpec {
            kind: Some(Kind::Clos),
            routing: Some(Routing::Spray),
            leaf_oversubscription: Some(4.0),
            hosts_per_leaf: Some(32),
            ..DesignSpec::default()
        };
        // Rings over all domains climb from one in four of a leaf's domains' NICs; rings that skip leaves climb with all.
        assert!((slow(&thin, &[], 8) - 1.0).abs() < 1e-9, "{}", slow(&thin, &[], 8));
        assert!((slow(&thin, &[], 32) - 4.0).abs() < 1e-9, "{}", slow(&thin, &[], 32));
    }

    #[test]
    fn domains_that_differ_and_ranks_that_are_cut_off_are_told() {
        let cluster = by_name("dgx-h100", 64).expect("a preset");
        let said = DesignSpec { kind: Some(Kind::RailOnly), domain: Some(16), ..DesignSpec::default() };
        let problem = wiring(&cluster, &said, &[]).expect_err("another domain");
        assert!(
            problem.message.contains("domains of 16 devices and the cluster of 8"),
            "{}",
            problem.message
        );
        let clos = DesignSpec { kind: Some(Kind::Clos), ..DesignSpec::default() };
        let problem = wiring(&cluster, &clos, &[Part::Switch(1, 0)]).expect_err("one leaf for all");
        assert!(problem.message.contains("the step cannot finish"), "{}", problem.message);
    }
}
