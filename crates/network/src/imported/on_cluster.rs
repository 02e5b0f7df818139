//! A fabric from a file with the scale-up domains of a cluster.
//!
//! Responsible for: completing a drawing from a cluster, and the list of what was chosen or left out.
//! Independent of the traffic on it.

use super::{Imported, RouteSetting, Surroundings, parse};
use crate::topology::{Connection, Routing};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::{Field as _, Value};

/// Latency of cables without one: that of a design's links.
const LATENCY: Seconds = Seconds::new(1e-6);

/// A fabric with the domains of a cluster, and the settings that were chosen.
pub fn on_cluster(
    text: &str,
    file: &str,
    cluster: &Cluster,
    routing: Option<&str>,
) -> Result<(Imported, Vec<String>), Problem> {
    let mut chosen = Vec::new();
    let routing = if let Some(word) = routing {
        Routing::read(&Value::Text(word.to_owned())).map_err(|problem| problem.in_file("--routing"))?
    } else {
        chosen.push("routing spray".to_owned());
        Routing::Spray
    };
    let surroundings = Surroundings {
        domain: cluster.scale_up.domain_size,
        domain_bandwidth: cluster.domain_bandwidth(),
        latency: LATENCY,
    };
    let paths = u32::try_from(Connection::default().routes()).unwrap_or(u32::MAX);
    let setting = RouteSetting { routing, seed: 0, paths };
    let drawing = parse(text, file)?;
    if drawing.nodes.iter().all(|node| node.host.is_none()) && surroundings.domain > 1 {
        chosen.push(format!(
            "no device has a host: every {} devices in the order of the file share a scale-up domain of {}",
            surroundings.domain,
            human::bandwidth(surroundings.domain_bandwidth)
        ));
    }
    if let Some(first) = drawing.in_switches.first() {
        let count = human::several(drawing.in_switches.len() as u64, "aggregation node");
        let more = if drawing.in_switches.len() > 1 { ", ..." } else { "" };
        chosen.push(format!("ignored: {count} of switches (SHARP), {first}{more}"));
    }
    let fabric = Imported::new(&drawing, file, &surroundings, setting)?;
    if !fabric.left_out.is_empty() {
        let shown: Vec<&str> = fabric.left_out.iter().take(4).map(String::as_str).collect();
        let more = if fabric.left_out.len() > shown.len() { ", ..." } else { "" };
        chosen.push(format!(
            "{} hosts without exactly {} devices are ignored ({}{more})",
            fabric.left_out.len(),
            fabric.domain,
            shown.join(", ")
        ));
    }
    Ok((fabric, chosen))
}
