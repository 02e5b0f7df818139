//! The files with the traces of ASTRA-sim: its analytical network, its system layer, and process groups.
//!
//! Responsible for: a network as dimensions of equal size (the scale-up domain, then the network between
//! domains), the only form that the analytical backend supports. Its oversubscription, hashes and failed
//! parts are lost. [`lost`] and [`crossing`] list them.
//!
//! Units and algorithms are those of ASTRA-sim at 518bd51 (26 March 2026), checked by
//! `xtask/peers/astra-sim`. A GB/s is 2^30 bytes per second (`NetworkFunction.cpp`). A message over a switch
//! has the latency twice (`Switch.cpp`). It goes over the first dimension in which its ends
//! differ (`MultiDimTopology.cpp`).

use crate::topology::Design;
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Bytes per second of one GB/s of ASTRA-sim.
pub const GB: f64 = 1_073_741_824.0;

/// A dimension of the network: members, bandwidth of each, and latency of a message between two of them.
struct Dimension {
    members: u64,
    bandwidth: BytesPerSecond,
    latency: Seconds,
}

fn dimensions(design: &Design) -> Vec<Dimension> {
    let mut list = Vec::new();
    if design.domain.size > 1 {
        let (bandwidth, latency) = (design.domain.bandwidth, design.domain.latency);
        list.push(Dimension { members: design.domain.size, bandwidth, latency });
    }
    if design.domains() > 1 || list.is_empty() {
        // Two hosts' links and the switches between them, up and down.
        let hops = 2.0 * design.fabric_tiers().max(1) as f64;
        let latency = design.link_latency * hops;
        list.push(Dimension { members: design.domains().max(1), bandwidth: design.nic_bandwidth, latency });
    }
    list
}

/// The network file, and the properties of the design that it cannot express.
pub fn network(design: &Design) -> (String, Vec<String>) {
    let list = dimensions(design);
    let row = |of: &dyn Fn(&Dimension) -> String| list.iter().map(of).collect::<Vec<_>>().join(", ");
    let mut text = format!("# {}\n", design.name.replace('\n', " "));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "topology: [ {} ]", row(&|_| "Switch".to_owned()));
    let _ = writeln!(text, "npus_count: [ {} ]", row(&|one| one.members.to_string()));
    let bandwidths = row(&|one| decimal(one.bandwidth.get() / GB));
    let _ = writeln!(text, "bandwidth: [ {bandwidths} ]  # GB/s of 2^30 bytes");
    let latencies = row(&|one| decimal(one.latency.get() * 1e9 / 2.0));
    let _ = writeln!(text, "latency: [ {latencies} ]  # ns, to the switch and from it");
    (text, lost(design))
}

/// A number with a decimal point, as the reader expects.
fn decimal(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number:.1}") } else { format!("{number}") }
}

/// Properties of the design that the dimensions cannot express.
fn lost(design: &Design) -> Vec<String> {
    let mut lost = Vec::new();
    if let crate::topology::Fabric::Clos(network) = &design.fabric
        && network.kept_tiers >= 2
    {
        let below = design.nic_port_bandwidth() * network.clos.hosts_per_leaf as f64;
        let above = design.port_bandwidth * network.clos.leaf_uplinks as f64;
        if below / above > 1.0 + 1e-9 {
            lost.push(format!("oversubscription of leaves, {:.2}:1", below / above));
        }
    } else if !matches!(design.fabric, crate::topology::Fabric::Clos(_) | crate::topology::Fabric::None) {
        lost.push(format!("the links of a {}, which becomes one non-blocking switch", design.kind.name()));
    }
    if design.domains() > 1 {
        lost.push(format!("routing ({}), hashes and switches of each tier", design.routing.name()));
    }
    lost
}

/// Process groups whose messages get the wrong dimension, in words: those over several domains and several
/// places in a domain. Rings of all ranks are excepted, because ASTRA-sim divides them by dimension.
/// `all_to_alls` are the groups with an all-to-all.
pub fn crossing(
    design: &Design,
    groups: &BTreeMap<u32, &[u32]>,
    all_to_alls: &BTreeSet<u32>,
) -> Option<String> {
    let domain = design.domain.size.max(1) as u32;
    let several = |members: &[u32], of: &dyn Fn(u32) -> u32| {
        members.iter().map(|rank| of(*rank)).collect::<BTreeSet<_>>().len() > 1
    };
    let is_crossing = |(name, members): &(&u32, &&[u32])| {
        let is_divided = members.len() as u64 == design.devices && !all_to_alls.contains(*name);
        !is_divided && several(members, &|rank| rank / domain) && several(members, &|rank| rank % domain)
    };
    let count = groups.iter().filter(is_crossing).count();
    (count > 0).then(|| {
        format!(
            "the network between domains for messages of {count} process groups to another position in another domain; ASTRA-sim \
             sends them at the bandwidth of a domain"
        )
    })
}

/// The system file: rings in every dimension, and an all-to-all with one peer at a time. The analytical
/// network has no contention, so that concurrent messages of a rank would each have its whole bandwidth.
/// ASTRA-sim runs an all-to-all of a part of the ranks as a multi-hop ring if the list has several
/// dimensions, so it has one. A received part of a reduction is written once and read twice at the
/// memory bandwidth of a device.
pub fn system(design: &Design, memory: BytesPerSecond) -> String {
    let rings: Vec<&str> = dimensions(design).iter().map(|_| "\"ring\"").collect();
    format!(
        "{{\n  \"scheduling-policy\": \"LIFO\",\n  \"endpoint-delay\": 10,\n  \"active-chunks-per-dimension\": 1,\n  \
         \"preferred-dataset-splits\": 4,\n  \"all-reduce-implementation\": [{ring}],\n  \"all-gather-implementation\": [{ring}],\n  \
         \"reduce-scatter-implementation\": [{ring}],\n  \"all-to-all-implementation\": [\"oneDirect1\"],\n  \
         \"collective-optimization\": \"localBWAware\",\n  \"local-mem-bw\": {memory},\n  \"boost-mode\": 0,\n  \"roofline-enabled\": 0\n}}\n",
        ring = rings.join(", "),
        memory = memory.gb(),
    )
}

/// The file of the memory beyond the devices: none.
pub const MEMORY: &str = "{\n  \"memory-type\": \"NO_MEMORY_EXPANSION\"\n}\n";

/// Process groups by name.
pub fn comm_groups(groups: &BTreeMap<u32, &[u32]>) -> String {
    let lists = groups.iter().map(|(name, members)| {
        let members: Vec<String> = members.iter().map(u32::to_string).collect();
        format!("  \"{name}\": [{}]", members.join(", "))
    });
    format!("{{\n{}\n}}\n", lists.collect::<Vec<_>>().join(",\n"))
}

/// Reads process groups.
pub fn read_comm_groups(text: &str, file: &str) -> Result<BTreeMap<String, Vec<u32>>, Problem> {
    serde_json::from_str(text).map_err(|error| {
        Problem::new(format!("no process groups: {}", shorten(&error.to_string())))
            .in_file(file)
            .hint("write names with lists of ranks, as in `{\"1\": [0, 1]}`")
    })
}
