//! Passes of a pipeline: operators of a step from tables of pipeline profilers (ByteDance, Primus,
//! MegatronApp) or from traces.
//!
//! Responsible for: one row for each forward, backward, send, receive or synchronization of one rank. Does
//! not model schedules: the recorded order of a rank's rows is the schedule.

use crate::trace::Times;
use railwright_spec::problem::{Problem, Warning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Kind of pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// The forward pass of a micro-batch.
    Forward,
    /// The undivided backward pass of a micro-batch.
    Backward,
    /// The gradient of its input.
    BackwardInput,
    /// The gradient of the weights.
    BackwardWeight,
    /// Send of activations to the next stage.
    SendForward,
    /// Receive of activations from the previous stage.
    ReceiveForward,
    /// Send of gradients to the previous stage.
    SendBackward,
    /// Receive of gradients from the next stage.
    ReceiveBackward,
    /// Data parallel gather of parameters.
    ParameterGather,
    /// Data parallel reduction of gradients.
    GradientReduce,
    /// Data parallel reduction of gradients that could not be reduced during the backward passes.
    RemainderReduce,
    /// Reduction of norm gradients over ranks that share a stage.
    NormReduce,
    /// Reduction of the gradient of an embedding that the first and the last stage share.
    EmbeddingReduce,
    /// Clipping of gradients by their norm, which joins all ranks.
    GradientClip,
    /// The optimizer's update.
    Optimizer,
    /// Loading data.
    DataLoading,
    /// Anything else.
    Other,
}

impl PassKind {
    /// All kinds.
    pub const ALL: [Self; 17] = [
        Self::Forward,
        Self::Backward,
        Self::BackwardInput,
        Self::BackwardWeight,
        Self::SendForward,
        Self::ReceiveForward,
        Self::SendBackward,
        Self::ReceiveBackward,
        Self::ParameterGather,
        Self::GradientReduce,
        Self::RemainderReduce,
        Self::NormReduce,
        Self::EmbeddingReduce,
        Self::GradientClip,
        Self::Optimizer,
        Self::DataLoading,
        Self::Other,
    ];

    /// Tests whether it is compute of the pipeline.
    pub const fn is_compute(self) -> bool {
        matches!(self, Self::Forward | Self::Backward | Self::BackwardInput | Self::BackwardWeight)
    }

    /// Tests whether it is a message between neighbouring stages.
    pub const fn is_message(self) -> bool {
        matches!(self, Self::SendForward | Self::ReceiveForward | Self::SendBackward | Self::ReceiveBackward)
    }

    /// Tests whether several ranks take part in it.
    pub const fn is_communication(self) -> bool {
        self.is_message()
            || matches!(
                self,
                Self::ParameterGather
                    | Self::GradientReduce
                    | Self::RemainderReduce
                    | Self::NormReduce
                    | Self::EmbeddingReduce
                    | Self::GradientClip
            )
    }

    /// Kind of a pass from the name of Megatron's timer, as in operator tables and logs; `None` if unknown.
    pub fn of_timer(name: &str) -> Option<Self> {
        Some(match name {
            "forward-compute" | "forward" => Self::Forward,
            "backward-compute" | "backward" => Self::Backward,
            "forward-send" => Self::SendForward,
            "forward-recv" => Self::ReceiveForward,
            "backward-send" => Self::SendBackward,
            "backward-recv" => Self::ReceiveBackward,
            "params-all-gather" => Self::ParameterGather,
            "grads-reduce-scatter" | "grads-all-reduce" => Self::GradientReduce,
            "separate-grads-all-reduce" => Self::RemainderReduce,
            "layernorm-grads-all-reduce" => Self::NormReduce,
            "embedding-grads-all-reduce" => Self::EmbeddingReduce,
            "optimizer-clip-main-grad" => Self::GradientClip,
            "optimizer" => Self::Optimizer,
            "batch-generator" => Self::DataLoading,
            _ => return None,
        })
    }

