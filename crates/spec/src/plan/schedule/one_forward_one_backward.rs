//! 1F1B (PipeDream-flush): alternating forward and backward passes, with virtual stages interleaved over the
//! chunks of a stage.

use super::facts::{Chunks, Counts, Need, Placement, Refusal, ScheduleFacts};

pub(super) const FACTS: ScheduleFacts = ScheduleFacts {
    names: &["1f1b", "interleaved", "interleaved-1f1b"],
    label: "1F1B",
    interleaved: Some("interleaved 1F1B"),
    source: "Narayanan et al. 2021",
    chunks: Chunks::Any,
    placement: Placement::Around,
    divides_backward: false,
    validates_afterwards: false,
    in_flight,
    refuses,
};

/// `min(p - s, m)` (Narayanan et al. 2021, section 2.2.1). Interleaved: `2(p - s - 1) + (v - 1)p + 1` chunks
/// in all, at most `mv`, assigned `p` at a time from chunk 0 (Megatron-LM's warm-up).
fn in_flight(counts: Counts, stage: u64, chunk: u64) -> f64 {
    let (p, v, m) = (counts.stages as f64, counts.virtual_stages as f64, counts.micro_batches as f64);
    let s = stage as f64;
    if v < 2.0 {
        return (p - s).min(m);
    }
    let total = (2.0 * (p - s - 1.0) + (v - 1.0) * p + 1.0).min(m * v);
    // Rounds of p micro batches go to chunks 0, 1, ..., v-1, 0, ...
    let round = p.min(m);
    let full_cycles = (total / (round * v)).floor();
    let rest = total - full_cycles * round * v;
    full_cycles * round + (rest - chunk as f64 * round).clamp(0.0, round)
}

/// Interleaving assigns micro-batches in rounds of `p`.
fn refuses(counts: Counts) -> [Option<Refusal>; 2] {
    let Counts { stages, virtual_stages, micro_batches } = counts;
    let refusal = Refusal {
        key: "plan.global_batch",
        message: |counts| {
            format!(
                "interleaving requires at least as many micro-batches as stages ({}), found {}",
                counts.stages, counts.micro_batches
            )
        },
        need: Need::MicroBatches(stages),
    };
    [(virtual_stages > 1 && micro_batches < stages).then_some(refusal), None]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alive(p: u64, v: u64, m: u64, stage: u64, chunk: u64) -> f64 {
        in_flight(Counts { stages: p, virtual_stages: v, micro_batches: m }, stage, chunk)
    }

    #[test]
    fn one_forward_one_backward_keeps_p_minus_s() {
        assert_eq!(alive(8, 1, 64, 0, 0), 8.0);
        assert_eq!(alive(8, 1, 64, 7, 0), 1.0);
        assert_eq!(alive(8, 1, 3, 0, 0), 3.0);
    }

    /// Korthikanti et al. 2022, equation 5: `L (1 + (p-1)/(p v))` layers on the first stage.
    #[test]
    fn interleaving_multiplies_by_one_plus_p_minus_one_over_pv() {
        let (p, v) = (8, 3);
        let all: f64 = (0..3).map(|chunk| alive(p, v, 64, 0, chunk)).sum();
        assert_eq!(all / (p * v) as f64, 1.0 + 7.0 / 24.0);
        assert_eq!(alive(p, v, 64, 0, 0), 15.0);
        assert_eq!(alive(p, v, 64, 0, 2), 8.0);
    }
}
