//! ZB-H2: twice the warm-up of 1F1B and twice its activations, with a bubble near zero.

use super::facts::{Chunks, Counts, Placement, ScheduleFacts, nothing};

pub(super) const FACTS: ScheduleFacts = ScheduleFacts {
    names: &["zb-h2", "zb_h2", "zbh2", "zb-2p"],
    label: "ZB-H2",
    interleaved: None,
    source: "Qi et al. 2023",
    chunks: Chunks::Exactly(1),
    placement: Placement::Around,
    divides_backward: true,
    validates_afterwards: true,
    in_flight,
    refuses: nothing,
};

/// `2p` on every stage, at most `m`: the memory limit of the automatic schedule ZB-2p, which it reaches (Qi
/// et al. 2023, section 3).
fn in_flight(counts: Counts, _: u64, _: u64) -> f64 {
    (2.0 * counts.stages as f64).min(counts.micro_batches as f64)
}

#[test]
fn every_stage_holds_the_papers_count() {
    let counts = Counts { stages: 8, virtual_stages: 1, micro_batches: 64 };
    assert_eq!(in_flight(counts, 3, 0), 16.0);
}
