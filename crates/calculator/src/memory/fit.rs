//! Fit of a predicted need on a device, its probability, and the slowdown near the limit.
//!
//! Responsible for: the conversion of a predicted peak and its error's spread to a verdict. Does not predict
//! the peak.

use railwright_spec::Portable as _;
use railwright_spec::quantity::Bytes;
use serde::{Deserialize, Serialize};

/// Minimum probability of fitting of a plan that fits, for reports, the search and the regret of validation.
/// One run in ten then needs another try.
pub const SURE_TO_FIT: f64 = 0.9;

/// Probability of fitting of a predicted need as large as the device: the prediction is the median of the
/// real need.
pub const EVEN_CHANCE: f64 = 0.5;

/// Probability of fitting up to which a plan counts as out of memory: the complement of
/// [`SURE_TO_FIT`]. Between the two, the evidence supports no verdict.
pub const SURE_NOT_TO_FIT: f64 = 1.0 - SURE_TO_FIT;

/// Predicted memory fit of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Fits with a probability of [`SURE_TO_FIT`] or more.
    Fits,
    /// May fit or run out of memory: between [`SURE_NOT_TO_FIT`] and [`SURE_TO_FIT`].
    AtRisk,
    /// Runs out of memory: fits with a probability of at most [`SURE_NOT_TO_FIT`].
    DoesNotFit,
}

impl Fit {
    /// The verdict for a probability of fitting.
    pub fn of(probability: f64) -> Self {
        Self::required(probability, SURE_TO_FIT)
    }

    /// The verdict for a probability of fitting if a threshold other than [`SURE_TO_FIT`] counts as fitting.
    pub fn required(probability: f64, required: f64) -> Self {
        if probability >= required {
            Self::Fits
        } else if probability > SURE_NOT_TO_FIT {
            Self::AtRisk
        } else {
            Self::DoesNotFit
        }
    }

    /// Verdict of a choice between plans: that of the chosen one, otherwise that of the most likely one among
    /// those rejected, which is at best at risk.
    pub fn of_choice(chosen: Option<f64>, rejected: impl IntoIterator<Item = f64>) -> Self {
        match chosen {
            Some(probability) => Self::of(probability).min(Self::AtRisk),
            None => rejected.into_iter().map(Self::of).min().unwrap_or(Self::DoesNotFit).max(Self::AtRisk),
        }
    }

    /// Tests whether the plan may fit.
    pub fn is_possible(self) -> bool {
        self != Self::DoesNotFit
    }

    /// Start of the first line of a report with figures of a plan other than its memory; empty if it fits.
    pub const fn caveat(self) -> &'static str {
        match self {
            Self::DoesNotFit => "does not fit; ",
            Self::AtRisk => "at risk; ",
            Self::Fits => "",
        }
    }

    /// Predicate for a choice without a fitting plan, as in "no layout fits".
    pub const fn none(self) -> &'static str {
        match self {
            Self::DoesNotFit => "fits",
            Self::AtRisk | Self::Fits => "fits with certainty",
        }
    }

    /// Verdict in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::DoesNotFit => "does not fit",
            Self::AtRisk => "at risk",
            Self::Fits => "fits",
        }
    }
}

/// Remark on a step time of a plan that may not fit; empty if it fits.
pub fn unless_it_fits(probability: f64, required: f64) -> String {
    match Fit::required(probability, required) {
        Fit::Fits => String::new(),
        Fit::AtRisk => format!(", which is at risk ({} likely to fit)", chance(probability)),
        Fit::DoesNotFit => ", which does not fit".to_owned(),
    }
}

/// A probability of fitting in words: whole percent, rounded down, because a plan below a limit must not have
/// the limit's figure. The tails of the error distribution are less precise than 1%.
pub fn chance(probability: f64) -> String {
    if probability > 0.99 {
        "over 99%".to_owned()
    } else if probability < 0.01 {
        "under 1%".to_owned()
    } else {
        // 0.29 * 100 is just below 29.
        format!("{:.0}%", (probability * 100.0 + 1e-9).floor())
    }
}

/// Probability that the peak stays within the device: measured / predicted is log-normal with standard
/// deviation `sigma` and median 1, so P = Phi(ln(available / need) / sigma).
pub fn probability_of_fitting(need: Bytes, available: Bytes, sigma: f64) -> f64 {
    if need.get() <= 0.0 {
        return 1.0;
    }
    if available.get() <= 0.0 {
        return 0.0;
    }
    normal((available / need).portable_ln() / sigma.max(1e-6))
}

