//! What can be typed: flags and commands, as clap types. Refuses to act on any of it.

pub(crate) mod calibrate;
pub(crate) mod design;
pub(crate) mod joining;
pub(crate) mod launch;
pub(crate) mod network;
mod output;
pub(crate) mod pipeline;
mod profile;
pub(crate) mod records;
mod run_flags;
mod search;
mod serve;
pub(crate) mod simulate;
mod solve;
pub(crate) mod tables;
pub(crate) mod timeline;
pub(crate) mod traffic;
mod whatif;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
pub(crate) use network::{Network, RailOnly};
pub(crate) use output::{ColourChoice, Format, Global, Output};
pub(crate) use profile::{Compare, Compat, Needed, Profile, Reading};
pub(crate) use run_flags::{RunFlags, aliases_of, flag_of, short_flag_of};
pub(crate) use search::{Effort, Goal, OpenRun, Search, Size};
pub(crate) use serve::Serve;
pub(crate) use solve::{BalanceArguments, RecomputeArguments};
pub(crate) use whatif::{Sensitivity, WhatIf};

/// Models distributed training of large language models: time, memory, money.
///
/// Three inputs (a model, a cluster, a plan) become one training step, and every number is read off that step.
#[derive(Debug, Parser)]
#[command(
    name = "railwright",
    version,
    propagate_version = true,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 the answer is no (does not fit); 2 bad input or usage; 3 internal error.\n\
                  Data goes to stdout, everything else to stderr. No command opens the network."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Step time, memory and cost of a training run
    #[command(after_long_help = "Examples:\n  \
        railwright estimate llama-3.1-405b --cluster dgx-h100 --gpus 1024 --tp 8 --pp 16 --tokens 15T\n  \
        railwright estimate ./config.json --cluster h200 --gpus 64 --fsdp --software torchtitan-2024-compile\n  \
        railwright estimate --run examples/runs/deepseek-v3.toml --set plan.micro_batch=2 --json\n  \
        railwright estimate train.log --cluster dgx-h100\n  \
        railwright estimate llama-3.1-70b --cluster dgx-h100 --gpus 256 --tp 8 --pp 4 --network flow --topology clos\n\n\
        Later wins: run file, launch file, MODEL and --cluster, flags, --set. Without any parallel degree a layout that fits is chosen.")]
    Estimate(Box<Estimate>),
    /// What fills the memory of each stage, and when
    Memory(Box<Memory>),
    /// One step as a trace for ui.perfetto.dev, or as a picture
    Timeline(Box<Timeline>),
    /// The best strategy: degrees, batches, recompute, schedule, sharding, of all that are possible
    #[command(after_long_help = "Examples:\n  \
        railwright search llama-3.1-405b --cluster dgx-h100 --gpus 16384 --global-batch 2048\n  \
        railwright search llama-3.1-70b --cluster dgx-h100,dgx-a100 --gpus 256,512 --objective cost\n  \
        railwright search mixtral-8x7b --cluster h100 --gpus 128 --tp 2 --space pp=1..4 --space recompute=none,full\n  \
        railwright search llama-3.1-70b --cluster dgx-h100 --gpus 512 --why-not tp=8,pp=4 --save best.toml\n  \
        railwright search mixtral-8x22b --cluster dgx-h100 --gpus 512 --network flow --topology rail-only\n\n\
        What a run file or a flag says is fixed; the rest is searched. Exit code 1: nothing fits; 130: stopped by Ctrl-C, and what \
        was found until then is printed.\n\
        Collectives are priced in closed form. With `--network flow` it only says whom to simulate: the best by it, at least 50, are priced \
        by flows on the topology and ranked by that.")]
    Search(Box<Search>),
    /// How many machines of which kind, for a deadline or a budget, and where more stop paying
    #[command(after_long_help = "Examples:\n  \
        railwright size llama-3.1-70b --cluster dgx-h100 --tokens 15T --deadline 90d\n  \
        railwright size llama-3.1-8b --cluster dgx-h100,dgx-b200 --tokens 2T --budget 300K\n  \
        railwright size llama-3.1-405b --cluster dgx-h100 --tokens 15T --gpus 2048,4096,8192,16384 --global-batch 2048\n\n\
        The global batch is the same for every number of devices, because convergence depends on it.\n\
        Exit code 1: no number meets the deadline or the budget; the nearest is told.")]
    Size(Box<Size>),
    /// What changes to model, cluster or plan would make of a run, each alone and all together
    #[command(name = "whatif", after_long_help = whatif::WHATIF_EXAMPLES)]
    WhatIf(Box<WhatIf>),
    /// Which modules of how many layers to recompute on which stage, so that it fits and loses least
    #[command(after_long_help = solve::RECOMPUTE_EXAMPLES)]
    Recompute(Box<RecomputeArguments>),
    /// How many layers each pipeline stage should hold, with embedding and head counted
    #[command(after_long_help = solve::BALANCE_EXAMPLES)]
    Balance(Box<BalanceArguments>),
    /// What the step time hangs on: its elasticity to every figure of hardware and software
    #[command(after_long_help = whatif::SENSITIVITY_EXAMPLES)]
    Sensitivity(Box<Sensitivity>),
    /// Predict a table of measured runs, and sum up how far off the predictions are
    #[command(after_long_help = "Examples:\n  \
        railwright validate catalog/evidence/measured_runs.csv\n  \
        railwright validate catalog/evidence/measured_runs.csv --regret\n  \
        railwright validate mine.csv --regret --format csv -o sweeps.csv\n\n\
        docs/validation.md explains the columns, docs/validation-regret.md the regrets.")]
    Validate(Validate),
    /// What was measured on your machine to figures that the calculator prices with
    #[command(after_long_help = calibrate::EXAMPLES)]
    Calibrate(Box<calibrate::Calibrate>),
    /// What a launch file or a log says about a run, line by line
    Detect(launch::Detect),
    /// What communication took in the traces of a job: waits apart from transfers, bandwidths, clocks
    Comm(joining::Comm),
    /// Who the others wait for in the traces of a job, why, and what it costs the step
    Stragglers(joining::Stragglers),
    /// A training log alone: step time and MFU over time, slow steps, restarts
    Log(records::Log),
    /// Who never came to which collective, from flight records
    Hang(records::Hang),
    /// SQL over the columns of a profile
    Query(Box<tables::Query>),
    /// A profile in one file that opens at once
    Save(tables::Save),
    /// The ranks of a job as one trace for ui.perfetto.dev
    #[command(visible_alias = "perfetto")]
    ExportPerfetto(tables::ExportPerfetto),
    /// All pipeline ranks on one page: what every bubble waited for, what every stall cost
    Pipeline(pipeline::Pipeline),
    /// A run as a launch file of a training framework
    Export(Box<launch::Export>),
    /// What a number, a warning or a convention means
    Explain(Explain),
    /// A run file with comments, from what is said on the command line
    Init(Box<Init>),
    /// Run files to start from
    Examples(Examples),
    /// Where the time of a job goes, from the traces of its ranks
    #[command(after_long_help = profile::PROFILE_EXAMPLES)]
    Profile(Box<Profile>),
    /// Two traces side by side, or a trace beside the prediction of its run
    #[command(after_long_help = profile::COMPARE_EXAMPLES)]
    Compare(Box<Compare>),
    /// Models of the catalogue
    #[command(subcommand)]
    Models(Catalogue),
    /// Accelerators of the catalogue
    #[command(subcommand, visible_alias = "accelerators")]
    Gpus(Catalogue),
    /// Clusters of the catalogue
    #[command(subcommand)]
    Clusters(Catalogue),
    /// Designs of networks: what they carry, what they cost
    #[command(subcommand)]
    Network(Network),
    /// Every key of a run file; each is also a flag of `estimate`
    Keys(Listing),
    /// The JSON schema of a run file, for editors
    Schema(SchemaArguments),
    /// The page in a browser, and every question over HTTP, for this machine alone
    #[command(after_long_help = serve::EXAMPLES)]
    Serve(serve::Serve),
    /// A completion script for a shell
    Completions(Completions),
    /// The manual page, in roff
    #[command(hide = true)]
    Man(Man),
}

