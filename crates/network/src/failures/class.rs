//! A class of equivalent parts: the effect of one failure, and the recovery of a job from it.
//!
//! Responsible for: the types and the formulas that classes and states of failed parts share. Excludes
//! finding the classes.

use railwright_spec::choice;
use serde::Serialize;

/// Devices that carry the traffic of a device with lost network bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The device itself, with the remaining ports of its own NIC.
    Alone,
    /// One other device of its domain, in addition to its own traffic.
    Neighbour,
    /// All devices of its domain that have a NIC left, evenly.
    #[default]
    Spread,
}

choice!(Recovery {
    "alone" | "none" => Self::Alone,
    "neighbour" | "neighbor" => Self::Neighbour,
    "spread" => Self::Spread,
});

/// Equivalent parts, and the effect of one failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Class {
    /// The part: `NIC`, `leaf`, `leaf-spine link`, ...
    pub part: &'static str,
    /// Number of entries.
    pub count: u64,
    /// Devices with a disconnected NIC.
    pub cut_off: u64,
    /// Devices that are unreachable, also through their domain: the step cannot finish.
    pub stranded: u64,
    /// Devices that keep a part of their bandwidth.
    pub slowed: u64,
    /// Devices of all domains with a member that is cut off or slowed: the devices that a job would have to
    /// drop.
    pub touched: u64,
    /// Share of bandwidth that the most affected device keeps on its own NIC (0 to 1).
    pub kept_alone: f64,
    /// Remaining share if one neighbour also carries its traffic.
    pub kept_neighbour: f64,
    /// Share that the most affected domain keeps over all of its NICs.
    pub kept_spread: f64,
    /// Share of scale-up bandwidth that the most affected device keeps.
    pub kept_domain: f64,
    /// Assumptions behind the values.
    pub remark: &'static str,
}

impl Default for Class {
    /// A part without effect.
    fn default() -> Self {
        Self {
            part: "",
            count: 0,
            cut_off: 0,
            stranded: 0,
            slowed: 0,
            touched: 0,
            kept_alone: 1.0,
            kept_neighbour: 1.0,
            kept_spread: 1.0,
            kept_domain: 1.0,
            remark: "",
        }
    }
}

impl Class {
    /// Share of bandwidth that remains under a recovery method (0 to 1).
    pub const fn kept(&self, recovery: Recovery) -> f64 {
        match recovery {
            Recovery::Alone => self.kept_alone,
            Recovery::Neighbour => self.kept_neighbour,
            Recovery::Spread => self.kept_spread,
        }
    }

    /// Step time relative to the whole network, for a step with this share of exposed network time. `None` if
    /// no bandwidth remains.
    pub fn slowdown(&self, exposed_share: f64, recovery: Recovery) -> Option<f64> {
        slowdown(self.kept(recovery), exposed_share)
    }
}

/// Relative time of a synchronous step when its slowest member keeps a share of its network bandwidth: `1 +
/// exposed share x (1 / kept - 1)`. `None` if nothing is kept. A lower bound: hidden traffic may become
/// exposed.
pub fn slowdown(kept: f64, exposed_share: f64) -> Option<f64> {
    (kept > 0.0).then(|| 1.0 + exposed_share * (1.0 / kept - 1.0))
}

/// The share that a neighbour leaves for a disconnected device. Of `size` devices `lost` are disconnected, so
/// each other one carries `ceil(lost / (size - lost))` in addition to its own.
pub(crate) fn neighbour_share(size: u64, lost: u64) -> f64 {
    match size.saturating_sub(lost) {
        0 => 0.0,
        left => 1.0 / (1 + lost.div_ceil(left)) as f64,
    }
}

/// A part by its class (as [`Class::part`]) and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The class.
    pub class: &'static str,
    /// The number.
    pub number: u64,
}
