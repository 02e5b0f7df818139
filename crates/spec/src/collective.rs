//! Collective operations with a modelled time, and the buffer that their bytes count (as in nccl-tests).

use serde::{Deserialize, Serialize};

/// Collective operation with a modelled time. Its kind on a timeline is `railwright_step::CollectiveKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Collective {
    /// Every rank ends with the sum; bytes of the buffer.
    AllReduce,
    /// Every rank ends with all shards; bytes of the gathered buffer.
    AllGather,
    /// Every rank ends with one shard of the sum; bytes of the input buffer.
    ReduceScatter,
    /// Every rank sends a part to each; bytes of one rank's send buffer, its own part included.
    AllToAll,
    /// Dispatch of tokens to the ranks of their experts, once per domain (DeepEP): tokens x `copies` x width.
    #[serde(skip_deserializing)]
    ExpertDispatch {
        /// Experts per token (top-k).
        copies: u32,
        /// Maximum number of domains of a token (group-limited routing with groups as domains); 0: no limit.
        most_domains: u32,
    },
    /// One rank's buffer reaches all; bytes of the buffer.
    Broadcast,
    /// One rank sends to its neighbour; bytes of the message.
    SendReceive,
}

impl Collective {
    /// The operations that nccl-tests measures.
    pub const MEASURED: [Self; 6] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Broadcast,
        Self::SendReceive,
    ];

    /// Identifier of the operation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllToAll => "all_to_all",
            Self::ExpertDispatch { .. } => "expert_dispatch",
            Self::Broadcast => "broadcast",
            Self::SendReceive => "send_receive",
        }
    }

    /// Parses the name of a measured operation, as `all_reduce`, `all-reduce`, `AllReduce` or `sendrecv`.
    pub fn by_name(name: &str) -> Option<Self> {
        let plain = |s: &str| s.to_lowercase().replace(['-', '_'], "").replace("sendrecv", "sendreceive");
        Self::MEASURED.into_iter().find(|operation| plain(operation.name()) == plain(name))
    }
}
