//! Numbers of devices of a kind of machine, each with its best layout.

use railwright_calculator::estimate::Interval;
use railwright_calculator::money::{Bill, DeviceHours};
use railwright_spec::plan::Plan;
use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;

/// A kind of machine to buy or rent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Name given by the caller.
    pub name: String,
    /// Devices in one machine: all numbers are multiples of it.
    pub devices: u64,
    /// The numbers to try first, ascending.
    pub numbers: Vec<u64>,
    /// Maximum number of devices: above it, some replica would have no sequence.
    pub most: u64,
}

/// One number of devices of one kind, with its best layout.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Index of the kind of machine.
    pub machine: usize,
    /// The cluster's name.
    pub cluster: String,
    /// The vendor's name of the accelerator.
    pub accelerator: String,
    /// Number of devices.
    pub devices: u64,
    /// Number of machines.
    pub machines: u64,
    /// The layout in one line.
    pub plan_summary: String,
    /// The layout.
    pub plan: Plan,
    /// Step time.
    pub step_time: Seconds,
    /// Interval in which a measurement of it is expected.
    pub step_time_interval: Interval,
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// Model FLOPs utilization in the full attention convention, against the compute format's peak.
    pub mfu: Option<f64>,
    /// Probability that the layout fits.
    pub probability_of_fitting: f64,
    /// Tokens per second and device, relative to those of the smallest number of the same machine.
    pub efficiency: f64,
    /// True if the row is on the upper hull of throughput over devices. Numbers below it divide the batch or
    /// the model badly.
    pub on_hull: bool,
    /// Marginal efficiency of the devices added to the next smaller number on the hull, relative to those of
    /// the smallest number. `None` for the smallest, and for numbers that are no faster than a smaller
    /// one.
    pub marginal_efficiency: Option<f64>,
    /// Days saved per added device.
    pub days_saved_per_device: Option<f64>,
    /// Rent per saved day; negative if the larger number is cheaper.
    pub dollars_per_day_saved: Option<Dollars>,
    /// Time and cost of the whole training.
    pub bill: Bill,
    /// True if it ends by the deadline.
    pub in_time: bool,
    /// True if its rent is within the budget.
    pub in_budget: bool,
    /// True if a smaller number of the same machine takes no longer.
    pub is_wasted: bool,
}

impl Row {
    /// Rent of the whole training.
    pub fn rent(&self) -> Option<Dollars> {
        self.bill.rent
    }

    /// Device-hours of the whole training.
    pub fn device_hours(&self) -> DeviceHours {
        self.bill.device_hours
    }

    pub(super) fn meets(&self) -> bool {
        self.in_time && self.in_budget
    }
}
