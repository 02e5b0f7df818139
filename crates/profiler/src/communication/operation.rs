//! Communication operations.
//!
//! Responsible for: the operations distinguished in traces, which are more than those of a plan. Does not
//! read names.

use railwright_step::CollectiveKind;
use serde::{Deserialize, Serialize};

/// A communication operation, from its name or its recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Sum on all ranks.
    AllReduce,
    /// Every rank gets the parts of all ranks.
    AllGather,
    /// One part of the sum on each rank.
    ReduceScatter,
    /// Every rank gets a part from every rank.
    AllToAll,
    /// Tokens to their experts.
    Dispatch,
    /// Tokens back from their experts.
    Combine,
    /// Sizes and readiness before a dispatch or a combine.
    Notify,
    /// Data of one rank on all ranks.
    Broadcast,
    /// One rank gets the sum.
    Reduce,
    /// One rank gets the parts of all ranks.
    Gather,
    /// Every rank gets a part from one rank.
    Scatter,
    /// Messages in both directions, or an all-to-all made of messages.
    SendReceive,
    /// Message from one rank to another.
    Send,
    /// The receiving end of [`Self::Send`].
    Receive,
    /// A copy to another device by a copy engine or by stores.
    Copy,
    /// Synchronization without data.
    Barrier,
}

impl Operation {
    /// Standard name.
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

    /// The corresponding operation of a plan; `None` if a plan does not distinguish it.
    pub const fn kind(self) -> Option<CollectiveKind> {
        Some(match self {
            Self::AllReduce => CollectiveKind::AllReduce,
            Self::AllGather => CollectiveKind::AllGather,
            Self::ReduceScatter => CollectiveKind::ReduceScatter,
            Self::AllToAll | Self::Dispatch | Self::Combine => CollectiveKind::AllToAll,
            Self::Broadcast => CollectiveKind::Broadcast,
            Self::Reduce => CollectiveKind::Reduce,
            Self::Send => CollectiveKind::Send,
            Self::Receive => CollectiveKind::Receive,
            Self::Barrier => CollectiveKind::Barrier,
            Self::Notify | Self::Gather | Self::Scatter | Self::SendReceive | Self::Copy => return None,
        })
    }
}

impl From<CollectiveKind> for Operation {
    fn from(kind: CollectiveKind) -> Self {
        match kind {
            CollectiveKind::AllReduce => Self::AllReduce,
            CollectiveKind::AllGather => Self::AllGather,
            CollectiveKind::ReduceScatter => Self::ReduceScatter,
            CollectiveKind::AllToAll => Self::AllToAll,
            CollectiveKind::Broadcast => Self::Broadcast,
            CollectiveKind::Reduce => Self::Reduce,
            CollectiveKind::Send => Self::Send,
            CollectiveKind::Receive => Self::Receive,
            CollectiveKind::Barrier => Self::Barrier,
        }
    }
}
