//! Whether a fit tells what it was not fitted to: each shape left out in turn.
//!
//! Responsible for: the error of the fitted figure and of the shipped law on measurements that the fit has not seen, and the choice between both.
//! Refuses to judge what cannot be held out: one measurement alone.
//!
//! The rule: a figure is fitted to all shapes but one, and predicts that one; over all shapes its errors, weighted by time, must sum up to less
//! than the shipped law's, or the shipped law stays. Of one shape the first half of its measurements predicts the second, and the other
//! way round. With fewer shapes than kinds of kernels a fit follows what a first call or a disturbed one took, and carries it to shapes that had
//! nothing of it.

use railwright_spec::human;

/// Errors on measurements that were left out, as shares of their time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LeftOut {
    /// How many shapes were left out in turn; of one shape its measurements were.
    pub(super) shapes: usize,
    /// Of the shipped law.
    pub(super) shipped: f64,
    /// Of the figure, fitted to the rest.
    pub(super) fitted: f64,
}

/// One measured shape: its whole time, what the shipped law says of that, and what a fit to the others says; all in one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) measured: f64,
    pub(super) shipped: f64,
    pub(super) fitted: f64,
}

impl LeftOut {
    /// error = sum |said - measured| / sum measured, over all shapes that were left out.
    pub(super) fn of(shapes: usize, trials: &[Trial]) -> Option<Self> {
        let measured: f64 = trials.iter().map(|t| t.measured).sum();
        let off = |said: fn(&Trial) -> f64| trials.iter().map(|t| (said(t) - t.measured).abs()).sum::<f64>();
        (measured > 0.0).then(|| Self {
            shapes,
            shipped: off(|t| t.shipped) / measured,
            fitted: off(|t| t.fitted) / measured,
        })
    }

    /// Whether the figure is taken.
    pub(super) fn is_better(&self) -> bool {
        self.fitted < self.shipped
    }

    /// Why the shipped law stays.
    pub(super) fn told(&self, name: &str) -> String {
        let how = match self.shapes {
            1 => "half of the measurements of its only shape".to_owned(),
            shapes => format!("leave-one-out over {shapes} shapes"),
        };
        format!(
            "{name}: the default is kept. Validated by {how}: error of the fit {}, of the default {}",
            human::percent(self.fitted),
            human::percent(self.shipped)
        )
    }
}

/// Why the shipped law stays where one measurement is all there is.
pub(super) fn alone(name: &str) -> String {
    format!("{name}: the default is kept: a fit to one measurement cannot be cross-validated")
}
