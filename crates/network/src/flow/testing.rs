//! A small network for tests: the rail-only cluster of the published simulations; and max-min rates by their
//! definition.

use super::traffic::{Flow, Wires};

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

/// Max-min rates by the definition, without any of the solver's structure: raise all rates by the largest
/// step that no link forbids, freeze the flows of full links, repeat.
pub(crate) fn oracle(capacities: &[f64], routes: &[Vec<(u32, f64)>]) -> Vec<f64> {
    let mut rates = vec![0.0; routes.len()];
    let mut frozen = vec![false; routes.len()];
    let share = |flow: usize, link: usize| -> f64 {
        routes[flow].iter().find(|hop| hop.0 as usize == link).map_or(0.0, |hop| hop.1)
    };
    while frozen.iter().any(|frozen| !frozen) {
        let left = |link: usize, rates: &[f64]| {
            capacities[link] - (0..routes.len()).map(|flow| share(flow, link) * rates[flow]).sum::<f64>()
        };
        let open = |link: usize| {
            (0..routes.len()).filter(|&flow| !frozen[flow]).map(|flow| share(flow, link)).sum::<f64>()
        };
        let step = (0..capacities.len())
            .filter(|&link| open(link) > 0.0)
            .map(|link| left(link, &rates) / open(link))
            .fold(f64::INFINITY, f64::min);
        for (rate, frozen) in rates.iter_mut().zip(&frozen) {
            if !frozen {
                *rate += step;
            }
        }
        let full: Vec<usize> =
            (0..capacities.len()).filter(|&link| left(link, &rates) < 1e-9 * capacities[link]).collect();
        for (flow, frozen) in frozen.iter_mut().enumerate() {
            *frozen |= full.iter().any(|&link| share(flow, link) > 0.0);
        }
    }
    rates
}
