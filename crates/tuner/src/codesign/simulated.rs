//! Simulated step of a design, or the reason for its absence.

use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;

/// A simulated step on a network, with its cost per token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Simulated {
    /// Routing of messages.
    pub routing: &'static str,
    /// Simulated step time.
    pub step_time: Seconds,
    /// True if groups of one kind with different routes were simulated at the rate of the slowest. The
    /// interval is then wider.
    pub is_merged: bool,
    /// Lower bound on the step. The interval changes the network's part by the error of flows, over all hash
    /// seeds.
    pub step_low: Seconds,
    /// Upper bound on the step.
    pub step_high: Seconds,
    /// The fastest step over all hash seeds, without the error of flows.
    #[serde(skip)]
    pub fastest: Seconds,
    /// Share of the simulated step due to the network between domains.
    pub network_share: f64,
    /// Cost of a million tokens. `None` without a device price.
    #[serde(flatten)]
    pub cost: Option<TokenCost>,
}

/// Why a network is not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unsimulated {
    /// A token costs more than on the cheapest simulated network, even without congestion or before the
    /// simulation ends.
    CostsMore,
    /// Its scale-up domains are larger than the machine's and have no price.
    NoDomainPrice,
    /// Devices have no price, so no cost bounds the simulation: only networks of the fronts are simulated.
    NoDevicePrice,
    /// More networks may be cheapest than are simulated.
    TooMany,
    /// It cannot be simulated; a warning has the reason.
    Failed,
    /// The work was stopped first.
    Stopped,
}

/// Dollars per million tokens, for devices and network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenCost {
    /// Cost at the simulated step.
    pub dollars: Dollars,
    /// Lower bound.
    pub dollars_low: Dollars,
    /// Upper bound.
    pub dollars_high: Dollars,
}
