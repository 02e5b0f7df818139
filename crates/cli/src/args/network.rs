//! What `network` takes: designs by kind, by file, and by a flag for each key of a design file.

use super::Output;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueHint};
use railwright_network::topology::DesignSpec;
use railwright_spec::run::{Key, Kind, Section};

/// What can be asked of networks.
#[derive(Debug, Subcommand)]
pub(crate) enum Network {
    /// Kinds of networks, what each takes, and published systems counted again
    #[command(after_long_help = "Examples:\n  \
        railwright network topologies\n  \
        railwright network topologies dragonfly\n  \
        railwright network topologies --published")]
    Topologies(Topologies),
    /// One design: what it is made of, how far it reaches, a picture
    #[command(after_long_help = "Examples:\n  \
        railwright network show rail-only --gpus 32768 --domain 256\n  \
        railwright network show examples/networks/hpn-pod.toml\n  \
        railwright network show dragonfly --gpus 4096 --radix 32 --svg -o dragonfly.svg\n\n\
        Flags are the keys of a design file and win over it.")]
    Show(Box<Show>),
    /// Bills of materials of several designs side by side: dollars, watts, break-even points
    #[command(after_long_help = "Examples:\n  \
        railwright network cost --gpus 32768 --domain 256 --radix 64 --speed 400G\n  \
        railwright network cost --gpus 16384 --designs clos,rail-only,examples/networks/hpn-pod.toml\n  \
        railwright network cost --gpus 32768 --domain 256 --prices catalog/network/prices-rail-only-v5.csv\n  \
        railwright network cost --run examples/runs/llama-3.1-405b.toml --designs clos,rail-only,dual-plane\n\n\
        Savings are against the first design. A price list has the header of catalog/network/prices.csv; its lines win.")]
    Cost(Box<Cost>),
    /// What failed links, NICs and switches take away: slow-down, lost accelerator-hours, states with several parts down
    #[command(after_long_help = "Examples:\n  \
        railwright network failures rail-only --gpus 16384 --radix 128\n  \
        railwright network failures clos rail-only dual-plane --gpus 16384 --exposed-share 0.2\n  \
        railwright network failures rail-only --gpus 16384 --fail leaf=2 --sample-seed 7\n  \
        railwright network failures dual-plane --gpus 15360 --fail leaf#0 --fail nic#12\n  \
        railwright network failures rail-optimized --run examples/runs/llama-3.1-405b.toml\n\n\
        One failure of each class is exact for all of its members. Rates and times to repair are those of\n\
        catalog/network/failure_rates.csv; lines of --rates win. Exit code 1: with the parts of --fail down the step cannot finish.")]
    Failures(Box<Failures>),
    /// Which network and strategy together: step time against dollars and watts over domain sizes, topologies, oversubscription, speeds
    #[command(after_long_help = super::design::EXAMPLES)]
    Design(Box<super::design::Design>),
    /// What a step of a run puts between ranks, domains, rails and on links: sums, matrix, heat map
    #[command(after_long_help = super::traffic::EXAMPLES)]
    Traffic(Box<super::traffic::Traffic>),
    /// A step with its exchanges as flows: congestion, oversubscription, broken parts, other jobs
    #[command(after_long_help = super::simulate::EXAMPLES)]
    Simulate(Box<super::simulate::Simulate>),
    /// The rail-only paper: every claim beside what comes out here, and its figures
    #[command(
        name = "rail-only",
        after_long_help = "Examples:\n  \
        railwright network rail-only\n  \
        railwright network rail-only --figures figures/\n  \
        railwright network rail-only --json | jq '.domain_sweep'"
    )]
    RailOnly(RailOnly),
}

/// Arguments of `network rail-only`.
#[derive(Args, Debug)]
pub(crate) struct RailOnly {
    /// Draw the paper's figures into this folder, which is made if need be
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) figures: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network topologies`.
#[derive(Args, Debug)]
pub(crate) struct Topologies {
    /// The kind to tell all keys of
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Published systems: their counts, and the generator's
    #[arg(long, conflicts_with = "kind")]
    pub(crate) published: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network show`.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// A kind of `network topologies`, or a design file
    #[arg(value_name = "DESIGN", value_hint = ValueHint::AnyPath)]
    pub(crate) design: Option<String>,
    #[command(flatten)]
    pub(crate) flags: DesignFlags,
    /// A picture in SVG
    #[arg(long, help_heading = "Output")]
    pub(crate) svg: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network cost`.
#[derive(Args, Debug)]
pub(crate) struct Cost {
    /// Kinds of `network topologies` or design files, the first to hold the others against
    #[arg(
        long,
        value_name = "DESIGN,...",
        value_delimiter = ',',
        default_value = "clos,rail-optimized,trimmed,rail-only,dual-plane,dragonfly"
    )]
    pub(crate) designs: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: DesignFlags,
    /// A price list whose lines win over the catalogue's; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Prices")]
    pub(crate) prices: Vec<String>,
    /// The accelerator, for the network's share of the cluster; the run's, else h100-sxm5-80gb
    #[arg(long, value_name = "NAME", help_heading = "Prices")]
    pub(crate) accelerator: Option<String>,
    /// Tokens a second of a run on all devices, for dollars by token
    #[arg(long, value_name = "X", conflicts_with = "run", help_heading = "Prices")]
    pub(crate) tokens_per_second: Option<f64>,
    /// A run file: its step on each design, and what a token, a day and the run cost there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Prices")]
    pub(crate) run: Option<String>,
    /// Set any key of the run file, as in `plan.micro_batch=2`; repeatable
    #[arg(long, value_name = "KEY=VALUE", requires = "run", help_heading = "Prices")]
    pub(crate) set: Vec<String>,
    /// Years over which the network is paid
    #[arg(long, value_name = "X", default_value_t = 4.0, help_heading = "Prices")]
    pub(crate) years: f64,
    /// Dollars for a kilowatt-hour; the catalogue's without it
    #[arg(long, value_name = "X", help_heading = "Prices")]
    pub(crate) electricity_price: Option<f64>,
    /// Every line of every bill
    #[arg(long, help_heading = "Output")]
    pub(crate) lines: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network failures`.
