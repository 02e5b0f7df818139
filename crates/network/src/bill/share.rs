//! The network's share of a cluster, in dollars and watts, and the cost of a token on it.
//!
//! Responsible for: simple arithmetic on a bill, the devices' price and power, and a run's tokens per second.
//! Does not compute the speed of a run.

use super::Bill;
use railwright_spec::quantity::{Dollars, KilowattHours, Watts};
use serde::Serialize;

/// Hours in a year.
const YEAR: f64 = 8760.0;

/// Cost and power of the rest of the cluster, and its time in use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cluster {
    /// The accelerator's name.
    pub accelerator: String,
    /// Price of one accelerator with its share of the server.
    pub device_price: Option<Dollars>,
    /// Source of that price.
    pub device_price_source: String,
    /// Power of one accelerator.
    pub device_power: Option<Watts>,
    /// Power of the rest of a server, for each accelerator.
    pub host_power: Watts,
    /// Years over which network and devices are paid.
    pub years: f64,
    /// Dollars for a kilowatt-hour.
    pub electricity_price: Dollars,
    /// Facility power over machine power.
    pub power_usage_effectiveness: f64,
    /// Tokens per second of the whole run; `None` if unknown.
    pub tokens_per_second: Option<f64>,
    /// Tokens of the whole run; `None` if unknown.
    pub tokens: Option<f64>,
    /// Share of the calendar time in which the run makes progress. An owner also pays for the rest.
    pub availability: f64,
}

/// The network's share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// Share of the dollars of network and devices (0 to 1).
    pub of_dollars: Option<f64>,
    /// Share of the watts of network and devices (0 to 1).
    pub of_watts: Option<f64>,
    /// The network's dollars per year: price over years, and electricity.
    pub dollars_per_year: Dollars,
    /// The network's dollars for a million tokens.
    pub dollars_per_million_tokens: Option<Dollars>,
    /// The same for network and devices together.
    pub cluster: Option<Whole>,
}

/// Network, devices and electricity together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Whole {
    /// Tokens per second.
    pub tokens_per_second: Option<f64>,
    /// Dollars per day.
    pub dollars_per_day: Dollars,
    /// Dollars for a million tokens.
    pub dollars_per_million_tokens: Option<Dollars>,
    /// Dollars for the run: `tokens x dollars for one`.
    pub dollars_per_run: Option<Dollars>,
    /// Power at the facility's meter.
    pub power: Watts,
    /// Energy at the facility's meter for a million tokens.
    pub energy_per_million_tokens: Option<KilowattHours>,
    /// The network's part of that energy.
    pub network_energy_per_million_tokens: Option<KilowattHours>,
}

/// The share: `network / (network + devices x price)`, the same in watts; a year costs
/// `network / years + watts / 1000 x PUE x 8760 x price of a kWh`, a token `year / (8760 x 3600 x tokens per
/// second x availability)`.
pub fn share(bill: &Bill, cluster: &Cluster) -> Share {
    let devices = bill.devices as f64;
    let power_price = cluster.electricity_price * (cluster.power_usage_effectiveness * YEAR / 1e3);
    let dollars_per_year = bill.total / cluster.years + power_price * bill.watts.get();
    // Devices and network are paid for, and draw power, all of the time; tokens come only from the share with
    // progress.
    let rate = cluster.tokens_per_second.map(|rate| rate * cluster.availability);
    let per_year = rate.map(|rate| YEAR * 3600.0 * rate / 1e6);
    let whole = cluster.device_price.map(|price| {
        let devices_watts = (cluster.device_power.unwrap_or(Watts::ZERO) + cluster.host_power) * devices;
        let year = dollars_per_year + price * devices / cluster.years + power_price * devices_watts.get();
        let at_meter = (devices_watts + bill.watts) * cluster.power_usage_effectiveness;
        let energy = |watts: Watts| rate.map(|rate| KilowattHours::new(watts.get() / rate * 1e6 / 3.6e6));
        let per_million = per_year.map(|millions| year / millions);
        Whole {
            tokens_per_second: cluster.tokens_per_second,
            dollars_per_day: year / (YEAR / 24.0),
            dollars_per_million_tokens: per_million,
            dollars_per_run: per_million.zip(cluster.tokens).map(|(price, tokens)| price * (tokens / 1e6)),
            power: at_meter,
            energy_per_million_tokens: energy(at_meter),
            network_energy_per_million_tokens: energy(bill.watts * cluster.power_usage_effectiveness),
        }
    });
    Share {
        of_dollars: cluster.device_price.map(|price| bill.total / (bill.total + price * devices)),
        of_watts: cluster
            .device_power
            .map(|power| bill.watts / (bill.watts + (power + cluster.host_power) * devices)),
        dollars_per_year,
        dollars_per_million_tokens: per_year.map(|millions| dollars_per_year / millions),
        cluster: whole,
    }
}
