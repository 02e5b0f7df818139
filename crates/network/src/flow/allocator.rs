//! Max-min fair rates of the flows that are under way, kept up to date as flows come and go.
//!
//! Responsible for: progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2: raise all
//! rates together, freeze the flows of each link as it fills), solved again only for the flows that a change
//! affects. Independent of time and bytes.
//!
//! **Which flows.** Rates are max-min fair if and only if every flow has a *bottleneck*: a full link on its
//! route on which no flow is faster (the same section). A change leaves most bottlenecks in place. Flows
//! without a bottleneck are selected. The selected flows fill the remaining capacity. Then the bottlenecks of
//! all flows on their links are checked again. A flow is also selected if it lost its bottleneck, or is
//! faster than a selected flow at the bottleneck of that flow. This repeats until all have one, so the result
//! is the full solution.

mod filling;

use filling::Level;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow under way; its number is used again after it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Rates and capacities that differ by less are equal: sums are rounded.
const EQUAL: f64 = 1e-11;
/// Number of selection rounds after which all reachable flows are selected.
const ROUNDS: u32 = 12;
/// Share of selected flows above which a full solution is cheaper.
const MANY: usize = 6;
/// Solutions without choosing after one that reached far.
const FAR: u32 = 255;
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

/// State of a flow in a solution, except its rate.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Bytes a second before the solution.
    before: f64,
    /// The link at which it is frozen.
    bottleneck: u32,
    /// The same before the solution.
    held: u32,
    /// The solution that last chose it.
    chosen: u32,
}

const FRESH: State = State { before: 0.0, bottleneck: NONE, held: NONE, chosen: 0 };

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
    /// The solution that last visited it.
    seen: u32,
    /// Whether flows came or went since the last solution.
    dirty: bool,
}

/// Rates of all flows under way.
#[derive(Clone, Debug)]
pub struct Allocator {
    links: Vec<Link>,
    /// By link.
    levels: Vec<Level>,
    passages: Vec<Passage>,
    states: Vec<State>,
    /// Bytes a second by flow. Filling reads these and `open` at random, so they are apart from the rest.
    rates: Vec<f64>,
    /// The filling in which a flow has no rate yet.
    open: Vec<u32>,
    /// Bytes a second that each flow has at most: `capacity / share` of its narrowest link.
    alone: Vec<f64>,
    free: Vec<u32>,
    dirty: Vec<u32>,
    solution: u32,
    filling: u32,
    /// Flows that this solution gives rates, and the links that they pass.
    chosen: Vec<u32>,
    touched: Vec<u32>,
    /// The lowest rate of the flows that left since the last solution.
    left_at: f64,
    /// Solutions to come that fill from the level without choosing, as the last changes reached far.
    far: u32,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Allocator {
    /// A network without flows; capacities in bytes a second.
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let links: Vec<Link> =
            capacities.into_iter().map(|capacity| Link { capacity, ..Link::default() }).collect();
        Self {
            levels: vec![Level::default(); links.len()],
            links,
            rates: Vec::new(),
            open: Vec::new(),
            alone: Vec::new(),
            passages: Vec::new(),
            states: Vec::new(),
            free: Vec::new(),
            dirty: Vec::new(),
            solution: 0,
            filling: 0,
            chosen: Vec::new(),
            touched: Vec::new(),
            left_at: f64::INFINITY,
            far: 0,
            heap: BinaryHeap::new(),
        }
    }

