//! Order of DualPipe: micro-batches enter at both ends, and a forward of one direction runs fused with a
//! backward of the other.
//!
//! Responsible for: only that order (DeepSeek-V3 report, section 3.2.1, and its published schedule of eight
//! phases). [`super::Pipeline::check`] rejects an odd number of stages.

use super::Pipeline;
use super::one_forward_one_backward::alternate;
use super::rules::{Rules, total};
use super::slot::{Pass, Shape, Slot};
use super::stage_cost::StageCost;
use railwright_spec::quantity::Seconds;
use std::collections::VecDeque;

/// DualPipe.
pub(super) struct Order;

impl Rules for Order {
    /// A single stage has no pairs.
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot> {
        if shape.stages == 1 {
            alternate(shape.micro_batches, stage, 0, None)
        } else {
            both_ends(shape.stages, shape.micro_batches, stage)
        }
    }

    fn period(&self, _: &Shape) -> u64 {
        2
    }

    fn enough(&self, shape: &Shape) -> u64 {
        8 * shape.stages + 4
    }

    /// Bound by the busiest pair of stages; fused pairs save at most twice a chunk's saving.
    fn lower_bound(&self, pipeline: &Pipeline) -> f64 {
        let (p, chunks) = (pipeline.stages as usize, pipeline.chunks);
        let least = |chunk: usize| (total(&chunks[chunk]) - 2.0 * chunks[chunk].fused_saving.get()).max(0.0);
        let half = (pipeline.micro_batches / 2) as f64;
        let of = |stage: usize| {
            let mirror = p - 1 - stage;
            half * (least(stage) + if mirror == stage { 0.0 } else { least(mirror) })
        };
        (0..p.div_ceil(2)).map(of).fold(0.0, f64::max)
    }
}

/// The order on a stage. Fewer than `2p` micro-batches cannot fill the phases, and an odd number has no equal
/// halves. Then the order of the next sufficient number is used, without the missing ones.
fn both_ends(stages: u64, micro_batches: u64, stage: u64) -> Vec<Slot> {
    let half_stages = stages / 2;
    let first_half = micro_batches.div_ceil(2);
    let virtual_half = first_half.max(stages);
    let mirror = stages - 1 - stage;
    // "Near" is the direction that enters at the closer end of the pipeline.
    let near = usize::from(stage >= half_stages);
    let directions = [(stage, 0, first_half), (mirror, first_half, micro_batches - first_half)];
    let mut order = Building {
        sides: [directions[near], directions[1 - near]],
        forwards: [0; 2],
        backwards: [0; 2],
        weights: VecDeque::new(),
        slots: Vec::with_capacity(3 * micro_batches as usize),
    };
    let (near, far) = (0, 1);
    let depth = stage.min(mirror);
    let to_middle = half_stages - 1 - depth;

    for _ in 0..2 * to_middle {
        order.forward(near);
    }
    for _ in 0..=depth {
        order.forward(near);
        order.forward(far);
    }
    for _ in 0..to_middle {
        order.backward(far, true);
        order.weight();
        order.forward(far);
    }
    for turn in 0..virtual_half + depth + 1 - stages {
        if turn == 0 && to_middle == 0 {
            // On the middle stages the first micro-batch changes direction: its backward pass cannot overlap
            // with its forward pass.
            order.forward(near);
            order.backward(far, false);
        } else {
            order.fused(near, far);
        }
        order.fused(far, near);
    }
    for _ in 0..to_middle {
        order.backward(far, false);
        order.fused(far, near);
    }
    let turns = depth + 1;
    let mut split = false;
    for turn in 0..turns {
        split |= turn == turns / 2 && !depth.is_multiple_of(2);
        order.backward(far, split);
        split |= turn == turns / 2 && depth.is_multiple_of(2);
        order.backward(near, split);
    }
    for _ in 0..to_middle {
        order.weight();
        order.backward(near, true);
    }
    for _ in 0..turns {
        order.weight();
    }
    order.slots
}

struct Building {
    /// Chunk, first micro-batch and number of micro-batches of the near and the far direction.
    sides: [(u64, u64, u64); 2],
    forwards: [u64; 2],
    backwards: [u64; 2],
    weights: VecDeque<Option<Slot>>,
    slots: Vec<Slot>,
}

impl Building {
    /// The slot of a direction's n-th pass. `None` for a skipped micro-batch.
    fn slot(&self, side: usize, pass: Pass, n: u64) -> Option<Slot> {
        let (chunk, first, count) = self.sides[side];
        (n < count).then(|| Slot::new(pass, first + n, chunk))
    }

    fn next_forward(&mut self, side: usize, pass: Pass) -> Option<Slot> {
        let slot = self.slot(side, pass, self.forwards[side]);
        self.forwards[side] += 1;
        slot
    }

    fn next_backward(&mut self, side: usize, pass: Pass) -> Option<Slot> {
        let slot = self.slot(side, pass, self.backwards[side]);
        self.backwards[side] += 1;
        slot
    }

    fn forward(&mut self, side: usize) {
        let slot = self.next_forward(side, Pass::Forward);
        self.slots.extend(slot);
    }

    fn backward(&mut self, side: usize, split: bool) {
        let pass = if split { Pass::BackwardInput } else { Pass::Backward };
        let slot = self.next_backward(side, pass);
        if split {
            self.weights.push_back(slot.map(|s| Slot { pass: Pass::BackwardWeight, ..s }));
        }
        self.slots.extend(slot);
    }

    fn weight(&mut self) {
        self.slots.extend(self.weights.pop_front().flatten());
    }

    fn fused(&mut self, forward: usize, backward: usize) {
        let ahead = self.next_forward(forward, Pass::FusedForward);
        let back = self.next_backward(backward, Pass::FusedBackward);
        match (ahead, back) {
            (Some(ahead), Some(back)) => self.slots.extend([ahead, back]),
            (Some(ahead), None) => self.slots.push(Slot { pass: Pass::Forward, ..ahead }),
            (None, Some(back)) => self.slots.push(Slot { pass: Pass::Backward, ..back }),
            (None, None) => {}
        }
    }
}

/// Idle time of DualPipe in s: `(p/2-1)(F&B + B - 3W)`, where `F&B` is a fused pair and `B` a whole backward
/// pass, both of one of the two chunks. DeepSeek-V3 report, table 2.
pub fn bubble(stages: u64, cost: &StageCost, fused_pair: Seconds) -> Seconds {
    let backward = cost.backward_input + cost.backward_weight;
    (fused_pair + backward - 3.0 * cost.backward_weight) * (stages / 2).saturating_sub(1) as f64
}
