//! GPipe: all forward passes, then all backward passes.

use super::facts::{Chunks, Counts, Placement, ScheduleFacts, nothing};

pub(super) const FACTS: ScheduleFacts = ScheduleFacts {
    names: &["gpipe", "afab"],
    label: "GPipe",
    interleaved: None,
    source: "Huang et al. 2019",
    chunks: Chunks::Any,
    placement: Placement::Around,
    divides_backward: false,
    validates_afterwards: false,
    in_flight,
    refuses: nothing,
};

/// Every micro-batch waits for the last forward pass: `m`.
fn in_flight(counts: Counts, _: u64, _: u64) -> f64 {
    counts.micro_batches as f64
}
