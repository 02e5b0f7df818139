//! Cost of a network: dollars and watts from counts and unit prices, and comparison of designs by cost.
//!
//! Responsible for: the bill of materials of a [`Design`], savings and break-even points between designs, and
//! the network's share of a cluster. Excludes step times, and scale-up domains: their links and switches come
//! with the devices.

pub mod compare;
mod currency;
pub mod growth;
pub mod prices;
pub mod savings;
pub mod share;
pub mod table;
mod total;
mod warnings;

pub use total::{Bill, Line};
pub use warnings::warnings_of;

use crate::topology::{Counts, Design, Layer, Medium};
use prices::{Item, Price, Prices};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{BytesPerSecond, Dollars, Watts};
use warnings::{derived, ports_in_devices, unknown_chassis, unknown_power, unknown_prices};

/// The bill of a design: `sum over items of count x unit price`, and the same for power.
pub fn bill(design: &Design, prices: &Prices) -> Result<Bill, Problem> {
    let counts = design.counts();
    let own = Parts {
        counts: &counts,
        prefix: "",
        // A switch costs as much as with all ports at their widest, however they are split.
        switch_speed: design.port_bandwidth.max(design.nic_bandwidth),
        port_speed: design.port_bandwidth,
        nic_speed: design.nic_bandwidth,
        leaf_ports: design.ports_per_switch,
        links_per_cable: design.links_per_cable,
    };
    let (mut lines, mut warnings) = own.lines(prices)?;
    let of_devices = lines.len();
    for side in &design.side {
        let parts = Parts {
            counts: &side.counts(),
            prefix: side.purpose.name(),
            switch_speed: side.speed,
            port_speed: side.speed,
            nic_speed: side.speed,
            leaf_ports: side.radix,
            links_per_cable: 1,
        };
        let (more, _) = parts.lines(prices)?;
        lines.extend(more);
    }
    let all = |of: &dyn Fn(&Line) -> Dollars| lines.iter().fold(Dollars::ZERO, |sum, line| sum + of(line));
    // An empty sum is 0, not the -0 of the standard library.
    let sum = |of: &dyn Fn(Item) -> bool| {
        let own = lines[..of_devices].iter().filter(|l| of(l.item));
        own.fold(Dollars::ZERO, |sum, l| sum + l.dollars)
    };
    warnings.extend(unknown_power(&lines));
    warnings.extend(unknown_prices(&lines));
    warnings.extend(derived(&[&lines]));
    warnings.extend((counts.nics == 0 && !counts.layers.is_empty()).then(ports_in_devices));
    let total = all(&|line| line.dollars);
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
        side: lines[of_devices..].iter().fold(Dollars::ZERO, |sum, line| sum + line.dollars),
        total,
        total_low: all(&|line| line.dollars_low),
        total_high: all(&|line| line.dollars_high),
        ranged_share: if total > Dollars::ZERO { ranged / total } else { 0.0 },
        has_all_prices: lines.iter().all(|line| !line.price.is_unknown()),
        has_all_watts: lines.iter().all(|line| line.watts.is_some()),
        watts: lines.iter().filter_map(|line| line.watts).fold(Watts::ZERO, |sum, watts| sum + watts),
        counts,
        lines,
        own_lines: of_devices,
        warnings,
    })
}

/// Parts of one network, with the speeds at which they are priced.
struct Parts<'a> {
    counts: &'a Counts,
    /// Name before the places of its lines; empty for the network of the accelerators.
    prefix: &'static str,
    switch_speed: BytesPerSecond,
    port_speed: BytesPerSecond,
    nic_speed: BytesPerSecond,
    /// Ports of a leaf: a switch with more is priced as a chassis.
    leaf_ports: u64,
    links_per_cable: u64,
}

impl Parts<'_> {
    fn lines(&self, prices: &Prices) -> Result<(Vec<Line>, Vec<Warning>), Problem> {
        let (mut lines, mut warnings) = (Vec::new(), Vec::new());
        let mut add = |item, place: &str, speed: Option<BytesPerSecond>, count: f64, price: &Price| {
            let place = match self.prefix {
                "" => place.to_owned(),
                prefix => format!("{prefix}, {place}"),
            };
            lines.push(line(item, place, speed, count, price));
        };
        for tier in &self.counts.tiers {
            let speed = self.switch_speed;
            let ports = tier.ports as f64 * (self.port_speed / speed);
            let each = tier.ports / tier.switches.max(1);
            if each > self.leaf_ports {
                let (price, is_own) = prices.chassis_port(speed)?;
                if !is_own {
                    warnings.push(unknown_chassis(tier.name, each, speed));
                }
                add(Item::ChassisPort, tier.name, Some(speed), ports, &price);
            } else {
                add(Item::SwitchPort, tier.name, Some(speed), ports, &prices.near(Item::SwitchPort, speed)?);
            }
        }
        for layer in &self.counts.layers {
            let place = layer_name(layer.layer);
            // A dual-port transceiver or cable is priced by its total bandwidth.
            let speed = layer.bandwidth * self.links_per_cable as f64;
            let medium = layer.cabling.medium;
            if layer.transceivers > 0 {
                let linear = medium == Medium::Linear;
                let item = if linear { Item::LinearTransceiver } else { Item::Transceiver };
                let (rate, price) = prices.carrying(item, speed)?;
                add(item, place, Some(rate), layer.transceivers as f64, price);
            }
            let ends = medium.co_packaged_ends(layer.layer == Layer::Access) * layer.cables;
            if ends > 0 {
                let (rate, price) = prices.carrying(Item::CoPackagedEnd, speed)?;
                add(Item::CoPackagedEnd, place, Some(rate), ends as f64, price);
            }
            let cables = layer.cables as f64;
            match medium {
                Medium::Copper => {
                    let (rate, price) = prices.carrying(Item::Copper, speed)?;
                    add(Item::Copper, place, Some(rate), cables, price);
                }
                Medium::ActiveOptical => {
                    let (rate, price) = prices.carrying(Item::ActiveOptical, speed)?;
                    add(Item::ActiveOptical, place, Some(rate), cables, price);
                }
                Medium::Fibre | Medium::Linear | Medium::CoPackaged | Medium::Circuit => {
                    let metres = cables * layer.cabling.length;
                    add(Item::Fibre, place, None, metres, plain(prices, Item::Fibre)?);
                }
            }
        }
        if self.counts.circuit_ports > 0 {
            let price = plain(prices, Item::CircuitSwitchPort)?;
            let is_torus = self.counts.links_in(Layer::Torus) > 0;
            let place = if is_torus { "between cubes" } else { "between switches" };
            add(Item::CircuitSwitchPort, place, None, self.counts.circuit_ports as f64, price);
        }
        if self.counts.nics > 0 {
            let (speed, at) = (self.nic_speed, if self.prefix.is_empty() { "device" } else { "server" });
            add(Item::Nic, at, Some(speed), self.counts.nics as f64, &prices.near(Item::Nic, speed)?);
        }
        Ok((lines, warnings))
    }
}

fn line(item: Item, place: String, speed: Option<BytesPerSecond>, count: f64, price: &Price) -> Line {
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
        Layer::CoreTop => "core to top",
        Layer::Local => "within groups",
        Layer::Global => "between groups",
        Layer::Torus => "neighbours",
    }
}

#[cfg(test)]
mod tests;
