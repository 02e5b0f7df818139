//! Cost of a network: dollars and watts from counts and unit prices, and comparison of designs by cost.
//!
//! Responsible for: the bill of materials of a [`Design`], savings and break-even points between designs, and the network's share of a
//! cluster. Excludes step times, and scale-up domains: their links and switches come with the devices.

pub mod compare;
pub mod growth;
pub mod prices;
pub mod savings;
pub mod share;

use crate::topology::{Counts, Design, Layer, Medium};
use prices::{Item, Price, Prices};
use railwright_spec::human;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{BytesPerSecond, Dollars, Watts};
use serde::Serialize;

/// One line of a bill.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Kind of part.
    pub item: Item,
    /// Location: a tier of switches or a layer of cables.
    pub place: &'static str,
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
    /// Line by line.
    pub lines: Vec<Line>,
    /// Dollars of switch ports and transceivers alone, as counted by published comparisons of rail-only.
    pub ports_and_transceivers: Dollars,
    /// Switches, cables and transceivers.
    pub fabric: Dollars,
    /// Network interfaces.
    pub nics: Dollars,
    /// All of it, at typical prices.
    pub total: Dollars,
    /// All of it at the lowest prices that are known.
    pub total_low: Dollars,
    /// All of it at the highest.
    pub total_high: Dollars,
    /// Share of the total whose price has a range of public sources. The rest counts at its typical price in all three totals,
    /// or at the range of its rule if it is derived.
    pub ranged_share: f64,
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

    /// True if the bill has the ports of the devices, so that it is comparable with others. Those of a torus are part of its accelerators, and
    /// devices of one scale-up domain have none.
    pub fn has_ports_of_devices(&self) -> bool {
        self.counts.nics > 0
    }

    /// Watts for each device.
    pub fn watts_per_device(&self) -> Watts {
        self.watts / self.devices as f64
    }
}

/// The bill of a design: `sum over items of count x unit price`, and the same for power.
pub fn bill(design: &Design, prices: &Prices) -> Result<Bill, Problem> {
    let counts = design.counts();
    let (mut lines, mut warnings) = (Vec::new(), Vec::new());
    for tier in &counts.tiers {
        // A switch costs as much as with all ports at their widest, however they are split.
        let speed = design.port_bandwidth.max(design.nic_bandwidth);
        let ports = tier.ports as f64 * (design.port_bandwidth / speed);
        let each = tier.ports / tier.switches.max(1);
        if each > design.ports_per_switch {
            let (price, is_own) = prices.chassis_port(speed)?;
            if !is_own {
                warnings.push(unknown_chassis(tier.name, each, speed));
            }
            lines.push(line(Item::ChassisPort, tier.name, Some(speed), ports, &price));
        } else {
            let price = prices.at(Item::SwitchPort, speed)?;
            lines.push(line(Item::SwitchPort, tier.name, Some(speed), ports, price));
        }
    }
    for layer in &counts.layers {
        let place = layer_name(layer.layer);
        // A dual-port transceiver or cable is priced by its total bandwidth.
        let speed = layer.bandwidth * design.links_per_cable as f64;
        if layer.transceivers > 0 {
            let (rate, price) = prices.carrying(Item::Transceiver, speed)?;
            lines.push(line(Item::Transceiver, place, Some(rate), layer.transceivers as f64, price));
        }
        let cables = layer.cables as f64;
        match layer.cabling.medium {
            Medium::Copper => {
                let (rate, price) = prices.carrying(Item::Copper, speed)?;
                lines.push(line(Item::Copper, place, Some(rate), cables, price));
            }
            Medium::ActiveOptical => {
                let (rate, price) = prices.carrying(Item::ActiveOptical, speed)?;
                lines.push(line(Item::ActiveOptical, place, Some(rate), cables, price));
            }
            Medium::Fibre => {
                let metres = cables * layer.cabling.length;
                lines.push(line(Item::Fibre, place, None, metres, plain(prices, Item::Fibre)?));
            }
        }
    }
    if counts.circuit_ports > 0 {
        let price = plain(prices, Item::CircuitSwitchPort)?;
        lines.push(line(Item::CircuitSwitchPort, "between cubes", None, counts.circuit_ports as f64, price));
    }
    if counts.nics > 0 {
        let speed = design.nic_bandwidth;
        lines.push(line(Item::Nic, "device", Some(speed), counts.nics as f64, prices.at(Item::Nic, speed)?));
    }
    // An empty sum is 0, not the -0 of the standard library.
    let sum = |of: &dyn Fn(Item) -> bool| {
        lines.iter().filter(|l| of(l.item)).fold(Dollars::ZERO, |sum, l| sum + l.dollars)
    };
    warnings.extend(unknown_power(&lines));
    warnings.extend(derived(&lines));
    warnings.extend((counts.nics == 0 && !counts.layers.is_empty()).then(ports_in_devices));
    let total = sum(&|_| true);
    let all = |of: &dyn Fn(&Line) -> Dollars| lines.iter().fold(Dollars::ZERO, |sum, line| sum + of(line));
    let has_range = |line: &&Line| {
        let price = &line.price;
        !price.is_derived() && (price.dollars_low.is_some() || price.dollars_high.is_some())
    };
    let ranged = lines.iter().filter(has_range).fold(Dollars::ZERO, |sum, line| sum + line.dollars);
    Ok(Bill {
        design: design.name.clone(),
        devices: design.devices,
        ports_and_transceivers: sum(&|item| item.is_port() || item == Item::Transceiver),
        fabric: sum(&|item| item != Item::Nic),
        nics: sum(&|item| item == Item::Nic),
        total,
        total_low: all(&|line| line.dollars_low),
        total_high: all(&|line| line.dollars_high),
        ranged_share: if total > Dollars::ZERO { ranged / total } else { 0.0 },
        has_all_watts: lines.iter().all(|line| line.watts.is_some()),
        watts: lines.iter().filter_map(|line| line.watts).fold(Watts::ZERO, |sum, watts| sum + watts),
        counts,
        lines,
        warnings,
    })
}

