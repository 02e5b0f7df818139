//! Flags and commands, as clap types, without behaviour.

mod brief;
pub(crate) mod calibrate;
pub(crate) mod check;
mod choices;
pub(crate) mod collective;
mod common_words;
pub(crate) mod design;
pub(crate) mod export_network;
pub(crate) mod flows;
pub(crate) mod frameworks;
pub(crate) mod goodput;
pub(crate) mod joining;
mod later;
pub(crate) mod launch;
pub(crate) mod network;
mod output;
mod overview;
pub(crate) mod pipeline;
pub(crate) mod placement;
mod profile;
pub(crate) mod records;
mod run_arguments;
mod run_flags;
mod run_settings;
mod search;
mod serve;
pub(crate) mod simulate;
mod solve;
pub(crate) mod tables;
pub(crate) mod timeline;
pub(crate) mod traffic;
pub(crate) mod tune;
mod whatif;

use choices::choices;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
pub(crate) use later::Later;
pub(crate) use network::{Network, RailOnly};
pub(crate) use output::{ColourChoice, Format, Global, Output};
pub(crate) use profile::{Compare, Compat, Needed, Profile, Reading};
pub(crate) use run_arguments::RunArguments;
pub(crate) use run_flags::{RunFlags, Sharding};
pub(crate) use run_settings::RunSettings;
pub(crate) use search::{Effort, Goal, OpenRun, Search, Size};
#[cfg(not(target_family = "wasm"))]
pub(crate) use serve::Serve;
pub(crate) use solve::{BalanceArguments, RecomputeArguments};
pub(crate) use whatif::{Sensitivity, WhatIf};

/// Model, profile and tune distributed LLM training: step time, memory and cost
///
/// A model, a cluster and a plan define one training step. Every predicted number is derived from that step.
#[derive(Debug, Parser)]
#[command(
    name = "railwright",
    version,
    propagate_version = true,
    max_term_width = 80,
    arg_required_else_help = true,
    after_help = include_str!("args/help/arguments.txt")
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Every command, complete.
pub(crate) fn whole() -> clap::Command {
    let mut whole = <Arguments as clap::CommandFactory>::command();
    whole.build();
    whole
}

