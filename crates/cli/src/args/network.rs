//! Arguments of `network`: designs by kind, by file, and by a flag for each key of a design file.

use super::{Later, Output};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueHint};
use railwright_network::topology::DesignSpec;
use railwright_spec::run::{Key, Kind, Section};
use std::collections::BTreeMap;

/// Commands of `network`.
#[derive(Debug, Subcommand, serde::Deserialize)]
pub(crate) enum Network {
    /// List topologies, their keys, and published systems
    #[command(after_long_help = include_str!("help/network-topologies.txt"))]
    Topologies(Later<Topologies>),
    /// Show the components, path lengths and diagram of one design
    #[command(after_long_help = include_str!("help/network-show.txt"))]
    Show(Later<Show>),
    /// Compare the bills of materials of several designs: cost, power and break-even points
    #[command(after_long_help = include_str!("help/network-cost.txt"))]
    Cost(Later<Cost>),
    /// Estimate the impact of link, NIC and switch failures
    #[command(after_long_help = include_str!("help/network-failures.txt"))]
    Failures(Later<Failures>),
    /// Search network designs and parallel strategies jointly, by step time, cost and power
    #[command(after_long_help = super::design::EXAMPLES)]
    Design(Later<super::design::Design>),
    /// Show the traffic of one step between ranks, domains, rails and links
    #[command(after_long_help = super::traffic::EXAMPLES)]
    Traffic(Later<super::traffic::Traffic>),
    /// Simulate the collectives of a step as flows, with congestion, failures and background load
    #[command(after_long_help = super::simulate::EXAMPLES)]
    Simulate(Later<super::simulate::Simulate>),
    /// Predict time and bus bandwidth of a collective by message size
    #[command(after_long_help = super::collective::EXAMPLES)]
    Collective(Later<super::collective::CollectiveOn>),
    /// Simulate a table of flows on a topology or on a fabric from a file
    #[command(after_long_help = super::flows::EXAMPLES)]
    Flows(Later<super::flows::FlowsOn>),
    /// Write a step, a network or flows as files of ASTRA-sim, SimGrid or htsim
    #[command(after_long_help = super::export_network::EXAMPLES)]
    Export(Later<super::export_network::Export>),
    /// Predict traffic between sites and time left for compute, by local steps
    #[command(after_long_help = include_str!("help/network-sites.txt"))]
    Sites(Later<Sites>),
    /// Reproduce the claims and figures of the rail-only paper
    #[command(
        name = "rail-only",
        after_long_help = include_str!("help/network-railonly.txt")
    )]
    RailOnly(Later<RailOnly>),
}

