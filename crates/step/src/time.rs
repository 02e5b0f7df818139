//! Time on a step's clock, in whole picoseconds.
//!
//! Responsible for: exact sums, so that the parts of a step add up to the step to the last digit. A picosecond is fine enough
//! that rounding a modelled time loses nothing, and 63 bits of them are 106 days. Refuses dates.

use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// A moment on the step's clock, or a stretch of it, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// The start of the clock, or no time.
    pub const ZERO: Self = Self(0);

    /// The nearest picosecond; NaN is zero and what is too large is the largest.
    pub fn from_seconds(seconds: Seconds) -> Self {
        Self((seconds.get() * 1e12).round() as i64)
    }

    /// From whole nanoseconds, as traces count.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos.saturating_mul(1000))
    }

    /// In seconds.
    pub fn seconds(self) -> Seconds {
        Seconds::new(self.0 as f64 * 1e-12)
    }

    /// This share of `whole`, 0 of nothing.
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
