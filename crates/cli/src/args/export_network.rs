//! Arguments of `network export`.

use super::RunArguments;
use super::traffic::OnNetwork;
use clap::{Args, ValueEnum, ValueHint};

pub(super) const EXAMPLES: &str = "Examples:\n  \
    railwright network export llama-3-8b --cluster dgx-h100 --gpus 64 --tp 8 --pp 2 --to astra-sim -o step/\n  \
    railwright network export --to simgrid --topology clos --network gpus=64 --routing static -o platform.xml\n  \
    railwright network export --to htsim --flows examples/networks/ring.csv --network gpus=64 -o ring.cm\n\n\
    astra-sim: a folder with a Chakra execution trace of each rank, comm_groups.json, network.yml and system.json.\n\
    simgrid: a platform with the route of every pair of devices. htsim: a connection matrix of a flow table.\n\
    `railwright network flows FOLDER` simulates the traces of a folder. docs/guides/network-flows.md has details.";

/// Arguments of `network export`.
#[derive(Args, Debug)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) on: OnNetwork,
    /// Simulator to write files for
    #[arg(long, value_name = "NAME")]
    pub(crate) to: Simulator,
    /// Routing: `ecmp`, `spray`, `static`, and on dragonflies `valiant` or `adaptive` [default: `spray`, or `adaptive` on dragonflies]
    #[arg(long, value_name = "ROUTING", help_heading = "Network")]
    pub(crate) routing: Option<String>,
    /// Table of flows, for htsim
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Network")]
    pub(crate) flows: Option<String>,
    /// File to write; a folder for astra-sim
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Output")]
    pub(crate) output: String,
}

/// A simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Simulator {
    /// Chakra execution traces, process groups, network and system
    AstraSim,
    /// Platform with the route of every pair of devices
    Simgrid,
    /// Connection matrix of a flow table
    Htsim,
}
