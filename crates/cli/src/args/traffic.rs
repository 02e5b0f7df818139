//! What `network traffic` takes: a run, a network to lay it on, and which sums are wanted.

use super::{Output, RunArguments};
use clap::{Args, ValueEnum, ValueHint};

pub(super) const EXAMPLES: &str = "Examples:\n  \
    railwright network traffic llama-3.1-405b --cluster dgx-h100 --gpus 1024 --tp 8 --pp 16\n  \
    railwright network traffic --run examples/runs/deepseek-v3.toml --by pair\n  \
    railwright network traffic --run examples/runs/llama-3.1-405b.toml --by link --topology rail-only\n  \
    railwright network traffic --run examples/runs/gpt3-175b.toml --heat heat.svg --matrix matrix.csv\n\n\
    Bytes are those that ranks send in one step, by the algorithms of --algorithm and --all-to-all. The network's devices, domains\n\
    and speed are the cluster's unless a design file or --network says otherwise.";

/// Arguments of `network traffic`.
#[derive(Args, Debug)]
pub(crate) struct Traffic {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) on: OnNetwork,
    /// What the bytes are summed by
    #[arg(long, value_name = "WHAT", default_value = "kind", help_heading = "Traffic")]
    pub(crate) by: TrafficBy,
    /// How gathers and reductions are carried out
    #[arg(long, value_name = "ALGORITHM", default_value = "ring", help_heading = "Traffic")]
    pub(crate) algorithm: Rotation,
    /// How an all-to-all is carried out
    #[arg(long, value_name = "ALGORITHM", default_value = "direct", help_heading = "Traffic")]
    pub(crate) all_to_all: AllToAll,
    /// Write who sends how much to whom, a line for each pair that talks, as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) matrix: Option<String>,
    /// Draw who sends how much to whom: a picture whose name ends in `.svg` or `.png`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) heat: Option<String>,
    /// Average matrix and picture over blocks of ranks, so many along a side; without it the file of the matrix is whole, all else has 256
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) cells: Option<u32>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The network that a run is laid on.
#[derive(Args, Debug)]
pub(crate) struct OnNetwork {
    /// A kind of `network topologies`, or a design file
    #[arg(long, value_name = "DESIGN", value_hint = ValueHint::AnyPath, help_heading = "Network")]
    pub(crate) topology: Option<String>,
    /// Any key of a design file, as in `radix=128`; repeatable
    #[arg(long = "network", value_name = "KEY=VALUE", help_heading = "Network")]
    pub(crate) keys: Vec<String>,
}

/// What traffic is summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrafficBy {
    /// Exchanges: what for, among how many, how much, how often
    Kind,
    /// Pairs of ranks: in one domain, on one rail, on different rails
    Pair,
    /// Scale-up domains
    Domain,
    /// Rails
    Rail,
    /// Links of the network, by layer
    Link,
    /// Blocks of neighbouring ranks, all together and for each parallel dimension: a square of --cells
    Matrix,
}

/// How gathers and reductions are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rotation {
    /// Around rings, one for each member in a domain, along its rail
    Ring,
    /// Everyone to everyone
    Direct,
    /// Inside domains first, then across them along rails
    Hierarchical,
}

/// How an all-to-all is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AllToAll {
    /// Everyone to everyone
    Direct,
    /// Inside domains to the receiver's rail first, then along rails
    Hierarchical,
}
