//! Leave-one-shape-out validation of fits.
//!
//! Responsible for: the error of the fit and of the default on held-out measurements, and the choice between
//! both. A single measurement cannot be validated.
//!
//! The rule: a constant is fitted to all shapes but one, and predicts that one. Over all shapes, the
//! time-weighted sum of its errors must be less than that of the default, or the default is kept. For a
//! single shape, each half of its measurements predicts the other. With fewer shapes than kinds of kernels, a
//! fit would transfer the time of a first or disturbed call to other shapes.

use railwright_spec::human;

/// Errors on held-out measurements, as shares of their time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LeftOut {
    /// Number of shapes held out in turn. For a single shape, halves of its measurements are held out.
    pub(super) shapes: usize,
    /// Error of the shipped model.
    pub(super) shipped: f64,
    /// Error of the constant, fitted to the remaining measurements.
    pub(super) fitted: f64,
}

/// One measured shape: its total time, the default prediction, and the prediction of a fit to the others; all
/// in one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) measured: f64,
    pub(super) shipped: f64,
    pub(super) fitted: f64,
}

impl LeftOut {
    /// error = sum |predicted - measured| / sum measured, over all held-out shapes.
    pub(super) fn of(shapes: usize, trials: &[Trial]) -> Option<Self> {
        let measured: f64 = trials.iter().map(|t| t.measured).sum();
        let off = |predicted: fn(&Trial) -> f64| {
            trials.iter().map(|t| (predicted(t) - t.measured).abs()).sum::<f64>()
        };
        (measured > 0.0).then(|| Self {
            shapes,
            shipped: off(|t| t.shipped) / measured,
            fitted: off(|t| t.fitted) / measured,
        })
    }

    /// Tests whether the fitted constant is better than the shipped one.
    pub(super) fn is_better(&self) -> bool {
        self.fitted < self.shipped
    }

    /// Reason for keeping the shipped model.
    pub(super) fn text(&self, name: &str) -> String {
        let how = match self.shapes {
            1 => "half of the measurements of its only shape".to_owned(),
            shapes => format!("leave-one-out over {shapes} shapes"),
        };
        format!(
            "{name}: the default is kept. Error in validation by {how}: {} with the fit, {} with the default",
            human::percent(self.fitted),
            human::percent(self.shipped)
        )
    }
}

/// Reason for keeping the shipped model with a single measurement.
pub(super) fn alone(name: &str) -> String {
    format!("{name}: the default is kept, because a fit to one measurement cannot be cross-validated")
}
