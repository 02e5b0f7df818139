//! ZB-V: two chunks per stage, placed as a V, so that the last stage follows a forward pass immediately by
//! its backward pass; the memory of 1F1B.

use super::facts::{Chunks, Counts, Placement, ScheduleFacts, nothing};

pub(super) const FACTS: ScheduleFacts = ScheduleFacts {
    names: &["zb-v", "zb_v", "zbv"],
    label: "ZB-V",
    interleaved: None,
    source: "Qi et al. 2023",
    chunks: Chunks::Exactly(2),
    placement: Placement::Vee,
    divides_backward: true,
    validates_afterwards: true,
    in_flight,
    refuses: nothing,
};

/// `2p` half chunks on every stage: `2p - 1 - s` on the way down, `1 + s` on the way back, each at most `m`
/// (Qi et al. 2023, section 6).
fn in_flight(counts: Counts, stage: u64, chunk: u64) -> f64 {
    let (p, m, s) = (counts.stages as f64, counts.micro_batches as f64, stage as f64);
    if chunk == 0 { (2.0 * p - 1.0 - s).min(m) } else { (1.0 + s).min(m) }
}

#[test]
fn every_stage_holds_the_papers_count() {
    let counts = Counts { stages: 8, virtual_stages: 2, micro_batches: 64 };
    for stage in 0..8 {
        let both = in_flight(counts, stage, 0) + in_flight(counts, stage, 1);
        assert_eq!(both, 16.0, "half chunks on stage {stage}");
    }
}
