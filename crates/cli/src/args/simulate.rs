//! Arguments of `network simulate`, and of `estimate` and `timeline` for collectives priced by flows.

use super::flows::{Broken, Networked};
use super::placement::OnHosts;
use super::{Output, RunArguments};
use clap::{Args, ValueHint};

pub(super) const EXAMPLES: &str = include_str!("help/simulate.txt");

/// Arguments of `network simulate`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) network: Networked,
    #[command(flatten)]
    pub(crate) hosts: OnHosts,
    /// Second run on the same network: a run file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "fabric", help_heading = "Placement")]
    pub(crate) job: Option<String>,
    /// Slurm node list of the second run [default: first free hosts]
    #[arg(long, value_name = "NODES", help_heading = "Placement")]
    pub(crate) job_nodelist: Option<String>,
    /// Write the fastest order of the hosts as a host file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) reordered: Option<String>,
    /// Routing: `ecmp`, `spray`, `static`, and on dragonflies `valiant` or `adaptive` [default: `spray`, or
    /// `adaptive` on dragonflies]
    #[arg(long, value_name = "ROUTING", help_heading = "Network")]
    pub(crate) routing: Option<String>,
    /// Number of hash seeds; reports the median and the 90th percentile of the step time (`ecmp` routing)
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub(crate) seeds: Option<u32>,
    #[command(flatten)]
    pub(crate) broken: Broken,
    /// Background load as a share of NIC bandwidth on all devices, such as `0.2`, or on unused ones
    /// (`spare=0.5`)
    #[arg(long, value_name = "LOAD", allow_negative_numbers = true, help_heading = "Network")]
    pub(crate) background: Option<String>,
    /// Write the load of links over the step: CSV, or a chart if the name ends in `.svg`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) loads: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Pricing of collectives.
#[derive(Args, Clone, Debug, Default, serde::Deserialize)]
pub(crate) struct Pricing {
    /// Compute collective times by simulation (`flow`) or in closed form (`closed`); KEY=VALUE sets a
    /// topology key (repeatable)
    #[arg(long = "network", value_name = "HOW", help_heading = "Network")]
    pub(crate) network: Vec<String>,
    /// Topology for `--network flow`: a name from `network topologies` or a design file [default:
    /// non-blocking fabric]
    #[arg(long, value_name = "DESIGN", value_hint = ValueHint::AnyPath, help_heading = "Network")]
    pub(crate) topology: Option<String>,
}

impl From<&Pricing> for railwright_commands::Pricing {
    fn from(pricing: &Pricing) -> Self {
        Self { network: pricing.network.clone(), topology: pricing.topology.clone() }
    }
}

impl Pricing {
    /// The request.
    pub(crate) fn wanted(&self) -> railwright_commands::Pricing {
        self.into()
    }

    /// The equivalent flags, each after a space; empty for the closed form.
    pub(crate) fn flags(&self) -> String {
        let topology = self.topology.iter().map(|design| format!(" --topology {design}"));
        let network = self.network.iter().map(|word| format!(" --network {word}"));
        network.chain(topology).collect()
    }
}
