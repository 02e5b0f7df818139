//! Intervals of predicted times, from the errors of predictions of a class of runs.
//!
//! Responsible for: the residuals of each software generation, as quantiles of measured over predicted, and
//! the resulting intervals of a prediction: of nine and of five measured runs in ten. Does not predict.
//! `cargo run --release -p xtask -- intervals` generates the table from the measured runs. A generation with
//! too few of them uses the pooled, wider one.

pub mod differences;

pub use differences::difference_band;

use crate::calibration::posterior::Prior;
use crate::software::{PARTS, generation_of};
use railwright_spec::quantity::Seconds;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Residuals of a class of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Residuals {
    /// The software generation, `framework:` and a framework for all of its generations together, or `any`.
    pub software: String,
    /// True for models that route tokens to experts.
    pub mixture_of_experts: bool,
    /// Number of measured runs.
    pub runs: usize,
    /// 1st percentile of measured over predicted.
    pub low: f64,
    /// 94th percentile of measured over predicted.
    pub high: f64,
    /// Lower end of the range of measured over predicted that contains half of unseen runs: the 22nd
    /// percentile.
    pub half_low: f64,
    /// Upper end of that range: the 75th percentile.
    pub half_high: f64,
}

/// A predicted time with the ranges that cover nine of ten and half of the measured runs of its class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower end.
    pub low: Seconds,
    /// Upper end.
    pub high: Seconds,
    /// Lower end of the range that contains half of the measured runs.
    pub half_low: Seconds,
    /// Upper end of that range.
    pub half_high: Seconds,
    /// Share of measured runs from `low` to `high`.
    pub coverage: f64,
    /// Number of measured runs that determine the range.
    pub runs: usize,
    /// True if the class itself was measured; otherwise the range pools all classes.
    pub calibrated: bool,
}

impl Interval {
    /// This interval, extended to contain both ranges of another one.
    #[must_use]
    pub fn covering(self, other: &Interval) -> Self {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            half_low: self.half_low.min(other.half_low),
            half_high: self.half_high.max(other.half_high),
            ..self
        }
    }
}

/// Minimum number of runs of a class.
const FEWEST: usize = 10;

/// Accuracy that a few measured step times of a stack give for its other runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// True for models that route tokens to experts.
    pub mixture_of_experts: bool,
    /// 5% quantile of the error of a calibrated prediction, in logarithms, relative to its scale.
    pub low: f64,
    /// 95% quantile of the same error.
    pub high: f64,
    /// Lower end of the range that contains half of these errors.
    pub half_low: f64,
    /// Upper end of that range.
    pub half_high: f64,
    /// Prior errors of the parts of the step, before any measurement.
    pub prior: Prior,
}

#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    residuals: Vec<Residuals>,
    #[serde(default)]
    steps: Vec<Steps>,
}

static TABLE: LazyLock<File> =
    LazyLock::new(|| toml::from_str(railwright_catalog::INTERVALS).unwrap_or_default());

/// The bundled residuals.
pub fn residuals() -> &'static [Residuals] {
    &TABLE.residuals
}

/// Wide and equal for all parts: the fallback for a missing table entry, which a test excludes.
const VAGUE: Prior =
    Prior { level: 0.04, parts: [0.02; PARTS], own: 0.5, scatter: [0.0; PARTS], residual: 0.1, freedom: 3.0 };

/// Errors of predictions of a stack's other runs, given step times of some.
pub fn steps(mixture_of_experts: bool) -> Steps {
    let own = TABLE.steps.iter().find(|steps| steps.mixture_of_experts == mixture_of_experts);
    own.copied().unwrap_or(Steps {
        mixture_of_experts,
        low: -3.0,
        high: 3.0,
        half_low: -1.0,
        half_high: 1.0,
        prior: VAGUE,
    })
}

/// Prefix of a framework's name in the table.
pub const FRAMEWORK: &str = "framework:";

