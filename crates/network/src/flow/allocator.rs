//! Max-min fair rates of the active flows, updated as flows start and end.
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
//!
//! **Changes with a large effect.** If many flows are selected, all are filled in order of their rates. The
//! next solutions go back in this order as far as a change can have an effect (`rewind`).

mod filling;
mod level;
mod order;
mod queue;
mod rewind;
mod routes;
mod series;
mod state;

use level::Level;
use order::Order;
use queue::Queue;
use routes::{Hop, Routes};
pub use state::{Allocator, Slot};
use state::{FRESH, Link, NONE, Pass, State};

/// Rates and capacities that differ by less are equal: sums are rounded.
const EQUAL: f64 = 1e-11;
/// Rounds of selection fill at most one in this many active flows: beyond that a full solution is cheaper.
const MANY: usize = 6;
/// Flows filled in order without effect, per active flow, after which selection is tried again.
const WASTED: usize = 1;
/// Number of solutions without selection after one with a far-reaching change.
const FAR: u32 = 255;

impl Allocator {
    /// A network without flows; capacities in bytes per second.
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let links: Vec<Link> =
            capacities.into_iter().map(|capacity| Link { capacity, ..Link::default() }).collect();
        Self {
            levels: vec![Level::default(); links.len()],
            links,
            rates: Vec::new(),
            open: Vec::new(),
            alone: Vec::new(),
            routes: Routes::default(),
            states: Vec::new(),
            free: Vec::new(),
            dirty: Vec::new(),
            insertions: 0,
            solution: 0,
            filling: 0,
            chosen: Vec::new(),
            touched: Vec::new(),
            left_at: f64::INFINITY,
            far: 0,
            wasted: 0,
            order: Order::default(),
            queue: Queue::default(),
        }
    }

    /// Adds a flow. If a link occurs twice in the route, its first share counts. Links without a share do not
    /// count.
    pub fn insert(&mut self, route: &[(u32, f64)]) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.routes.grow();
            self.states.push(FRESH);
            self.rates.push(0.0);
            self.open.push(0);
            self.alone.push(f64::INFINITY);
            self.routes.len() as u32 - 1
        });
        self.pair(route);
        let is_kept = self.order.is_kept;
        self.insertions += 1;
        let Self { links, routes, states, rates, alone, dirty, insertions, .. } = self;
        let state = &mut states[slot as usize];
        let alone = &mut alone[slot as usize];
        *alone = f64::INFINITY;
        *state = State { chosen: state.chosen, ..FRESH };
        rates[slot as usize] = 0.0;
        routes.begin(slot, route.len());
        let mut hops = 0;
        for &(number, share) in route {
            let link = &mut links[number as usize];
            if share <= 0.0 || link.inserted == *insertions {
                continue;
            }
            link.inserted = *insertions;
            *alone = alone.min(link.capacity / share);
            if link.series.is_left_out {
                continue;
            }
            let at = link.passes.len() as u32;
            link.passes.push(Pass { slot, hop: hops, share });
            routes.push(slot, Hop { link: number, at, share });
            hops += 1;
            if !link.dirty {
                link.dirty = true;
                dirty.push(number);
            }
        }
        if is_kept && !self.routes.of(slot).is_empty() {
            self.joins(slot);
        }
        Slot(slot)
    }

    /// Removes a flow.
    pub fn remove(&mut self, slot: Slot) {
        if self.order.is_kept {
            self.leaves(slot.0);
        }
        let Self { links, routes, dirty, .. } = self;
        for hop in 0..routes.of(slot.0).len() {
            let Hop { link: number, at, .. } = routes.of(slot.0)[hop];
            let at = at as usize;
            let link = &mut links[number as usize];
            link.passes.swap_remove(at);
            if let Some(moved) = link.passes.get(at) {
                routes.of_mut(moved.slot)[moved.hop as usize].at = at as u32;
            }
            if !link.dirty {
                link.dirty = true;
                dirty.push(number);
            }
        }
        // A flow added and removed between two solutions has no rate, and changes nothing.
        if self.states[slot.0 as usize].bottleneck != NONE {
            self.left_at = self.left_at.min(self.rates[slot.0 as usize]);
        }
        self.routes.clear(slot.0);
        self.free.push(slot.0);
    }

    /// Bytes per second of a flow, as of the last solution.
    pub fn rate(&self, slot: Slot) -> f64 {
        self.rates[slot.0 as usize]
    }

    /// Computes the rates of all flows that a change affects, and calls `changed` for those whose rate
    /// differs.
    pub fn solve(&mut self, mut changed: impl FnMut(Slot, f64)) {
        if self.dirty.is_empty() {
            return;
        }
        let level = self.level();
        let active = self.routes.len() - self.free.len();
        if self.far == 0 {
            self.order.is_kept = false;
            self.next_solution();
            self.choose_at_changes();
            if !self.fill_chosen(active) {
                self.far = FAR;
                self.wasted = 0;
                self.start_order();
                self.raise();
            }
        } else {
            self.far -= 1;
            self.clear_changes();
            self.rewind(level);
            self.raise();
        }
        let mut differ = 0;
        for &slot in &self.chosen {
            let rate = self.rates[slot as usize];
            // A flow that left has no route and no rate that counts.
            if rate != self.states[slot as usize].before && !self.routes.of(slot).is_empty() {
                differ += 1;
                changed(Slot(slot), rate);
            }
        }
        // Filling in order is wasted on flows that keep their rates.
        self.wasted = if differ * 2 * MANY > self.chosen.len() { 0 } else { self.wasted + self.chosen.len() };
        if self.wasted > WASTED * active {
            self.far = 0;
        }
        self.next_solution();
    }

    fn next_solution(&mut self) {
        self.solution = self.solution.wrapping_add(1);
        self.chosen.clear();
        self.touched.clear();
    }

    /// Fills the selected flows, and those that lose their bottleneck as a result, until all have one; false
    /// if there are too many.
    fn fill_chosen(&mut self, active: usize) -> bool {
        let mut filled = 0;
        while !self.chosen.is_empty() {
            filled += self.chosen.len();
            if filled * MANY > active {
                return false;
            }
            let known = self.chosen.len();
            if self.fill() {
                self.choose_without_bottleneck();
            }
            if self.chosen.len() == known {
                break;
            }
        }
        true
    }

    /// Marks a flow as given a rate by this solution, and its links.
    fn choose(&mut self, slot: u32) {
        if !self.mark(slot) {
            return;
        }
        for hop in self.routes.of(slot) {
            let level = &mut self.levels[hop.link as usize];
            if level.seen != self.solution {
                level.seen = self.solution;
                self.touched.push(hop.link);
            }
        }
    }

    /// Keeps the rate of a flow for comparison; false if that was done in this solution.
    fn mark(&mut self, slot: u32) -> bool {
        let state = &mut self.states[slot as usize];
        if state.chosen == self.solution {
            return false;
        }
        state.chosen = self.solution;
        state.before = self.rates[slot as usize];
        self.chosen.push(slot);
        true
    }

    /// Rate on a link, in bytes per second.
    fn used(&self, number: u32) -> f64 {
        let passes = &self.links[number as usize].passes;
        passes.iter().map(|pass| self.rates[pass.slot as usize] * pass.share).sum()
    }

    fn clear_changes(&mut self) {
        for number in self.dirty.drain(..) {
            self.links[number as usize].dirty = false;
        }
    }

    /// Selects new flows, and those whose bottleneck is not full any more.
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

    /// Flows on the links of the chosen that lost their bottleneck, and those that are faster than a chosen
    /// flow at its bottleneck.
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
