//! A pipeline whose recording describes nothing.
//!
//! Responsible for: the kernels of ranks that run 1F1B over stages with tensor-parallel groups of neighbours,
//! by names alone: no groups, no launches, no steps. A message takes a fixed time after both ends have
//! entered, and both leave it together.

use super::Recurrence;
use crate::Job;
use crate::trace::{GpuActivity, GpuKind, RankTrace};
use std::collections::BTreeMap;

/// The plan of such a job.
#[derive(Clone, Copy, Debug)]
pub struct Pipelined {
    /// Number of stages.
    pub stages: u32,
    /// Ranks per stage, which reduce within every layer.
    pub tensor: u32,
    /// Micro-batches per step.
    pub micro_batches: u32,
    /// Number of steps.
    pub steps: u32,
    /// Layers per stage, each with two kernels forward and three backward.
    pub layers: u32,
    /// Forward time of a layer in nanoseconds; backward takes twice that.
    pub layer: i64,
    /// True if layers have the kernel names of a transformer in PyTorch: 10% of the backward pass is marked
    /// as backward by name. The update then has three launches.
    pub transformer: bool,
}

impl Default for Pipelined {
    fn default() -> Self {
        Self {
            stages: 4,
            tensor: 2,
            micro_batches: 8,
            steps: 3,
            layers: 10,
            layer: 100_000,
            transformer: false,
        }
    }
}

/// Transfer time of a message, in nanoseconds.
const TRANSFER: i64 = 50_000;

const NORM: &str =
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)";
const NORM_BACKWARD: &str = "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<c10::BFloat16, float>(float const*)";
const ADD: &str =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)";
const UPDATE: &str = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4>>(int)";
const TRANSFORMER_FORWARD: [&str; 8] = [
    NORM,
    "sm90_gemm_tn",
    "flash_fwd_kernel<128>",
    "sm90_gemm_tn",
    NORM,
    "sm90_gemm_tn",
    ADD,
    "sm90_gemm_tn",
];
const TRANSFORMER_BACKWARD: [&str; 12] = [
    "sm90_gemm_nn",
    "sm90_gemm_nt",
    ADD,
    "sm90_gemm_nn",
    "sm90_gemm_nt",
    NORM_BACKWARD,
    "sm90_gemm_nn",
    "sm90_gemm_nt",
    "flash_bwd_kernel<128>",
    "sm90_gemm_nn",
    "sm90_gemm_nt",
    NORM_BACKWARD,
];

struct Run {
    plan: Pipelined,
    ranks: Vec<RankTrace>,
    random: Recurrence,
}

impl Run {
    /// Adds a kernel on all ranks of a stage; ends differ by less than a microsecond.
    fn kernel(&mut self, stage: u32, name: &str, stream: u32, (start, end): (i64, i64)) {
        for shard in 0..self.plan.tensor {
            let late = self.random.below(600) as i64;
            let trace = &mut self.ranks[(stage * self.plan.tensor + shard) as usize];
            let name = trace.names.intern(name);
            let kind = GpuKind::Kernel;
            trace.gpu.push(GpuActivity {
                start,
                end: end + late,
                name,
                kind,
                stream,
                ..GpuActivity::default()
            });
        }
    }

    /// Simulates a pass from a time on. Returns its end.
    fn pass(&mut self, stage: u32, backward: bool, mut now: i64) -> i64 {
        let kernels: &[&str] = match (self.plan.transformer, backward) {
            (false, true) => &["flash_bwd_kernel", "sm90_gemm_nt", "sm90_gemm_tn"],
            (false, false) => &["sm90_gemm_nn", "flash_fwd_kernel"],
            (true, true) => &TRANSFORMER_BACKWARD,
            (true, false) => &TRANSFORMER_FORWARD,
        };
        if !backward && stage == 0 {
            self.kernel(stage, "embedding_kernel", 7, (now, now + 20_000));
            now += 21_000;
        }
        // Passes vary by 2%.
        let wobble = self.random.below(self.plan.layer.unsigned_abs() / 50) as i64;
        for _ in 0..self.plan.layers {
            let length = (self.plan.layer + wobble) * if backward { 2 } else { 1 };
            let each = (length - 10_000) / kernels.len() as i64;
            for (at, kernel) in (0_i64..).zip(kernels) {
                self.kernel(stage, kernel, 7, (now + at * each, now + (at + 1) * each - 1_000));
            }
            now += each * kernels.len() as i64;
            if self.plan.tensor > 1 {
                let reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
                self.kernel(stage, reduce, 20, (now, now + 9_000));
            }
            now += 10_000;
        }
        if !backward && stage + 1 == self.plan.stages {
            self.kernel(stage, "cross_entropy_kernel", 7, (now, now + 30_000));
            now += 31_000;
        }
        now
    }
}

impl Pipelined {
    /// The order of a stage: backward or not, and the micro-batch.
    fn order(&self, stage: u32) -> Vec<(bool, u32)> {
        let first = (self.stages - stage - 1).min(self.micro_batches);
        let mut order: Vec<(bool, u32)> = (0..first).map(|batch| (false, batch)).collect();
        for batch in 0..self.micro_batches {
            if first + batch < self.micro_batches {
                order.push((false, first + batch));
            }
            order.push((true, batch));
        }
        order
    }

    /// Simulates the job.
    pub fn job(&self) -> Job {
        let world = self.stages * self.tensor;
        let mut ranks: Vec<RankTrace> = (0..world).map(|_| RankTrace::default()).collect();
        for (rank, trace) in (0..).zip(&mut ranks) {
            (trace.identity.rank, trace.identity.world_size) = (Some(rank), Some(world));
            trace.identity.label = format!("rank{rank}.json");
        }
        let mut run = Run { plan: *self, ranks, random: Recurrence(7) };
        let mut begin = 0;
        for _ in 0..self.steps {
            begin = self.step(&mut run, begin);
        }
        for trace in &mut run.ranks {
            trace.gpu.sort();
        }
        Job::new(run.ranks)
    }

    fn step(&self, run: &mut Run, begin: i64) -> i64 {
        let message = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
        let orders: Vec<Vec<(bool, u32)>> = (0..self.stages).map(|stage| self.order(stage)).collect();
        let mut now = vec![begin; self.stages as usize];
        let mut next = vec![0; self.stages as usize];
        let mut done: BTreeMap<(u32, bool, u32), i64> = BTreeMap::new();
        let mut moved = true;
        while moved {
            moved = false;
            for stage in 0..self.stages {
                let at = stage as usize;
                while let Some(&(backward, batch)) = orders[at].get(next[at]) {
                    let from = if backward { stage + 1 } else { stage.wrapping_sub(1) };
                    if from < self.stages {
                        let Some(&sent) = done.get(&(from, backward, batch)) else { break };
                        let end = now[at].max(sent) + TRANSFER;
                        run.kernel(stage, message, 30, (now[at], end));
                        run.kernel(from, message, 31, (sent, end));
                        now[at] = end + 2_000;
                    }
                    now[at] = run.pass(stage, backward, now[at]);
                    done.insert((stage, backward, batch), now[at]);
                    next[at] += 1;
                    moved = true;
                }
            }
        }
        let end = now.iter().copied().max().unwrap_or(begin) + 20_000;
        let launches = if self.transformer { 3 } else { 1 };
        let update = if self.transformer { UPDATE } else { "multi_tensor_apply_kernel<AdamFunctor>" };
        for stage in 0..self.stages {
            for launch in 0..launches {
                let start = end + launch * 301_000;
                run.kernel(stage, update, 7, (start, start + 300_000));
            }
        }
        end + 600_000 + launches * 300_000
    }
}
