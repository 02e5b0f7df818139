//! Effect of a network design on a step: bandwidth and hops by the reach of a group of ranks.
//!
//! Responsible for: conversion of a [`Design`] to the calculator's [`Cluster`], and the step of a plan with a
//! share of its bandwidth or with unlimited bandwidth. Does not simulate: groups have shares of capacity, as
//! if packets were distributed evenly.

use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_network::topology::{Design, Fabric};
use railwright_spec::cluster::{Cluster, Tier};
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};

/// The cluster of a design on a machine: its accelerators in the design's domains, connected by the design's
/// network.
///
/// A tier's oversubscription includes that of all tiers below it, because it is relative to NICs. If rails
/// are connected only through domains, traffic to all peers takes `1 + B_S / B_F (K - 1) / K` times as long:
/// the step inside the domain is not hidden (equation 16 of the rail-only notes, without the bytes that stay
/// in the domain). Traffic between ranks of one rail is unaffected.
///
/// Devices use at most the bandwidth of their own link ([`Cluster::device_limit`]), however fast their NICs
/// are.
pub fn cluster_on(design: &Design, machine: &Cluster) -> Result<Cluster, Problem> {
    machine.require_one_kind("a run on a network design")?;
    let design = &design.clone().fed(machine.device_limit());
    let mut cluster = machine.clone();
    cluster.name.clone_from(&design.name);
    cluster.devices = design.devices;
    cluster.devices_per_node = machine.devices_per_node.min(design.domain.size);
    cluster.scale_up.domain_size = design.domain.size;
    cluster.scale_up.bandwidth = design.domain.bandwidth;
    cluster.network.bandwidth = design.nic_bandwidth;
    cluster.network.tiers = tiers(design)?;
    cluster.network.rail_forwarding = if design.separates_rails() {
        let k = design.domain.size as f64;
        1.0 + design.nic_bandwidth / design.domain.bandwidth * (k - 1.0) / k
    } else {
        1.0
    };
    Ok(cluster)
}

/// The cluster of a design for a simulation: without oversubscription and forwarding between rails, which
/// flows include. Latencies are those of the machine, as in `network simulate`: its collectives were measured
/// with them.
pub fn unblocked_on(design: &Design, machine: &Cluster) -> Result<Cluster, Problem> {
    let mut cluster = cluster_on(design, machine)?;
    cluster.network.tiers.clone_from(&machine.network.tiers);
    for tier in &mut cluster.network.tiers {
        tier.oversubscription = 1.0;
    }
    cluster.network.rail_forwarding = 1.0;
    Ok(cluster)
}

