//! The hash that chooses among equal routes.
//!
//! Responsible for: the same choice for the same flow and seed on every machine. Not random.

/// Mixes 64 bits well (the finalizer of SplitMix64, G. Steele et al., OOPSLA 2014).
pub(crate) const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of choices for one flow: the hash of its addresses and ports at each switch of its route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices(u64);

impl Choices {
    /// Creates the stream of a flow between two devices; flows between the same devices differ by their label
    /// (the queue pair).
    pub(crate) const fn new(seed: u64, from: u64, to: u64, label: u64) -> Self {
        Self(mix(mix(mix(mix(seed) ^ from) ^ to) ^ label))
    }

    /// One of `n` routes with equal probability; 0 if there is only one.
    pub(crate) const fn below(&mut self, n: u64) -> u64 {
        if n < 2 {
            return 0;
        }
        self.0 = mix(self.0);
        // The upper bits times n: no relevant bias for n far below 2^32.
        ((self.0 >> 32) * n) >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_fair_and_repeat() {
        let mut counts = [0_u32; 6];
        for label in 0..6000 {
            let mut choices = Choices::new(7, 1, 2, label);
            counts[choices.below(6) as usize] += 1;
            assert_eq!(Choices::new(7, 1, 2, label).below(6), {
                let mut again = Choices::new(7, 1, 2, label);
                again.below(6)
            });
        }
        // Binomial with mean 1000 and a standard deviation of 29.
        assert!(counts.iter().all(|n| (880..1120).contains(n)), "{counts:?}");
        // Published test vector of SplitMix64 with seed 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
