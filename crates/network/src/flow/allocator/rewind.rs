//! Solutions from the middle of the last one.
//!
//! Responsible for: the order in which the last filling froze all flows, and the extent of a change in it.
//! Does not fill.
//!
//! Filling is a process in time, with the rate as its clock. Up to the lowest rate at which a change can have
//! an effect, the *level*, it runs as before the change. A removed flow did not limit links that were full at
//! lower rates than its own. A link with new flows cannot be full before `sum of min(rate, x) x share =
//! capacity`. Flows that froze at higher rates open again, the last one first, and links regain their
//! remaining capacity. Slower flows are not touched. Filling them again below faster flows could freeze them
//! at a link that is full only with these: a false bottleneck.

use super::Allocator;
use super::routes::Hop;
use super::state::{NONE, Pass};

/// Flows with rates below a level by less than this share are opened with it.
const LEVEL: f64 = 1e-9;
/// Steps of the iteration for the level of a link.
const STEPS: u32 = 8;

impl Allocator {
    /// The lowest rate at which filling differs from the last solution.
    ///
    /// For each link with new flows, the root of `sum of min(rate, x) x share = capacity`, with new flows at
    /// `x`. Its iteration `x = (capacity - sum of slower rates) / shares of the others` begins at the
    /// fair share and grows to the root, so that stopping early leaves a lower level.
    pub(super) fn level(&mut self) -> f64 {
        let mut level = std::mem::replace(&mut self.left_at, f64::INFINITY);
        for &number in &self.dirty {
            let link = &self.links[number as usize];
            let is_new = |pass: &Pass| self.states[pass.slot as usize].bottleneck == NONE;
            if !link.passes.iter().any(is_new) {
                continue;
            }
            let mut x = 0.0_f64;
            for _ in 0..STEPS {
                let (mut slower, mut shares) = (0.0, 0.0);
                for pass in &link.passes {
                    let rate = self.rates[pass.slot as usize];
                    if rate < x && !is_new(pass) {
                        slower += rate * pass.share;
                    } else {
                        shares += pass.share;
                    }
                }
                let next = (link.capacity - slower) / shares;
                if next <= x {
                    break;
                }
                x = next;
            }
            level = level.min(x);
        }
        level
    }

    /// Opens all flows, and keeps the order from here on.
    pub(super) fn start_order(&mut self) {
        self.filling = self.filling.wrapping_add(1);
        self.order.is_kept = true;
        self.order.frozen.clear();
        self.order.left.clear();
        self.touched.clear();
        for slot in 0..self.routes.len() as u32 {
            if self.routes.of(slot).is_empty() {
                continue;
            }
            self.mark(slot);
            self.open[slot as usize] = self.filling;
            for &Hop { link: number, share, .. } in self.routes.of(slot) {
                let level = &mut self.levels[number as usize];
                if level.filling != self.filling {
                    level.clear(self.links[number as usize].capacity, self.filling);
                    self.touched.push(number);
                }
                level.shares += share;
                level.open += 1;
            }
        }
    }

    /// Opens all flows that are not slower than a level again.
    pub(super) fn rewind(&mut self, level: f64) {
        let level = level * (1.0 - LEVEL);
        while let Some(&slot) = self.order.frozen.last()
            && self.rates[slot as usize] >= level
        {
            self.order.frozen.pop();
            self.mark(slot);
            let Self { levels, routes, open, order, touched, solution, filling, .. } = self;
            open[slot as usize] = *filling;
            let route = routes.of(slot);
            let first = order.left.len() - route.len();
            for (&Hop { link: number, share, .. }, left) in route.iter().zip(&order.left[first..]) {
                let level = &mut levels[number as usize];
                level.left = *left;
                level.shares += share;
                level.open += 1;
                if level.seen != *solution {
                    level.seen = *solution;
                    touched.push(number);
                }
            }
            order.left.truncate(first);
        }
    }

    /// A new flow is open until the next solution.
    pub(super) fn joins(&mut self, slot: u32) {
        self.mark(slot);
        let Self { links, levels, routes, open, touched, solution, filling, .. } = self;
        open[slot as usize] = *filling;
        for &Hop { link: number, share, .. } in routes.of(slot) {
            let level = &mut levels[number as usize];
            if level.filling != *filling {
                level.clear(links[number as usize].capacity, *filling);
            }
            level.shares += share;
            level.open += 1;
            if level.seen != *solution {
                level.seen = *solution;
                touched.push(number);
            }
        }
    }

    /// Opens a flow that leaves with all that froze after it, and removes it.
    pub(super) fn leaves(&mut self, slot: u32) {
        if self.open[slot as usize] != self.filling {
            self.rewind(self.rates[slot as usize]);
        }
        self.open[slot as usize] = 0;
        for &Hop { link: number, share, .. } in self.routes.of(slot) {
            let level = &mut self.levels[number as usize];
            level.open -= 1;
            // Sums of shares are rounded.
            level.shares = if level.open == 0 { 0.0 } else { level.shares - share };
        }
    }
}
