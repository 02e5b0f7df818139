//! The network of exchanges: its links, and the route of every message.
//!
//! Responsible for: what the simulation of a step reads from a network, whether it is a design or a fabric from a file.

use super::class::Block;
use super::load::named;
use super::part::layer_name;
use super::uniform;
use super::wiring::Wiring;
use crate::flow::LinkPath;
use crate::topology::LinkId;
use railwright_spec::problem::Problem;

/// A link in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Position of its layer, from the devices outwards.
    pub order: u8,
    /// Its layer.
    pub layer: &'static str,
    /// Cables that it represents.
    pub cables: usize,
}

/// Links and routes of a network.
pub trait Links {
    /// Capacity of every link, in bytes a second.
    fn capacities(&self) -> Vec<f64>;

    /// The route of a message; `None` if the devices are disconnected.
    fn link_path(&self, from: u32, to: u32) -> Option<LinkPath>;

    /// The error for two disconnected devices.
    fn apart(&self, from: u32, to: u32) -> Problem;

    /// Alternatives, one of which an exchange uses if it is faster: true for those with detours.
    fn others(&self) -> Vec<(&dyn Links, bool)> {
        Vec::new()
    }

    /// Adds the load of a block to links without a loop over its pairs. False if its routes do not follow from counting.
    fn count(&self, _: &Block, _: &mut dyn FnMut(u32, f64)) -> bool {
        false
    }

    /// Place of a link; `None` for broken ones.
    fn place(&self, link: u32) -> Option<Placed>;

    /// Name of a link.
    fn link_name(&self, link: u32) -> String;
}

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
        let is_counted = uniform::is_counted(self);
        uniform::loads(self, block, &mut |link, bytes| add(link.0, bytes));
        is_counted
    }

    fn place(&self, link: u32) -> Option<Placed> {
        let link = LinkId(link);
        // A NIC without ports only represents the send limit of its device.
        self.is_alive(link).then(|| {
            let class = self.topology.graph.class(link);
            let cables = super::load::together(&self.topology, class);
            Placed { order: class.layer as u8, layer: layer_name(class.layer), cables }
        })
    }

    fn link_name(&self, link: u32) -> String {
        named(&self.topology, LinkId(link))
    }
}
