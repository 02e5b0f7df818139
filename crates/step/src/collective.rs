//! The communication of a span: operation, process group and bytes.
//!
//! Responsible for: the description that network design and bandwidth analyses read. Independent of duration
//! and algorithm.

use railwright_spec::quantity::{Bytes, Rank};
use serde::Serialize;

/// A kind of communication among ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Sum on all ranks.
    AllReduce,
    /// Everyone gets everyone's part.
    AllGather,
    /// One part of the sum on each rank.
    ReduceScatter,
    /// Everyone gets a part from everyone.
    AllToAll,
    /// Data of one rank on all ranks.
    Broadcast,
    /// One rank gets the sum.
    Reduce,
    /// One rank to another.
    Send,
    /// The other end of [`CollectiveKind::Send`].
    Receive,
    /// Synchronization without data.
    Barrier,
}

impl CollectiveKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Broadcast,
        Self::Reduce,
        Self::Send,
        Self::Receive,
        Self::Barrier,
    ];

    /// The field's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllToAll => "all_to_all",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Barrier => "barrier",
        }
    }
}

/// A collective, by its place in [`crate::Step::collectives`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CollectiveId(pub u32);

/// A group of ranks, by its place in [`crate::Step::groups`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// A communication as all its spans share it. Spans with the same description share one entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    /// Kind.
    pub kind: CollectiveKind,
    /// Process group.
    pub group: GroupId,
    /// The size by nccl-tests' convention: the whole buffer of an all-reduce, the gathered buffer of an all-gather, the buffer
    /// before a reduce-scatter, what one rank holds before an all-to-all, the message of a send.
    pub bytes: Bytes,
    /// The other end of a send or a receive.
    pub peer: Option<Rank>,
}