/// The commands.
#[derive(Debug, Subcommand, serde::Deserialize)]
pub(crate) enum Command {
    /// Estimate step time, memory and cost of a training run
    #[command(after_long_help = include_str!("args/help/estimate.txt"))]
    Estimate(Later<Estimate>),
    /// Break down peak memory per pipeline stage
    #[command(after_long_help = "Exit codes: 0 fits; 1 does not fit; 4 at risk.")]
    Memory(Later<Memory>),
    /// Write one predicted step as a Perfetto trace or SVG
    Timeline(Later<Timeline>),
    /// Search for the best layout: parallel sizes, batch sizes, recompute, schedule and sharding
    #[command(after_long_help = include_str!("args/help/search.txt"))]
    Search(Later<Search>),
    /// Tune a launch file: rank better layouts and write the change as a diff
    #[command(after_long_help = tune::EXAMPLES)]
    Tune(Later<tune::Tune>),
    /// Check launch files: valid for their framework, and within device memory
    #[command(after_long_help = check::EXAMPLES)]
    Check(Later<check::Check>),
    /// Size a cluster for a deadline or a budget
    #[command(after_long_help = include_str!("args/help/size.txt"))]
    Size(Later<Size>),
    /// Estimate goodput over time, with failures, checkpoints and restarts
    #[command(after_long_help = goodput::EXAMPLES)]
    Goodput(Later<goodput::Goodput>),
    /// Compare a run with one or more changes applied
    #[command(name = "whatif", after_long_help = whatif::WHATIF_EXAMPLES)]
    WhatIf(Later<WhatIf>),
    /// Choose the cheapest selective recompute that fits, per stage
    #[command(after_long_help = solve::RECOMPUTE_EXAMPLES)]
    Recompute(Later<RecomputeArguments>),
    /// Balance layers across pipeline stages, including embedding and head
    #[command(after_long_help = solve::BALANCE_EXAMPLES)]
    Balance(Later<BalanceArguments>),
    /// Rank hardware and software parameters by their effect on step time
    #[command(after_long_help = whatif::SENSITIVITY_EXAMPLES)]
    Sensitivity(Later<Sensitivity>),
    /// Predict a table of measured runs and summarize the prediction error
    #[command(after_long_help = include_str!("args/help/validate.txt"))]
    Validate(Later<Validate>),
    /// Fit the cost model to your own measurements
    #[command(after_long_help = calibrate::EXAMPLES)]
    Calibrate(Later<calibrate::Calibrate>),
    /// Show the settings found in a launch file or log, line by line
    Detect(Later<launch::Detect>),
    /// Break communication down into wait and transfer time, with bus bandwidth
    Comm(Later<joining::Comm>),
    /// Find straggler ranks, their cause and their cost per step
    Stragglers(Later<joining::Stragglers>),
    /// Analyse a training log: step time, MFU, slow steps and restarts
    Log(Later<records::Log>),
    /// Diagnose a hung job from flight-recorder dumps
    Hang(Later<records::Hang>),
    /// Break down a PyTorch memory snapshot: peak by stack, fragmentation and growth
    MemorySnapshot(Later<records::MemorySnapshot>),
    /// Query traces with SQL
    Query(Later<tables::Query>),
    /// Save traces as a compact profile for fast reloading
    Save(Later<tables::Save>),
    /// Reduce traces to small Parquet files, one per rank, for joint analysis
    Digest(Later<tables::Digest>),
    /// Merge the traces of all ranks into one Perfetto trace
    #[command(visible_alias = "perfetto")]
    ExportPerfetto(Later<tables::ExportPerfetto>),
    /// Analyse pipeline bubbles and stalls across all stages
    Pipeline(Later<pipeline::Pipeline>),
    /// Export a run as a launch file for a training framework
    Export(Later<launch::Export>),
    /// Explain a metric, a warning or a convention
    Explain(Later<Explain>),
    /// Write a commented run file from command-line options
    Init(Later<Init>),
    /// Print an example run file
    Examples(Later<Examples>),
    /// Profile a job: break down step time from the traces of its ranks
    #[command(after_long_help = profile::PROFILE_EXAMPLES)]
    Profile(Later<Profile>),
    /// Compare two traces, or a trace with its prediction
    #[command(after_long_help = profile::COMPARE_EXAMPLES)]
    Compare(Later<Compare>),
    /// List or show models in the catalogue
    #[command(subcommand)]
    Models(Catalogue),
    /// List or show accelerators in the catalogue
    #[command(subcommand, visible_alias = "accelerators")]
    Gpus(Catalogue),
    /// List or show clusters in the catalogue
    #[command(subcommand)]
    Clusters(Catalogue),
    /// Design, simulate and price cluster networks
    #[command(subcommand)]
    Network(Network),
    /// List all run-file keys (each is also a flag of `estimate`)
    Keys(Later<Listing>),
    /// Print the JSON schema of a run file
    Schema(Later<SchemaArguments>),
    /// List the values of each setting that are valid with the rest of a run
    #[command(hide = true)]
    Values(Later<Values>),
    /// Start the web UI and HTTP API on localhost
    #[command(after_long_help = serve::EXAMPLES)]
    #[serde(skip)]
    Serve(Later<serve::Serve>),
    /// Generate a shell completion script
    #[cfg(not(target_family = "wasm"))]
    #[serde(skip)]
    Completions(Later<Completions>),
    /// Print the manual page in roff
    #[cfg(not(target_family = "wasm"))]
    #[command(hide = true)]
    #[serde(skip)]
    Man(Later<Man>),
}

