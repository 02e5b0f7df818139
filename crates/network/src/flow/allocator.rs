//! Max-min fair rates of the flows that are under way, kept up to date as flows come and go.
//!
//! Responsible for: progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2: raise all rates together, freeze the flows of
//! each link as it fills), solved again only for the flows that a change affects. Refuses to know time and bytes.
//!
//! **Which flows.** Rates are max-min fair if and only if every flow has a *bottleneck*: a full link on its route on which no flow is faster
//! (the same section). A change leaves most bottlenecks in place. Flows that have none any more are chosen; the chosen fill what the
//! others leave; then the bottlenecks of all flows on the links of the chosen are looked at again, and whoever lost one, or is faster
//! than a chosen flow at the bottleneck of that flow, is chosen as well, until all have one. So the result is that of solving for all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow under way; its number is used again after it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Rates and capacities that differ by less are equal: sums are rounded.
const EQUAL: f64 = 1e-11;
/// After so many rounds of choosing, all flows that a change can reach are chosen.
const ROUNDS: u32 = 12;
/// And where one in so many flows is chosen: choosing costs more than solving for all then.
const MANY: usize = 6;
/// No link.
const NONE: u32 = u32::MAX;

/// Where a flow passes, and where each link remembers it.
#[derive(Clone, Debug, Default)]
struct Passage {
    /// Links in order, each with the share of the flow that it carries.
    route: Vec<(u32, f64)>,
    /// Position in each link's list.
    at: Vec<u32>,
}

/// What a solution knows of a flow.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Bytes a second.
    rate: f64,
    /// The same before the solution.
    before: f64,
    /// The link at which it is frozen.
    bottleneck: u32,
    /// The solution that last chose it.
    chosen: u32,
    /// The filling that last fixed its rate.
    fixed: u32,
}

const FRESH: State = State { rate: 0.0, before: 0.0, bottleneck: NONE, chosen: 0, fixed: 0 };

/// A flow on a link: the flow, the hop of its route that this link is, and its share.
#[derive(Clone, Copy, Debug)]
struct Pass {
    slot: u32,
    hop: u32,
    share: f64,
}

