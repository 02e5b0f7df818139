//! Properties of a schedule except the order of its passes.

/// Number of chunks per stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunks {
    /// The plan's virtual stages; a single pipeline stage is allowed.
    Any,
    /// Exactly this number, on a pipeline of several stages.
    Exactly(u64),
}

/// Placement of chunks, which are numbered along a pipeline of `p` stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Chunk `c` on stage `c % p`.
    Around,
    /// Chunk `c` on stage `c` on the way down, `2p - 1 - c` on the way back.
    Vee,
    /// Chunk `c` on stage `c` for the first half of the micro-batches, on `p - 1 - c` for the second.
    BothEnds,
}

/// Counts that a schedule depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Pipeline stages.
    pub stages: u64,
    /// Chunks per stage.
    pub virtual_stages: u64,
    /// Micro-batches per step.
    pub micro_batches: u64,
}

/// Reason why a schedule cannot run with some counts.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// Key of a run file to change.
    pub key: &'static str,
    /// Problem in words.
    pub message: fn(Counts) -> String,
    /// Remedy.
    pub need: Need,
}

/// Condition under which a schedule runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Condition in words.
    Words(&'static str),
    /// At least this many micro-batches.
    MicroBatches(u64),
}

/// Properties of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleFacts {
    /// Names in run files and publications, lowercase; the first one is written to files.
    pub names: &'static [&'static str],
    /// Usual name in publications.
    pub label: &'static str,
    /// Usual name if passes alternate over several chunks of a stage; `None` if they do not.
    pub interleaved: Option<&'static str>,
    /// Publication that defines the schedule.
    pub source: &'static str,
    /// Chunks per stage.
    pub chunks: Chunks,
    /// Placement of the chunks.
    pub placement: Placement,
    /// True if weight gradients have passes of their own.
    pub divides_backward: bool,
    /// True if stages start the next step before the optimizer step of this one is validated.
    pub validates_afterwards: bool,
    /// Peak number of micro-batches in flight on a stage (second argument) for a chunk (third argument,
    /// counted on its stage from 0).
    pub in_flight: fn(Counts, u64, u64) -> f64,
    /// Reasons to reject these counts.
    pub refuses: fn(Counts) -> [Option<Refusal>; 2],
}

/// No refusals, for a schedule that runs with any counts.
pub(super) const fn nothing(_: Counts) -> [Option<Refusal>; 2] {
    [None, None]
}
