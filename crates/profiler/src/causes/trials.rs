//! Trial runs of convolution algorithms.
//!
//! Responsible for: calls in which cuDNN or MIOpen time their algorithms (`torch.backends.cudnn.benchmark`),
//! and the device work of these calls. They run each algorithm between two events and wait for them; no other
//! operator of PyTorch waits for an event within a convolution. Later calls do not run them.

use super::Stacks;
use crate::trace::{HostKind, NONE};
use crate::view::View;
use std::collections::BTreeSet;

/// Calls with trial runs on one rank.
#[derive(Default)]
pub(crate) struct Trials<'a> {
    /// The frames; `None` without such calls.
    stacks: Option<Stacks<'a>>,
    /// Host rows of these convolutions.
    calls: BTreeSet<u32>,
}

/// Tests whether a frame is a convolution of cuDNN or MIOpen.
pub(crate) fn is_convolution(name: &str) -> bool {
    ["cudnn_convolution", "miopen_convolution", "convolution_backward"].iter().any(|part| name.contains(part))
}

impl<'a> Trials<'a> {
    pub(crate) fn new(view: &View<'a>) -> Self {
        let trace = view.trace;
        let waits = |name: &str| name.to_ascii_lowercase().contains("eventsynchronize");
        let waits: Vec<bool> = trace.names.iter().map(waits).collect();
        // Most programs have no convolutions: their frames are not examined.
        if !waits.contains(&true) || !trace.names.iter().any(is_convolution) {
            return Self::default();
        }
        let stacks = Stacks::new(trace);
        let rows = (0u32..).zip(trace.host.kinds().iter().zip(trace.host.names()));
        let calls: BTreeSet<u32> = rows
            .filter(|(_, (kind, name))| {
                **kind == HostKind::Runtime && waits.get(name.0 as usize) == Some(&true)
            })
            .filter_map(|(at, _)| stacks.operator(at))
            .filter(|(_, name)| is_convolution(name))
            .map(|(at, _)| at)
            .collect();
        Self { stacks: Some(stacks).filter(|_| !calls.is_empty()), calls }
    }

    /// Tests whether a call with shapes contains trial runs.
    pub(crate) fn is_call(&self, row: u32) -> bool {
        self.calls.contains(&row)
    }

    /// Tests whether device work with this launching host row is a trial run.
    pub(crate) fn has(&self, launch: u32) -> bool {
        let stacks = self.stacks.as_ref().filter(|_| launch != NONE);
        stacks.and_then(|stacks| stacks.operator(launch)).is_some_and(|(at, _)| self.calls.contains(&at))
    }
}
