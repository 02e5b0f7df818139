//! A network as a platform of SimGrid (DTD version 4.1).
//!
//! Responsible for: hosts, directed links with capacity and latency, and the route of every pair of devices.
//! SimGrid's routes are single paths: packets on several are rejected.

use crate::simulate::{Wiring, between};
use crate::topology::{Detail, LinkId};
use railwright_spec::human::markup;
use railwright_spec::problem::Problem;
use std::fmt::Write as _;

/// Maximum number of devices: the file would have more than a million routes.
const MOST_DEVICES: u32 = 1_024;

/// The platform.
pub fn platform(wiring: &Wiring) -> Result<String, Problem> {
    let devices = wiring.devices();
    if devices > MOST_DEVICES {
        return Err(Problem::new(format!(
            "{devices} devices exceed the limit of {MOST_DEVICES}: the platform lists every pair"
        ))
        .at_key("design.gpus"));
    }
    // Packets over all spines are simulated on one node for all of them.
    if wiring.topology.detail != Detail::Links {
        return Err(single_paths("packets are sprayed over several paths"));
    }
    let graph = &wiring.topology.graph;
    let mut text = String::from(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n",
    );
    let name = markup(&wiring.topology.design.name);
    let routing = wiring.topology.design.routing.name();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  <!-- {}, routing {routing} -->", name.replace("--", "- -"));
    text.push_str("  <zone id=\"network\" routing=\"Full\">\n");
    for device in 0..devices {
        let _ = writeln!(text, "    <host id=\"d{device}\" speed=\"1Gf\"/>");
    }
    for link in (0..graph.link_count() as u32).map(LinkId).filter(|link| wiring.is_alive(*link)) {
        let class = graph.class(link);
        let (capacity, latency) = (class.capacity.get(), class.latency.get());
        let place = markup(&between(graph, link)).replace("--", "- -");
        let _ = writeln!(
            text,
            "    <link id=\"l{}\" bandwidth=\"{capacity}Bps\" latency=\"{latency}s\" sharing_policy=\"SHARED\"/><!-- {place} -->",
            link.0
        );
    }
    for from in 0..devices {
        for to in (0..devices).filter(|to| *to != from) {
            let Some(link_path) = wiring.link_path(from, to, 0) else {
                return Err(Problem::new(format!("no path connects the devices {from} and {to}")));
            };
            if link_path.links.iter().any(|(_, share)| (share - 1.0).abs() > 1e-9) {
                return Err(single_paths(&format!("messages from device {from} to {to} use several paths")));
            }
            let _ = write!(text, "    <route src=\"d{from}\" dst=\"d{to}\" symmetrical=\"NO\">");
            for (link, _) in &link_path.links {
                let _ = write!(text, "<link_ctn id=\"l{link}\"/>");
            }
            text.push_str("</route>\n");
        }
    }
    text.push_str("  </zone>\n</platform>\n");
    Ok(text)
}

fn single_paths(what: &str) -> Problem {
    Problem::new(format!("{what}, but routes of SimGrid are single paths"))
        .hint("use `--routing static`, or `--routing ecmp --network channels=1` with one plane")
}
