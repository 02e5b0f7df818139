//! Time, work and evidence of one operator.

use railwright_spec::quantity::{Bytes, Flop, Seconds};

/// Evidence for a cost, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A model corrected by measurements of the user's own machine.
    Calibrated,
    /// A model of this accelerator with a correction from measurements near this shape.
    Measured,
    /// A model fitted to measurements on this accelerator.
    Fitted,
    /// A model fitted on another accelerator of the same architecture, scaled by data sheets.
    Derived,
    /// Data sheet and a typical share of it.
    Roofline,
}

/// Cost of one operator.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Time of the kernels on the accelerator.
    pub time: Seconds,
    /// Executed arithmetic, excluding masked parts.
    pub flop: Flop,
    /// Minimum traffic of device memory.
    pub bytes: Bytes,
    /// Evidence for the time.
    pub source: Source,
}

impl Cost {
    /// Cost of no work.
    pub const ZERO: Self =
        Self { time: Seconds::ZERO, flop: Flop::ZERO, bytes: Bytes::ZERO, source: Source::Calibrated };

    /// Cost of the same operator `count` times in sequence.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { time: self.time * count, flop: self.flop * count, bytes: self.bytes * count, ..self }
    }
}

impl std::ops::Add for Cost {
    type Output = Self;
    /// Sum of sequential operators, with the weaker evidence of the two.
    fn add(self, other: Self) -> Self {
        Self {
            time: self.time + other.time,
            flop: self.flop + other.flop,
            bytes: self.bytes + other.bytes,
            source: self.source.max(other.source),
        }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |sum, cost| sum + cost)
    }
}

/// GEMM of a linear layer, or half of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// Y = X W.
    Forward,
    /// dX = dY W'. For attention: the whole backward pass.
    DataGradient,
    /// dW = X' dY. For attention: nothing, as its backward pass is counted once.
    WeightGradient,
}
