//! The route of a message on a network with failed parts: links with their shares.
//!
//! A message uses its normal route if that is intact. If its NIC lost ports, it uses the recovery that
//! `failures` also prices ([`super::recovery`]). Around other failed parts it uses, in this order, the
//! remaining equal routes (packets sprayed again, hashes redrawn), other NICs of its scale-up domain, or a
//! longer route (dragonfly, torus).

use super::detour;
use super::recovery::Settled;
use super::wiring::Wiring;
use crate::flow::listed::Routes;
use crate::flow::{Flow, LinkPath, Wires};
use crate::topology::LinkId;

impl Wiring {
    /// The route of a message (the minimal one if exchanges choose). `None` if the devices are disconnected.
    /// Flows between the same devices choose by their label.
    pub fn link_path(&self, from: u32, to: u32, label: u64) -> Option<LinkPath> {
        match self.lost.link_path(self, from, to, label) {
            Settled::By(link_path) => return link_path,
            Settled::Untouched => {}
        }
        match self.topology.route(from, to, label) {
            Some(route) if self.is_whole(&route) => Some(self.plain(&route)),
            usual => detour::around(self, from, to, label, usual.as_ref()),
        }
    }
}

impl Wires for Wiring {
    /// Capacities by link. The last one, 0, is that of a link that represents a missing route.
    fn capacities(&self) -> Vec<f64> {
        let graph = &self.topology.graph;
        let links = (0..graph.link_count() as u32).map(|link| graph.capacity(LinkId(link)).get());
        links.chain(std::iter::once(0.0)).collect()
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        let Some(link_path) = self.link_path(flow.from, flow.to, 0) else {
            route.push((self.topology.graph.link_count() as u32, 1.0));
            return 0.0;
        };
        route.extend_from_slice(&link_path.links);
        link_path.latency
    }
}

impl Routes for Wiring {
    fn capacities(&self) -> Vec<f64> {
        Wires::capacities(self)
    }

    fn link_path(&self, from: u32, to: u32, label: u64) -> Option<LinkPath> {
        Self::link_path(self, from, to, label)
    }
}
