//! Progressive filling: of chosen flows, or of all that are not slower than a level.
//!
//! Responsible for: rates of open flows, given those of the others. Does not select open flows.
//!
//! **Changes that reach far.** Filling is a process in time, with the rate as its clock. Up to the lowest rate at which a change can have an
//! effect, the *level*, it runs as before the change: a flow that left did not limit links that were full at lower rates than its own,
//! and a link with new flows cannot be full before `sum of min(rate, x) x share = capacity`. Flows slower than the level keep
//! their rates, and filling starts from there ([`Allocator::level`]).

use super::{Allocator, NONE, Pass, State};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Rates below a level by less are chosen with it.
const LEVEL: f64 = 1e-9;
/// Steps of the iteration for the level of a link.
const STEPS: u32 = 8;

/// Fair rates that are closer to that of the fastest flow alone are the same: less than [`super::EQUAL`], so that such flows keep their bottleneck.
const SAME: f64 = 1e-12;

/// A link while filling.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    /// Capacity that is not given away yet.
    left: f64,
    /// Sum of the shares of flows without a rate yet.
    shares: f64,
    /// Number of these flows.
    open: u32,
    /// The filling that these are of.
    filling: u32,
}

/// Non-negative numbers in the order of their bits.
fn key(rate: f64) -> u64 {
    rate.max(0.0).to_bits()
}

impl Allocator {
    /// The lowest rate at which filling differs from the last solution.
    ///
    /// For each link with new flows, the root of `sum of min(rate, x) x share = capacity`, with new flows at `x`. Its iteration
    /// `x = (capacity - sum of slower rates) / shares of the others` begins at the fair share and grows to the root, so that stopping early
    /// leaves a lower level.
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

    /// Progressive filling of what flows that are not chosen leave. Whether there are any on the links of the chosen.
    pub(super) fn fill(&mut self) -> bool {
        self.filling = self.filling.wrapping_add(1);
        let Self { links, levels, rates, open, filling, chosen, touched, .. } = self;
        for &slot in chosen.iter() {
            open[slot as usize] = *filling;
        }
        let mut has_others = false;
        for &number in touched.iter() {
            let link = &links[number as usize];
            let mut level = Level { left: link.capacity, shares: 0.0, open: 0, filling: *filling };
            for pass in &link.passes {
                if open[pass.slot as usize] == *filling {
                    level.open += 1;
                    level.shares += pass.share;
                } else {
                    has_others = true;
                    level.left -= rates[pass.slot as usize] * pass.share;
                }
            }
            levels[number as usize] = level;
        }
        self.raise();
        has_others
    }

    /// The same for all flows that are not slower than a level; slower ones keep their rates and bottlenecks of the last solution. Filling
    /// them again below faster flows could freeze them at a link that is full only with these: a bottleneck in name alone.
    pub(super) fn fill_from(&mut self, level: f64) {
        self.filling = self.filling.wrapping_add(1);
        self.touched.clear();
        let level = level * (1.0 - LEVEL);
        let Self { links, levels, passages, states, rates, open, filling, solution, chosen, touched, .. } =
            self;
        for (slot, passage) in passages.iter().enumerate() {
            let state = &mut states[slot];
            // Of flows that this solution chose before, rates and bottlenecks are not those of the last one.
            let is_chosen = state.chosen == *solution;
            let (rate, held) =
                if is_chosen { (state.before, state.held) } else { (rates[slot], state.bottleneck) };
            let is_open = rate >= level || held == NONE;
            if is_open {
                open[slot] = *filling;
                if !is_chosen && !passage.route.is_empty() {
                    *state = State { before: rate, held, chosen: *solution, ..*state };
                    chosen.push(slot as u32);
                }
            } else if is_chosen {
                rates[slot] = rate;
                state.bottleneck = held;
            }
            for &(number, share) in &passage.route {
                let level = &mut levels[number as usize];
                if level.filling != *filling {
                    *level = Level {
                        left: links[number as usize].capacity,
                        shares: 0.0,
                        open: 0,
                        filling: *filling,
                    };
                    touched.push(number);
                }
                if is_open {
                    level.open += 1;
                    level.shares += share;
                } else {
                    level.left -= rate * share;
                }
            }
        }
        self.raise();
    }

    /// Raises the rates of open flows together, and freezes those of each link as it fills.
    ///
    /// No flow is faster than alone on its narrowest link, and fair rates only grow while others freeze. So no link limits a flow whose fair
    /// rate reaches that of the fastest flow alone. What is open when only such links are left has that rate.
    fn raise(&mut self) {
        let Self {
            links, levels, passages, states, rates, open, alone, filling, chosen, touched, heap, ..
        } = self;
        let unfrozen = chosen.iter().map(|&slot| slot as usize).filter(|&slot| open[slot] == *filling);
        let (mut missing, most) =
            unfrozen.fold((0_usize, 0.0_f64), |(count, most), slot| (count + 1, most.max(alone[slot])));
        let most = most * (1.0 - SAME);
        let mut queue = std::mem::take(heap).into_vec();
        queue.clear();
        let filled = touched.iter().filter_map(|&number| {
            let level = &levels[number as usize];
            let rate = level.left / level.shares;
            (level.open > 0 && rate < most).then(|| Reverse((key(rate), number)))
        });
        queue.extend(filled);
        *heap = BinaryHeap::from(queue);
        while missing > 0
            && let Some(mut top) = heap.peek_mut()
        {
            let Reverse((bits, number)) = *top;
            let level = &levels[number as usize];
            if level.open == 0 {
                PeekMut::pop(top);
                continue;
            }
            // Freezing flows elsewhere leaves at least as much for each of those that remain: the rate only grows.
            let rate = (level.left / level.shares).max(0.0);
            if rate >= most {
                PeekMut::pop(top);
                continue;
            }
            if key(rate) > bits {
                // Back to its place, which may be the first again.
                *top = Reverse((key(rate), number));
                continue;
            }
            PeekMut::pop(top);
            for pass in &links[number as usize].passes {
                let slot = pass.slot as usize;
                if open[slot] != *filling {
                    continue;
                }
                missing -= 1;
                open[slot] = 0;
                rates[slot] = rate;
                states[slot].bottleneck = number;
                for &(other, share) in &passages[slot].route {
                    let other = &mut levels[other as usize];
                    other.left -= rate * share;
                    other.shares -= share;
                    other.open -= 1;
                }
            }
        }
        if missing == 0 {
            return;
        }
        for &slot in chosen.iter() {
            let slot = slot as usize;
            if open[slot] != *filling {
                continue;
            }
            open[slot] = 0;
            let mut slowest = (f64::INFINITY, NONE);
            for &(number, _) in &passages[slot].route {
                let level = &levels[number as usize];
                let rate = level.left / level.shares;
                if rate <= slowest.0 {
                    slowest = (rate, number);
                }
            }
            rates[slot] = slowest.0;
            states[slot].bottleneck = slowest.1;
        }
    }
}
