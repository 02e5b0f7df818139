//! A small network for tests: the rail-only cluster of the published simulations.

use super::engine::{Flow, Wires};

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
