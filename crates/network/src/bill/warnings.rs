//! Warnings of bills: unknown power and prices, derived prices, bills that cannot be compared.
//!
//! Responsible for: their texts, and those of several bills without repetition.

use super::prices::{Item, Price};
use super::total::{Bill, Line};
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{BytesPerSecond, Dollars};

const DERIVED: &str = "network-price-derived";

pub(super) fn ports_in_devices() -> Warning {
    Warning::new(
        "network-ports-in-devices",
        "the ports of a torus are part of its accelerators, so its bill contains only cables and is not comparable with others",
    )
}

pub(super) fn unknown_chassis(tier: &str, ports: u64, speed: BytesPerSecond) -> Warning {
    let gbit = speed.get() * 8.0 / 1e9;
    Warning::new(
        "network-chassis-unpriced",
        format!(
            "a {tier} of {ports} ports has no public price, so its ports are counted at the price of leaf ports; a price list can set `{},{gbit},<usd>`",
            Item::ChassisPort.name()
        ),
    )
}

/// Parts of bills with a derived price, and their share of each bill.
pub(super) fn derived(bills: &[&[Line]]) -> Option<Warning> {
    let own = |lines: &'_ [Line]| -> Vec<Line> {
        lines.iter().filter(|line| line.price.is_derived()).cloned().collect()
    };
    let sum = |lines: &[Line]| lines.iter().fold(Dollars::ZERO, |sum, line| sum + line.dollars);
    let (mut parts, mut shares) = (Vec::new(), Vec::new());
    for lines in bills {
        let derived = own(lines);
        if !derived.is_empty() {
            parts.extend(derived.iter().map(ranged));
            shares.push(sum(&derived) / sum(lines));
        }
    }
    parts.sort_unstable();
    parts.dedup();
    let low = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shares.iter().copied().fold(0.0, f64::max);
    let (low, high) = (human::percent(low), human::percent(high));
    let share =
        if low == high { format!("{high} of the bill") } else { format!("{low} to {high} of the bills") };
    (!parts.is_empty()).then(|| {
        Warning::new(
            DERIVED,
            format!(
                "no public price, so prices are derived from other speeds: {} ({share}); a price list can set them",
                parts.join(", ")
            ),
        )
    })
}

/// Parts without a price, which count as nothing.
pub(super) fn unknown_prices(lines: &[Line]) -> Option<Warning> {
    let unknown = each_once(lines, |line| line.price.is_unknown());
    (!unknown.is_empty()).then(|| {
        Warning::new(
            "network-price-unknown",
            format!(
                "no public price, so that totals are lower bounds: {}; a price list can set them",
                unknown.join(", ")
            ),
        )
    })
}

/// Warnings of several bills, each once. Those about derived prices are one, with all parts.
pub fn warnings_of<'a>(bills: impl Iterator<Item = &'a Bill>) -> Vec<Warning> {
    let bills: Vec<&Bill> = bills.collect();
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in bills.iter().flat_map(|bill| &bill.warnings) {
        if warning.id != DERIVED && !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let lines: Vec<&[Line]> = bills.iter().map(|bill| bill.lines.as_slice()).collect();
    warnings.extend(derived(&lines));
    warnings
}

/// Names of some lines, in their order.
fn each_once(lines: &[Line], of: fn(&Line) -> bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in lines.iter().filter(|line| of(line)).map(named) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn named(line: &Line) -> String {
    match line.speed {
        Some(speed) => format!("{} of {} Gbit/s", line.item.words(), speed.get() * 8.0 / 1e9),
        None => line.item.words().to_owned(),
    }
}

/// A line with the range of its price.
fn ranged(line: &Line) -> String {
    let Price { dollars, dollars_low, dollars_high, .. } = &line.price;
    let [low, high] = [dollars_low, dollars_high].map(|bound| human::dollars(bound.unwrap_or(*dollars)));
    format!("{} at {low} to {high}", named(line))
}

pub(super) fn unknown_power(lines: &[Line]) -> Option<Warning> {
    let unknown = each_once(lines, |line| line.watts.is_none());
    (!unknown.is_empty()).then(|| {
        Warning::new(
            "network-power-unknown",
            format!(
                "unknown power: {}; totals with them have no power, and costs per token exclude its electricity; a price list can set watts",
                unknown.join(", ")
            ),
        )
    })
}
