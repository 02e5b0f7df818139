//! Arguments of `network flows`, and of commands that take a fabric from a file.

use super::Output;
use super::traffic::OnNetwork;
use clap::{Args, ValueHint};
use railwright_commands::Specified;

pub(super) const EXAMPLES: &str = include_str!("help/flows.txt");

/// Arguments of `network flows`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct FlowsOn {
    /// Table of flows (CSV or JSON), or a folder of execution traces
    #[arg(value_name = "FLOWS", value_hint = ValueHint::FilePath)]
    pub(crate) flows: String,
    /// Cluster, for scale-up domains and NIC bandwidth: a name from `clusters list` or `gpus list`, or a
    /// file [default: dgx-h100]
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath)]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) network: Networked,
    /// Routing: `ecmp`, `spray`, `static`, and on dragonflies `valiant` or `adaptive` [default: `spray`, or
    /// `adaptive` on dragonflies]
    #[arg(long, value_name = "ROUTING", help_heading = "Network")]
    pub(crate) routing: Option<String>,
    /// Number of hash seeds; reports the median and the 90th percentile of the makespan
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Network")]
    pub(crate) seeds: u32,
    #[command(flatten)]
    pub(crate) failed: FailedParts,
    /// Write start and end of every flow as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) ends: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Failed parts of a design.
#[derive(Args, Debug, Default, serde::Deserialize)]
pub(crate) struct FailedParts {
    /// Failed part, such as `nic:3`, `leaf:0` or `link:leaf-spine:5` (repeatable)
    #[arg(long, value_name = "PART", conflicts_with = "fabric", help_heading = "Network")]
    pub(crate) fail: Vec<String>,
}

/// Failed parts, and what becomes of their traffic.
#[derive(Args, Debug, Default, serde::Deserialize)]
pub(crate) struct Broken {
    #[command(flatten)]
    pub(crate) failed: FailedParts,
    /// Traffic of a device that lost NIC ports: `alone`, over one `neighbour`, or `spread` over its domain
    #[arg(
        long,
        value_name = "HOW",
        default_value = Specified::RECOVERY,
        conflicts_with = "fabric",
        help_heading = "Network"
    )]
    pub(crate) recovery: String,
}

/// A network: a design, or a fabric from a file.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Networked {
    #[command(flatten)]
    pub(crate) on: OnNetwork,
    /// Fabric file: DOT, GraphML, `ibnetdiscover`, NetBox
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["topology", "keys"], help_heading = "Network")]
    pub(crate) fabric: Option<String>,
}

impl Networked {
    /// The network with its routing and failed parts.
    pub(crate) fn specified(
        &self,
        routing: Option<&String>,
        failed: &FailedParts,
        recovery: &str,
    ) -> Specified {
        Specified {
            on: (&self.on).into(),
            fabric: self.fabric.clone(),
            routing: routing.cloned(),
            fail: failed.fail.clone(),
            recovery: recovery.to_owned(),
        }
    }
}