/// What describes a run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunArguments {
    /// A model: a name of `models list`, a config.json or the folder that holds it, a launch file or a log, or `-` for stdin
    #[arg(value_name = "MODEL", value_hint = ValueHint::AnyPath)]
    pub(crate) model: Option<String>,
    /// A launch file or a log of a training framework, of whatever kind; it may also stand in the place of MODEL
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) launch: Option<String>,
    /// A run file; what else is said wins over it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) run: Option<String>,
    /// A cluster: a name of `clusters list` or `gpus list`, or a file
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath)]
    pub(crate) cluster: Option<String>,
    /// Set any key of a run file, as in `plan.micro_batch=2`; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Shard parameters, gradients and optimizer states over all replicas; short for `--sharding fsdp`
    #[arg(long, conflicts_with_all = ["hsdp", "plan.sharding"], help_heading = "Plan")]
    pub(crate) fsdp: bool,
    /// Shard among so many ranks and replicate beyond; short for `--sharding hsdp:N`
    #[arg(long, value_name = "N", conflicts_with = "plan.sharding", help_heading = "Plan")]
    pub(crate) hsdp: Option<u64>,
    #[command(flatten)]
    pub(crate) flags: RunFlags,
}

/// Arguments of `estimate`.
#[derive(Args, Debug)]
pub(crate) struct Estimate {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// How a number came about: formulas, inputs, sources; all of them, or of one part such as `compute.mlp`
    #[arg(long, value_name = "PART", num_args = 0..=1, default_missing_value = "", help_heading = "Output")]
    pub(crate) why: Option<String>,
    /// In a report (`--format html`): a second scenario beside the first, with this argument otherwise, or without it (`tp=-`); repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Output")]
    pub(crate) compare: Vec<String>,
    #[command(flatten)]
    pub(crate) pricing: simulate::Pricing,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `memory`.
#[derive(Args, Debug)]
pub(crate) struct Memory {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// The stage to look into; the one that needs most without it
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) stage: Option<usize>,
    /// What the items are summed by
    #[arg(long, value_name = "WHAT", default_value = "kind", help_heading = "Output")]
    pub(crate) by: By,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What items of memory are summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Parameters, gradients, activations, ...
    Kind,
    /// Attention, MLP, embedding, ...
    Module,
    /// The layers of the model
    Layer,
}

