//! DualPipe: micro batches enter at both ends, and a forward pass of one direction runs concurrently with a
//! backward pass of the other.

use super::facts::{Chunks, Counts, Need, Placement, Refusal, ScheduleFacts};

pub(super) const FACTS: ScheduleFacts = ScheduleFacts {
    names: &["dualpipe", "dual_pipe"],
    label: "DualPipe",
    interleaved: None,
    source: "DeepSeek-V3 report, 2024",
    chunks: Chunks::Exactly(1),
    placement: Placement::BothEnds,
    divides_backward: true,
    validates_afterwards: false,
    in_flight,
    refuses,
};

/// `p + 1` over both directions (DeepSeek-V3 report, table 2): each direction is a 1F1B schedule on half of
/// the micro-batches. Chunk 0 is the one nearer to the embedding.
fn in_flight(counts: Counts, stage: u64, chunk: u64) -> f64 {
    let (p, m, s) = (counts.stages as f64, counts.micro_batches as f64, stage as f64);
    let near = s.min(p - 1.0 - s);
    let alive = if chunk == 0 { p - near } else { near + 1.0 };
    alive.min((m / 2.0).ceil().max(1.0))
}

/// The two directions meet between the two middle stages, and each fills the pipeline.
fn refuses(counts: Counts) -> [Option<Refusal>; 2] {
    let Counts { stages, micro_batches, .. } = counts;
    let odd = Refusal {
        key: "plan.pipeline_parallel",
        message: |counts| format!("dualpipe requires an even number of stages, found {}", counts.stages),
        need: Need::Words("use an even number"),
    };
    let few = Refusal {
        key: "plan.global_batch",
        message: |counts| {
            format!(
                "dualpipe requires an even number of micro-batches of at least {}, found {}",
                2 * counts.stages,
                counts.micro_batches
            )
        },
        need: Need::MicroBatches(2 * stages),
    };
    let is_odd = stages > 1 && !stages.is_multiple_of(2);
    let is_few = stages > 1 && (!micro_batches.is_multiple_of(2) || micro_batches < 2 * stages);
    [is_odd.then_some(odd), is_few.then_some(few)]
}

#[test]
fn both_directions_hold_the_reports_count() {
    let counts = Counts { stages: 16, virtual_stages: 1, micro_batches: 64 };
    let both = |stage| [0, 1].map(|chunk| in_flight(counts, stage, chunk));
    assert_eq!(both(3), [13.0, 4.0]);
    assert_eq!(both(12), [13.0, 4.0]);
}
