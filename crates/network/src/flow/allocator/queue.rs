//! Links by the rate at which they fill, the lowest first.
//!
//! Responsible for: the next link, where no link precedes one that was already taken. A radix heap (Ahuja et
//! al., Faster algorithms for the shortest path problem, 1990): entries wait in buckets by the highest bit
//! that distinguishes them from the last one taken. They move to lower buckets as it grows. Most links of a
//! filling never fill, and are never sorted.

/// Links in buckets.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// Bits of a rate with a link.
    buckets: [Vec<(u64, u32)>; BUCKETS],
    /// Bits of buckets with entries.
    filled: u128,
    /// The rate taken last.
    last: u64,
    moved: Vec<(u64, u32)>,
}

/// One for each highest bit, and one for equal rates.
const BUCKETS: usize = u64::BITS as usize + 1;

impl Default for Queue {
    fn default() -> Self {
        Self { buckets: std::array::from_fn(|_| Vec::new()), filled: 0, last: 0, moved: Vec::new() }
    }
}

impl Queue {
    pub(super) fn clear(&mut self) {
        while self.filled != 0 {
            self.buckets[self.filled.trailing_zeros() as usize].clear();
            self.filled &= self.filled - 1;
        }
        self.last = 0;
    }

    /// Adds a link with the bits of a non-negative rate. Rates below the last one taken, which only rounding
    /// causes, count as that.
    pub(super) fn push(&mut self, rate: u64, link: u32) {
        let rate = rate.max(self.last);
        let bucket = u64::BITS - (rate ^ self.last).leading_zeros();
        self.buckets[bucket as usize].push((rate, link));
        self.filled |= 1 << bucket;
    }

    /// The next link with its rate.
    pub(super) fn pop(&mut self) -> Option<(u64, u32)> {
        if self.filled == 0 {
            return None;
        }
        let lowest = self.filled.trailing_zeros() as usize;
        if lowest > 0 {
            let mut moved = std::mem::replace(&mut self.buckets[lowest], std::mem::take(&mut self.moved));
            self.filled &= self.filled - 1;
            self.last = moved.iter().map(|entry| entry.0).min().unwrap_or(self.last);
            for (rate, link) in moved.drain(..) {
                self.push(rate, link);
            }
            self.moved = moved;
        }
        let next = self.buckets[0].pop();
        if self.buckets[0].is_empty() {
            self.filled &= !1;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Entries that are never below the last one taken come out in order of their rates.
        #[test]
        fn the_lowest_comes_first(rates in proptest::collection::vec(0.0_f64..1e12, 1..200), more in 0.0_f64..2.0) {
            let mut queue = Queue::default();
            let mut waiting: Vec<u64> = rates.iter().map(|rate| rate.to_bits()).collect();
            for (link, rate) in waiting.iter().enumerate() {
                queue.push(*rate, link as u32);
            }
            let mut taken = 0;
            while let Some((rate, link)) = queue.pop() {
                waiting.sort_unstable();
                prop_assert_eq!(rate, waiting.remove(0));
                taken += 1;
                if taken < 300 && taken % 3 == 0 {
                    let later = (f64::from_bits(rate) * (1.0 + more)).to_bits();
                    queue.push(later, link);
                    waiting.push(later);
                }
            }
            prop_assert!(waiting.is_empty());
            queue.push(1.0_f64.to_bits(), 0);
            queue.clear();
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
