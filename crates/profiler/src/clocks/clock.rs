//! Clock of a rank, relative to the reference.

use serde::Serialize;

/// One rank's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankClock {
    /// The rank.
    pub rank: u32,
    /// Lead over the clock of rank `against` at time [`Self::about`], in nanoseconds; negative if this clock
    /// is behind.
    #[serde(rename = "offset_ns")]
    pub offset: i64,
    /// Drift, in parts per million; 0 if undetermined.
    pub drift_ppm: f64,
    /// Its uncertainty in parts per million.
    pub drift_error_ppm: f64,
    /// Time between its first and last collective, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: i64,
    /// Reference time of the offset by its own clock, in nanoseconds.
    #[serde(rename = "about_ns")]
    pub about: i64,
    /// Median distance of its ends from the common ends, in nanoseconds.
    #[serde(rename = "residual_ns")]
    pub residual: i64,
    /// Number of collectives used.
    pub collectives: u32,
    /// Lower bound on the offset by causality, in nanoseconds; `None` without a bound.
    #[serde(rename = "least_ns")]
    pub least: Option<i64>,
    /// Upper bound on the offset by causality, in nanoseconds; `None` without a bound.
    #[serde(rename = "greatest_ns")]
    pub greatest: Option<i64>,
    /// The rank whose clock defines the common time. Ranks with different values have no common time.
    pub against: u32,
}

impl RankClock {
    /// Converts a time of this rank's clock to the common time.
    pub fn common(&self, time: i64) -> i64 {
        let drift = self.drift_ppm * 1e-6 * time.wrapping_sub(self.about) as f64;
        time.saturating_sub(self.offset).saturating_sub(drift.round() as i64)
    }

    /// Tests whether the offset violates causality by more than the rounding of times (5 us).
    pub(super) fn is_acausal(&self) -> bool {
        self.least.is_some_and(|least| self.offset < least - 5_000)
            || self.greatest.is_some_and(|greatest| self.offset > greatest + 5_000)
    }
}
