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
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a cluster says of its network, under what a user says: number of devices, domains, bandwidths. A network of which nothing is
/// said is a rail-optimized tree without oversubscription; where no routing is said, of any kind, packets are sprayed. The two together never block.
pub fn design_of(cluster: &Cluster, said: &DesignSpec) -> DesignSpec {
    let domain = cluster.scale_up.domain_size.clamp(1, cluster.devices.max(1));
    let is_one_domain = domain >= cluster.devices;
    let kind = said.kind.unwrap_or(if is_one_domain { Kind::ScaleUp } else { Kind::RailOptimized });
    let mut spec = said.clone();
    spec.kind = Some(kind);
    spec.devices = said.devices.or(Some(cluster.devices.next_multiple_of(domain)));
    spec.domain = said.domain.or((kind != Kind::ScaleUp && kind != Kind::Torus).then_some(domain));
    // Zero comes from clusters without links of their own, whose devices talk through the host.
    let own = Some(cluster.scale_up.bandwidth).filter(|bandwidth| bandwidth.get() > 0.0);
    spec.domain_bandwidth = said
        .domain_bandwidth
        .filter(|bandwidth| bandwidth.get() > 0.0 || own.is_some())
        .or(own)
        .or(Some(host_bandwidth(cluster)));
    spec.speed = said.speed.or((kind != Kind::ScaleUp).then_some(cluster.network.bandwidth));
    spec.routing = said.routing.or_else(|| kind.routings().first().map(|_| Routing::Spray));
    spec
}

/// A machine whose collectives are simulated on a topology of which some parts are broken.
pub fn machine(cluster: &Cluster, wiring: Wiring) -> Result<Machine, Problem> {
    let mut machine = Machine::new(cluster);
    machine.fabric = machine.fabric.answered_by(Arc::new(FlowTimer::new(cluster, wiring)?));
    Ok(machine)
}

fn host_bandwidth(cluster: &Cluster) -> BytesPerSecond {
    cluster.accelerator.host_bandwidth.unwrap_or(BytesPerSecond::from_gb(31.0))
}

/// The wiring of a cluster's run on a design. Refuses what the step would not see: tori and latencies.
pub fn wiring(cluster: &Cluster, said: &DesignSpec, failed: &[Part]) -> Result<Wiring, Problem> {
    let latencies = [("domain_latency", said.domain_latency), ("link_latency", said.link_latency)];
    if let Some((key, _)) = latencies.iter().find(|(_, said)| said.is_some()) {
        return Err(Problem::new(
            "a step's latencies are those that were measured for the cluster's links, so a design's mean nothing to it",
        )
        .at_key(format!("design.{key}"))
        .hint(format!("leave design.{key} out; `cluster.network.latency` is what a hop between nodes takes")));
    }
    let design = design_of(cluster, said).resolve()?;
    if design.kind == Kind::Torus {
        return Err(Problem::new(
            "the step of a torus is not that of a network with switches: its collectives use the links of all dimensions at once, which rings of flows here do not",
        )
        .at_key("design.kind")
        .hint(
            "`estimate` prices pods of tori (`railwright clusters list`) by a law of their own; `network traffic --topology torus --by link` has their links",
        ));
    }
    let own = cluster.scale_up.domain_size.min(cluster.devices);
    if design.domain.size != own && design.kind != Kind::ScaleUp {
        return Err(Problem::new(format!(
            "the topology has scale-up domains of {} devices and the cluster of {own}",
            design.domain.size
        ))
        .at_key("design.domain")
        .hint("leave design.domain out, or change `cluster.scale_up.domain`"));
    }
    let wiring = Wiring::new(&design, failed)?;
    wiring.check(u32::try_from(cluster.devices).unwrap_or(u32::MAX))?;
    Ok(wiring)
}

