//! Savings of one design over another, as a function of one ratio: switch port price over transceiver price.
//!
//! Responsible for: the closed forms of full fabrics, savings from counts, and the ratio at which two designs
//! cost the same. Excludes NICs and fibre: both are equal or nearly so between such designs.
//!
//! Source: the cost argument of "Rail-only" (arXiv 2307.12169), whose 37% and 75% apply at 187 : 99 dollars
//! (TopoOpt's table at 100 Gbit/s).

use serde::Serialize;

/// Saving from `more` to `fewer` tiers of a full fabric at a price ratio `r` of port to transceiver.
///
/// A fabric of `t` tiers has `2t - 1` switch ports and `2t` transceivers for each endpoint, so it costs
/// `(2t - 1) r + 2t` transceivers: `1 - ((2f - 1) r + 2f) / ((2m - 1) r + 2m)`. Three to two: `(2r + 2) / (5r
/// + 6)`, three to one: `(4r + 4) / (5r + 6)`, two to one: `(2r + 2) / (3r + 4)`.
pub fn tier_saving(more: u64, fewer: u64, ratio: f64) -> f64 {
    let cost = |tiers: u64| (2 * tiers - 1) as f64 * ratio + (2 * tiers) as f64;
    1.0 - cost(fewer) / cost(more)
}

/// Switch ports and transceivers of a design.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parts {
    /// Switch ports.
    pub ports: f64,
    /// Transceivers.
    pub transceivers: f64,
}

impl Parts {
    /// Cost in transceivers: `ports r + transceivers`.
    pub fn cost(self, ratio: f64) -> f64 {
        self.ports * ratio + self.transceivers
    }
}

/// Saving of one design over another: `1 - cost / cost`.
pub fn saving(of: Parts, against: Parts, ratio: f64) -> f64 {
    1.0 - of.cost(ratio) / against.cost(ratio)
}

/// The ratio at which both cost the same: `(T2 - T1) / (P1 - P2)`; `None` if one is cheaper at any ratio
/// above 0.
pub fn break_even_ratio(one: Parts, other: Parts) -> Option<f64> {
    let ratio = (other.transceivers - one.transceivers) / (one.ports - other.ports);
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// Ratios for a sweep: ports at half a transceiver's price to eight times it.
pub const SWEEP: [f64; 9] = [0.5, 1.0, 1.5, 187.0 / 99.0, 2.0, 3.0, 4.0, 6.0, 8.0];

/// Factors on the catalogue's prices of switch ports: from an eighth to eight times.
pub const PORT_PRICES: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savings_of_the_paper() {
        // arXiv 2307.12169: 37% to 75% at 187 : 99 (section 5); 37.2% and 74.4% at 1090 : 659; v5: 38% and
        // 77% at 700 : 195.
        for (ports, transceivers, low, high, two_to_one) in [
            (187.0, 99.0, 0.374, 0.748, 0.598),
            (1090.0, 659.0, 0.372, 0.744, 0.592),
            (700.0, 195.0, 0.383, 0.767, 0.622),
        ] {
            let ratio = ports / transceivers;
            assert!((tier_saving(3, 2, ratio) - low).abs() < 6e-4, "{ratio}");
            assert!((tier_saving(3, 1, ratio) - high).abs() < 6e-4, "{ratio}");
            assert!((tier_saving(2, 1, ratio) - two_to_one).abs() < 6e-4, "{ratio}");
        }
    }

    #[test]
    fn closed_forms_agree_with_counts() {
        for ratio in SWEEP {
            assert!((tier_saving(3, 2, ratio) - (2.0 * ratio + 2.0) / (5.0 * ratio + 6.0)).abs() < 1e-15);
            assert!((tier_saving(3, 1, ratio) - (4.0 * ratio + 4.0) / (5.0 * ratio + 6.0)).abs() < 1e-15);
            assert!((tier_saving(2, 1, ratio) - (2.0 * ratio + 2.0) / (3.0 * ratio + 4.0)).abs() < 1e-15);
            let tiers = |t: f64| Parts { ports: 2.0 * t - 1.0, transceivers: 2.0 * t };
            assert!((saving(tiers(2.0), tiers(3.0), ratio) - tier_saving(3, 2, ratio)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_break_even_ratio_costs_the_same() {
        let few_ports = Parts { ports: 3.0, transceivers: 8.0 };
        let few_transceivers = Parts { ports: 5.0, transceivers: 2.0 };
        let ratio = break_even_ratio(few_ports, few_transceivers).expect("they cross");
        assert_eq!(ratio, 3.0);
        assert_eq!(few_ports.cost(ratio), few_transceivers.cost(ratio));
        assert_eq!(break_even_ratio(few_ports, Parts { ports: 4.0, transceivers: 9.0 }), None);
    }
}