    /// Common name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::BackwardInput => "backward (input)",
            Self::BackwardWeight => "backward (weight)",
            Self::SendForward => "send forward",
            Self::ReceiveForward => "receive forward",
            Self::SendBackward => "send backward",
            Self::ReceiveBackward => "receive backward",
            Self::ParameterGather => "parameter gather",
            Self::GradientReduce => "gradient reduce",
            Self::RemainderReduce => "remaining gradient reduce",
            Self::NormReduce => "norm gradient reduce",
            Self::EmbeddingReduce => "embedding gradient reduce",
            Self::GradientClip => "gradient clip",
            Self::Optimizer => "optimizer",
            Self::DataLoading => "data loading",
            Self::Other => "other",
        }
    }
}

/// One pass of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pass {
    /// Number of the training step, in the recorder's numbering.
    pub step: u32,
    /// Rank.
    pub rank: u32,
    /// Pipeline stage.
    pub stage: u32,
    /// Number of the data-parallel replica.
    pub replica: u32,
    /// Rank within a replica's stage (tensor and context parallel); 0 if there is one.
    pub shard: u32,
    /// Kind.
    pub kind: PassKind,
    /// Micro-batch, counted from 0.
    pub micro_batch: Option<u32>,
    /// Virtual stage of its rank, counted from 0.
    pub chunk: u32,
    /// Start time in nanoseconds.
    pub start: i64,
    /// End time in nanoseconds.
    pub end: i64,
}

impl Pass {
    /// Duration in nanoseconds.
    pub fn duration(&self) -> i64 {
        self.end - self.start
    }
}

/// Step time of one rank, if recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepTime {
    /// Step.
    pub step: u32,
    /// Rank.
    pub rank: u32,
    /// Duration in nanoseconds.
    pub duration: i64,
    /// Memory of the rank in bytes, if recorded.
    pub memory_bytes: Option<u64>,
}

/// Shape of the recorded job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassShape {
    /// Number of pipeline stages.
    pub pipeline_parallel: u32,
    /// Number of virtual stages per rank.
    pub virtual_pipeline: u32,
    /// Number of data-parallel replicas.
    pub data_parallel: u32,
    /// Number of ranks that share a stage of a replica (tensor times context parallel).
    pub shards: u32,
    /// Micro-batches per step and replica; 0 if they differ or are unknown.
    pub micro_batches: u32,
}

impl PassShape {
    /// Extends the shape to include the passes.
    #[must_use]
    pub fn widened(mut self, passes: &[Pass]) -> Self {
        for pass in passes {
            self.pipeline_parallel = self.pipeline_parallel.max(pass.stage.saturating_add(1));
            self.virtual_pipeline = self.virtual_pipeline.max(pass.chunk.saturating_add(1));
            self.data_parallel = self.data_parallel.max(pass.replica.saturating_add(1));
            self.shards = self.shards.max(pass.shard.saturating_add(1));
        }
        self
    }
}