/// A cluster as it would be on a network that never blocks, with the NICs and the scale-up domains of a topology.
pub fn unblocked(cluster: &Cluster, wiring: &Wiring) -> Cluster {
    let mut free = cluster.clone();
    for tier in &mut free.network.tiers {
        tier.oversubscription = 1.0;
    }
    let design = &wiring.topology.design;
    if design.fabric_tiers() > 0 {
        free.network.bandwidth = design.nic_bandwidth;
    }
    if design.kind == Kind::ScaleUp {
        free.scale_up.domain_size = free.devices;
    }
    // Without links of their own, devices are known by a bandwidth of zero: it stays unless a design says otherwise.
    if cluster.scale_up.bandwidth.get() > 0.0 || design.domain.bandwidth != host_bandwidth(cluster) {
        free.scale_up.bandwidth = design.domain.bandwidth;
    }
    free
}

/// Warnings of a run whose topology is given: not those of the cluster's own tiers, on which nothing travels.
pub fn without_own_tiers(mut warnings: Vec<Warning>) -> Vec<Warning> {
    warnings.retain(|warning| warning.id != "fabric-too-small");
    warnings
}

/// Collectives as flows.
#[derive(Debug)]
pub struct FlowTimer {
    /// The closed form without oversubscription.
    plain: Fabric,
    wiring: Wiring,
    ranks: u64,
    known: Mutex<BTreeMap<(Collective, Group), Result<f64, Problem>>>,
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

    /// Bandwidth time of all groups like this at once over that at the devices' own ports. Fails when groups reach beyond the
    /// network's devices, or when one is cut off.
    pub fn slowdown(&self, operation: Collective, group: &Group) -> Result<f64, Problem> {
        let key = (shape(operation), *group);
        if let Some(known) = self.known().get(&key) {
            return known.clone();
        }
        let (numbering, exchange) = exchange(operation, group, self.ranks);
        let devices = u64::from(self.wiring.devices());
        let slowdown = if numbering.ranks() > devices {
            Err(Problem::new(format!(
                "groups of {} ranks, {} apart, reach over {} devices, and the network has {devices}",
                group.ranks,
                group.stride,
                numbering.ranks()
            ))
            .at_key("design.gpus")
            .hint("give the network as many devices, or choose degrees that divide the run's"))
        } else {
            exchange_time(&self.wiring, &numbering, &[exchange])
                .map(|together| together.exchanges.first().map_or(1.0, |exchange| exchange.slowdown))
        };
        self.known().insert(key, slowdown.clone());
        slowdown
    }

    /// What is known so far; a lock that a panic poisoned holds finished values all the same.
    fn known(&self) -> MutexGuard<'_, BTreeMap<(Collective, Group), Result<f64, Problem>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The group in this network's domains, which a scale-up network makes of all devices.
    fn laid(&self, group: &Group) -> Group {
        if self.wiring.topology.design.kind == Kind::ScaleUp {
            Group { per_domain: group.ranks, least: group.ranks, ..*group }
        } else {
            *group
        }
    }

    /// A cost that cannot be simulated stays as it is; [`CollectiveTimer::problem`] tells of it, and the step is refused.
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
    use proptest::prelude::*;
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

    /// The most that any rank sends or receives of one call by all groups: inside its domain, and across.
    fn most_carried(operation: Collective, group: &Group, ranks: u64, domain: u64, bytes: f64) -> [f64; 2] {
        let (numbering, exchange) = exchange(operation, group, ranks);
        let mut ports = vec![[0.0_f64; 4]; numbering.ranks() as usize];
        let mut members = Vec::new();
        for group in 0..exchange.groups.count() {
            exchange.groups.members(&numbering, group, &mut members);
            exchange.flows(&members, domain, &mut |from, to, sent| {
                let side = usize::from(u64::from(from) / domain != u64::from(to) / domain);
                ports[from as usize][side] += sent * bytes / 1e9;
                ports[to as usize][2 + side] += sent * bytes / 1e9;
            });
        }
        let most = |side: usize| ports.iter().map(|port| port[side].max(port[2 + side])).fold(0.0, f64::max);
        [most(0), most(1)]
    }

