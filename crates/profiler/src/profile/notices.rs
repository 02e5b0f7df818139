//! Warnings about time that no rule assesses.
//!
//! Responsible for: GEMMs without recorded shapes in a profile without losses, and accelerators that the
//! catalogue does not contain.

use super::{Options, Report};
use crate::view::View;
use railwright_spec::cluster::accelerator_by_name;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_step::OperatorFamily;

/// Minimum share of the step in GEMMs, and maximum share of compute with a roofline, for a warning.
const MOST: f64 = 0.5;

/// Minimum share of the step of a loss.
const LOSS: f64 = 0.01;

/// A warning if no finding has a notable cost and most of the step is in GEMMs of unknown efficiency.
pub(super) fn unassessed(report: &Report) -> Option<Warning> {
    let step = report.step_time.max(1.0);
    let largest = report.findings.iter().filter_map(|finding| finding.cost).fold(0.0, f64::max);
    let gemms = report.kernels.iter().filter(|row| row.family == OperatorFamily::MatrixProduct);
    let share = gemms.map(|row| row.per_step).sum::<f64>() / step;
    let covered = report.roofline.as_ref().map_or(0.0, |roofline| roofline.covered_share);
    (largest < LOSS * step && share > MOST && covered < MOST).then(|| {
        let text = format!(
            "GEMMs take {} of the step, and most have no recorded shapes: their efficiency is not assessed (`record_shapes=True`; \
             replayed CUDA graphs record none)",
            human::percent(share.min(1.0))
        );
        Warning::new("gemms-not-assessed", text)
    })
}

/// A warning if shapes were recorded, but the catalogue does not contain the recorded accelerator.
pub(super) fn unknown_device(
    views: &[&View<'_>],
    options: &Options,
    recorded: Option<&str>,
    has_roofline: bool,
) -> Option<Warning> {
    let device =
        recorded.filter(|name| options.accelerator.is_none() && accelerator_by_name(name).is_err())?;
    let has_shapes = |view: &&&View<'_>| {
        !view.from_host && view.trace.host.shapes().iter().any(|shapes| *shapes != crate::trace::NONE)
    };
    (!has_roofline && views.iter().any(|view| has_shapes(&view))).then(|| {
        let text = format!(
            "`{device}` is not in the catalogue: no roofline and no findings below it; pass `--accelerator` with the nearest one"
        );
        Warning::new("accelerator-unknown", text)
    })
}
