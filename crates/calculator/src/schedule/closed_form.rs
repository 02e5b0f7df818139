//! The published closed forms of pipeline bubbles, for equal chunks and free transfers.
//!
//! Responsible for: the formulas as their papers print them, which the engine is tested against and `--why` quotes. Refuses
//! uneven chunks; [`super::summarize`] is for those.

use railwright_spec::quantity::Seconds;

/// The times of one micro batch on one *stage* (all its chunks together).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageCost {
    /// Forward.
    pub forward: Seconds,
    /// Gradient of the input, recompute included.
    pub backward_input: Seconds,
    /// Gradient of the weights.
    pub backward_weight: Seconds,
}

impl StageCost {
    fn sum(&self) -> Seconds {
        self.forward + self.backward_input + self.backward_weight
    }
}

/// Idle time of GPipe and 1F1B in s: `(p-1)(F+B+W)`, a share `(p-1)/(m+p-1)` of the step.
///
/// Huang et al. 2019 (GPipe); Narayanan et al. 2021, section 2.2.1.
pub fn one_forward_one_backward(stages: u64, cost: &StageCost) -> Seconds {
    cost.sum() * (stages.saturating_sub(1)) as f64
}

/// Idle time of interleaved 1F1B in s: `(p-1)(F+B+W)/v`, and when the micro batches leave a remainder `r` over `p`, at most
/// another `(v-1)(p-r)` chunks: the last group takes the time of a whole one in all of its rounds but one. Stages that go on
/// while others wait lose less; [`super::summarize`] has it exactly.
///
/// Narayanan et al. 2021, section 2.2.2.
pub fn interleaved(stages: u64, virtual_stages: u64, micro_batches: u64, cost: &StageCost) -> Seconds {
    let v = virtual_stages.max(1);
    let remainder = micro_batches % stages.max(1);
    let short = if remainder == 0 { 0 } else { (v - 1) * (stages - remainder) };
    cost.sum() * ((stages.saturating_sub(1) + short) as f64 / v as f64)
}

/// Idle time of ZB-H1 in s: `(p-1)(F+B-W)`. Qi et al. 2023, table 1.
pub fn zb_h1(stages: u64, cost: &StageCost) -> Seconds {
    (cost.forward + cost.backward_input - cost.backward_weight) * (stages.saturating_sub(1)) as f64
}

/// Idle time of ZB-H2 in s: `(p-1)(F+B-2W)`, within a stage's own step (not from the first stage's start). Qi et al. 2023,
/// table 1.
pub fn zb_h2(stages: u64, cost: &StageCost) -> Seconds {
    let idle = cost.forward + cost.backward_input - 2.0 * cost.backward_weight;
    (idle * (stages.saturating_sub(1)) as f64).max(Seconds::ZERO)
}

/// Idle time of DualPipe in s: `(p/2-1)(F&B + B - 3W)`, where `F&B` is a fused pair and `B` a whole backward pass, both of the
/// two chunks' one. DeepSeek-V3 report, table 2.
pub fn dual_pipe(stages: u64, cost: &StageCost, fused_pair: Seconds) -> Seconds {
    let backward = cost.backward_input + cost.backward_weight;
    (fused_pair + backward - 3.0 * cost.backward_weight) * (stages / 2).saturating_sub(1) as f64
}

/// Live activations of 1F1B on a stage, in micro batches: `min(m, p-s)`. Narayanan et al. 2021, section 2.2.1.
pub fn one_forward_one_backward_in_flight(stages: u64, micro_batches: u64, stage: u64) -> u64 {
    micro_batches.min(stages.saturating_sub(stage))
}

/// Live activations of interleaved 1F1B on the first stage, as a multiple of 1F1B's `p` micro batches: `1 + (p-1)/(pv)`.
///
/// Korthikanti et al. 2022, section 4.2.3.
pub fn interleaved_memory_factor(stages: u64, virtual_stages: u64) -> f64 {
    1.0 + (stages as f64 - 1.0) / (stages as f64 * virtual_stages as f64)
}
