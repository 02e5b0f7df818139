//! Arguments of `network traffic`: a run, its network, and the requested sums.

use super::choices::choices;
use super::placement::OnHosts;
use super::{Output, RunArguments};
use crate::input::networks::on_network;
use clap::{Args, ValueHint};
use railwright_network::traffic::Algorithm;

pub(super) const EXAMPLES: &str = include_str!("help/traffic.txt");

/// Arguments of `network traffic`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Traffic {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) on: OnNetwork,
    #[command(flatten)]
    pub(crate) hosts: OnHosts,
    /// Group bytes by
    #[arg(long, value_name = "KEY", default_value = "kind", help_heading = "Traffic")]
    pub(crate) by: TrafficBy,
    /// Algorithm for all-gather, reduce-scatter and all-reduce
    #[arg(long, value_name = "ALGORITHM", default_value = "ring", help_heading = "Traffic")]
    pub(crate) algorithm: Rotation,
    /// Algorithm for all-to-all
    #[arg(long, value_name = "ALGORITHM", default_value = "direct", help_heading = "Traffic")]
    pub(crate) all_to_all: AllToAll,
    /// Write the traffic matrix as CSV, one line per communicating pair
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) matrix: Option<String>,
    /// Write the traffic matrix as a heat map (`.svg` or `.png`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) heat: Option<String>,
    /// Average the matrix and the heat map over N x N blocks of ranks [default: 256; full matrix in CSV]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) cells: Option<u32>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The network that a run is laid on.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct OnNetwork {
    /// Topology from `network topologies`, or a design file
    #[arg(long, value_name = "DESIGN", value_hint = ValueHint::AnyPath, help_heading = "Network")]
    pub(crate) topology: Option<String>,
    /// Any design-file key: `radix=128` (repeatable)
    #[arg(long = "network", value_name = "KEY=VALUE", help_heading = "Network")]
    pub(crate) keys: Vec<String>,
}

impl From<&OnNetwork> for on_network::OnNetwork {
    fn from(on: &OnNetwork) -> Self {
        Self { topology: on.topology.clone(), keys: on.keys.clone() }
    }
}

choices! {
    /// Key of traffic sums.
    TrafficBy as railwright_commands::TrafficBy {
        /// Collective kind: purpose, group size, bytes and count
        Kind,
        /// Pairs of ranks: same domain, same rail or different rails
        Pair,
        /// Scale-up domains
        Domain,
        /// Rails
        Rail,
        /// Links of the network, by layer
        Link,
        /// Blocks of neighbouring ranks, in total and per parallel dimension (size: --cells)
        Matrix,
    }
}

choices! {
    /// Algorithm for all-gather, reduce-scatter and all-reduce.
    Rotation as Algorithm {
        /// Rings, one per domain member, along its rail
        Ring,
        /// Direct exchange between all ranks
        Direct,
        /// Within domains first, then across domains along rails
        Hierarchical,
    }
}

choices! {
    /// Algorithm for all-to-all.
    AllToAll as Algorithm {
        /// Direct exchange between all ranks
        Direct,
        /// First within the domain to the receiver's rail, then along that rail
        Hierarchical,
    }
}
