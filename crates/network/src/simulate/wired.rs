//! A design as the network of exchanges.
//!
//! Responsible for: what the simulation of a step reads from a design, by its wiring.

use super::class::Block;
use super::links::{Links, Placed};
use super::load::{named, together};
use super::part::layer_name;
use super::uniform;
use super::wiring::Wiring;
use crate::flow::LinkPath;
use crate::topology::LinkId;
use railwright_spec::problem::Problem;

impl Links for Wiring {
    fn capacities(&self) -> Vec<f64> {
        let mut capacities = crate::flow::Wires::capacities(self);
        capacities.truncate(self.topology.graph.link_count());
        capacities
    }

    fn link_path(&self, from: u32, to: u32) -> Option<LinkPath> {
        Self::link_path(self, from, to, 0)
    }

    fn apart(&self, from: u32, to: u32) -> Problem {
        Self::apart(self, from, to)
    }

    fn others(&self) -> Vec<(&dyn Links, bool)> {
        Self::others(self).into_iter().map(|(other, is_detour)| (other as &dyn Links, is_detour)).collect()
    }

    fn count(&self, block: &Block, add: &mut dyn FnMut(u32, f64)) -> bool {
        uniform::loads(self, block, &mut |link, bytes| add(link.0, bytes))
    }

    fn place(&self, link: u32) -> Option<Placed> {
        let link = LinkId(link);
        // A NIC without ports only represents the send limit of its device.
        self.is_alive(link).then(|| {
            let class = self.topology.graph.class(link);
            let cables = together(&self.topology, class);
            Placed { order: class.layer as u8, layer: layer_name(class.layer), cables }
        })
    }

    fn link_name(&self, link: u32) -> String {
        named(&self.topology, LinkId(link))
    }
}
