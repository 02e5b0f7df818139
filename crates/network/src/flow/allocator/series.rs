//! Links in series: pairs that all flows pass one after the other, with equal shares.
//!
//! Responsible for: leaving out the link of a pair that is never full before the other. A device's links to
//! its NIC and on to a leaf are such a pair on most networks: routes become shorter by a quarter. A route
//! with one link of a pair alone separates it for good.

use super::Allocator;
use super::routes::Hop;
use super::state::{NONE, Pass, Series};

impl Allocator {
    /// Pairs links that no flow has passed before, and separates pairs that a route does not pass in
    /// sequence.
    pub(super) fn pair(&mut self, route: &[(u32, f64)]) {
        for (at, &(number, share)) in route.iter().enumerate() {
            let Series { mate, is_second, .. } = self.links[number as usize].series;
            let beside = if is_second { at.checked_sub(1) } else { Some(at + 1) };
            let other = beside.and_then(|at| route.get(at));
            if mate != NONE && other.is_none_or(|other| *other != (mate, share)) {
                self.separate(number);
            }
        }
        let mut at = 0;
        while let Some(&[(first, share), (second, same)]) = route.get(at..at + 2) {
            let [a, b] = [first, second].map(|number| &self.links[number as usize]);
            at += 1;
            if first == second || share != same || a.series.is_used || b.series.is_used {
                continue;
            }
            at += 1;
            let is_narrow = b.capacity < a.capacity;
            let series =
                |mate, is_second, is_left_out| Series { mate, is_second, is_used: true, is_left_out };
            self.links[first as usize].series = series(second, false, is_narrow);
            self.links[second as usize].series = series(first, true, !is_narrow);
        }
        for &(number, _) in route {
            self.links[number as usize].series.is_used = true;
        }
    }

    /// Gives the flows of a pair to its other link as well. It is not full, so their rates remain.
    fn separate(&mut self, number: u32) {
        let mate = self.links[number as usize].series.mate;
        let is_here = self.links[number as usize].series.is_left_out;
        let (kept, restored) = if is_here { (mate, number) } else { (number, mate) };
        for number in [kept, restored] {
            self.links[number as usize].series = Series { is_used: true, ..Series::default() };
        }
        if self.links[kept as usize].passes.is_empty() {
            return;
        }
        // The order of the last filling has no place for further links.
        self.order.is_kept = false;
        self.far = 0;
        for index in 0..self.links[kept as usize].passes.len() {
            let Pass { slot, share, .. } = self.links[kept as usize].passes[index];
            let passes = &mut self.links[restored as usize].passes;
            let hop = self.routes.of(slot).len() as u32;
            let at = passes.len() as u32;
            passes.push(Pass { slot, hop, share });
            self.routes.push(slot, Hop { link: restored, at, share });
        }
        let link = &mut self.links[restored as usize];
        if !link.dirty {
            link.dirty = true;
            self.dirty.push(restored);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows over a pair of 10, then one over its second link alone: the pair is separated, and all three
    /// share that link.
    #[test]
    fn a_route_with_one_link_of_a_pair_separates_it() {
        for (first, second, ends) in [(10.0, 10.0, [5.0, 10.0 / 3.0]), (8.0, 10.0, [4.0, 10.0 / 3.0])] {
            for is_solved in [false, true] {
                let mut allocator = Allocator::new([first, second, 100.0]);
                let both: Vec<_> = (0..2).map(|_| allocator.insert(&[(0, 1.0), (1, 1.0)])).collect();
                assert_eq!(
                    allocator.links.iter().map(|link| link.passes.len()).collect::<Vec<_>>(),
                    [2, 0, 0]
                );
                if is_solved {
                    allocator.solve(|_, _| ());
                    assert!(both.iter().all(|slot| allocator.rate(*slot) == ends[0]));
                }
                let alone = allocator.insert(&[(1, 1.0), (2, 1.0)]);
                allocator.solve(|_, _| ());
                let rates = both.iter().chain([&alone]).map(|slot| allocator.rate(*slot));
                assert!(
                    rates.clone().all(|rate| (rate / ends[1] - 1.0).abs() < 1e-12),
                    "{:?}",
                    rates.collect::<Vec<_>>()
                );
                allocator.remove(both[0]);
                allocator.remove(alone);
                allocator.solve(|_, _| ());
                assert_eq!(allocator.rate(both[1]), first);
            }
        }
    }

    /// Unequal shares and the narrower second link: the link that can be full is kept.
    #[test]
    fn the_narrow_link_of_a_pair_remains() {
        let mut allocator = Allocator::new([10.0, 6.0, 9.0]);
        let slot = allocator.insert(&[(0, 0.5), (1, 0.5), (2, 1.0)]);
        allocator.solve(|_, _| ());
        assert_eq!(allocator.links.iter().map(|link| link.passes.len()).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(allocator.rate(slot), 9.0);
        let other = allocator.insert(&[(0, 0.5), (1, 0.5)]);
        allocator.solve(|_, _| ());
        assert_eq!((allocator.rate(slot), allocator.rate(other)), (6.0, 6.0));
    }
}