/// Arguments of `estimate`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Estimate {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Show formulas, inputs and sources of all numbers, or of one part such as `compute.mlp`
    #[arg(long, value_name = "PART", num_args = 0..=1, default_missing_value = "", help_heading = "Output")]
    pub(crate) why: Option<String>,
    /// Add a scenario with this argument changed, or removed (`tp=-`), to an HTML report (repeatable)
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Output")]
    pub(crate) compare: Vec<String>,
    /// Write a chart of the step breakdown (`-` for standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) svg: Option<String>,
    #[command(flatten)]
    pub(crate) pricing: simulate::Pricing,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `values`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Values {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `memory`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Memory {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Pipeline stage to show [default: the stage with the highest peak]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) stage: Option<usize>,
    /// Group items by
    #[arg(long, value_name = "KEY", default_value = "kind", help_heading = "Output")]
    pub(crate) by: By,
    /// Write a chart of the memory of all stages (`-` for standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) svg: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

choices! {
    /// Key of memory sums.
    By as railwright_reports::memory::By {
        /// Parameters, gradients, activations, ...
        Kind,
        /// Attention, MLP, embedding, ...
        Module,
        /// Layer of the model
        Layer,
    }
}

/// Arguments of `timeline`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Timeline {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) pricing: simulate::Pricing,
    /// Write a Chrome trace (opens in ui.perfetto.dev), or an SVG if the name ends in `.svg`
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
    /// Output an SVG instead of a trace
    #[arg(long, help_heading = "Output", conflicts_with = "format")]
    pub(crate) svg: bool,
    /// Output format [default: by file suffix, else chrome]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: Option<timeline::Format>,
    /// Show one rank only (with `--format columns`)
    #[arg(long, value_name = "R", help_heading = "Columns")]
    pub(crate) rank: Option<u32>,
    #[command(flatten)]
    pub(crate) cut: timeline::Cut,
    /// Level of detail within a pass
    #[arg(long, value_name = "DETAIL", default_value = "automatic", help_heading = "Output")]
    pub(crate) detail: Detail,
}

/// Level of detail within a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
pub(crate) enum Detail {
    /// Operators and collectives, or passes if there are too many
    Automatic,
    /// One span per pass
    Passes,
    /// Operator families and collectives
    Operators,
    /// Every layer with its operators and collectives
    Layers,
}

/// Arguments of `validate`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Validate {
    /// CSV table with the header of `catalog/evidence/measured_runs.csv`, or `-` for stdin
    #[arg(value_name = "TABLE.csv", value_hint = ValueHint::FilePath)]
    pub(crate) table: String,
    /// Report the slowdown from choosing the layout predicted to be fastest (regret)
    #[arg(long)]
    pub(crate) regret: bool,
    /// Apply a calibration to the rows measured on its accelerator
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) calibration: Option<String>,
    /// Predict collectives on clusters, with the columns of `catalog/evidence/collectives_at_scale.csv`
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["regret", "calibration"])]
    pub(crate) network: Option<NetworkModel>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Models of `validate --network`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
pub(crate) enum NetworkModel {
    /// Closed form only
    Closed,
    /// Closed form and flow simulation
    Flow,
}

/// Arguments of `explain`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Explain {
    /// Part of a report, warning or convention [default: list all topics]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `init`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Write to a file
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
}

/// Arguments of `examples`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Examples {
    /// Example to print [default: list all names]
    pub(crate) name: Option<String>,
    /// Write to a file
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
}

/// Commands of a catalogue.
#[derive(Debug, Subcommand, serde::Deserialize)]
pub(crate) enum Catalogue {
    /// List entries, optionally filtered by name
    List(Listing),
    /// Show one entry in full
    Show(Showing),
}

/// A list.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Listing {
    /// Filter by substring, or by a glob with `*` and `?`
    #[arg(value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// One entry.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Showing {
    /// Name; for a model also the path of a config.json, or `-` for stdin
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `schema`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct SchemaArguments {
    /// Write to a file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// Arguments of `completions`.
#[cfg(not(target_family = "wasm"))]
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// Shell to generate the script for
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[cfg(not(target_family = "wasm"))]
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Print the page of this command only
    pub(crate) command: Option<String>,
    /// Write the pages of all commands to a folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command", value_hint = ValueHint::DirPath)]
    pub(crate) all: Option<String>,
}
