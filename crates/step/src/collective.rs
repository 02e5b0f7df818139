//! The communication of a span: operation, process group and bytes.
//!
//! Responsible for: the description used by network design and bandwidth analyses. Independent of duration
//! and algorithm.

use railwright_spec::quantity::{Bytes, Rank};
use serde::Serialize;

/// A kind of communication among ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// The sum on all ranks.
    AllReduce,
    /// All parts on all ranks.
    AllGather,
    /// One part of the sum on each rank.
    ReduceScatter,
    /// One part from each rank to each rank.
    AllToAll,
    /// Data of one rank on all ranks.
    Broadcast,
    /// The sum on one rank.
    Reduce,
    /// From one rank to another.
    Send,
    /// Receiving end of [`CollectiveKind::Send`].
    Receive,
    /// Synchronization without data.
    Barrier,
}

impl CollectiveKind {
    /// All kinds.
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

    /// Usual name.
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

impl From<railwright_spec::Collective> for CollectiveKind {
    /// The kind without its algorithm: a dispatch is an all-to-all, and a message is named after its sender.
    fn from(operation: railwright_spec::Collective) -> Self {
        use railwright_spec::Collective as Priced;
        match operation {
            Priced::AllReduce => Self::AllReduce,
            Priced::AllGather => Self::AllGather,
            Priced::ReduceScatter => Self::ReduceScatter,
            Priced::AllToAll | Priced::ExpertDispatch { .. } => Self::AllToAll,
            Priced::Broadcast => Self::Broadcast,
            Priced::SendReceive => Self::Send,
        }
    }
}

/// A collective: index into [`crate::Step::collectives`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CollectiveId(pub u32);

/// A process group: index into [`crate::Step::groups`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// Description of a collective. Spans with equal descriptions share one entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    /// Kind of collective.
    pub kind: CollectiveKind,
    /// Process group.
    pub group: GroupId,
    /// Size in bytes by nccl-tests' convention: the whole buffer of an all-reduce; the gathered buffer of an
    /// all-gather; the input of a reduce-scatter; one rank's buffer of an all-to-all; the message of a
    /// send.
    pub bytes: Bytes,
    /// Other end of a send or receive; `None` for other kinds.
    pub peer: Option<Rank>,
}
