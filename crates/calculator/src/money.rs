//! Days, device-hours, dollars and energy of a whole training run, from the time of one step.
//!
//! Responsible for: simple, cited arithmetic on a token budget, with the applied price and its date. Does not
//! predict prices or failures: both are from the caller or the catalogue.

mod prices;

pub use prices::{DatedPrice, device_price, electricity_price};

use crate::goodput::run::{Availability, Failures, availability};
use railwright_spec::cluster::{Accelerator, Cluster, Instance, instances};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Dollars, KilowattHours, Seconds, Watts};
use railwright_spec::run::{Cost, Run, Training};
use serde::Serialize;

/// Time for which devices are occupied, in hours, summed over devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct DeviceHours(pub f64);

/// Time and cost of a training run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bill {
    /// Tokens trained on.
    pub tokens: f64,
    /// Optimizer steps.
    pub steps: f64,
    /// Time of steps that make progress.
    pub productive: Seconds,
    /// Share of the calendar with progress.
    pub availability: f64,
    /// Origin of that share, if failures are modelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// Time on the calendar, including failures and restarts.
    pub calendar: Seconds,
    /// Occupied device time.
    pub device_hours: DeviceHours,
    /// Rent of the devices; `None` without a price.
    pub rent: Option<Dollars>,
    /// The applied price of a device-hour.
    pub device_price: Option<DatedPrice>,
    /// Mean power of the whole job at the facility's meter.
    pub power: Watts,
    /// Energy at the facility's meter.
    pub energy: KilowattHours,
    /// Cost of that energy. It is included in most rental prices, so it is not added.
    pub electricity: Dollars,
    /// The applied price of a kilowatt-hour.
    pub electricity_price: DatedPrice,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Optimizer steps for a budget of tokens: `ceil(tokens / tokens per step)`.
pub fn steps(tokens: f64, tokens_per_step: u64) -> f64 {
    (tokens / tokens_per_step.max(1) as f64).ceil()
}

/// Time on the calendar: `productive time / availability`.
///
/// Availability is the share of the calendar in which steps make progress. Llama 3 reports more than 90% over
/// 54 days on 16,384 H100 (arXiv 2407.21783, section 3.3.4).
pub fn calendar_time(productive: Seconds, availability: f64) -> Seconds {
    productive / availability
}

/// Device-hours: `devices x calendar time / 3600`. Devices that wait for a restart are also paid for.
pub fn device_hours(devices: u64, calendar: Seconds) -> DeviceHours {
    DeviceHours(devices as f64 * calendar.get() / 3600.0)
}

/// Rent: `device-hours x price`.
pub fn rent(hours: DeviceHours, price_per_device_hour: Dollars) -> Dollars {
    price_per_device_hour * hours.0
}

/// Power at the meter, in W: `devices x (share x device limit + the node's rest per device) x PUE`, summed
/// over kinds of device.
///
/// The share is the mean power of a device over its limit; in training it is near 1. PUE is facility over
/// machine power (ISO/IEC 30134-2). Without a known limit a device counts 0 and [`bill`] warns.
pub fn facility_power(cluster: &Cluster, cost: &Cost) -> Watts {
    let of_kind = |(kind, devices): (&Cluster, u64)| {
        let device = kind.accelerator.power.unwrap_or(Watts::ZERO) * cost.power_share;
        (device + kind.host.power_per_device) * devices as f64 * kind.host.power_usage_effectiveness
    };
    cluster.kinds().map(of_kind).sum()
}

/// Energy: `power x calendar time / 3.6e6`. Lost time draws the power of training: most of it is repeated
/// steps.
pub fn energy(power: Watts, calendar: Seconds) -> KilowattHours {
    KilowattHours::new(power.get() * calendar.get() / 3.6e6)
}

/// Devices needed to finish a token budget by a deadline, if a device's throughput were independent of scale:
/// `ceil(tokens / (tokens per second and device x deadline x availability))`. A starting point for a search.
pub fn devices_for_deadline(
    tokens: f64,
    tokens_per_second_per_device: f64,
    deadline: Seconds,
    training: &Training,
) -> Option<u64> {
    let devices = tokens / (tokens_per_second_per_device * deadline.get() * training.availability);
    (devices.is_finite() && devices > 0.0 && devices < 1e12).then(|| devices.ceil() as u64)
}

/// Tokens for an amount of money: `dollars / price x 3600 x tokens per second and device x availability`.
pub fn tokens_for_dollars(
    budget: Dollars,
    price_per_device_hour: Dollars,
    tokens_per_second_per_device: f64,
    training: &Training,
) -> Option<f64> {
    let hours = budget / price_per_device_hour;
    let tokens = hours * 3600.0 * tokens_per_second_per_device * training.availability;
    (tokens.is_finite() && tokens > 0.0).then_some(tokens)
}

/// The bill of a run with this step time. `None` without a token budget.
///
/// # Errors
///
/// Contradictory checkpoint settings of the run.
pub fn bill(run: &Run, step_time: Seconds) -> Result<Option<Bill>, Problem> {
    let Some(tokens) = run.training.tokens else { return Ok(None) };
    let mut warnings = Vec::new();
    let steps = steps(tokens, run.plan.tokens_per_step());
    let productive = step_time * steps;
    let Availability { share: availability, failures, warning } = availability(run)?;
    warnings.extend(warning);
    let calendar = calendar_time(productive, availability);
    let hours = device_hours(run.cluster.devices, calendar);
    let device_price = device_price(&run.cluster, run.cost.price_per_device_hour);
    let lacks = |test: &dyn Fn(&Accelerator) -> bool| {
        run.cluster.kinds().map(|(kind, _)| &kind.accelerator).find(|accelerator| test(accelerator))
    };
    if device_price.is_none()
        && let Some(Accelerator { name, .. }) = lacks(&|accelerator| accelerator.price.is_none())
    {
        warnings.push(Warning::new(
            "no-device-price",
            format!("the catalogue has no price for {name}; set cost.price_per_device_hour"),
        ));
    }
    let is_typical = run.cost.price_per_device_hour.is_none() && device_price.is_some();
    let is_rented = |instance: &&Instance| instance.cluster == run.cluster.name && instance.price.is_none();
    if let Some(instance) = instances().iter().find(is_rented).filter(|_| is_typical) {
        let name = &run.cluster.accelerator.name;
        let message = format!(
            "no list price of {} is known, so the rent is at the typical price of {name}; set cost.price_per_device_hour",
            instance.types.join(" or ")
        );
        warnings.push(Warning::new("typical-device-price", message));
    }
    if let Some(Accelerator { name, .. }) = lacks(&|accelerator| accelerator.power.is_none()) {
        warnings.push(Warning::new(
            "no-device-power",
            format!("the power of {name} is unknown and counted as 0; set cluster.power"),
        ));
    }
    let electricity_price = prices::electricity(&run.cost);
    let power = facility_power(&run.cluster, &run.cost);
    let energy = energy(power, calendar);
    Ok(Some(Bill {
        tokens,
        steps,
        productive,
        availability,
        failures,
        calendar,
        device_hours: hours,
        rent: device_price.as_ref().map(|price| rent(hours, price.amount)),
        device_price,
        power,
        energy,
        electricity: electricity_price.amount * energy.get(),
        electricity_price,
        warnings,
    }))
}

#[cfg(test)]
mod tests;