/// One link.
#[derive(Clone, Debug, Default)]
struct Link {
    /// Bytes a second.
    capacity: f64,
    /// Flows that pass.
    passes: Vec<Pass>,
    /// Capacity that is not given away yet, while filling.
    left: f64,
    /// Flows without a rate yet, while filling, and the sum of their shares.
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
    states: Vec<State>,
    free: Vec<u32>,
    dirty: Vec<u32>,
    solution: u32,
    filling: u32,
    /// Flows that this solution gives rates, and the links that they pass.
    chosen: Vec<u32>,
    touched: Vec<u32>,
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
            states: Vec::new(),
            free: Vec::new(),
            dirty: Vec::new(),
            solution: 0,
            filling: 0,
            chosen: Vec::new(),
            touched: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// A flow comes. Of a link that stands in the route twice the first share counts, and links without a share do not.
    pub fn insert(&mut self, route: &[(u32, f64)]) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.passages.push(Passage::default());
            self.states.push(FRESH);
            self.passages.len() as u32 - 1
        });
        let Self { links, passages, states, dirty, .. } = self;
        let (passage, state) = (&mut passages[slot as usize], &mut states[slot as usize]);
        *state = State { chosen: state.chosen, fixed: state.fixed, ..FRESH };
        passage.route.clear();
        passage.at.clear();
        for &(number, share) in route {
            if share <= 0.0 || passage.route.iter().any(|known| known.0 == number) {
                continue;
            }
            let link = &mut links[number as usize];
            passage.at.push(link.passes.len() as u32);
            link.passes.push(Pass { slot, hop: passage.route.len() as u32, share });
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
            link.passes.swap_remove(at);
            if let Some(moved) = link.passes.get(at) {
                passages[moved.slot as usize].at[moved.hop as usize] = at as u32;
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
        self.states[slot.0 as usize].rate
    }

    /// Gives every flow that a change affects its rate, and calls `changed` for those whose rate is another than before.
    pub fn solve(&mut self, mut changed: impl FnMut(Slot, f64)) {
        if self.dirty.is_empty() {
            return;
        }
        self.solution = self.solution.wrapping_add(1);
        self.chosen.clear();
        self.touched.clear();
        self.choose_at_changes();
        let mut round = 0;
        while !self.chosen.is_empty() {
            let has_others = self.fill();
            round += 1;
            let known = self.chosen.len();
            if has_others {
                self.choose_without_bottleneck();
            }
            if self.chosen.len() == known {
                break;
            }
            let active = self.passages.len() - self.free.len();
            if round >= ROUNDS || self.chosen.len() * MANY > active {
                self.choose_all_reached();
            }
        }
        for &slot in &self.chosen {
            let state = &self.states[slot as usize];
            if state.rate != state.before {
                changed(Slot(slot), state.rate);
            }
        }
    }

    fn choose(&mut self, slot: u32) {
        let state = &mut self.states[slot as usize];
        if state.chosen == self.solution {
            return;
        }
        state.chosen = self.solution;
        state.before = state.rate;
        self.chosen.push(slot);
        for &(number, _) in &self.passages[slot as usize].route {
            let link = &mut self.links[number as usize];
            if link.seen != self.solution {
                link.seen = self.solution;
                self.touched.push(number);
            }
        }
    }

    /// What a link carries.
    fn used(&self, number: u32) -> f64 {
        let passes = &self.links[number as usize].passes;
        passes.iter().map(|pass| self.states[pass.slot as usize].rate * pass.share).sum()
    }

    /// New flows, and those whose bottleneck is not full any more.
    fn choose_at_changes(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for number in dirty.drain(..) {
            self.links[number as usize].dirty = false;
            let has_room = self.used(number) < self.links[number as usize].capacity * (1.0 - EQUAL);
            for index in 0..self.links[number as usize].passes.len() {
                let slot = self.links[number as usize].passes[index].slot;
                let bottleneck = self.states[slot as usize].bottleneck;
                if bottleneck == NONE || (has_room && bottleneck == number) {
                    self.choose(slot);
                }
            }
        }
        self.dirty = dirty;
    }

    /// Progressive filling of what flows that are not chosen leave. Whether there are any on the links of the chosen.
    fn fill(&mut self) -> bool {
        self.filling = self.filling.wrapping_add(1);
        let Self { links, passages, states, solution, filling, touched, heap, .. } = self;
        heap.clear();
        let mut has_others = false;
        for &number in touched.iter() {
            let link = &mut links[number as usize];
            (link.left, link.open, link.shares) = (link.capacity, 0, 0.0);
            for pass in &link.passes {
                let state = &states[pass.slot as usize];
                if state.chosen == *solution {
                    link.open += 1;
                    link.shares += pass.share;
                } else {
                    has_others = true;
                    link.left -= state.rate * pass.share;
                }
            }
            if link.open > 0 {
                heap.push(Reverse((key(link.left / link.shares), number)));
            }
        }
        while let Some(Reverse((bits, number))) = heap.pop() {
            let link = &links[number as usize];
            if link.open == 0 {
                continue;
            }
            // Freezing flows elsewhere leaves at least as much for each of those that remain: the rate only grows.
            let rate = (link.left / link.shares).max(0.0);
            if key(rate) > bits && heap.peek().is_some_and(|Reverse((next, _))| key(rate) > *next) {
                heap.push(Reverse((key(rate), number)));
                continue;
            }
            for index in 0..links[number as usize].passes.len() {
                let slot = links[number as usize].passes[index].slot;
                let state = &mut states[slot as usize];
                if state.chosen != *solution || state.fixed == *filling {
                    continue;
                }
                state.fixed = *filling;
                state.rate = rate;
                state.bottleneck = number;
                for &(other, share) in &passages[slot as usize].route {
                    let other = &mut links[other as usize];
                    other.left -= rate * share;
                    other.shares -= share;
                    other.open -= 1;
                }
            }
        }
        has_others
    }

    /// Flows on the links of the chosen that lost their bottleneck, and those that are faster than a chosen flow at its bottleneck.
    fn choose_without_bottleneck(&mut self) {
        for index in 0..self.touched.len() {
            let number = self.touched[index];
            let (mut used, mut fastest, mut slowest) = (0.0, 0.0_f64, f64::INFINITY);
            let mut others = false;
            for pass in &self.links[number as usize].passes {
                let state = &self.states[pass.slot as usize];
                used += state.rate * pass.share;
                fastest = fastest.max(state.rate);
                if state.chosen != self.solution {
                    others = true;
                } else if state.bottleneck == number {
                    slowest = slowest.min(state.rate);
                }
            }
            if !others {
                continue;
            }
            let has_room = used < self.links[number as usize].capacity * (1.0 - EQUAL);
            for pass in 0..self.links[number as usize].passes.len() {
                let slot = self.links[number as usize].passes[pass].slot;
                let state = &self.states[slot as usize];
                if state.chosen == self.solution {
                    continue;
                }
                let lost = state.bottleneck == number && (has_room || fastest > state.rate * (1.0 + EQUAL));
                if lost || state.rate > slowest * (1.0 + EQUAL) {
                    self.choose(slot);
                }
            }
        }
    }

    /// All flows that share links with the chosen, and with those, and so on.
    fn choose_all_reached(&mut self) {
        let mut next = 0;
        while let Some(&number) = self.touched.get(next) {
            next += 1;
            for index in 0..self.links[number as usize].passes.len() {
                let slot = self.links[number as usize].passes[index].slot;
                self.choose(slot);
            }
        }
    }
}