/// Passes of one rank or of many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Passes {
    /// Origin of the passes, for titles.
    pub label: String,
    /// The job's shape.
    pub shape: PassShape,
    /// The passes, by step, then rank, then start.
    pub passes: Vec<Pass>,
    /// Recorded step times.
    pub steps: Vec<StepTime>,
    /// True if hosts ran passes and messages themselves, and all of them were recorded. Each begins when the
    /// previous one in its rank's program has ended; time in between is the rank's own.
    #[serde(default)]
    pub host_order: bool,
    /// Number of leading steps of warm-up, if the traces of the job show it. Otherwise a first step of more
    /// than one and a half medians is.
    #[serde(skip)]
    pub warm_up: Option<usize>,
    /// Damaged and excluded parts.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Passes {
    /// Maximum number of stages, replicas, shards and chunks: tables have this size, and no job has more.
    pub const MOST_PLACES: u32 = 1 << 21;

    /// Removes passes and step times with an overflowing sum, and passes of impossible places, with a
    /// warning. Readers call it once at the end.
    pub fn leave_out_impossible(&mut self) {
        let (mut times, mut left) = (Times::default(), 0_u64);
        self.passes.retain(|pass| {
            let places = [pass.stage, pass.replica, pass.shard, pass.chunk];
            let is_place = places.into_iter().all(|place| place <= Self::MOST_PLACES);
            let is_kept = is_place && times.take(pass.start, pass.end).is_ok();
            left += u64::from(!is_kept);
            is_kept
        });
        let mut times = Times::default();
        self.steps.retain(|step| times.take(0, step.duration).map_err(|_| left += 1).is_ok());
        if left > 0 {
            self.warn(format!("{}: {left} rows with impossible times or indices were skipped", self.label));
        }
    }

    /// Joins recordings of one job in several files, in any order. Shapes are the largest of any file;
    /// duplicate passes of one rank are used once. Empty input gives the default value.
    pub fn join(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let Some(mut joined) = parts.next() else { return Self::default() };
        let mut taken: BTreeSet<(u32, u32)> = joined.passes.iter().map(|p| (p.step, p.rank)).collect();
        let mut several = false;
        for part in parts {
            several = true;
            let (a, b) = (&mut joined.shape, part.shape);
            a.pipeline_parallel = a.pipeline_parallel.max(b.pipeline_parallel);
            a.virtual_pipeline = a.virtual_pipeline.max(b.virtual_pipeline);
            a.data_parallel = a.data_parallel.max(b.data_parallel);
            a.shards = a.shards.max(b.shards);
            a.micro_batches = a.micro_batches.max(b.micro_batches);
            joined.warnings.extend(part.warnings);
            let places: BTreeSet<(u32, u32)> = part.passes.iter().map(|p| (p.step, p.rank)).collect();
            let twice = places.intersection(&taken).count();
            if twice > 0 {
                let message = format!(
                    "{} contains {twice} steps of ranks that another file also contains; they were skipped",
                    part.label
                );
                joined.warnings.push(Warning::new("trace-duplicate-rank", message));
            }
            joined.passes.extend(part.passes.into_iter().filter(|p| !taken.contains(&(p.step, p.rank))));
            joined.steps.extend(part.steps.into_iter().filter(|s| !taken.contains(&(s.step, s.rank))));
            taken.extend(places);
        }
        joined.sort();
        if several {
            // The folder names the job better than its first file.
            if let Some(at) = joined.label.rfind(['/', '\\']) {
                joined.label.truncate(at);
            }
        }
        joined.deal();
        joined.shape = joined.shape.widened(&joined.passes);
        joined
    }

    /// Converts the positions of passes in an interleaved schedule to chunks and micro-batches, in Megatron's
    /// order. Micro-batches come in rounds of as many as there are stages, each round through all chunks,
    /// backward passes from the last chunk.
    fn deal(&mut self) {
        let PassShape { pipeline_parallel: stages, virtual_pipeline: chunks, micro_batches, .. } = self.shape;
        let positions =
            self.passes.iter().filter_map(|p| p.micro_batch).max().map_or(0, |m| u64::from(m) + 1);
        let undealt = self.passes.iter().all(|p| p.chunk == 0);
        if chunks < 2 || !undealt || stages == 0 || positions != u64::from(chunks) * u64::from(micro_batches)
        {
            return;
        }
        for pass in &mut self.passes {
            let Some(position) = pass.micro_batch else { continue };
            let full = micro_batches / stages * stages;
            // The remainder at the end is a round of its own.
            let (round, width) = if position < full * chunks {
                (position / (stages * chunks), stages)
            } else {
                (full / stages, (micro_batches - full).max(1))
            };
            let within = position - round * stages * chunks;
            let chunk = (within / width).min(chunks - 1);
            pass.micro_batch = Some(round * stages + within % width);
            pass.chunk = if pass.kind == PassKind::Forward { chunk } else { chunks - 1 - chunk };
        }
    }

    /// Checks that times and places are small enough for sums.
    ///
    /// # Errors
    ///
    /// If a pass ends before it begins, a step takes years, or there are more stages than any job has.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        // A sum of durations above a century, and stages times chunks above any pipeline, are errors.
        const CENTURY: i128 = 3_200_000_000_000_000_000;
        const PLACES: u64 = 1 << 24;
        let bad = |what: &str, pass: &Pass| {
            let message = format!("a pass of rank {} in step {} {what}", pass.rank, pass.step);
            Err(Problem::new(message).in_file(&self.label).hint("the recording is damaged there"))
        };
        let (mut stages, mut chunks) = (0, 0);
        for of_step in self.passes.chunk_by(|a, b| a.step == b.step) {
            let mut total: i128 = 0;
            let begin = of_step.iter().map(|p| i128::from(p.start)).min().unwrap_or(0);
            for pass in of_step {
                if pass.end < pass.start {
                    return bad("ends before it begins", pass);
                }
                total += i128::from(pass.end) - i128::from(pass.start);
                (stages, chunks) = (pass.stage.max(stages), pass.chunk.max(chunks));
                let span = i128::from(pass.end) - begin;
                if span > CENTURY / 100 || total > CENTURY {
                    return bad("is years away from the others", pass);
                }
                if (u64::from(stages) + 1).saturating_mul(u64::from(chunks) + 1) > PLACES {
                    return bad("has an impossible stage number", pass);
                }
            }
        }
        let long = self.steps.iter().find(|s| s.duration < 0 || i128::from(s.duration) > CENTURY / 100);
        match long {
            Some(step) => Err(Problem::new(format!(
                "step {} of rank {} has an impossible duration",
                step.step, step.rank
            ))
            .in_file(&self.label)),
            None => Ok(()),
        }
    }

    /// Numbers of the steps with passes, in order.
    pub fn step_numbers(&self) -> Vec<u32> {
        let mut steps: Vec<u32> = self.passes.iter().map(|p| p.step).collect();
        steps.dedup();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// Sorts the passes by step, rank and start; equal ones keep their order.
    pub fn sort(&mut self) {
        self.passes.sort_by_key(|p| (p.step, p.rank, p.start));
        self.steps.sort_by_key(|s| (s.step, s.rank));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_rank(rank: u32, label: &str) -> Passes {
        let pass = Pass {
            step: 3,
            rank,
            stage: rank,
            replica: 0,
            shard: 0,
            kind: PassKind::Forward,
            micro_batch: Some(0),
            chunk: 0,
            start: 10,
            end: 20,
        };
        Passes { label: label.to_owned(), passes: vec![pass], ..Passes::default() }
    }

    #[test]
    fn files_of_one_job_join_in_order_of_rank_and_once() {
        let joined = Passes::join(vec![of_rank(1, "run/b"), of_rank(0, "run/a"), of_rank(1, "run/again")]);
        assert_eq!(joined.passes.iter().map(|p| p.rank).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((joined.label.as_str(), joined.shape.pipeline_parallel), ("run", 2));
        assert_eq!((joined.step_numbers(), joined.warnings.len()), (vec![3], 1));
        assert_eq!(Passes::join(vec![of_rank(1, "run/b")]).label, "run/b");
    }

    #[test]
    fn times_and_places_beyond_any_job_are_refused() {
        type Harm = fn(&mut Passes);
        let harms: [Harm; 5] = [
            |p| p.passes[0].end = 3,
            |p| (p.passes[0].start, p.passes[0].end) = (i64::MIN, i64::MAX),
            |p| p.passes[0].stage = u32::MAX,
            |p| p.passes[0].chunk = u32::MAX,
            |p| p.steps.push(StepTime { step: 3, rank: 0, duration: i64::MAX, memory_bytes: None }),
        ];
        let page = |passes| crate::pipeline::page(passes, &crate::pipeline::Question::default());
        assert!(page(of_rank(0, "run/a")).is_ok());
        for harm in harms {
            let mut passes = of_rank(0, "run/a");
            harm(&mut passes);
            assert!(page(passes).is_err());
        }
    }
}
