//! Calibrated operator models: rates relative to the default models, by work.
//!
//! Responsible for: available rates in the order of requested formats. Excludes batched GEMMs between
//! activations: libraries select other kernels for them, with too few measurements.

use super::cost::{Cost, Pass, Source};
use railwright_spec::calibration::{Calibration, Operators, Rate, Regime, rate_at};
use railwright_spec::precision::DataType;

/// The points of a rate, and true if they were measured within a run.
#[derive(Clone, Debug)]
struct Curve {
    points: Box<[(f64, f64)]>,
    is_sustained: bool,
}

impl Curve {
    fn of(rate: &Rate) -> Self {
        Self {
            points: rate.points.clone().into_boxed_slice(),
            is_sustained: rate.regime == Regime::Sustained,
        }
    }

    /// t = law / rate(work)
    fn apply(&self, cost: Cost, work: f64) -> Cost {
        Cost { time: cost.time / rate_at(&self.points, work), source: Source::Calibrated, ..cost }
    }
}

/// All rates of a calibration that correct models.
#[derive(Clone, Debug)]
pub(super) struct Corrections {
    products: [Option<Curve>; DataType::ALL.len()],
    forward: Option<Curve>,
    backward: Option<Curve>,
    streams: Option<Curve>,
}

impl Corrections {
    pub(super) fn new(calibration: &Calibration) -> Self {
        let of = |operators| calibration.rate(operators).map(Curve::of);
        Self {
            products: DataType::ALL.map(|data_type| calibration.products(data_type).map(Curve::of)),
            forward: of(Operators::AttentionForward),
            backward: of(Operators::AttentionBackward),
            // The generation's passes already include the sustained rate of element-wise kernels, because
            // they represent their number, too.
            streams: of(Operators::Elementwise).filter(|curve| !curve.is_sustained),
        }
    }

    pub(super) fn includes_sustained_gemm_rate(&self, data_type: DataType) -> bool {
        self.products[data_type as usize].as_ref().is_some_and(|curve| curve.is_sustained)
    }

    pub(super) fn sustains_attention(&self, pass: Pass) -> bool {
        self.of_pass(pass).is_some_and(|curve| curve.is_sustained)
    }

    fn of_pass(&self, pass: Pass) -> Option<&Curve> {
        // Measurements of one direction also apply to the other.
        match pass {
            Pass::Forward => self.forward.as_ref().or(self.backward.as_ref()),
            _ => self.backward.as_ref().or(self.forward.as_ref()),
        }
    }

    pub(super) fn product(&self, cost: Cost, data_type: DataType) -> Cost {
        match &self.products[data_type as usize] {
            Some(curve) => curve.apply(cost, cost.flop.get()),
            None => cost,
        }
    }

    pub(super) fn attention(&self, cost: Cost, pass: Pass) -> Cost {
        match self.of_pass(pass) {
            Some(curve) => curve.apply(cost, cost.flop.get()),
            None => cost,
        }
    }

    pub(super) fn stream(&self, cost: Cost) -> Cost {
        match &self.streams {
            Some(curve) if cost.bytes.get() > 0.0 => curve.apply(cost, cost.bytes.get()),
            _ => cost,
        }
    }
}