/// Tiers from the leaf upwards: devices below one switch group, bandwidth below over bandwidth above, and two
/// additional links on the route for each.
fn tiers(design: &Design) -> Result<Vec<Tier>, Problem> {
    design.require_graph()?;
    let hop = design.link_latency * 2.0;
    let tier = |name: &str, devices: u64, oversubscription: f64, latency: Seconds| Tier {
        name: name.to_owned(),
        devices: devices.clamp(1, design.devices),
        oversubscription,
        latency,
    };
    let host = design.nic_port_bandwidth();
    let mut tiers = Vec::new();
    match &design.fabric {
        Fabric::Clos(network) => {
            let clos = &network.clos;
            // A leaf group connects a number of positions of every rail.
            let groups = design.rails / network.rails_per_group.max(1);
            let leaf = clos.hosts_per_leaf.saturating_mul(groups.max(1));
            let below = host * clos.hosts_per_leaf as f64;
            let over = if network.kept_tiers >= 2 {
                below / (design.port_bandwidth * clos.leaf_uplinks as f64)
            } else {
                1.0
            };
            tiers.push(tier("leaf", leaf, over, Seconds::ZERO));
            if network.kept_tiers >= 2 {
                let fabrics = network.fabrics_per_plane;
                let pod = clos.leaves_per_pod.saturating_mul(clos.hosts_per_leaf).saturating_mul(fabrics);
                // Pods of whole rails contain a rail's traffic if traffic that changes rails is forwarded
                // first.
                let holds_rails = clos.by_group && clos.leaves_per_pod.is_multiple_of(clos.leaves_per_group);
                let pod =
                    if holds_rails && design.separates_rails() { design.devices } else { pod.max(leaf) };
                let down = (clos.leaves_per_pod * clos.trunk()) as f64;
                let above = if network.kept_tiers >= 3 {
                    over.max(1.0) * down / clos.spine_uplinks as f64
                } else {
                    1.0
                };
                tiers.push(tier("spine", pod, above, hop));
            }
            match clos.upper.filter(|_| network.kept_tiers >= 4) {
                Some(upper) => {
                    // A zone: its pods, each of its leaves in every fabric.
                    let leaves = clos.pods_per_zone() * clos.leaves_per_pod * network.fabrics_per_plane;
                    let zone = leaves.saturating_mul(clos.hosts_per_leaf).max(leaf);
                    let down = clos.spine_core_links() as f64 / clos.cores().max(1) as f64;
                    let below = tiers.last().map_or(1.0, |spine| spine.oversubscription.max(1.0));
                    tiers.push(tier("core", zone, below * down / upper.core_uplinks as f64, hop));
                    tiers.push(tier("top", design.devices, 1.0, hop));
                }
                None if network.kept_tiers >= 3 => tiers.push(tier("core", design.devices, 1.0, hop)),
                None => {}
            }
        }
        Fabric::Dragonfly(d) => {
            let group = d.hosts * d.routers;
            let out = design.port_bandwidth * (d.globals * d.routers) as f64;
            tiers.push(tier("router", d.hosts, 1.0, Seconds::ZERO));
            tiers.push(tier("group", group, host * group as f64 / out, hop * 0.5));
            tiers.push(tier("global", design.devices, 1.0, hop));
        }
        Fabric::DragonflyPlus(d) => {
            let leaf = host * d.hosts as f64 / (design.port_bandwidth * d.spines as f64);
            let group = d.hosts * d.leaves;
            let out = design.port_bandwidth * (d.globals * d.spines) as f64;
            tiers.push(tier("leaf", d.hosts, leaf, Seconds::ZERO));
            tiers.push(tier("group", group, (host * group as f64 / out).max(leaf), hop));
            tiers.push(tier("global", design.devices, 1.0, hop * 0.5));
        }
        Fabric::SlimFly(s) => {
            tiers.push(tier("router", s.hosts, 1.0, Seconds::ZERO));
            tiers.push(tier("all", design.devices, 1.0, hop));
        }
        Fabric::None => {}
        Fabric::Torus(_) => {
            return Err(Problem::new("a torus is not comparable with switched networks")
                .at_key("design.kind")
                .hint("use `estimate` with a torus pod of `railwright clusters list`"));
        }
    }
    Ok(tiers)
}

/// The time of a step on a cluster, in seconds.
pub fn step_time(model: &Model, cluster: &Cluster, plan: &Plan) -> Result<Seconds, Problem> {
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine)?;
    Ok(evaluate(&costing)?.time.total)
}

/// The share of a step due to the network between domains: the saving with unlimited bandwidth, `1 -
/// T(unlimited) / T`.
pub fn network_share(model: &Model, cluster: &Cluster, plan: &Plan) -> Result<f64, Problem> {
    Ok(share_of(step_time(model, cluster, plan)?, unlimited_time(model, cluster, plan)?))
}

/// The time of a step with unlimited bandwidth between domains.
pub fn unlimited_time(model: &Model, cluster: &Cluster, plan: &Plan) -> Result<Seconds, Problem> {
    let mut ideal = cluster.clone();
    ideal.network.bandwidth = BytesPerSecond::new(1e18);
    step_time(model, &ideal, plan)
}

/// The share of a step beyond the step on a network of unlimited bandwidth.
pub fn share_of(step: Seconds, unlimited: Seconds) -> f64 {
    (1.0 - unlimited / step).clamp(0.0, 1.0)
}

/// Slowdown of a step whose slowest ranks keep a share of their network bandwidth. A synchronous step has the
/// speed of its slowest member, so this is the step of a cluster in which all NICs are slow. It is an upper
/// bound if few groups have such a member. `None` for a share of zero.
pub fn slowdown(model: &Model, cluster: &Cluster, plan: &Plan, kept: f64) -> Result<Option<f64>, Problem> {
    if kept.is_nan() || kept <= 0.0 {
        return Ok(None);
    }
    let mut degraded = cluster.clone();
    degraded.network.bandwidth = cluster.network.bandwidth * kept.min(1.0);
    Ok(Some(step_time(model, &degraded, plan)? / step_time(model, cluster, plan)?))
}
