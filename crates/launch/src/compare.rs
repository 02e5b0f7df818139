//! Comparison of a prediction with a log.
//!
//! Responsible for: differences with one sign (above zero: predicted more than measured), and whether a
//! measurement is inside the interval. Does not predict.

use crate::Measured;
use serde::Serialize;

/// Predicted values of the figures that logs contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Seconds of a step.
    pub step_time: f64,
    /// Bounds of the expected measurement, in seconds.
    pub interval: (f64, f64),
    /// Tokens of a step.
    pub tokens_per_step: f64,
    /// Model TFLOP/s of a device, attention in full.
    pub tflops_per_device: Option<f64>,
    /// Bytes that tensors occupy on the rank that needs most.
    pub allocated: f64,
    /// Bytes reserved by the allocator on that rank.
    pub reserved: f64,
    /// Devices.
    pub devices: f64,
}

/// One figure, measured and predicted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Name of the figure: `step_time`, `tokens_per_second_per_device`, `tflops_per_device`, `allocated` or
    /// `reserved`.
    pub figure: &'static str,
    /// Measured, in seconds, tokens per second, TFLOP/s or bytes.
    pub measured: f64,
    /// Predicted.
    pub predicted: f64,
    /// Predicted over measured, minus 1.
    pub difference: f64,
    /// True if the measurement is inside the interval. `None` for figures without one.
    pub inside: Option<bool>,
}

impl Measured {
    /// Each measured value with its prediction.
    pub fn compare(&self, predicted: &Predicted) -> Vec<Comparison> {
        let (low, high) = predicted.interval;
        let inside = Some((low..=high).contains(&self.step_time));
        let rate = |tokens: f64, seconds: f64| tokens / seconds / predicted.devices;
        let rows = [
            ("step_time", Some(self.step_time), Some(predicted.step_time), inside),
            (
                "tokens_per_second_per_device",
                self.tokens_per_step.map(|tokens| rate(tokens, self.step_time)),
                Some(rate(predicted.tokens_per_step, predicted.step_time)),
                inside,
            ),
            ("tflops_per_device", self.tflops_per_device, predicted.tflops_per_device, None),
            ("allocated", self.allocated, Some(predicted.allocated), None),
            ("reserved", self.reserved, Some(predicted.reserved), None),
        ];
        rows.into_iter()
            .filter_map(|(figure, measured, predicted, inside)| {
                let (measured, predicted) = (measured.filter(|m| *m > 0.0)?, predicted?);
                let difference = predicted / measured - 1.0;
                Some(Comparison { figure, measured, predicted, difference, inside })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_of_the_prediction() {
        let measured = Measured {
            step_time: 2.0,
            tokens_per_step: Some(800.0),
            allocated: Some(4e9),
            ..Measured::default()
        };
        let predicted = Predicted {
            step_time: 1.8,
            interval: (1.5, 2.1),
            tokens_per_step: 800.0,
            tflops_per_device: Some(300.0),
            allocated: 5e9,
            reserved: 6e9,
            devices: 8.0,
        };
        let rows = measured.compare(&predicted);
        let shares: Vec<(&str, f64, Option<bool>)> =
            rows.iter().map(|row| (row.figure, (row.difference * 1000.0).round(), row.inside)).collect();
        assert_eq!(
            shares,
            [
                ("step_time", -100.0, Some(true)),
                ("tokens_per_second_per_device", 111.0, Some(true)),
                ("allocated", 250.0, None)
            ]
        );
        assert_eq!((rows[1].measured, rows[1].predicted.round()), (50.0, 56.0));
    }
}
