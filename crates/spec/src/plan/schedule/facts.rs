//! Facts of a schedule other than the order of its passes.

/// How many chunks a stage holds for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunks {
    /// As many as the plan's virtual stages, and a single stage, too.
    Any,
    /// This many, on a pipeline of several stages.
    Exactly(u64),
}

/// Where the chunks lie that are numbered along the pipeline; `p` stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Chunk `c` on stage `c % p`.
    Around,
    /// Chunk `c` on stage `c` going down, `2p - 1 - c` coming back.
    Vee,
    /// Chunk `c` on stage `c` for the first half of the micro-batches, on `p - 1 - c` for the second.
    BothEnds,
}

/// The counts that a schedule depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Pipeline stages.
    pub stages: u64,
    /// Chunks on each stage.
    pub virtual_stages: u64,
    /// Micro batches of a step.
    pub micro_batches: u64,
}

/// Reason why a schedule cannot run with some counts.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// The key of a run file that is to be changed.
    pub key: &'static str,
    /// What is wrong.
    pub message: fn(Counts) -> String,
    /// Action.
    pub need: Need,
}

/// What makes a schedule possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// In words.
    Words(&'static str),
    /// This many micro-batches, or more.
    MicroBatches(u64),
}

/// A schedule.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleFacts {
    /// Names in run files and publications, lowercase; the first is the one that is written.
    pub names: &'static [&'static str],
    /// As the field writes it.
    pub label: &'static str,
    /// The same where passes alternate over several chunks of a stage; `None` where they do not.
    pub interleaved: Option<&'static str>,
    /// Publisher.
    pub source: &'static str,
    /// Chunks of each stage.
    pub chunks: Chunks,
    /// Where they lie.
    pub placement: Placement,
    /// Whether gradients of weights wait for passes of their own.
    pub divides_backward: bool,
    /// Whether stages run into the next step before the optimizer step of this one is validated.
    pub validates_afterwards: bool,
    /// Micro batches of a chunk (the second argument, counted on its stage from 0) that are alive on a stage (the first) at its peak.
    pub in_flight: fn(Counts, u64, u64) -> f64,
    /// What stands against running it.
    pub refuses: fn(Counts) -> [Option<Refusal>; 2],
}

/// Of a schedule that runs with any counts.
pub(super) const fn nothing(_: Counts) -> [Option<Refusal>; 2] {
    [None, None]
}
