//! Pace of a device and its host: the host's time of a piece of work, and the time of both together.
//!
//! Responsible for: host time from launches, stalls and modules, and the soft maximum with the device's.
//! Independent of stages and layers.

use crate::costing::Costing;
use crate::layer::spread;
use crate::work::Work;
use railwright_spec::Portable as _;
use railwright_spec::quantity::Seconds;

/// Exponent of the soft corner between device and host.
pub(crate) const CORNER: f64 = 5.0;

/// Device and host run concurrently; the slower one determines the time, with a smooth transition because
/// both vary: `(device^p + host^p)^(1/p)`, p = 5.
pub(crate) fn pace(device: Seconds, host: Seconds) -> Seconds {
    if host <= Seconds::ZERO || device <= Seconds::ZERO {
        return device.max(host);
    }
    let (large, small) = (device.max(host), device.min(host));
    large * (1.0 + (small / large).portable_powf(CORNER)).portable_powf(1.0 / CORNER)
}

/// Host time of a pass without the fixed part of each micro-batch: linear in the work.
pub(crate) fn host_time(costing: &Costing<'_>) -> impl Fn(&Work) -> Seconds {
    let software = costing.software;
    let is_pipelined = costing.plan.pipeline_parallel > 1 && !costing.layout.pipeline.is_inside_domain();
    let per_rank = if is_pipelined { software.pipelined_collective_stall_us } else { 0.0 };
    let stall = per_rank * costing.plan.tensor_parallel as f64 * spread(&costing.layout.tensor);
    let per_kernel = software.launch_us(costing.plan.tensor_parallel);
    move |work: &Work| {
        work.host + Seconds::from_micros(work.launches * per_kernel + work.tensor_collectives * stall)
    }
}
