//! Model and hardware FLOPs utilization, in every convention that papers and frameworks use.
//!
//! MFU divides the arithmetic that a step needs by the peak arithmetic of the devices in its time. HFU
//! divides the executed arithmetic, recompute included. Reports show [`Convention::REPORTED`] for both; the
//! other convention is in JSON and in the derivations. The peak is that of the compute format or of bf16.

use crate::costing::Costing;
use crate::evaluate::Evaluation;
use crate::model_flop::{Convention, of_plan};
use railwright_spec::cluster::Cluster;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Flop, FlopPerSecond};
use serde::Serialize;

/// Utilization of the compute units.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Efficiency {
    /// Arithmetic of the model, by convention.
    pub model_flop: Vec<ModelFlop>,
    /// Arithmetic that all devices execute in a step, including recompute and excluding masked attention.
    /// Never less than in the causal convention.
    pub hardware_flop: Flop,
    /// Executed arithmetic per second and accelerator.
    pub hardware_flop_rate: FlopPerSecond,
    /// HFU by peak.
    pub hardware: Vec<Utilization>,
}

/// The arithmetic of one step in one convention.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelFlop {
    /// Convention for attention.
    pub convention: Convention,
    /// Forward and backward arithmetic of one token.
    pub per_token: Flop,
    /// Arithmetic of one step.
    pub per_step: Flop,
    /// Achieved arithmetic per second and accelerator.
    pub rate: FlopPerSecond,
    /// MFU by peak: that of the compute format first, and of bf16 if the compute format is narrower.
    pub utilisation: Vec<Utilization>,
}

/// A share of a peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Utilization {
    /// Number format of the peak.
    pub peak_format: DataType,
    /// Dense peak of that format per accelerator.
    pub peak: FlopPerSecond,
    /// Utilization (0 to 1).
    pub share: f64,
}

/// Minimum excess of executed over model arithmetic that counts as recompute, as a share. Less is rounding
/// and the loss.
const RECOMPUTED: f64 = 0.01;

impl Efficiency {
    /// MFU against the compute format's peak.
    pub fn mfu(&self, convention: Convention) -> Option<f64> {
        self.model_flop.iter().find(|m| m.convention == convention)?.utilisation.first().map(|u| u.share)
    }

    /// HFU against the compute format's peak. `None` unless recompute makes it differ from the MFU in the
    /// reported convention.
    pub fn hfu(&self) -> Option<f64> {
        let (hardware, model) = (self.hardware.first()?.share, self.mfu(Convention::REPORTED)?);
        (hardware > model * (1.0 + RECOMPUTED)).then_some(hardware)
    }
}

/// Peak per accelerator: the mean over all devices of the job, `sum(devices_i x peak_i) / sum(devices_i)`.
fn peak_rate(cluster: &Cluster, format: DataType) -> Option<FlopPerSecond> {
    let peak = |kind: &Cluster| kind.accelerator.peak_rate(format).map(FlopPerSecond::get);
    cluster.mean_over_devices(peak).map(FlopPerSecond::new)
}

pub(super) fn efficiency(costing: &Costing<'_>, evaluation: &Evaluation) -> Efficiency {
    let plan = costing.plan;
    let compute = plan.precision.compute;
    let mut formats = vec![compute];
    if compute.is_narrow() {
        formats.push(DataType::Bf16);
    }
    let peaks: Vec<(DataType, FlopPerSecond)> =
        formats.into_iter().filter_map(|f| peak_rate(costing.cluster, f).map(|peak| (f, peak))).collect();
    let shares = |rate: FlopPerSecond| -> Vec<Utilization> {
        let share = |&(peak_format, peak): &(DataType, FlopPerSecond)| Utilization {
            peak_format,
            peak,
            share: rate / peak,
        };
        peaks.iter().map(share).collect()
    };
    let devices = plan.world_size() as f64;
    let step = evaluation.time.total;
    let model_flop = [Convention::FullAttention, Convention::CausalAttention]
        .into_iter()
        .map(|convention| {
            let one = of_plan(costing.model, plan, convention);
            let all = one * plan.tokens_per_step() as f64;
            let rate = all / step / devices;
            ModelFlop { convention, per_token: one, per_step: all, rate, utilisation: shares(rate) }
        })
        .collect();
    let hardware_flop_rate = evaluation.hardware_flop / step / devices;
    Efficiency {
        model_flop,
        hardware_flop: evaluation.hardware_flop,
        hardware_flop_rate,
        hardware: shares(hardware_flop_rate),
    }
}
