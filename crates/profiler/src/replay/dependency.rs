//! Dependencies between the passes of a step, and their lags.

use crate::passes::{Pass, PassKind};

/// Classes of the time between the end of a pass and the start of a dependent one.
pub(super) mod lag {
    /// No lag: an order without a cost.
    pub(in super::super) const NONE: u8 = 0;
    /// An unrecorded message.
    pub(in super::super) const HOP: u8 = 1;
    /// No lag: a recorded order that is not required. A receive was posted when the previous pass had ended;
    /// it could have been posted earlier. Applies if delays are kept.
    pub(in super::super) const ASKED: u8 = 2;
    /// First class of the transitions from one pass to the next on one rank.
    pub(in super::super) const TURN: u8 = 3;
    /// Number of classes.
    pub(in super::super) const COUNT: usize = TURN as usize + 3 * 16;
}

/// A dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// Position in the step of the pass that must end first.
    pub from: u32,
    /// Class of the lag.
    pub lag: u8,
}

/// Class of the time between two passes of one rank: both kinds, and whether the stage is the first, the last
/// or between them.
pub(super) fn turn(from: &Pass, to: &Pass, stages: u32) -> u8 {
    let kind = |pass: &Pass| match pass.kind {
        PassKind::Forward => 0,
        PassKind::Backward => 1,
        PassKind::BackwardInput => 2,
        _ => 3,
    };
    let place = if to.stage == 0 { 0 } else { 1 + u8::from(to.stage + 1 == stages) };
    lag::TURN + place * 16 + kind(from) * 4 + kind(to)
}
