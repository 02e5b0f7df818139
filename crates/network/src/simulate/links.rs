//! The network of exchanges: its links, and the route of every message.
//!
//! Responsible for: what the simulation of a step reads from a network, whether it is a design or a fabric
//! from a file.

use super::class::Block;
use crate::flow::LinkPath;
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
    /// Capacity of every link, in bytes per second.
    fn capacities(&self) -> Vec<f64>;

    /// The route of a message; `None` if the devices are disconnected.
    fn link_path(&self, from: u32, to: u32) -> Option<LinkPath>;

    /// The error for two disconnected devices.
    fn apart(&self, from: u32, to: u32) -> Problem;

    /// Alternatives, one of which an exchange uses if it is faster: true for those with detours.
    fn others(&self) -> Vec<(&dyn Links, bool)> {
        Vec::new()
    }

    /// Adds the load of a block to links without a loop over its pairs. False if its routes do not follow
    /// from counting.
    fn count(&self, _: &Block, _: &mut dyn FnMut(u32, f64)) -> bool {
        false
    }

    /// Place of a link; `None` for broken ones.
    fn place(&self, link: u32) -> Option<Placed>;

    /// Name of a link.
    fn link_name(&self, link: u32) -> String;
}