    /// Whether no group that fits a domain lies across two, which the closed form takes for granted.
    fn lies_inside_if_it_fits(group: &Group, ranks: u64, domain: u64) -> bool {
        let block = group.ranks * group.stride;
        !group.is_inside_domain()
            || (0..ranks / block).all(|n| {
                (0..group.stride).all(|m| {
                    let first = n * block + m;
                    first / domain == (first + (group.ranks - 1) * group.stride) / domain
                })
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(192))]

        /// However groups lie on domains, evenly or not: the closed form is the flows on fabrics that do not block, and counts the bytes
        /// that flows put through the busiest NIC.
        #[test]
        fn closed_form_and_flows_agree_on_random_layouts(
            (name, domain) in prop_oneof![2 => Just(("gb200-nvl72", 72_u64)), 1 => Just(("dgx-h100", 8))],
            n in 2_u64..40, stride in prop_oneof![2 => Just(1_u64), 2 => Just(2), 2 => Just(4), 2 => Just(8), 1 => 1_u64..20],
            groups in 1_u64..7,
            operation in proptest::sample::select(OPERATIONS.to_vec()),
            kind in proptest::sample::select(vec![Kind::RailOptimized, Kind::Clos, Kind::RailOnly]),
            bytes in prop_oneof![Just(1e5_f64), Just(1e8), Just(1e10)],
        ) {
            let devices = n * stride * groups;
            prop_assume!(devices <= 600);
            let mut cluster = by_name(name, devices).expect("a preset");
            cluster.network.tiers.iter_mut().for_each(|tier| tier.oversubscription = 1.0);
            let domain = domain.min(devices);
            let group = Group::among(n, stride, domain, devices);
            let said = DesignSpec { kind: Some(kind), routing: Some(Routing::Spray), ..DesignSpec::default() };
            let wiring = wiring(&cluster, &said, &[]).expect("it is built");
            let timer = FlowTimer::new(&cluster, wiring).expect("whole");
            let here = timer.time(operation, Bytes::new(bytes), &group, 1.0);
            let closed = Fabric::new(&cluster).time(operation, Bytes::new(bytes), &group, 1.0);
            let error = here.time / closed.time - 1.0;
            let keeps_to_rails = {
                let (numbering, exchange) = exchange(operation, &group, devices);
                let (mut members, mut keeps) = (Vec::new(), true);
                for group in 0..exchange.groups.count() {
                    exchange.groups.members(&numbering, group, &mut members);
                    exchange.flows(&members, domain, &mut |from, to, _| {
                        let (a, b) = (u64::from(from), u64::from(to));
                        keeps &= a / domain == b / domain || a % domain == b % domain;
                    });
                }
                keeps
            };
            // Where rails are apart, what changes rails is forwarded through domains: it may take longer, and never less.
            if kind == Kind::RailOnly && !keeps_to_rails {
                prop_assert!(error > -1e-6, "{error}");
            } else {
                prop_assert!(error.abs() < 1e-6, "{name} {kind:?} {operation:?} {group:?}: {error}");
            }
            let is_counted = matches!(operation, Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll | Collective::ExpertDispatch { .. });
            if is_counted && lies_inside_if_it_fits(&group, devices, domain) {
                let [inside, across] = most_carried(operation, &group, devices, domain, bytes);
                let network = closed.wire_bytes_network.get();
                prop_assert!((across - network).abs() <= 1e-9 * bytes, "{group:?} {operation:?}: {across} {network}");
                let links = closed.wire_bytes_scale_up.get();
                if domain.is_multiple_of(stride) {
                    prop_assert!((inside - links).abs() <= 1e-9 * bytes, "{group:?} {operation:?}: {inside} {links}");
                }
            }
        }
    }

