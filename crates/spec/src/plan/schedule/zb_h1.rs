//! ZB-H1: 1F1B with weight gradients in the bubbles, and the memory of 1F1B.

use super::facts::{Chunks, Counts, Placement, ScheduleFacts, nothing};

pub(super) const FACTS: ScheduleFacts = ScheduleFacts {
    names: &["zb-h1", "zb_h1", "zbh1", "zb-1p"],
    label: "ZB-H1",
    interleaved: None,
    source: "Qi et al. 2023",
    chunks: Chunks::Exactly(1),
    placement: Placement::Around,
    divides_backward: true,
    validates_afterwards: true,
    in_flight,
    refuses: nothing,
};

/// `p` on every stage, at most `m`: the memory limit of the automatic schedule ZB-1p, which it reaches (Qi et
/// al. 2023, section 3).
fn in_flight(counts: Counts, _: u64, _: u64) -> f64 {
    (counts.stages as f64).min(counts.micro_batches as f64)
}

#[test]
fn every_stage_holds_the_papers_count() {
    let counts = Counts { stages: 8, virtual_stages: 1, micro_batches: 64 };
    assert_eq!(in_flight(counts, 3, 0), 8.0);
}
