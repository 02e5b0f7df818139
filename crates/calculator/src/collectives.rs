//! Duration of collectives by operation, bytes, ranks, and placement of the group.
//!
//! Responsible for: one group's isolated collective on its links (with a factor for NICs that several groups
//! share). Inside a scale-up domain a model of three measured constants applies. Between domains the fastest
//! of the NCCL family's algorithms is used. Excludes overlap with compute, and other traffic on a shared
//! fabric (the network crate covers that through [`CollectiveTimer`]).
//!
//! Sizes are those of nccl-tests: see [`Collective`].

mod across;
mod calibrated;
mod domain;
mod doubt;
mod expert;
mod fabric;
mod law;
mod link;
mod network;
mod torus;

pub(crate) use calibrated::collective;
pub use doubt::MEASURED_RACKS;
pub use fabric::Fabric;
pub use law::bus_factor;
pub use link::pair_share;
pub(crate) use network::ring_share;
pub use torus::TORUS_SHARE;

use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Group;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// Collective operation, with the buffer that `bytes` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// Dispatch of tokens to the ranks of their experts, once per domain (DeepEP); bytes as in an all-to-all:
    /// tokens x `copies` x width.
    ExpertDispatch {
        /// Experts per token (top-k).
        copies: u32,
        /// Domains that a token may visit at most (group-limited routing with groups as domains); 0 is no
        /// limit.
        most_domains: u32,
    },
    /// One rank's buffer reaches all; bytes of the buffer.
    Broadcast,
    /// One rank sends to its neighbour; bytes of the message.
    SendReceive,
}

impl Collective {
    /// The operations that nccl-tests measures.
    const ALL: [Self; 6] = [
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

    /// Parses an operation's name as in tables, NCCL or nccl-tests: `all_reduce`, `all-reduce`, `AllReduce`,
    /// `sendrecv`.
    pub fn by_name(name: &str) -> Option<Self> {
        let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
        let wanted = plain(name);
        if wanted == "sendrecv" {
            return Some(Self::SendReceive);
        }
        Self::ALL.into_iter().find(|operation| plain(operation.name()) == wanted)
    }
}

/// Evidence for a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Nothing is sent.
    Nothing,
    /// A model fitted to measurements of the user's own machine.
    Calibrated,
    /// A model fitted on this link generation, operation and rank count.
    Measured,
    /// Between or beyond the measured rank counts of this link generation.
    Interpolated,
    /// From data-sheet bandwidths and constants of other systems.
    Derived,
}

/// Cost of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectiveCost {
    /// Time from the last rank's start to the end.
    pub time: Seconds,
    /// Part of the time that is independent of the bytes.
    pub latency: Seconds,
    /// Bytes that one rank sends into its scale-up domain.
    pub wire_bytes_scale_up: Bytes,
    /// Bytes that one rank sends through its NIC.
    pub wire_bytes_network: Bytes,
    /// Evidence for the time.
    pub source: Source,
    /// Assumed algorithm of the library (`ring`, `tree`, `nvls`, ...).
    pub algorithm: &'static str,
}

impl CollectiveCost {
    /// Cost for a group of one rank, or for no bytes.
    pub const NOTHING: Self = Self {
        time: Seconds::ZERO,
        latency: Seconds::ZERO,
        wire_bytes_scale_up: Bytes::ZERO,
        wire_bytes_network: Bytes::ZERO,
        source: Source::Nothing,
        algorithm: "none",
    };
}

/// Model of a collective's duration: in closed form ([`Fabric`]) or by simulating flows
/// ([`Fabric::answered_by`]).
pub trait CollectiveTimer: std::fmt::Debug + Send + Sync {
    /// Time of one collective of one group. `sharing` counts the concurrent groups that share each NIC (1:
    /// every rank has its own).
    fn time(&self, op: Collective, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost;

    /// Time of one message from a rank of a group to the next.
    fn send(&self, bytes: Bytes, group: &Group, sharing: f64) -> CollectiveCost;

    /// Reason why a query failed; `None` without failures. Earlier results are then invalid.
    fn problem(&self) -> Option<Problem> {
        None
    }
}

/// Dimensions of the torus that connects all devices of a cluster (TPU pods). `None` without a torus. Its
/// collectives follow a separate model.
pub fn torus_dimensions(cluster: &Cluster) -> Option<u32> {
    match link::LinkClass::of(cluster) {
        link::LinkClass::Torus(dimensions) if cluster.devices <= cluster.scale_up.domain_size => {
            Some(dimensions)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
