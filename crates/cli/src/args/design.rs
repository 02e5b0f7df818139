//! Arguments of `network design`: a model with open plan settings, and the axes of the networks.

use super::{Effort, OpenRun, Output};
use clap::{Args, ValueHint};

pub(super) const EXAMPLES: &str = include_str!("help/design.txt");

/// Arguments of `network design`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Design {
    #[command(flatten)]
    pub(crate) run: OpenRun,
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Sizes of scale-up domains [default: divisors of the device count, up to 576]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Networks")]
    pub(crate) domains: Vec<u64>,
    /// Topologies to compare, from `network topologies`
    #[arg(
        long,
        value_name = "KIND,...",
        value_delimiter = ',',
        default_value = "clos,rail-optimized,rail-only,dual-plane,dragonfly",
        help_heading = "Networks"
    )]
    pub(crate) topologies: Vec<String>,
    /// Leaf oversubscription ratios (downlink over uplink bandwidth)
    #[arg(
        long,
        value_name = "X,...",
        value_delimiter = ',',
        default_value = "1,2,4",
        help_heading = "Networks"
    )]
    pub(crate) oversubscriptions: Vec<f64>,
    /// NIC bandwidths per device [default: 200G, 400G, 800G and that of the cluster, up to the limit of the
    /// device]
    #[arg(long, value_name = "SPEED,...", value_delimiter = ',', help_heading = "Networks")]
    pub(crate) speeds: Vec<String>,
    /// Set any other design-file key for all networks, such as `radix=128` (repeatable)
    #[arg(long = "network", value_name = "KEY=VALUE", help_heading = "Networks")]
    pub(crate) keys: Vec<String>,
    /// Override catalogue prices with a price list (repeatable)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Prices")]
    pub(crate) prices: Vec<String>,
    /// Extra price (and watts) per device of a larger scale-up domain, such as `64=2500,90W` (repeatable)
    #[arg(long, value_name = "SIZE=DOLLARS[,WATTS]", help_heading = "Prices")]
    pub(crate) scale_up_price: Vec<String>,
    /// Maximum price of the network in dollars, such as `30M`
    #[arg(long, value_name = "DOLLARS", help_heading = "Prices")]
    pub(crate) budget: Option<String>,
    /// Depreciation period of network and devices, in years
    #[arg(
        long,
        value_name = "X",
        default_value_t = 4.0,
        allow_negative_numbers = true,
        help_heading = "Prices"
    )]
    pub(crate) years: f64,
    /// Show all designs, not only the Pareto fronts
    #[arg(long, help_heading = "Output")]
    pub(crate) all: bool,
    /// Plot step time against cost, as SVG
    #[arg(long, help_heading = "Output")]
    pub(crate) svg: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