    #[test]
    fn oversubscription_and_failures_show() {
        let cluster = by_name("dgx-h100", 256).expect("a preset");
        let slow = |said: &DesignSpec, failed: &[&str], stride| {
            let failed: Vec<Part> = failed.iter().map(|part| Part::parse(part).expect("a part")).collect();
            let timer =
                FlowTimer::new(&cluster, wiring(&cluster, said, &failed).expect("built")).expect("whole");
            timer.slowdown(Collective::AllReduce, &Group::new(256 / stride, stride, 8)).expect("joined")
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

    #[test]
    fn a_scale_up_network_is_one_domain_with_the_bandwidth_of_the_design() {
        let cluster = by_name("dgx-h100", 256).expect("a preset");
        let said = DesignSpec { kind: Some(Kind::ScaleUp), ..DesignSpec::default() };
        let one = wiring(&cluster, &said, &[]).expect("built");
        let free = unblocked(&cluster, &one);
        assert_eq!((free.scale_up.domain_size, free.scale_up.bandwidth), (256, cluster.scale_up.bandwidth));
        // Domains of 8 is what the run's layout says; the network knows better.
        let group = Group::new(32, 8, 8);
        let timer = FlowTimer::new(&cluster, one).expect("whole");
        let (inside, over_nics) = (
            timer.time(Collective::AllGather, Bytes::new(1e9), &group, 1.0).time,
            Fabric::new(&cluster).time(Collective::AllGather, Bytes::new(1e9), &group, 1.0).time,
        );
        assert!(inside * 4.0 < over_nics, "{inside:?} {over_nics:?}");
        assert_eq!(timer.problem(), None);
    }

    #[test]
    fn a_domains_bandwidth_is_carried_and_what_is_not_is_refused() {
        let cluster = by_name("dgx-h100", 64).expect("a preset");
        let rails = DesignSpec { kind: Some(Kind::RailOnly), ..DesignSpec::default() };
        let group = Group::new(8, 1, 8);
        let growing = |said: &DesignSpec| {
            let timer = FlowTimer::new(&cluster, wiring(&cluster, said, &[]).expect("built")).expect("whole");
            let cost = timer.time(Collective::AllGather, Bytes::new(1e10), &group, 1.0);
            cost.time - cost.latency
        };
        let half = DesignSpec { domain_bandwidth: Some(cluster.scale_up.bandwidth / 2.0), ..rails.clone() };
        let longer = growing(&half) / growing(&rails);
        assert!((1.9..2.1).contains(&longer), "{longer}");

        let microsecond = Some(Seconds::from_micros(1.0));
        let torus = DesignSpec { kind: Some(Kind::Torus), ..DesignSpec::default() };
        for (said, key, words) in [
            (
                DesignSpec { domain_latency: microsecond, ..rails.clone() },
                "design.domain_latency",
                "latencies",
            ),
            (DesignSpec { link_latency: microsecond, ..rails.clone() }, "design.link_latency", "latencies"),
            (torus, "design.kind", "the step of a torus"),
        ] {
            let problem = wiring(&cluster, &said, &[]).expect_err("it would be ignored");
            assert!(problem.message.contains(words), "{}", problem.message);
            assert_eq!(problem.place.expect("a place").key.as_deref(), Some(key));
        }
    }

    #[test]
    fn groups_that_cannot_be_simulated_are_problems_and_no_times() {
        let cluster = by_name("dgx-h100", 64).expect("a preset");
        let rails = DesignSpec { kind: Some(Kind::RailOnly), ..DesignSpec::default() };
        let timer = FlowTimer::new(&cluster, wiring(&cluster, &rails, &[]).expect("built")).expect("whole");
        let wide = Group::new(16, 8, 8);
        let problem = timer.slowdown(Collective::AllReduce, &wide).expect_err("128 ranks on 64 devices");
        assert!(problem.message.contains("reach over 128 devices"), "{}", problem.message);
        // Whoever asks for a time gets a number, and the problem with the step.
        assert!(timer.time(Collective::AllReduce, Bytes::new(1e6), &wide, 1.0).time.get().is_finite());
        assert_eq!(timer.problem(), Some(problem));
    }

    #[test]
    fn a_given_topology_has_no_word_on_tiers_that_are_not_simulated() {
        let warning = |id: &str| Warning { id: id.to_owned(), message: String::new() };
        let left = without_own_tiers(vec![warning("fabric-too-small"), warning("node-partly-used")]);
        assert_eq!(left.iter().map(|warning| warning.id.as_str()).collect::<Vec<_>>(), ["node-partly-used"]);
    }
}
