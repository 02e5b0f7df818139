//! A software generation with the constants that a calibration measured.

use super::{PARTS, Software, by_id};
use crate::calibration::{Calibration, Operators};

/// Constants measured by a calibration, with the factors of step times for some runs; `None` if there are
/// neither. Bytes of element-wise kernels are scaled by their rates, so that their time is the measured one.
pub fn calibrated(calibration: &Calibration, factors: Option<[f64; PARTS]>) -> Option<Software> {
    let sustained =
        |operators| calibration.is_sustained(operators).then(|| calibration.rate(operators)).flatten();
    let streams = [Operators::Elementwise, Operators::Loss, Operators::Optimizer]
        .map(|o| sustained(o).map(|r| r.at(0.0)));
    let is_measured = streams.iter().any(Option::is_some) || calibration.host.is_some();
    if !is_measured && calibration.collective_rate.is_none() && factors.is_none() {
        return None;
    }
    let mut own = by_id(&calibration.software).ok()?.clone();
    let [elementwise, loss, optimizer] = streams.map(|rate| rate.unwrap_or(1.0));
    own.elementwise_passes /= elementwise;
    own.cast_passes /= elementwise;
    own.weight_cast_bytes /= elementwise;
    own.adapter_cast_bytes /= elementwise;
    let composed = [
        &mut own.norm_bytes,
        &mut own.uncast_norm_bytes,
        &mut own.rotary_bytes,
        &mut own.composed_gelu_bytes,
        &mut own.clamp_bytes,
        &mut own.expert_bias_bytes,
    ];
    for bytes in composed.into_iter().flatten() {
        *bytes = bytes.map(|each| each / elementwise);
    }
    own.loss_bytes_per_logit /= loss;
    own.optimizer_bytes_per_parameter /= optimizer;
    if let Some(rate) = &calibration.collective_rate {
        own.collective_rate = rate.rate;
    }
    if let Some(host) = &calibration.host {
        // Dispatch runs on the same host, so it scales with the launches.
        own.placement_us_per_kernel *= host.us_per_kernel / own.host_us_per_kernel.max(f64::MIN_POSITIVE);
        own.host_us_per_kernel = host.us_per_kernel;
        own.host_us_per_micro_batch = host.us_per_micro_batch;
        own.host_ms_per_step = host.ms_per_step;
    }
    if let Some(factors) = factors {
        own = own.with_parts(factors);
    }
    own.source = format!("calibrated from {}; {}", calibration.file, own.source);
    Some(own)
}
