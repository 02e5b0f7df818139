//! Bills and their lines, with totals.
//!
//! Responsible for: their values and what follows from them alone.

use super::prices::{Item, Price};
use crate::topology::Counts;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{BytesPerSecond, Dollars, Watts};
use serde::Serialize;

/// One line of a bill.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Kind of part.
    pub item: Item,
    /// Location: a tier of switches or a layer of cables, after the name of its network if that is not the
    /// accelerators'.
    pub place: String,
    /// Its speed, one direction; `None` for prices without a speed.
    pub speed: Option<BytesPerSecond>,
    /// Number; metres of fibre.
    pub count: f64,
    /// The price of one, dated and with its source.
    pub price: Price,
    /// `count x price`.
    pub dollars: Dollars,
    /// The same at the lowest known price; at the typical one if there is only one.
    pub dollars_low: Dollars,
    /// The same at the highest.
    pub dollars_high: Dollars,
    /// `count x watts of one`; `None` if unknown.
    pub watts: Option<Watts>,
}

/// The bill of a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bill {
    /// The design's name.
    pub design: String,
    /// Counts of parts.
    pub counts: Counts,
    /// Accelerators.
    pub devices: u64,
    /// Line by line; the accelerators' network first.
    pub lines: Vec<Line>,
    /// Number of lines of the accelerators' network.
    #[serde(skip)]
    pub own_lines: usize,
    /// Dollars of switch ports and transceivers alone, as counted by published comparisons of rail-only.
    pub ports_and_transceivers: Dollars,
    /// Switches, cables and transceivers of the accelerators' network.
    pub fabric: Dollars,
    /// Network interfaces of the accelerators.
    pub nics: Dollars,
    /// Networks of the servers: storage and management, NICs included.
    pub side: Dollars,
    /// All of it, at typical prices.
    pub total: Dollars,
    /// All of it at the lowest prices that are known.
    pub total_low: Dollars,
    /// All of it at the highest.
    pub total_high: Dollars,
    /// Share of the total whose price has a range of public sources. The rest counts at its typical price in
    /// all three totals, or at the range of its rule if it is derived.
    pub ranged_share: f64,
    /// True if every part has a price; the totals are lower bounds otherwise.
    pub has_all_prices: bool,
    /// Total power of the parts with known power.
    pub watts: Watts,
    /// True if `watts` covers every part of the network.
    pub has_all_watts: bool,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl Bill {
    /// Total power of the network; `None` if that of any part is unknown.
    pub fn known_watts(&self) -> Option<Watts> {
        self.has_all_watts.then_some(self.watts)
    }

    /// Dollars for each device.
    pub fn per_device(&self) -> Dollars {
        self.total / self.devices as f64
    }

    /// True if the totals can be compared with those of others: they contain every part, and the ports of
    /// devices.
    pub fn is_comparable(&self) -> bool {
        self.has_all_prices && self.has_ports_of_devices()
    }

    /// True if the bill has the ports of the devices, so that it is comparable with others. Those of a torus
    /// are part of its accelerators, and devices of one scale-up domain have none.
    pub fn has_ports_of_devices(&self) -> bool {
        self.counts.nics > 0
    }
}
