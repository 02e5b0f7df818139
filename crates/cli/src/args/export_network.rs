//! Arguments of `network export`.

use super::RunArguments;
use super::choices::choices;
use super::traffic::OnNetwork;
use clap::{Args, ValueHint};

pub(super) const EXAMPLES: &str = include_str!("help/export_network.txt");

/// Arguments of `network export`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) on: OnNetwork,
    /// Simulator to write files for
    #[arg(long, value_name = "NAME")]
    pub(crate) to: Simulator,
    /// Routing: `ecmp`, `spray`, `static`, and on dragonflies `valiant` or `adaptive` [default: `spray`, or
    /// `adaptive` on dragonflies]
    #[arg(long, value_name = "ROUTING", help_heading = "Network")]
    pub(crate) routing: Option<String>,
    /// Table of flows, for htsim
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Network")]
    pub(crate) flows: Option<String>,
    /// File to write; a folder for astra-sim
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Output")]
    pub(crate) output: String,
}

choices! {
    /// A simulator.
    Simulator as railwright_commands::Simulator {
        /// Chakra execution traces, process groups, network and system
        AstraSim,
        /// Platform with the route of every pair of devices
        Simgrid,
        /// Connection matrix of a flow table
        Htsim,
        /// Fabric (DOT) of pods joined by optical circuits that match the run's traffic
        Circuits,
    }
}
