//! The network's share of a cluster, in dollars and watts, and in dollars for each token.
//!
//! Responsible for: simple arithmetic on a bill, the devices' price and power, and a run's tokens a second. Refuses to know how fast a
//! run is.

use super::Bill;
use railwright_spec::quantity::{Dollars, Watts};
use serde::Serialize;

/// Hours in a year.
const YEAR: f64 = 8760.0;

/// What the rest of the cluster costs and draws, and for how long it is used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// The accelerator's name.
    pub accelerator: String,
    /// Price of one accelerator with its share of the server.
    pub device_price: Option<Dollars>,
    /// Where that price comes from.
    pub device_price_source: String,
    /// Power of one accelerator.
    pub device_power: Option<Watts>,
    /// Years over which the network is paid.
    pub years: f64,
    /// Dollars for a kilowatt-hour.
    pub electricity_price: Dollars,
    /// Facility power over machine power.
    pub power_usage_effectiveness: f64,
    /// Tokens a second of the whole run, if known.
    pub tokens_per_second: Option<f64>,
}

/// The network's share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Of the dollars of network and devices.
    pub of_dollars: Option<f64>,
    /// Of the watts of network and devices.
    pub of_watts: Option<f64>,
    /// The network's dollars a year: price over years, and electricity.
    pub dollars_per_year: Dollars,
    /// The network's dollars for a million tokens.
    pub dollars_per_million_tokens: Option<Dollars>,
}

/// The share: `network / (network + devices x price)`, the same in watts; a year costs
/// `network / years + watts / 1000 x PUE x 8760 x price of a kWh`, a token `year / (8760 x 3600 x tokens a second)`.
pub fn share(bill: &Bill, cluster: &Cluster) -> Share {
    let devices = bill.devices as f64;
    let dollars_per_year = bill.total / cluster.years
        + cluster.electricity_price * (bill.watts.get() / 1e3 * cluster.power_usage_effectiveness * YEAR);
    Share {
        of_dollars: cluster.device_price.map(|price| bill.total / (bill.total + price * devices)),
        of_watts: cluster.device_power.map(|power| bill.watts / (bill.watts + power * devices)),
        dollars_per_year,
        dollars_per_million_tokens: cluster
            .tokens_per_second
            .map(|rate| dollars_per_year / (YEAR * 3600.0 * rate) * 1e6),
    }
}
