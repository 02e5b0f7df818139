//! Passes that were found on the ranks of a job.

use crate::passes::PassKind;

/// A pass without its position in the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) kind: PassKind,
    /// Stage in the name, numbered along the pipeline.
    pub(super) virtual_stage: Option<u32>,
    pub(super) micro_batch: Option<u32>,
    pub(super) chunk: Option<u32>,
    /// Time on the host, where steps are cut, in nanoseconds.
    pub(super) issued: i64,
    pub(super) start: i64,
    pub(super) end: i64,
}