#[derive(Args, Debug)]
pub(crate) struct Failures {
    /// Kinds of `network topologies` or design files, to compare if there are several
    #[arg(value_name = "DESIGN", value_hint = ValueHint::AnyPath)]
    pub(crate) designs: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: DesignFlags,
    /// Share of the step that is exposed network time; 0.2 without it or a run
    #[arg(
        long,
        value_name = "X",
        conflicts_with = "run",
        allow_negative_numbers = true,
        help_heading = "Job"
    )]
    pub(crate) exposed_share: Option<f64>,
    /// A run file: slow-downs are those of its step with less bandwidth
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Job")]
    pub(crate) run: Option<String>,
    /// Set any key of the run file, as in `plan.micro_batch=2`; repeatable
    #[arg(long, value_name = "KEY=VALUE", requires = "run", help_heading = "Job")]
    pub(crate) set: Vec<String>,
    /// Hours of all devices that an interruption costs: noticing, starting again, work since the last checkpoint; 0.278 without it
    #[arg(long, value_name = "HOURS", allow_negative_numbers = true, help_heading = "Job")]
    pub(crate) interruption_hours: Option<f64>,
    /// Who carries the traffic of a device that lost its network: itself alone, one neighbour, or its domain evenly
    #[arg(long, value_name = "HOW", default_value = "spread", help_heading = "Job")]
    pub(crate) recovery: String,
    /// A table of failure rates whose lines win over the catalogue's; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Failures")]
    pub(crate) rates: Vec<String>,
    /// Parts that are down: `leaf#3` is the fourth leaf, `leaf=2` any two; repeatable
    #[arg(long, value_name = "PART", help_heading = "Failures")]
    pub(crate) fail: Vec<String>,
    /// States to draw: with --fail of any parts, 10,000 without it; alone, of random moments
    #[arg(long, value_name = "N", help_heading = "Failures")]
    pub(crate) samples: Option<u64>,
    /// Seed of what is drawn
    #[arg(long = "sample-seed", value_name = "N", default_value_t = 0, help_heading = "Failures")]
    pub(crate) sample_seed: u64,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Settings of a design from flags: the flag, the key, the text behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DesignFlags {
    pub(crate) settings: Vec<(String, &'static str, String)>,
}

/// The flag of a key, without dashes; the kind is what DESIGN says.
fn flag_of(key: &Key) -> Option<String> {
    (key.name != "kind").then(|| key.name.replace('_', "-"))
}

/// Flags that stand in the short help.
const USUAL: [&str; 8] =
    ["gpus", "domain", "radix", "speed", "tiers", "rails", "planes", "leaf_oversubscription"];

fn argument(key: &Key, flag: String) -> Arg {
    let doc = key.doc.trim().trim_end_matches('.');
    let value = match key.kind {
        Kind::Flag => "BOOL",
        Kind::Count => "N",
        Kind::Number => "X",
        Kind::Counts => "N,N,...",
        Kind::Quantity(_) => "QUANTITY",
        Kind::Text => "TEXT",
        _ => "CHOICE",
    };
    Arg::new(key.path())
        .long(flag)
        .value_name(value)
        .help(doc.to_owned())
        .long_help(format!("{doc}\n\nExpects {}. Without it: {}.", key.kind.expects(), key.default))
        .help_heading("Design")
        .hide_short_help(!USUAL.contains(&key.name))
        .allow_negative_numbers(true)
        // A negative quantity is told as what it is, not as a flag that does not exist.
        .allow_hyphen_values(matches!(key.kind, Kind::Quantity(_)))
        .action(ArgAction::Append)
}

impl Args for DesignFlags {
    fn augment_args(command: Command) -> Command {
        DesignSpec::KEYS.iter().fold(command, |command, key| match flag_of(key) {
            Some(flag) => command.arg(argument(key, flag)),
            None => command,
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DesignFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for key in DesignSpec::KEYS {
            let Some(flag) = flag_of(key) else { continue };
            if let Some(value) = matches.get_many::<String>(&key.path()).and_then(Iterator::last) {
                self.settings.push((format!("--{flag}"), key.name, value.clone()));
            }
        }
        Ok(())
    }
}