/// Maximum need for a probability of fitting: the inverse of [`probability_of_fitting`], by bisection.
pub fn largest_fitting_need(probability: f64, available: Bytes, sigma: f64) -> Bytes {
    let (mut fits, mut fails) = (0.0, available.get().max(1.0) * 1e3);
    for _ in 0..200 {
        let middle = f64::midpoint(fits, fails);
        if probability_of_fitting(Bytes::new(middle), available, sigma) >= probability {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    Bytes::new(fits)
}

/// The standard normal distribution function, to 1e-7 (Abramowitz and Stegun 26.2.17).
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let tail = (-x * x / 2.0).portable_exp() / (2.0 * std::f64::consts::PI).sqrt()
        * t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    if x >= 0.0 { 1.0 - tail } else { tail }
}

/// Slowdown of steps near the limit: the allocator frees its cache and retries. Measured steps slow down from
/// about 92% of the device's memory, to three times as long and more at the limit.
pub fn retry_slowdown(used_share: f64) -> f64 {
    const STARTS: f64 = 0.92;
    const AT_LIMIT: f64 = 3.0;
    1.0 + (AT_LIMIT - 1.0) * ((used_share - STARTS) / (1.0 - STARTS)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probability_is_a_normal_of_the_log_ratio() {
        let of = |need| probability_of_fitting(Bytes::from_gib(need), Bytes::from_gib(80.0), 0.1);
        assert!((of(80.0) - 0.5).abs() < 1e-6);
        assert!((of(80.0 / 0.164_485_f64.exp()) - 0.95).abs() < 1e-5);
        assert!(of(60.0) > 0.99 && of(100.0) < 0.02);
    }

    #[test]
    fn what_just_fits_fits_with_that_probability() {
        // 90% of a normal distribution is below 1.2816 standard deviations.
        let most = largest_fitting_need(0.9, Bytes::from_gib(80.0), 0.05);
        assert!((most.gib() - 80.0 / (1.281_551_6_f64 * 0.05).exp()).abs() < 1e-5, "{most:?}");
        assert!(probability_of_fitting(most, Bytes::from_gib(80.0), 0.05) >= 0.9);
    }

    #[test]
    fn three_states_follow_the_probability() {
        let of = |need| Fit::of(probability_of_fitting(Bytes::from_gib(need), Bytes::from_gib(80.0), 0.05));
        // ln(80 / 75) is 1.29 standard deviations, ln(80 / 79) and ln(80 / 81) are a quarter of one, ln(80 /
        // 86) is 1.45.
        assert_eq!(of(75.0), Fit::Fits);
        assert_eq!(of(79.0), Fit::AtRisk);
        assert_eq!(of(81.0), Fit::AtRisk);
        assert_eq!(of(86.0), Fit::DoesNotFit);
        assert_eq!((Fit::of(SURE_TO_FIT), Fit::of(EVEN_CHANCE)), (Fit::Fits, Fit::AtRisk));
        assert!(Fit::AtRisk.is_possible() && !Fit::DoesNotFit.is_possible());
    }

    #[test]
    fn a_choice_has_the_verdict_of_the_chosen_or_of_the_closest_plan() {
        assert_eq!(
            (Fit::of_choice(Some(0.95), [0.99]), Fit::of_choice(Some(0.05), [])),
            (Fit::Fits, Fit::AtRisk)
        );
        // Rejected although it usually counts as fitting: more was required.
        assert_eq!(
            (Fit::of_choice(None, [0.05, 0.95]), Fit::of_choice(None, [0.05, 0.5])),
            (Fit::AtRisk, Fit::AtRisk)
        );
        assert_eq!(
            (Fit::of_choice(None, [0.05]), Fit::of_choice(None, [])),
            (Fit::DoesNotFit, Fit::DoesNotFit)
        );
    }

    #[test]
    fn a_chance_has_one_notation_and_never_the_figure_of_a_limit_that_it_misses() {
        let known =
            [(0.502, "50%"), (0.29, "29%"), (0.989_83, "98%"), (0.997_9, "over 99%"), (1.0, "over 99%")];
        for (probability, words) in known {
            assert_eq!(chance(probability), words);
        }
        assert_eq!((chance(SURE_TO_FIT).as_str(), chance(SURE_TO_FIT - 1e-6).as_str()), ("90%", "89%"));
        assert_eq!((chance(0.0).as_str(), chance(0.01).as_str()), ("under 1%", "1%"));
        assert_eq!((Fit::required(0.95, 0.99), Fit::required(0.2, 0.1)), (Fit::AtRisk, Fit::Fits));
    }

    #[test]
    fn the_wall_is_soft() {
        assert_eq!(retry_slowdown(0.9), 1.0);
        assert!(retry_slowdown(0.96) > 1.5);
        assert_eq!(retry_slowdown(1.2), 3.0);
    }
}
