//! Goal of the training: deadline, budget and worth of an added device.

use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;

/// Goal of the training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goal {
    /// Latest end, in time on the calendar from the start.
    pub deadline: Option<Seconds>,
    /// Maximum rent of the devices.
    pub budget: Option<Dollars>,
    /// Minimum marginal efficiency for adding devices: work of an added device as a share of that of a
    /// device of the smallest number.
    pub worth: f64,
}

impl Goal {
    /// Half of the work of a device at the smallest number: below it, a second training would use the same
    /// money better.
    pub const WORTH: f64 = 0.5;
}