fn line(item: Item, place: &'static str, speed: Option<BytesPerSecond>, count: f64, price: &Price) -> Line {
    Line {
        item,
        place,
        speed,
        count,
        dollars: price.dollars * count,
        dollars_low: price.dollars_low.unwrap_or(price.dollars) * count,
        dollars_high: price.dollars_high.unwrap_or(price.dollars) * count,
        watts: price.watts.map(|watts| watts * count),
        price: price.clone(),
    }
}

fn plain(prices: &Prices, item: Item) -> Result<&Price, Problem> {
    prices.plain(item).ok_or_else(|| {
        Problem::new(format!("no price for a {}", item.words()))
            .hint(format!("add `{},,<usd>` to a price list", item.name()))
    })
}

/// Common name for the place of a layer's cables.
pub const fn layer_name(layer: Layer) -> &'static str {
    match layer {
        Layer::ScaleUp => "scale-up",
        Layer::Host => "host",
        Layer::Access => "NIC to leaf",
        Layer::LeafSpine => "leaf to spine",
        Layer::SpineCore => "spine to core",
        Layer::Local => "within groups",
        Layer::Global => "between groups",
        Layer::Torus => "neighbours",
    }
}

fn ports_in_devices() -> Warning {
    Warning::new(
        "network-ports-in-devices",
        "the ports of a torus are part of its accelerators: its bill has cables alone and is not comparable with others",
    )
}

fn unknown_chassis(tier: &str, ports: u64, speed: BytesPerSecond) -> Warning {
    let gbit = speed.get() * 8.0 / 1e9;
    Warning::new(
        "network-chassis-unpriced",
        format!(
            "a {tier} of {ports} ports has no public price: its ports are counted at the price of a leaf's; a price list can set `{},{gbit},<usd>`",
            Item::ChassisPort.name()
        ),
    )
}

fn derived(lines: &[Line]) -> Option<Warning> {
    let own = || lines.iter().filter(|line| line.price.is_derived());
    let mut parts: Vec<String> = own().map(named).collect();
    parts.sort_unstable();
    parts.dedup();
    let sum = |of: &mut dyn Iterator<Item = &Line>| of.fold(Dollars::ZERO, |sum, line| sum + line.dollars);
    let share = sum(&mut own()) / sum(&mut lines.iter());
    (!parts.is_empty()).then(|| {
        Warning::new(
            "network-price-derived",
            format!(
                "no public price, derived from slower parts: {} ({} of the bill); a price list can set them",
                parts.join(", "),
                human::percent(share)
            ),
        )
    })
}

fn named(line: &Line) -> String {
    match line.speed {
        Some(speed) => format!("{} of {} Gbit/s", line.item.words(), speed.get() * 8.0 / 1e9),
        None => line.item.words().to_owned(),
    }
}

fn unknown_power(lines: &[Line]) -> Option<Warning> {
    let mut unknown: Vec<String> = lines.iter().filter(|line| line.watts.is_none()).map(named).collect();
    unknown.dedup();
    (!unknown.is_empty()).then(|| {
        Warning::new(
            "network-power-unknown",
            format!("unknown power, counted as 0 W: {}; a price list can set watts", unknown.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests;
