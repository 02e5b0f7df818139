//! How far apart two predicted times must be to differ: the band inside which two layouts of one search are a tie.
//!
//! Responsible for: the bundled errors of differences (`catalog/differences.toml`, made by `cargo run --release -p xtask -- differences`
//! from measured sweeps) and the band that they give. Refuses to judge single predictions: [`super::interval`] does, and is wider,
//! because what two layouts of one search share cancels in their comparison.

use crate::software::generation_of;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Errors of predicted differences of one software generation: quantiles of |ln(predicted ratio) - ln(measured ratio)|.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The software generation, or `any`.
    pub software: String,
    /// Sweeps behind it.
    pub sweeps: usize,
    /// Pairs of layouts behind it.
    pub pairs: usize,
    /// Half of the pairs are at most this far off.
    pub half: f64,
    /// 68% of them are.
    pub two_thirds: f64,
    /// 90% of them are.
    pub nine_tenths: f64,
}

/// Fewer sweeps than this do not make a class.
const FEWEST: usize = 3;
/// Fewer pairs than this do not make a class.
const FEWEST_PAIRS: usize = 20;
/// Two runs of one configuration differ by this much: no band is narrower, and a search counts no smaller lead.
pub const NOISE: f64 = 0.02;
/// The band when no measurement is bundled at all.
const UNKNOWN: f64 = 0.1;

static TABLE: LazyLock<Vec<Difference>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        difference: Vec<Difference>,
    }
    toml::from_str::<File>(railwright_catalog::DIFFERENCES).map(|f| f.difference).unwrap_or_default()
});

/// The bundled errors of differences.
pub fn all() -> &'static [Difference] {
    &TABLE
}

/// The errors of differences for a software generation: its own, or those of all when too few of its sweeps were measured.
pub fn of(software: &str) -> Option<&'static Difference> {
    let software = generation_of(software);
    let enough = |d: &&Difference| d.sweeps >= FEWEST && d.pairs >= FEWEST_PAIRS;
    let named = |name: &str| all().iter().find(|d| d.software == name);
    named(software).filter(enough).or_else(|| named("any"))
}

/// The band within which two layouts of one search are a tie, as a share of their time: 68% of measured pairs of the generation differ
/// from their predicted difference by less. `band >= ln(slower / faster)` is a tie.
pub fn difference_band(software: &str) -> f64 {
    of(software).map_or(UNKNOWN, |d| d.two_thirds).max(NOISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_with_enough_sweeps_and_pairs_has_its_own_errors() {
        let named = |name: &str| all().iter().find(|d| d.software == name);
        let mut own = 0;
        for d in all().iter().filter(|d| d.software != "any") {
            let enough = d.sweeps >= FEWEST && d.pairs >= FEWEST_PAIRS;
            own += usize::from(enough);
            assert_eq!(of(&d.software), if enough { Some(d) } else { named("any") }, "{d:?}");
        }
        assert!(own > 0);
        assert_eq!(of("no-such-generation"), named("any"));
    }

    #[test]
    fn the_bundled_table_reads_and_its_quantiles_ascend() {
        assert!(all().iter().any(|d| d.software == "any"));
        for d in all() {
            assert!(d.half <= d.two_thirds && d.two_thirds <= d.nine_tenths && d.nine_tenths < 2.0, "{d:?}");
            assert!(d.software == "any" || crate::software::by_id(&d.software).is_ok(), "{d:?}");
        }
    }

    #[test]
    fn a_band_is_no_narrower_than_noise_and_narrower_than_an_interval() {
        for generation in crate::software::generations() {
            let band = difference_band(&generation.id);
            assert!((NOISE..0.35).contains(&band), "{}: {band}", generation.id);
        }
    }

    #[test]
    fn an_unmeasured_generation_takes_the_band_of_all() {
        let any = all().iter().find(|d| d.software == "any").expect("any");
        assert_eq!(difference_band("no-such-generation"), any.two_thirds.max(NOISE));
    }
}
