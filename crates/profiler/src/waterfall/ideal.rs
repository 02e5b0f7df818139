//! Time of the model's compute at the accelerator's peak.
//!
//! Responsible for: the ideal time of a step on one rank, and separating it from the time of GEMMs and
//! attention. Does not count a model's operations: the caller does.

use super::{Label, Parts, RankWaterfall};
use railwright_spec::cluster::accelerator_by_name;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Flop, FlopPerSecond};
use serde::Serialize;

/// An accelerator's peak.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peak {
    /// Name in the catalogue.
    pub accelerator: String,
    /// Number format.
    pub data_type: DataType,
    /// Dense peak rate.
    pub rate: FlopPerSecond,
}

impl Peak {
    /// Peak of a device, by the driver's name.
    pub fn of(device: &str, data_type: DataType) -> Option<Self> {
        let accelerator = accelerator_by_name(device).ok()?;
        let rate = accelerator.peak_rate(data_type)?;
        Some(Self { accelerator: accelerator.name, data_type, rate })
    }
}

/// Model compute at peak rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ideal {
    /// The model's operations per step, over all ranks.
    pub flop_per_step: Flop,
    /// Number of ranks that share them.
    pub ranks: u32,
    /// Peak rate of one rank, in FLOP/s.
    pub peak: FlopPerSecond,
}

/// Labels with the model's operations, attention first.
const COMPUTE: [Label; 4] = [Label::Attention, Label::MatrixProduct, Label::OtherCompute, Label::MemoryBound];

impl Ideal {
    /// Time that can contain the ideal, including what was separated from it.
    pub(crate) fn recorded(parts: &Parts) -> i64 {
        parts.sum(|label| label == Label::Ideal || COMPUTE.contains(&label))
    }

    /// `T_ideal = F / (N P)` in nanoseconds, for a step on one rank, with `F` operations, `N` ranks and `P`
    /// operations per second.
    pub fn nanoseconds(&self) -> i64 {
        let rate = self.peak.get() * f64::from(self.ranks.max(1));
        if rate > 0.0 { (self.flop_per_step.get() / rate * 1e9).round() as i64 } else { 0 }
    }

    /// Separates the ideal from every step of a rank: from GEMMs and attention in proportion to their time,
    /// then from other compute. A step with less compute than that is unchanged: the operations are not its
    /// own.
    pub(super) fn take_out(&self, rank: &mut RankWaterfall) {
        let wanted = self.nanoseconds();
        rank.total = Parts::default();
        for step in &mut rank.steps {
            if wanted > Self::recorded(step) {
                rank.total.merge(step);
                continue;
            }
            let (products, attention) = (step.get(Label::MatrixProduct), step.get(Label::Attention));
            let both = products + attention;
            let from_attention = match wanted.min(both) {
                _ if both == 0 => 0,
                taken => (i128::from(taken) * i128::from(attention) / i128::from(both)) as i64,
            };
            let mut left = wanted;
            left -= step.shift(Label::Attention, Label::Ideal, from_attention);
            for label in COMPUTE.into_iter().skip(1) {
                left -= step.shift(label, Label::Ideal, left);
            }
            rank.total.merge(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_at_peak() {
        // 8 ranks of 989.4 TFLOP/s for 1e15 operations: 1e15 / (8 x 989.4e12) s.
        let peak = Peak::of("NVIDIA H100 80GB HBM3", DataType::Bf16).unwrap();
        let ideal = Ideal { flop_per_step: Flop::new(1e15), ranks: 8, peak: peak.rate };
        let expected = 1e15 / (8.0 * peak.rate.get()) * 1e9;
        assert!((ideal.nanoseconds() as f64 - expected).abs() <= 0.5 && expected > 1.2e8);
        assert!(Peak::of("Something 9000", DataType::Bf16).is_none());
    }

    #[test]
    fn the_ideal_comes_out_of_the_products_and_nothing_is_lost() {
        let mut step = Parts::default();
        step.add(Label::MatrixProduct, 300);
        step.add(Label::Attention, 100);
        step.add(Label::Host, 50);
        let rank = RankWaterfall { steps: vec![step], ..RankWaterfall::default() };
        let take = |nanoseconds: f64| {
            let ideal =
                Ideal { flop_per_step: Flop::new(nanoseconds), ranks: 1, peak: FlopPerSecond::new(1e9) };
            let mut rank = rank.clone();
            ideal.take_out(&mut rank);
            let get = |label| rank.total.get(label);
            (get(Label::Ideal), get(Label::MatrixProduct), get(Label::Attention), rank.total.total())
        };
        assert_eq!(take(200.0), (200, 150, 50, 450));
        assert_eq!(take(400.0), (400, 0, 0, 450));
        assert_eq!(take(5000.0), (0, 300, 100, 450));
    }
}
