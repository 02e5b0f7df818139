//! The communication of a span: operation, process group and bytes.
//!
//! Responsible for: the description used by network design and bandwidth analyses. Independent of duration
//! and algorithm.

use railwright_spec::quantity::{Bytes, Rank};
use serde::{Deserialize, Serialize};

/// A kind of communication among ranks, in a plan or in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Sum on all ranks.
    AllReduce,
    /// Every rank gets the parts of all ranks.
    AllGather,
    /// One part of the sum on each rank.
    ReduceScatter,
    /// Every rank gets a part from every rank.
    AllToAll,
    /// Tokens to their experts. Only in recordings, as the next two.
    Dispatch,
    /// Tokens back from their experts.
    Combine,
    /// Sizes and readiness before a dispatch or a combine.
    Notify,
    /// Data of one rank on all ranks.
    Broadcast,
    /// One rank gets the sum.
    Reduce,
    /// One rank gets the parts of all ranks. Only in recordings, as the next two.
    Gather,
    /// Every rank gets a part from one rank.
    Scatter,
    /// Messages in both directions, or an all-to-all made of messages.
    SendReceive,
    /// Message from one rank to another.
    Send,
    /// The receiving end of [`Self::Send`].
    Receive,
    /// A copy to another device by a copy engine or by stores. Only in recordings.
    Copy,
    /// Synchronization without data.
    Barrier,
}

impl CollectiveKind {
    /// All kinds.
    pub const ALL: [Self; 16] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Dispatch,
        Self::Combine,
        Self::Notify,
        Self::Broadcast,
        Self::Reduce,
        Self::Gather,
        Self::Scatter,
        Self::SendReceive,
        Self::Send,
        Self::Receive,
        Self::Copy,
        Self::Barrier,
    ];

    /// Usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllToAll => "all_to_all",
            Self::Dispatch => "dispatch",
            Self::Combine => "combine",
            Self::Notify => "notify",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::SendReceive => "send_receive",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Copy => "copy",
            Self::Barrier => "barrier",
        }
    }

    /// Tests whether all ranks must enter before any can leave.
    pub const fn blocks_all(self) -> bool {
        matches!(
            self,
            Self::AllReduce
                | Self::AllGather
                | Self::ReduceScatter
                | Self::AllToAll
                | Self::Dispatch
                | Self::Combine
                | Self::SendReceive
                | Self::Barrier
        )
    }

    /// Tests whether it is a message between two ranks.
    pub const fn is_message(self) -> bool {
        matches!(self, Self::Send | Self::Receive)
    }

    /// Tests whether it may be a message: some kernels serve messages of any kind.
    pub const fn may_be_message(self) -> bool {
        self.is_message() || matches!(self, Self::SendReceive)
    }

    /// The corresponding kind of a plan; `None` if a plan does not distinguish it.
    pub const fn in_plan(self) -> Option<Self> {
        match self {
            Self::Dispatch | Self::Combine => Some(Self::AllToAll),
            Self::Notify | Self::Gather | Self::Scatter | Self::SendReceive | Self::Copy => None,
            kind => Some(kind),
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
