//! An all-to-all on a network that joins only rails.
//!
//! Responsible for: cost of forwarding through the scale-up domain over a full fabric. Excludes overlap: an
//! implementation that hides the smaller step has no cost as long as the domain is faster than an
//! [`overhead`] of 1 requires.

use super::Parameters;

/// (16) `overhead = (B_S / B_F) ((K - 1) / K) (N / (N - K))`: the step inside the domain over the step on the
/// rails.
pub fn overhead(p: &Parameters) -> f64 {
    (p.network / p.scale_up) * ((p.domain - 1.0) / p.domain) * (p.devices / (p.devices - p.domain))
}

#[cfg(test)]
mod tests {
    use super::super::GPT3;
    use super::*;
    use railwright_spec::quantity::BytesPerSecond;

    /// The table of section 7, in percent.
    #[test]
    fn overheads_are_those_of_the_derivation() {
        for (domain, network, scale_up, percent) in [
            (256.0, 50.0, 450.0, 11.15),
            (256.0, 50.0, 900.0, 5.58),
            (256.0, 25.0, 300.0, 8.37),
            (8.0, 50.0, 450.0, 9.72),
            (8.0, 25.0, 300.0, 7.29),
            (72.0, 50.0, 900.0, 5.49),
            (72.0, 100.0, 900.0, 10.98),
        ] {
            let p = Parameters {
                scale_up: BytesPerSecond::from_gb(scale_up),
                network: BytesPerSecond::from_gb(network),
                // Every table row has N = 32,768, which 72 does not divide; the formula is defined all the
                // same.
                ..Parameters::paper(GPT3, 32e6, 32768.0, domain)
            };
            assert!((overhead(&p) * 100.0 - percent).abs() < 0.006, "{}", overhead(&p));
        }
    }
}
