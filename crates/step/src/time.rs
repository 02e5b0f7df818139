//! Time of a step's clock, in whole picoseconds.
//!
//! Responsible for: exact sums, so that the parts of a step add up to it exactly. Rounding a modelled time to
//! a picosecond loses nothing relevant, and 63 bits of them are 106 days. Excludes dates.

use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// A moment or a duration of the step's clock, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// Start of the clock, or no duration.
    pub const ZERO: Self = Self(0);

    /// Nearest picosecond. NaN becomes zero, and values out of range the largest value.
    pub fn from_seconds(seconds: Seconds) -> Self {
        Self((seconds.get() * 1e12).round() as i64)
    }

    /// From whole nanoseconds, the unit of traces.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos.saturating_mul(1000))
    }

    /// In seconds.
    pub fn seconds(self) -> Seconds {
        Seconds::new(self.0 as f64 * 1e-12)
    }

    /// Share of `whole`; 0 if that is zero.
    pub fn share_of(self, whole: Self) -> f64 {
        if whole.0 == 0 { 0.0 } else { self.0 as f64 / whole.0 as f64 }
    }
}

impl std::ops::Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::ops::AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::ops::Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl std::iter::Sum for Time {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |sum, time| sum + time)
    }
}
