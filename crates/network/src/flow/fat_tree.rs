//! The smallest network that is useful to simulate: a two-tier fat tree.
//!
//! Responsible for: links and routes in a few lines, for tests, benches and comparisons with other
//! simulators. Excludes properties of real designs: those are in [`crate::topology`].

use super::traffic::{Flow, Wires};

/// Hosts under leaves, each leaf with one link to each spine; the destination chooses the spine (D-mod-k).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FatTree {
    /// Hosts, a multiple of those under a leaf.
    pub hosts: u32,
    /// Hosts under a leaf.
    pub under_leaf: u32,
    /// Spines.
    pub spines: u32,
    /// Bytes per second of every link.
    pub bandwidth: f64,
    /// Seconds of every link.
    pub latency: f64,
}

impl FatTree {
    /// Without oversubscription, as in the published simulations: as many spines as hosts under a leaf, 50
    /// GB/s and 1 us per link.
    pub fn non_blocking(hosts: u32, under_leaf: u32) -> Self {
        Self { hosts, under_leaf, spines: under_leaf, bandwidth: 50e9, latency: 1e-6 }
    }
}

impl Wires for FatTree {
    fn capacities(&self) -> Vec<f64> {
        let leaves = self.hosts / self.under_leaf;
        vec![self.bandwidth; (2 * self.hosts + 2 * leaves * self.spines) as usize]
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        let (from, to) = (flow.from, flow.to);
        let (source, sink) = (from / self.under_leaf, to / self.under_leaf);
        route.push((from, 1.0));
        if source != sink {
            let spine = to % self.spines;
            let up = 2 * self.hosts;
            let down = up + self.hosts / self.under_leaf * self.spines;
            route.push((up + source * self.spines + spine, 1.0));
            route.push((down + sink * self.spines + spine, 1.0));
        }
        route.push((self.hosts + to, 1.0));
        self.latency * route.len() as f64
    }
}