/// Arguments of `network sites`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Sites {
    /// Model from the catalogue, or its number of trained parameters, such as `70B`
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,
    /// Number of sites, each with a whole replica
    #[arg(long = "sites", value_name = "N", default_value_t = 2)]
    pub(crate) count: u64,
    /// Bandwidth of a site to the others, one direction
    #[arg(long, value_name = "RATE")]
    pub(crate) bandwidth: String,
    /// Step time within a site, as `estimate` predicts it
    #[arg(long, value_name = "S")]
    pub(crate) step: String,
    /// Kilometres of fibre between neighbouring sites
    #[arg(long, value_name = "KM", default_value_t = 0.0)]
    pub(crate) distance: f64,
    /// Steps from one synchronization to the next; 1 is data parallelism
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,10,100,500")]
    pub(crate) local_steps: Vec<u64>,
    /// Bits per gradient element, if every step is synchronized
    #[arg(long, value_name = "N", default_value_t = 16.0)]
    pub(crate) bits: f64,
    /// Bits per value exchanged after local steps [default: --bits]
    #[arg(long, value_name = "N")]
    pub(crate) outer_bits: Option<f64>,
    /// Number of model fragments, synchronized one after another
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) fragments: u64,
    /// Local steps that overlap the synchronization of a fragment
    #[arg(long, value_name = "STEPS", default_value_t = 0.0)]
    pub(crate) overlap: f64,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network rail-only`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct RailOnly {
    /// Write the paper's figures to this folder (created if missing)
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) figures: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network topologies`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Topologies {
    /// Show all keys of this topology
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Compare part counts of published systems with generated ones
    #[arg(long, conflicts_with = "kind")]
    pub(crate) published: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network show`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Show {
    /// Topology from `network topologies`, or a design file
    #[arg(value_name = "DESIGN", value_hint = ValueHint::AnyPath)]
    pub(crate) design: Option<String>,
    #[command(flatten)]
    pub(crate) flags: DesignFlags,
    /// Output an SVG diagram
    #[arg(long, help_heading = "Output")]
    pub(crate) svg: bool,
    /// Write every cable from port to port as CSV, with lengths on the floor plan of --floor
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) cables: Option<String>,
    /// Write the cables in the format of NetBox's cable import
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) netbox: Option<String>,
    /// Floor plan: hosts or switches per rack, racks per row, and rack width, row pitch and cable rise in
    /// metres [default: hosts=4, switches=16, row=16, width=0.6, pitch=2.4, rise=1.5]
    #[arg(long, value_name = "KEY=N,...", value_delimiter = ',', help_heading = "Output")]
    pub(crate) floor: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network cost`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Cost {
    /// Topologies or design files; the first is the baseline [default: clos, rail-optimized, trimmed,
    /// rail-only, dual-plane, dragonfly]
    #[arg(
        long,
        value_name = "DESIGN,...",
        value_delimiter = ',',
        default_value = railwright_commands::Cost::DESIGNS,
        hide_default_value = true
    )]
    pub(crate) designs: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: DesignFlags,
    /// Override catalogue prices with a price list (repeatable)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Prices")]
    pub(crate) prices: Vec<String>,
    /// Accelerator, for the network's share of cluster cost [default: that of --run, or of --domain:
    /// h100-sxm5-80gb for 8, gb200-nvl72 for 72]
    #[arg(long, value_name = "NAME", help_heading = "Prices")]
    pub(crate) accelerator: Option<String>,
    /// Cluster throughput in tokens per second, for the cost per token
    #[arg(long, value_name = "X", conflicts_with = "run", help_heading = "Prices")]
    pub(crate) tokens_per_second: Option<f64>,
    /// Run file: report its step time and its cost per token, day and run on each design
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Prices")]
    pub(crate) run: Option<String>,
    /// Set any run-file key, such as `plan.micro_batch=2` (repeatable)
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Prices")]
    pub(crate) set: Vec<String>,
    /// Depreciation period of the network, in years
    #[arg(long, value_name = "X", default_value_t = railwright_commands::Cost::YEARS, help_heading = "Prices")]
    pub(crate) years: f64,
    /// Electricity price in dollars per kWh [default: from the catalogue]
    #[arg(long, value_name = "X", help_heading = "Prices")]
    pub(crate) electricity_price: Option<f64>,
    /// Devices of a later, larger network: report initial and later purchases of each design
    #[arg(long, value_name = "N", help_heading = "Prices")]
    pub(crate) grow_to: Option<u64>,
    /// Show all lines of all bills
    #[arg(long, help_heading = "Output")]
    pub(crate) lines: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `network failures`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Failures {
    /// Topologies or design files to evaluate or compare
    #[arg(value_name = "DESIGN", value_hint = ValueHint::AnyPath)]
    pub(crate) designs: Vec<String>,
    /// Further designs as a comma-separated list, as in `network cost`
    #[arg(long = "designs", value_name = "DESIGN,...", value_delimiter = ',')]
    pub(crate) listed_designs: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: DesignFlags,
    /// Exposed network time as a share of the step [default: 0.2, or from --run]
    #[arg(
        long,
        value_name = "X",
        conflicts_with = "run",
        allow_negative_numbers = true,
        help_heading = "Job"
    )]
    pub(crate) exposed_share: Option<f64>,
    /// Share of the step in exposed communication within scale-up domains, 0 to 1 [default: 0.2]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "Job")]
    pub(crate) exposed_domain_share: Option<f64>,
    /// Run file: compute slowdowns from its step at reduced bandwidth
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Job")]
    pub(crate) run: Option<String>,
    /// Set any run-file key, such as `plan.micro_batch=2` (repeatable)
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Job")]
    pub(crate) set: Vec<String>,
    /// Hours lost per interruption: detection, restart and work since the last checkpoint [default: 0.278]
    #[arg(long, value_name = "HOURS", allow_negative_numbers = true, help_heading = "Job")]
    pub(crate) interruption_hours: Option<f64>,
    /// Traffic of a device without a network link: `alone` (lost), over one `neighbour`, or `spread` over
    /// its domain
    #[arg(long, value_name = "HOW", default_value = railwright_commands::Specified::RECOVERY, help_heading = "Job")]
    pub(crate) recovery: String,
    /// Override catalogue failure rates with a table (repeatable)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Failures")]
    pub(crate) rates: Vec<String>,
    /// Failed parts: `leaf#3` is the fourth leaf, `leaf=2` any two (repeatable)
    #[arg(long, value_name = "PART", help_heading = "Failures")]
    pub(crate) fail: Vec<String>,
    /// Number of failure states to sample [default: 10,000 if --fail selects parts at random]
    #[arg(long, value_name = "N", help_heading = "Failures")]
    pub(crate) samples: Option<u64>,
    /// Random seed for sampling
    #[arg(long = "sample-seed", value_name = "N", default_value_t = 0, help_heading = "Failures")]
    pub(crate) sample_seed: u64,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Settings of a design from flags: the flag, the key, the text after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DesignFlags {
    pub(crate) settings: Vec<(String, &'static str, String)>,
}

/// The flag of a key, without dashes; the kind is set by DESIGN.
fn flag_of(key: &Key) -> Option<String> {
    (key.name != "kind").then(|| key.name.replace('_', "-"))
}

/// Flags in the short help.
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
        .long_help(format!("{doc}\n\nExpects {}. [default: {}]", key.kind.expects(), key.default))
        .help_heading("Design")
        .hide_short_help(!USUAL.contains(&key.name))
        .allow_negative_numbers(true)
        // A negative quantity is reported as such, not as an unknown flag.
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

impl<'de> serde::Deserialize<'de> for DesignFlags {
    fn deserialize<D: serde::Deserializer<'de>>(arguments: D) -> Result<Self, D::Error> {
        let given = BTreeMap::<String, String>::deserialize(arguments)?;
        let set =
            |key: &Key| Some((format!("--{}", flag_of(key)?), key.name, given.get(&*key.path())?.clone()));
        Ok(Self { settings: DesignSpec::KEYS.iter().filter_map(set).collect() })
    }
}
