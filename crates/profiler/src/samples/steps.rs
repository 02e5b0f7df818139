//! Composition of steps by the families that the calculator prices.
//!
//! Responsible for: means over steps, rank by rank. Excludes traces without step boundaries.

use crate::profile::Profile;
use crate::view::Role;
use crate::waterfall::{Group, Label, Share};
use crate::windows::CutBy;
use railwright_spec::calibration::{Samples, StepSample};
use railwright_spec::quantity::Seconds;
use railwright_step::{OperatorFamily, Phase};

/// Adds the steps of every rank.
pub(super) fn collect(profile: &Profile, all: &mut Samples) {
    if profile.windows.cut_by == CutBy::Nothing {
        all.remarks.push("the traces contain no steps: whole steps are not fitted".to_owned());
        return;
    }
    for rank in &profile.waterfall.ranks {
        let steps = rank.steps.len().max(1) as u64;
        let mean = |nanoseconds: i64| Seconds::new(nanoseconds as f64 * 1e-9 / steps as f64);
        let mut sample =
            StepSample { rank: rank.rank, steps, step: mean(rank.total.total()), ..StepSample::default() };
        for kernel in rank.kernels.iter().filter(|kernel| kernel.role == Role::Compute) {
            let time = mean(kernel.duration);
            sample.kernels += kernel.count as f64 / steps as f64;
            let slot = match (kernel.phase, kernel.family) {
                (Phase::Optimizer, _) | (_, OperatorFamily::Optimizer) => &mut sample.optimizer,
                (_, OperatorFamily::MatrixProduct) => &mut sample.products,
                (_, OperatorFamily::Attention) => &mut sample.attention,
                (_, OperatorFamily::Loss) => &mut sample.loss,
                (
                    _,
                    OperatorFamily::Norm
                    | OperatorFamily::Elementwise
                    | OperatorFamily::Embedding
                    | OperatorFamily::Routing
                    | OperatorFamily::Copy,
                ) => &mut sample.elementwise,
                _ => &mut sample.other,
            };
            *slot += time;
        }
        for label in Label::all() {
            let time = mean(rank.total.get(label));
            match label {
                Label::Host
                | Label::Sync
                | Label::DataLoading
                | Label::Allocation
                | Label::Gap
                | Label::Unexplained => {
                    sample.idle += time;
                }
                Label::Exposed(_, Share::Wait) => sample.waiting += time,
                _ if label.group() == Group::Communication => sample.exposed_communication += time,
                _ => {}
            }
        }
        all.steps.push(sample);
    }
}
