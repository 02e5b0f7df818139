//! A run after a change, with its slow members.

use super::names::Slow;
use railwright_spec::problem::Warning;
use railwright_spec::run::Run;

/// A changed run that is possible.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub(super) run: Run,
    pub(super) slow: Vec<SlowMember>,
    /// Warnings about the plan.
    pub(super) warnings: Vec<Warning>,
}

/// A slow member, with its share of the normal rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlowMember {
    pub(super) what: Slow,
    pub(super) index: Option<u64>,
    pub(super) rate: f64,
}
