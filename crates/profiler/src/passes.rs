//! Passes of a pipeline: the operators of a step as tables of pipeline profilers have them (ByteDance, Primus, MegatronApp), and as they are found
//! in a trace.
//!
//! Responsible for: one row for each forward, backward, send, receive or synchronisation of one rank. Refuses to know a schedule;
//! the order in which a rank's rows were recorded is the schedule.

use serde::Serialize;

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// The forward pass of a micro batch.
    Forward,
    /// Its backward pass, not divided.
    Backward,
    /// The gradient of its input.
    BackwardInput,
    /// The gradient of the weights.
    BackwardWeight,
    /// Sending activations to the next stage.
    SendForward,
    /// Receiving activations from the previous stage.
    ReceiveForward,
    /// Sending gradients to the previous stage.
    SendBackward,
    /// Receiving gradients from the next stage.
    ReceiveBackward,
    /// Gathering parameters over data parallel ranks.
    ParameterGather,
    /// Reducing gradients over data parallel ranks.
    GradientReduce,
    /// The optimizer's update.
    Optimizer,
    /// Loading data.
    DataLoading,
    /// Anything else.
    Other,
}

impl PassKind {
    /// Whether it is arithmetic of the pipeline.
    pub const fn is_compute(self) -> bool {
        matches!(self, Self::Forward | Self::Backward | Self::BackwardInput | Self::BackwardWeight)
    }
}

/// One pass of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pass {
    /// In which training step, as the recorder counts.
    pub step: u32,
    /// Of which rank.
    pub rank: u32,
    /// On which pipeline stage.
    pub stage: u32,
    /// Of which data parallel replica.
    pub replica: u32,
    /// Which part of a replica's stage (tensor and context parallel ranks), 0 when there is one.
    pub shard: u32,
    /// What it does.
    pub kind: PassKind,
    /// For which micro batch, counted from 0.
    pub micro_batch: Option<u32>,
    /// On which virtual stage of its rank, counted from 0.
    pub chunk: u32,
    /// From when, in nanoseconds.
    pub start: i64,
    /// Until when, in nanoseconds.
    pub end: i64,
}

impl Pass {
    /// How long, in nanoseconds.
    pub fn duration(&self) -> i64 {
        self.end - self.start
    }
}

/// How long a step took on one rank, where the recorder says it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepTime {
    /// Which step.
    pub step: u32,
    /// Of which rank.
    pub rank: u32,
    /// How long, in nanoseconds.
    pub duration: i64,
    /// The memory that the rank held, in bytes, if it was recorded.
    pub memory_bytes: Option<u64>,
}

/// The shape of the job that recorded passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PassShape {
    /// Pipeline stages.
    pub pipeline_parallel: u32,
    /// Virtual stages of a rank.
    pub virtual_pipeline: u32,
    /// Replicas.
    pub data_parallel: u32,
    /// Ranks that share a stage of a replica (tensor times context parallel).
    pub shards: u32,
    /// Micro batches of a step and replica; 0 when they differ or are unknown.
    pub micro_batches: u32,
}

/// Passes of one rank or of many.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Passes {
    /// Where they come from, for titles.
    pub label: String,
    /// The job's shape.
    pub shape: PassShape,
    /// The passes, by step, then rank, then start.
    pub passes: Vec<Pass>,
    /// What the recorder says steps took.
    pub steps: Vec<StepTime>,
}

impl Passes {
    /// Puts the passes in their order: by step, rank, start; equal ones keep their order.
    pub fn sort(&mut self) {
        self.passes.sort_by_key(|p| (p.step, p.rank, p.start));
        self.steps.sort_by_key(|s| (s.step, s.rank));
    }
}