    /// A flow comes. Of a link that stands in the route twice the first share counts, and links without a share do not.
    pub fn insert(&mut self, route: &[(u32, f64)]) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.passages.push(Passage::default());
            self.states.push(FRESH);
            self.rates.push(0.0);
            self.open.push(0);
            self.alone.push(f64::INFINITY);
            self.passages.len() as u32 - 1
        });
        let Self { links, passages, states, rates, alone, dirty, .. } = self;
        let (passage, state) = (&mut passages[slot as usize], &mut states[slot as usize]);
        let alone = &mut alone[slot as usize];
        *alone = f64::INFINITY;
        *state = State { chosen: state.chosen, ..FRESH };
        rates[slot as usize] = 0.0;
        passage.route.clear();
        passage.at.clear();
        for &(number, share) in route {
            if share <= 0.0 || passage.route.iter().any(|known| known.0 == number) {
                continue;
            }
            let link = &mut links[number as usize];
            *alone = alone.min(link.capacity / share);
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
        // A flow that came and left between two solutions has no rate, and changes nothing.
        if self.states[slot.0 as usize].bottleneck != NONE {
            self.left_at = self.left_at.min(self.rates[slot.0 as usize]);
        }
        self.passages[slot.0 as usize].route.clear();
        self.free.push(slot.0);
    }

    /// Bytes a second of a flow, as of the last solution.
    pub fn rate(&self, slot: Slot) -> f64 {
        self.rates[slot.0 as usize]
    }

    /// Gives every flow that a change affects its rate, and calls `changed` for those whose rate is another than before.
    pub fn solve(&mut self, mut changed: impl FnMut(Slot, f64)) {
        if self.dirty.is_empty() {
            return;
        }
        self.solution = self.solution.wrapping_add(1);
        self.chosen.clear();
        self.touched.clear();
        let level = self.level();
        self.choose_at_changes();
        let active = self.passages.len() - self.free.len();
        let mut round = 0;
        while !self.chosen.is_empty() {
            if self.far > 0 || round >= ROUNDS || self.chosen.len() * MANY > active {
                self.far = if self.far == 0 { FAR } else { self.far - 1 };
                self.fill_from(level);
                break;
            }
            let has_others = self.fill();
            round += 1;
            let known = self.chosen.len();
            if has_others {
                self.choose_without_bottleneck();
            }
            if self.chosen.len() == known {
                break;
            }
        }
        let mut differ = 0;
        for &slot in &self.chosen {
            let rate = self.rates[slot as usize];
            if rate != self.states[slot as usize].before {
                differ += 1;
                changed(Slot(slot), rate);
            }
        }
        if differ * 2 * MANY < active {
            self.far = 0;
        }
    }

    fn choose(&mut self, slot: u32) {
        let state = &mut self.states[slot as usize];
        if state.chosen == self.solution {
            return;
        }
        state.chosen = self.solution;
        state.before = self.rates[slot as usize];
        state.held = state.bottleneck;
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
        passes.iter().map(|pass| self.rates[pass.slot as usize] * pass.share).sum()
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

    /// Flows on the links of the chosen that lost their bottleneck, and those that are faster than a chosen flow at its bottleneck.
    fn choose_without_bottleneck(&mut self) {
        for index in 0..self.touched.len() {
            let number = self.touched[index];
            let (mut used, mut fastest, mut slowest) = (0.0, 0.0_f64, f64::INFINITY);
            let mut others = false;
            for pass in &self.links[number as usize].passes {
                let (rate, state) = (self.rates[pass.slot as usize], &self.states[pass.slot as usize]);
                used += rate * pass.share;
                fastest = fastest.max(rate);
                if state.chosen != self.solution {
                    others = true;
                } else if state.bottleneck == number {
                    slowest = slowest.min(rate);
                }
            }
            if !others {
                continue;
            }
            let has_room = used < self.links[number as usize].capacity * (1.0 - EQUAL);
            for pass in 0..self.links[number as usize].passes.len() {
                let slot = self.links[number as usize].passes[pass].slot;
                let (rate, state) = (self.rates[slot as usize], &self.states[slot as usize]);
                if state.chosen == self.solution {
                    continue;
                }
                let lost = state.bottleneck == number && (has_room || fastest > rate * (1.0 + EQUAL));
                if lost || rate > slowest * (1.0 + EQUAL) {
                    self.choose(slot);
                }
            }
        }
    }
}
