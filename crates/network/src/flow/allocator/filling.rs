//! Progressive filling of open flows.
//!
//! Responsible for: rates of open flows, given those of the others. Does not select open flows.

use super::Allocator;
use super::state::NONE;

/// Fair rates closer than this to that of the fastest flow alone count as equal: less than [`super::EQUAL`],
/// so that such flows keep their bottleneck.
const SAME: f64 = 1e-12;

/// Non-negative numbers in the order of their bits.
fn key(rate: f64) -> u64 {
    rate.max(0.0).to_bits()
}

impl Allocator {
    /// Fills the capacity that flows outside the selection leave. True if there are such flows on the links
    /// of the selected ones.
    pub(super) fn fill(&mut self) -> bool {
        self.filling = self.filling.wrapping_add(1);
        let Self { links, levels, rates, open, filling, chosen, touched, .. } = self;
        for &slot in chosen.iter() {
            open[slot as usize] = *filling;
        }
        let mut has_others = false;
        for &number in touched.iter() {
            let link = &links[number as usize];
            let level = &mut levels[number as usize];
            level.clear(link.capacity, *filling);
            for pass in &link.passes {
                if open[pass.slot as usize] == *filling {
                    level.open += 1;
                    level.shares += pass.share;
                } else {
                    has_others = true;
                    level.left -= rates[pass.slot as usize] * pass.share;
                }
            }
        }
        self.raise();
        has_others
    }

    /// Raises the rates of open flows in step, and freezes those of each link as it fills.
    ///
    /// No flow is faster than alone on its narrowest link, and fair rates only grow while others freeze. So
    /// no link limits a flow whose fair rate reaches that of the fastest flow alone. Flows still open
    /// when only such links remain have that rate.
    pub(super) fn raise(&mut self) {
        let Self {
            links,
            levels,
            routes,
            states,
            rates,
            open,
            alone,
            filling,
            chosen,
            touched,
            queue,
            order,
            ..
        } = self;
        let unfrozen = chosen.iter().map(|&slot| slot as usize).filter(|&slot| open[slot] == *filling);
        let (mut missing, most) =
            unfrozen.fold((0_usize, 0.0_f64), |(count, most), slot| (count + 1, most.max(alone[slot])));
        let most = most * (1.0 - SAME);
        queue.clear();
        for &number in touched.iter() {
            let level = &levels[number as usize];
            let rate = level.left / level.shares;
            if level.open > 0 && rate < most {
                queue.push(key(rate), number);
            }
        }
        while missing > 0
            && let Some((bits, number)) = queue.pop()
        {
            let level = &levels[number as usize];
            if level.open == 0 {
                continue;
            }
            // Freezing flows elsewhere leaves at least as much for each of those that remain: the rate only
            // grows.
            let rate = (level.left / level.shares).max(0.0);
            if rate >= most {
                continue;
            }
            if key(rate) > bits {
                queue.push(key(rate), number);
                continue;
            }
            for pass in &links[number as usize].passes {
                let slot = pass.slot as usize;
                if open[slot] != *filling {
                    continue;
                }
                missing -= 1;
                open[slot] = 0;
                rates[slot] = rate;
                states[slot].bottleneck = number;
                order.freeze(pass.slot, rate, routes.of(pass.slot), levels);
            }
        }
        if missing == 0 {
            return;
        }
        // All have the same rate except for rounding: levels stay until all have it.
        let rest = |slot: &&u32| open[**slot as usize] == *filling;
        for &slot in chosen.iter().filter(rest) {
            let mut slowest = (f64::INFINITY, NONE);
            for hop in routes.of(slot) {
                let level = &levels[hop.link as usize];
                let rate = level.left / level.shares;
                if rate <= slowest.0 {
                    slowest = (rate, hop.link);
                }
            }
            rates[slot as usize] = slowest.0;
            states[slot as usize].bottleneck = slowest.1;
        }
        for &slot in chosen.iter() {
            if open[slot as usize] == *filling {
                open[slot as usize] = 0;
                order.freeze(slot, rates[slot as usize], routes.of(slot), levels);
            }
        }
    }
}