/// Arguments of `timeline`.
#[derive(Args, Debug)]
pub(crate) struct Timeline {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) pricing: simulate::Pricing,
    /// Write the trace: Chrome's JSON, which ui.perfetto.dev opens, or a picture if the name ends in `.svg`
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
    /// A picture in SVG instead of a trace
    #[arg(long, help_heading = "Output", conflicts_with = "format")]
    pub(crate) svg: bool,
    /// What to write; else what the name of the file says, and a trace without one
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: Option<timeline::Format>,
    /// One rank alone, in columns
    #[arg(long, value_name = "R", help_heading = "Columns")]
    pub(crate) rank: Option<u32>,
    #[command(flatten)]
    pub(crate) cut: timeline::Cut,
    /// How much of a pass is shown
    #[arg(long, value_name = "DETAIL", default_value = "automatic", help_heading = "Output")]
    pub(crate) detail: Detail,
}

/// How much of a pass is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// Operators and collectives, unless there are too many passes
    Automatic,
    /// One span for each pass
    Passes,
    /// Families of operators, and collectives
    Operators,
}

/// Arguments of `validate`.
#[derive(Args, Debug)]
pub(crate) struct Validate {
    /// A table with the header of `catalog/evidence/measured_runs.csv`, or `-` for stdin
    #[arg(value_name = "TABLE.csv", value_hint = ValueHint::FilePath)]
    pub(crate) table: String,
    /// Judge the choice among measured layouts instead: what picking the fastest predicted one loses
    #[arg(long)]
    pub(crate) regret: bool,
    /// A calibration for the rows that ran on its accelerator
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) calibration: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// What to explain: a part of a report, a warning, a convention; all topics without it
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `init`.
#[derive(Args, Debug)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Write to a file
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
}

/// Arguments of `examples`.
#[derive(Args, Debug)]
pub(crate) struct Examples {
    /// The example to print; all names without it
    pub(crate) name: Option<String>,
    /// Write to a file
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
}

/// What can be asked of a catalogue.
#[derive(Debug, Subcommand)]
pub(crate) enum Catalogue {
    /// List them, all or those whose name matches
    List(Listing),
    /// Everything about one
    Show(Showing),
}

/// A list.
#[derive(Args, Debug)]
pub(crate) struct Listing {
    /// Only names that match: a part of the name, or a glob with `*` and `?`
    #[arg(value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// One entry.
#[derive(Args, Debug)]
pub(crate) struct Showing {
    /// Its name; for a model also a path to a config.json, or `-` for stdin
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
pub(crate) struct SchemaArguments {
    /// Write to a file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The page of this command instead of the program's
    pub(crate) command: Option<String>,
}
