//! Measurements compared with predictions, without and with a calibration.

use railwright_spec::calibration::Regime;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// One figure, or one kind of operators, compared with measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Identifier: `products.bf16`, `all_reduce x8`, ...
    pub name: String,
    /// Measurement regime: isolated or within a run.
    pub regime: Regime,
    /// Number of different shapes or sizes.
    pub shapes: u64,
    /// Number of measurements.
    pub samples: u64,
    /// The smallest work: FLOP for GEMMs and attention, otherwise bytes.
    pub from: f64,
    /// The largest work, in the same unit.
    pub to: f64,
    /// Scatter of repeated measurements: (p90 - p10) / median.
    pub spread: f64,
    /// Sum of all measured times.
    pub measured: Seconds,
    /// The prediction without the calibration.
    pub before: Seconds,
    /// The prediction with the calibration.
    pub after: Seconds,
    /// Mean absolute error without the calibration, weighted by time, as a share.
    pub error_before: f64,
    /// Mean absolute error with the calibration, weighted by time, as a share.
    pub error_after: f64,
    /// Leave-one-shape-out error of the fit, as a share. A constant is used if this is below
    /// [`Self::error_before`]. `None` without a fit or without held-out measurements.
    pub error_left_out: Option<f64>,
    /// True if the measured times are upper bounds, because untraced ranks may have caused waits. Only the
    /// excess of a prediction over them then counts as an error.
    pub is_bound: bool,
}

/// A whole step, or a part of it, compared with the measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepLine {
    /// Identifier: `step`, `products`, `host`, ...
    pub name: String,
    /// Title for display.
    pub title: String,
    /// Measured time, mean over ranks and steps.
    pub measured: Seconds,
    /// The prediction without the calibration.
    pub before: Seconds,
    /// The prediction with the calibration.
    pub after: Seconds,
}

/// One measurement and its prediction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) work: f64,
    pub(super) count: f64,
    pub(super) measured: f64,
    pub(super) spread: f64,
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) is_bound: bool,
}

impl Observation {
    /// Absolute prediction error in seconds. A prediction below an upper bound has no error.
    pub(super) fn off(&self, predicted: f64) -> f64 {
        let off = predicted - self.measured;
        if self.is_bound { off.max(0.0) } else { off.abs() }
    }
}

/// Sums observations of one kind.
pub(super) fn line(name: String, regime: Regime, observations: &[Observation]) -> Option<Line> {
    let sum = |of: &dyn Fn(&Observation) -> f64| observations.iter().map(|o| o.count * of(o)).sum::<f64>();
    let measured = sum(&|o| o.measured);
    if measured <= 0.0 {
        return None;
    }
    let mut spreads: Vec<f64> = observations.iter().filter(|o| o.count > 2.0).map(|o| o.spread).collect();
    spreads.sort_by(f64::total_cmp);
    Some(Line {
        name,
        regime,
        shapes: observations.len() as u64,
        samples: observations.iter().map(|o| o.count).sum::<f64>() as u64,
        from: observations.iter().map(|o| o.work).fold(f64::INFINITY, f64::min),
        to: observations.iter().map(|o| o.work).fold(0.0, f64::max),
        spread: spreads.get(spreads.len() / 2).copied().unwrap_or(0.0),
        measured: Seconds::new(measured),
        before: Seconds::new(sum(&|o| o.before)),
        after: Seconds::new(sum(&|o| o.after)),
        error_before: sum(&|o| o.off(o.before)) / measured,
        error_after: sum(&|o| o.off(o.after)) / measured,
        error_left_out: None,
        is_bound: observations.iter().all(|o| o.is_bound),
    })
}
