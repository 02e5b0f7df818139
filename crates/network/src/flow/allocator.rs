//! Max-min fair rates of the flows that are under way, kept up to date as flows come and go.
//!
//! Responsible for: progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2: raise all rates together, freeze the flows of
//! each link as it fills), solved again only in the part of the network that a change can reach. Refuses to know time and bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow under way; its number is used again after it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Where a flow passes, and where each link remembers it.
#[derive(Clone, Debug, Default)]
struct Passage {
    /// Links in order, each with the share of the flow that it carries.
    route: Vec<(u32, f64)>,
    /// Position in each link's list.
    at: Vec<u32>,
    /// Bytes a second.
    rate: f64,
    /// The solution that last visited it.
    seen: u32,
    /// The solution that last fixed its rate.
    fixed: u32,
}

/// One link.
#[derive(Clone, Debug, Default)]
struct Link {
    /// Bytes a second.
    capacity: f64,
    /// Flows that pass, each with the hop of its route that this link is.
    flows: Vec<(u32, u32)>,
    /// Capacity that is not given away yet, while solving.
    left: f64,
    /// Flows without a rate yet, while solving, and the sum of their shares.
    open: u32,
    shares: f64,
    /// The solution that last visited it.
    seen: u32,
    /// Whether flows came or went since the last solution.
    dirty: bool,
}

/// Rates of all flows under way.
#[derive(Clone, Debug)]
pub struct Allocator {
    links: Vec<Link>,
    passages: Vec<Passage>,
    free: Vec<u32>,
    dirty: Vec<u32>,
    solution: u32,
    reached_links: Vec<u32>,
    reached_flows: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

/// Non-negative numbers in the order of their bits.
fn key(rate: f64) -> u64 {
    rate.max(0.0).to_bits()
}

impl Allocator {
    /// A network without flows; capacities in bytes a second.
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let links = capacities.into_iter().map(|capacity| Link { capacity, ..Link::default() }).collect();
        Self {
            links,
            passages: Vec::new(),
            free: Vec::new(),
            dirty: Vec::new(),
            solution: 0,
            reached_links: Vec::new(),
            reached_flows: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// A flow comes. Of a link that stands in the route twice the first share counts, and links without a share do not.
    pub fn insert(&mut self, route: &[(u32, f64)]) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.passages.push(Passage::default());
            self.passages.len() as u32 - 1
        });
        let Self { links, passages, dirty, .. } = self;
        let passage = &mut passages[slot as usize];
        passage.route.clear();
        passage.at.clear();
        passage.rate = 0.0;
        for &(number, share) in route {
            if share <= 0.0 || passage.route.iter().any(|known| known.0 == number) {
                continue;
            }
            let link = &mut links[number as usize];
            passage.at.push(link.flows.len() as u32);
            link.flows.push((slot, passage.route.len() as u32));
            passage.route.push((number, share));
            if !link.dirty {
                link.dirty = true;
                dirty.push(number);
            }
        }
        Slot(slot)
    }

    /// A flow goes.
    pub fn remove(&mut self, slot: Slot) {
        let Self { links, passages, dirty, .. } = self;
        for hop in 0..passages[slot.0 as usize].route.len() {
            let passage = &passages[slot.0 as usize];
            let (number, at) = (passage.route[hop].0, passage.at[hop] as usize);
            let link = &mut links[number as usize];
            link.flows.swap_remove(at);
            if let Some(&(moved, its_hop)) = link.flows.get(at) {
                passages[moved as usize].at[its_hop as usize] = at as u32;
            }
            if !link.dirty {
                link.dirty = true;
                dirty.push(number);
            }
        }
        self.passages[slot.0 as usize].route.clear();
        self.free.push(slot.0);
    }

    /// Bytes a second of a flow, as of the last solution.
    pub fn rate(&self, slot: Slot) -> f64 {
        self.passages[slot.0 as usize].rate
    }

    /// Gives every flow that a change can reach its rate, and calls `changed` for those whose rate is another than before.
    pub fn solve(&mut self, mut changed: impl FnMut(Slot, f64)) {
        if self.dirty.is_empty() {
            return;
        }
        self.solution = self.solution.wrapping_add(1);
        self.reach();
        let Self { links, passages, solution, reached_links, heap, .. } = self;
        heap.clear();
        for &number in reached_links.iter() {
            let link = &mut links[number as usize];
            link.left = link.capacity;
            link.open = link.flows.len() as u32;
            link.shares =
                link.flows.iter().map(|&(slot, hop)| passages[slot as usize].route[hop as usize].1).sum();
            if link.open > 0 {
                heap.push(Reverse((key(link.capacity / link.shares), number)));
            }
        }
        while let Some(Reverse((bits, number))) = heap.pop() {
            let link = &links[number as usize];
            if link.open == 0 {
                continue;
            }
            // Freezing flows elsewhere leaves at least as much for each of those that remain: the rate only grows.
            let rate = (link.left / link.shares).max(0.0);
            if key(rate) > bits {
                heap.push(Reverse((key(rate), number)));
                continue;
            }
            for index in 0..links[number as usize].flows.len() {
                let (slot, _) = links[number as usize].flows[index];
                let passage = &mut passages[slot as usize];
                if passage.fixed == *solution {
                    continue;
                }
                passage.fixed = *solution;
                for &(other, share) in &passage.route {
                    let other = &mut links[other as usize];
                    other.left -= rate * share;
                    other.shares -= share;
                    other.open -= 1;
                }
                if passage.rate != rate {
                    passage.rate = rate;
                    changed(Slot(slot), rate);
                }
            }
        }
    }

    /// Links and flows that are connected with a link where something changed.
    fn reach(&mut self) {
        let Self { links, passages, dirty, solution, reached_links, reached_flows, .. } = self;
        reached_links.clear();
        reached_flows.clear();
        for number in dirty.drain(..) {
            let link = &mut links[number as usize];
            link.dirty = false;
            if link.seen != *solution {
                link.seen = *solution;
                reached_links.push(number);
            }
        }
        let mut next = 0;
        while let Some(&number) = reached_links.get(next) {
            next += 1;
            for index in 0..links[number as usize].flows.len() {
                let (slot, _) = links[number as usize].flows[index];
                let passage = &mut passages[slot as usize];
                if passage.seen == *solution {
                    continue;
                }
                passage.seen = *solution;
                reached_flows.push(slot);
                for &(other, _) in &passage.route {
                    let link = &mut links[other as usize];
                    if link.seen != *solution {
                        link.seen = *solution;
                        reached_links.push(other);
                    }
                }
            }
        }
    }
}
