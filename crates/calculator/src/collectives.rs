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
mod efa;
mod expert;
mod fabric;
mod law;
mod link;
mod links;
mod network;
mod torus;

pub use doubt::MEASURED_RACKS;
pub use fabric::Fabric;
pub use law::bus_factor;
pub use link::pair_share;
pub(crate) use network::ring_share;
pub use railwright_spec::Collective;
pub use torus::TORUS_SHARE;

use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Group;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

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