/// The interval of a predicted time for a software generation, dense or with experts. Without a generation,
/// that of publications of any stack.
pub fn interval(software: Option<&str>, mixture_of_experts: bool, predicted: Seconds) -> Interval {
    of_class(software.map(generation_of), mixture_of_experts, predicted)
}

/// The interval for a framework of unknown version. `None` if too few of its runs were measured. It contains
/// only errors of predictions by the right version; the effect of the version is additional.
pub fn of_framework(framework: &str, mixture_of_experts: bool, predicted: Seconds) -> Option<Interval> {
    let name = format!("{FRAMEWORK}{framework}");
    Some(of_class(Some(&name), mixture_of_experts, predicted)).filter(|found| found.calibrated)
}

fn of_class(software: Option<&str>, mixture_of_experts: bool, predicted: Seconds) -> Interval {
    let class = |name: &str| {
        residuals()
            .iter()
            .find(|r| r.software == name && r.mixture_of_experts == mixture_of_experts && r.runs >= FEWEST)
    };
    let own = software.and_then(class);
    let found = own.or_else(|| class("any"));
    let ends = found.map_or([0.6, 0.85, 1.2, 1.7], |r| [r.low, r.half_low, r.half_high, r.high]);
    let [low, half_low, half_high, high] = ends.map(|ratio| predicted * ratio);
    let runs = found.map_or(0, |r| r.runs);
    Interval { low, high, half_low, half_high, coverage: 0.9, runs, calibrated: own.is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_table_reads_and_brackets_one() {
        assert!(residuals().iter().any(|r| r.software == "any"));
        for r in residuals() {
            assert!(r.low < 1.1 && r.high > 0.9 && r.low < r.high, "{r:?}");
            assert!(r.low <= r.half_low && r.half_low <= r.half_high, "{r:?}");
            assert!(r.half_high <= r.high, "{r:?}");
        }
    }

    #[test]
    fn what_measured_steps_are_worth_is_known_for_both_kinds() {
        for experts in [false, true] {
            let found = TABLE.steps.iter().find(|s| s.mixture_of_experts == experts).expect("made by xtask");
            assert!(found.low < -0.9 && found.high > 1.0, "{found:?}");
            assert!(found.low < found.half_low && found.half_low < found.half_high, "{found:?}");
            assert!(found.half_high < found.high, "{found:?}");
            assert!(found.prior.freedom >= 0.5 && (0.005..0.3).contains(&found.prior.residual), "{found:?}");
        }
    }

    #[test]
    fn a_measured_generation_takes_its_own_range_and_no_other() {
        let is_generation = |r: &&Residuals| r.software != "any" && !r.software.starts_with(FRAMEWORK);
        for own in residuals().iter().filter(is_generation) {
            let found = interval(Some(&own.software), own.mixture_of_experts, Seconds::new(2.0));
            let is_class = own.runs >= FEWEST;
            assert_eq!(found.calibrated, is_class, "{own:?}");
            if is_class {
                let range = (Seconds::new(2.0 * own.low), Seconds::new(2.0 * own.high));
                assert_eq!((found.low, found.high, found.runs), (range.0, range.1, own.runs), "{own:?}");
            }
        }
        // Dense models and models with experts are separate classes.
        let of = |experts| interval(None, experts, Seconds::new(1.0));
        let pooled =
            |experts| residuals().iter().find(|r| r.software == "any" && r.mixture_of_experts == experts);
        for experts in [false, true] {
            assert_eq!(Some(of(experts).runs), pooled(experts).map(|r| r.runs));
            assert!(!of(experts).calibrated);
        }
    }

    #[test]
    fn an_unmeasured_generation_takes_the_pooled_range() {
        let interval = interval(Some("no-such-generation"), false, Seconds::new(2.0));
        assert!(
            !interval.calibrated && interval.low < Seconds::new(2.0) && interval.high > Seconds::new(2.0)
        );
    }
}
