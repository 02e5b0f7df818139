//! The files with the traces of ASTRA-sim: its analytical network, its system layer, and process groups.
//!
//! Responsible for: a network as dimensions of equal size (the scale-up domain, then the network between domains), the only form that the
//! analytical backend supports. Its oversubscription, hashes and failed parts are lost. [`lost`] lists them.

use crate::topology::Design;
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Bandwidth in GB/s, latency in ns, members of each dimension.
fn dimensions(design: &Design) -> Vec<(u64, f64, f64)> {
    let mut list = Vec::new();
    if design.domain.size > 1 {
        list.push((design.domain.size, design.domain.bandwidth.gb(), design.domain.latency.get() * 1e9));
    }
    if design.domains() > 1 || list.is_empty() {
        // Two hosts' links and the switches between them, up and down.
        let hops = 2.0 * design.fabric_tiers().max(1) as f64;
        list.push((
            design.domains().max(1),
            design.nic_bandwidth.gb(),
            hops * design.link_latency.get() * 1e9,
        ));
    }
    list
}

/// The network file, and the properties of the design that it cannot express.
pub fn network(design: &Design) -> (String, Vec<String>) {
    let list = dimensions(design);
    let row = |of: &dyn Fn(&(u64, f64, f64)) -> String| list.iter().map(of).collect::<Vec<_>>().join(", ");
    let mut text = format!("# {}\n", design.name.replace('\n', " "));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "topology: [ {} ]", row(&|_| "Switch".to_owned()));
    let _ = writeln!(text, "npus_count: [ {} ]", row(&|one| one.0.to_string()));
    let _ = writeln!(text, "bandwidth: [ {} ]  # GB/s", row(&|one| decimal(one.1)));
    let _ = writeln!(text, "latency: [ {} ]  # ns", row(&|one| decimal(one.2)));
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

/// The system file: rings in every dimension, an all-to-all without a limit of peers.
pub fn system(design: &Design) -> String {
    let each = |word: &str| {
        let list: Vec<String> = dimensions(design).iter().map(|_| format!("\"{word}\"")).collect();
        list.join(", ")
    };
    format!(
        "{{\n  \"scheduling-policy\": \"LIFO\",\n  \"endpoint-delay\": 10,\n  \"active-chunks-per-dimension\": 1,\n  \
         \"preferred-dataset-splits\": 4,\n  \"all-reduce-implementation\": [{ring}],\n  \"all-gather-implementation\": [{ring}],\n  \
         \"reduce-scatter-implementation\": [{ring}],\n  \"all-to-all-implementation\": [{direct}],\n  \
         \"collective-optimization\": \"localBWAware\",\n  \"local-mem-bw\": 3000,\n  \"boost-mode\": 0,\n  \"roofline-enabled\": 0\n}}\n",
        ring = each("ring"),
        direct = each("direct")
    )
}

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
