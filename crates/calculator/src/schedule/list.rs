//! List of the schedules' orders.

use super::rules::Rules;
use super::{dual_pipe, gpipe, one_forward_one_backward, zb_h1, zb_h2, zb_v};
use railwright_spec::plan::Schedule;

/// The order of a schedule.
pub(super) fn rules(schedule: Schedule) -> &'static dyn Rules {
    match schedule {
        Schedule::Gpipe => &gpipe::Order,
        Schedule::OneForwardOneBackward => &one_forward_one_backward::Order,
        Schedule::ZbH1 => &zb_h1::Order,
        Schedule::ZbH2 => &zb_h2::Order,
        Schedule::ZbV => &zb_v::Order,
        Schedule::DualPipe => &dual_pipe::Order,
    }
}
