//! Objective and options of a search.

use railwright_calculator::memory::SURE_TO_FIT;
use railwright_spec::quantity::Dollars;
use serde::Serialize;

/// Objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Minimum time of a step.
    Time,
    /// Minimum dollars for a number of tokens.
    Dollars,
    /// Minimum number of devices.
    Devices,
    /// Maximum free memory.
    Headroom,
}

/// Options of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Objective of the search.
    pub objective: Objective,
    /// Number of layouts to return.
    pub keep: usize,
    /// True to keep all layouts that differ only in details (placement, recompute, shard groups), false to
    /// keep the best of them.
    pub every_detail: bool,
    /// Minimum probability of fitting.
    pub fit_probability: f64,
    /// True to return the front of time and memory, for a front with headroom. It takes longer: slow
    /// strategies with little memory cannot be pruned.
    pub front: bool,
    /// Price of a device-hour. `None` selects the accelerator's typical one.
    pub price_per_device_hour: Option<Dollars>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            objective: Objective::Time,
            keep: 10,
            every_detail: false,
            fit_probability: SURE_TO_FIT,
            front: false,
            price_per_device_hour: None,
        }
    }
}
