//! Max-min fair rates of a few kinds of flows with long routes.
//!
//! Responsible for: progressive filling of one set of kinds, on the links that can limit it. Keeps nothing from
//! set to set, unlike the [`super::allocator`], whose lists per link cost more than a small set.
//!
//! No flow is faster than alone on its narrowest link. A link on which all flows of the set have room for these
//! rates at once limits none of them, except those that it limits alone. So a flow freezes at its rate alone, or
//! when one of the other links fills, which are few in a small set.

use super::allocator::Queue;
use super::remembered::Sender;

/// Share by which rates alone may exceed a link that does not count as a limit: rounding.
const ROUNDED: f64 = 1e-12;

/// Routes of all kinds, and working memory.
pub(super) struct Few {
    capacities: Vec<f64>,
    /// By kind: links with the share of one flow.
    routes: Vec<Vec<(u32, f64)>>,
    /// By kind: rate of one flow alone.
    alone: Vec<f64>,
    /// By link: kinds that pass.
    passes: Vec<Vec<u32>>,
    links: Vec<Link>,
    /// By kind: number of flows, rate alone, and the filling in which it has no rate yet.
    kinds: Vec<(f64, f64, u32)>,
    filling: u32,
    touched: Vec<u32>,
    /// Kinds by their rate alone.
    order: Vec<u32>,
    queue: Queue,
    rates: Vec<f64>,
}

/// A link in a filling.
#[derive(Clone, Copy, Default)]
struct Link {
    filling: u32,
    /// Open kinds.
    open: u32,
    /// Load if all flows had their rate alone.
    most: f64,
    left: f64,
    shares: f64,
    limits: bool,
}

impl Link {
    fn rate(&self) -> f64 {
        (self.left / self.shares).max(0.0)
    }
}

impl Few {
    /// Of the senders of a program.
    pub(super) fn new(capacities: &[f64], senders: &[Sender<'_>]) -> Self {
        let mut passes: Vec<Vec<u32>> = vec![Vec::new(); capacities.len()];
        let mut routes = Vec::with_capacity(senders.len());
        for (kind, sender) in senders.iter().enumerate() {
            let mut route: Vec<(u32, f64)> = Vec::with_capacity(sender.route.len());
            for &(link, share) in sender.route {
                let own = &mut passes[link as usize];
                // If a link occurs twice, its first share counts, as in the allocator.
                if share > 0.0 && own.last() != Some(&(kind as u32)) {
                    own.push(kind as u32);
                    route.push((link, share));
                }
            }
            routes.push(route);
        }
        let alone = routes.iter().map(|route: &Vec<(u32, f64)>| {
            route.iter().map(|&(link, share)| capacities[link as usize] / share).fold(f64::INFINITY, f64::min)
        });
        Self {
            alone: alone.collect(),
            passes,
            links: vec![Link::default(); capacities.len()],
            kinds: vec![(0.0, 0.0, 0); routes.len()],
            capacities: capacities.to_vec(),
            routes,
            filling: 0,
            touched: Vec::new(),
            order: Vec::new(),
            queue: Queue::default(),
            rates: vec![0.0; senders.len()],
        }
    }

    /// Rates of one flow of each kind, given the number of its flows, in the order of `set`. `None` if a kind
    /// meets no link.
    pub(super) fn rates(&mut self, set: &[(u32, usize)]) -> Option<Box<[(u32, f64)]>> {
        if set.iter().any(|(kind, _)| self.alone[*kind as usize].is_infinite()) {
            return None;
        }
        self.begin(set);
        self.raise();
        Some(set.iter().map(|&(kind, _)| (kind, self.rates[kind as usize])).collect())
    }

    /// Opens all kinds, and finds the links that can limit them.
    fn begin(&mut self, set: &[(u32, usize)]) {
        let Self { capacities, routes, alone, links, kinds, filling, touched, order, queue, .. } = self;
        *filling = filling.wrapping_add(1);
        touched.clear();
        order.clear();
        queue.clear();
        for &(number, count) in set {
            let flows = count as f64;
            let most = alone[number as usize] / flows;
            kinds[number as usize] = (flows, most, *filling);
            order.push(number);
            for &(at, share) in &routes[number as usize] {
                let link = &mut links[at as usize];
                if link.filling != *filling {
                    *link = Link { filling: *filling, left: capacities[at as usize], ..Link::default() };
                    touched.push(at);
                }
                link.open += 1;
                link.shares += share * flows;
                link.most += share * flows * most;
            }
        }
        order.sort_by(|a, b| kinds[*a as usize].1.total_cmp(&kinds[*b as usize].1).then(a.cmp(b)));
        for &at in touched.iter() {
            let link = &mut links[at as usize];
            link.limits = link.most > link.left * (1.0 + ROUNDED);
            if link.limits {
                queue.push(link.rate().to_bits(), at);
            }
        }
    }

    /// Raises all rates together, and freezes the kinds at their rates alone and on links that fill.
    fn raise(&mut self) {
        let mut next = 0;
        while let Some((bits, at)) = self.queue.pop() {
            let link = self.links[at as usize];
            if link.open == 0 {
                continue;
            }
            // Others froze at lower rates, so this one only grows.
            let rate = link.rate();
            if rate.to_bits() > bits {
                self.queue.push(rate.to_bits(), at);
                continue;
            }
            let known = next;
            while let Some(&kind) = self.order.get(next)
                && self.kinds[kind as usize].1 <= rate
            {
                next += 1;
                self.freeze(kind, self.kinds[kind as usize].1);
            }
            if next > known {
                self.queue.push(bits, at);
                continue;
            }
            for index in 0..self.passes[at as usize].len() {
                self.freeze(self.passes[at as usize][index], rate);
            }
        }
        for index in next..self.order.len() {
            let kind = self.order[index];
            self.freeze(kind, self.kinds[kind as usize].1);
        }
    }

    /// Gives an open kind its rate.
    fn freeze(&mut self, number: u32, rate: f64) {
        let Self { routes, links, kinds, filling, rates, .. } = self;
        let kind = &mut kinds[number as usize];
        if kind.2 != *filling {
            return;
        }
        kind.2 = 0;
        rates[number as usize] = rate;
        for &(at, share) in &routes[number as usize] {
            let link = &mut links[at as usize];
            if link.limits {
                link.left -= rate * share * kind.0;
                link.shares -= share * kind.0;
                link.open -= 1;
            }
        }
    }
}
