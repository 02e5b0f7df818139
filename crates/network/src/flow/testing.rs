//! Small networks for tests: the two-tier fat tree and the rail-only cluster of the published simulations.

use super::engine::{Flow, Wires};

/// Hosts under leaves, each leaf with one link to each spine; the destination chooses the spine (D-mod-k).
pub(super) struct FatTree {
    pub hosts: u32,
    pub under_leaf: u32,
    pub spines: u32,
    pub bandwidth: f64,
    pub latency: f64,
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

/// Domains of `domain` devices on a non-blocking switch, and rails that join the devices of equal position.
pub(super) struct RailOnly {
    pub devices: u32,
    pub domain: u32,
    pub inside: f64,
    pub rail: f64,
}

impl Wires for RailOnly {
    fn capacities(&self) -> Vec<f64> {
        let n = self.devices as usize;
        [vec![self.inside; 2 * n], vec![self.rail; 2 * n]].concat()
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        let n = self.devices;
        if flow.from / self.domain == flow.to / self.domain {
            route.extend([(flow.from, 1.0), (n + flow.to, 1.0)]);
        } else {
            // Through the own domain to the device of the rail, then over the rail.
            let near = flow.from / self.domain * self.domain + flow.to % self.domain;
            if near != flow.from {
                route.extend([(flow.from, 1.0), (n + near, 1.0)]);
            }
            route.extend([(2 * n + near, 1.0), (3 * n + flow.to, 1.0)]);
        }
        0.0
    }
}
