//! Order of ZB-V: two chunks per stage, placed as a V, so that the last stage continues a forward without a
//! transfer.
//!
//! Responsible for: only that order (Qi et al. 2023, section 6). Independent of costs: it is the paper's
//! order for equal forward, input-gradient and weight-gradient times.

use super::Pipeline;
use super::rules::{Rules, total};
use super::slot::{Pass, Shape, Slot};

/// ZB-V.
pub(super) struct Order;

impl Rules for Order {
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot> {
        v_shape(shape.stages, shape.micro_batches, stage)
    }

    fn enough(&self, shape: &Shape) -> u64 {
        8 * shape.stages + 4
    }

    /// Bound by the busiest stage; two chunks share a stage.
    fn lower_bound(&self, pipeline: &Pipeline) -> f64 {
        let (p, chunks) = (pipeline.stages as usize, pipeline.chunks);
        let m = pipeline.micro_batches as f64;
        let of = |stage: usize| m * (total(&chunks[stage]) + total(&chunks[2 * p - 1 - stage]));
        (0..p.min(chunks.len() / 2)).map(of).fold(0.0, f64::max)
    }
}

/// Builds the order in the paper's phases. Fewer than `2p-1` micro-batches cannot fill them. Then the order
/// of `2p-1` is used, without the missing ones.
fn v_shape(stages: u64, micro_batches: u64, stage: u64) -> Vec<Slot> {
    let mut order = Building {
        count: micro_batches,
        chunks: [stage, 2 * stages - 1 - stage],
        next: [[0; 3]; 2],
        slots: Vec::with_capacity(6 * micro_batches as usize),
    };
    let virtually = micro_batches.max(2 * stages - 1);
    let behind = stages - stage;
    // Fill the V: forwards continue until the first one has returned to this stage.
    order.repeat(2 * behind - 1, &[(0, FORWARD)]);
    order.repeat(stage, &[(1, FORWARD), (0, FORWARD)]);
    order.repeat(behind, &[(1, FORWARD), (1, INPUT), (1, WEIGHT)]);
    // Steady state: each chunk in turn runs all three passes, until no forwards remain.
    while order.next[1][FORWARD] < order.next[0][FORWARD] || order.next[0][FORWARD] < virtually {
        if order.next[0][FORWARD] < virtually {
            order.push(0, FORWARD);
        }
        order.repeat(1, &[(0, INPUT), (0, WEIGHT), (1, FORWARD), (1, INPUT), (1, WEIGHT)]);
    }
    // Drain: input gradients first, with weight gradients in the idle time.
    order.repeat(stage, &[(0, INPUT), (1, INPUT)]);
    order.repeat(behind, &[(0, INPUT), (0, WEIGHT)]);
    for chunk in [1, 0] {
        while order.next[chunk][WEIGHT] < order.next[chunk][INPUT] {
            order.push(chunk, WEIGHT);
        }
    }
    order.slots
}

const FORWARD: usize = 0;
const INPUT: usize = 1;
const WEIGHT: usize = 2;

struct Building {
    count: u64,
    chunks: [u64; 2],
    /// The next micro-batch of each chunk and pass.
    next: [[u64; 3]; 2],
    slots: Vec<Slot>,
}

impl Building {
    fn push(&mut self, chunk: usize, pass: usize) {
        let micro_batch = self.next[chunk][pass];
        self.next[chunk][pass] += 1;
        if micro_batch < self.count {
            let kind = [Pass::Forward, Pass::BackwardInput, Pass::BackwardWeight][pass];
            self.slots.push(Slot::new(kind, micro_batch, self.chunks[chunk]));
        }
    }

    fn repeat(&mut self, times: u64, passes: &[(usize, usize)]) {
        for _ in 0..times {
            for &(chunk, pass) in passes {
                self.push(chunk, pass);
            }
        }
    }
}
