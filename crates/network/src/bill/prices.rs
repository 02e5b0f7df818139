//! Unit prices and powers: a dated table that users override line by line with a file of the same shape.
//!
//! Responsible for: strict reading of `catalog/network/prices.csv` and its overrides, with the origin of each
//! value. A speed without a price has those of the next speeds as bounds ([`Prices::near`]). A speed outside
//! the table is an error.

use super::currency::{self, Currency};
use crate::records;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::{BytesPerSecond, Dollars, Watts};
use serde::Serialize;
use std::collections::BTreeMap;

/// The catalogue's table.
pub const CATALOGUE: &str = railwright_catalog::NETWORK_PRICES;
/// Path of [`CATALOGUE`] in the repository.
pub const CATALOGUE_FILE: &str = "catalog/network/prices.csv";

/// Confidence of a line without a price.
const UNKNOWN: &str = "unknown";
/// Confidence of a price that follows from other parts.
const DERIVED: &str = "derived";
/// Longer tables are not price lists.
const LONGEST: usize = 1 << 20;
const COLUMNS: [&str; 17] = [
    "item",
    "part",
    "unit",
    "usd_low",
    "usd",
    "usd_high",
    "watts",
    "date",
    "usd_source",
    "address",
    "watts_source",
    "confidence",
    "currency",
    "usd_per_unit",
    "price_low",
    "price",
    "price_high",
];

/// Kinds of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Item {
    /// A port of an electrical switch, with its share of the switch.
    SwitchPort,
    /// A port of a spine or core with more ports than a leaf, such as a modular chassis, with its share of
    /// it.
    ChassisPort,
    /// An optical transceiver.
    Transceiver,
    /// A linear transceiver, without a signal processor (LPO).
    LinearTransceiver,
    /// The optics of one switch port in the package of the switch chip (CPO), with its share of the laser.
    CoPackagedEnd,
    /// A network interface, all of its ports.
    Nic,
    /// A passive copper cable.
    Copper,
    /// An active optical cable, both ends included.
    ActiveOptical,
    /// A metre of fibre.
    Fibre,
    /// A port of an optical circuit switch.
    CircuitSwitchPort,
    /// A port of a patch panel.
    PatchPanelPort,
    /// An accelerator, with its share of the server.
    Device,
}

impl Item {
    const ALL: [(Self, &'static str, &'static str); 12] = [
        (Self::SwitchPort, "switch-port", "switch port"),
        (Self::ChassisPort, "chassis-port", "port of a larger switch"),
        (Self::Transceiver, "transceiver", "transceiver"),
        (Self::LinearTransceiver, "linear-transceiver", "linear transceiver"),
        (Self::CoPackagedEnd, "co-packaged-end", "co-packaged optical port"),
        (Self::Nic, "nic", "NIC"),
        (Self::Copper, "copper", "copper cable"),
        (Self::ActiveOptical, "active-optical", "active optical cable"),
        (Self::Fibre, "fibre", "metre of fibre"),
        (Self::CircuitSwitchPort, "circuit-switch-port", "optical circuit switch port"),
        (Self::PatchPanelPort, "patch-panel-port", "patch panel port"),
        (Self::Device, "device", "accelerator"),
    ];

    /// The name that the table uses.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Common name, in the singular.
    pub fn words(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }

    /// Tests whether the price depends on the speed.
    const fn has_speed(self) -> bool {
        matches!(
            self,
            Self::SwitchPort
                | Self::ChassisPort
                | Self::Transceiver
                | Self::LinearTransceiver
                | Self::CoPackagedEnd
                | Self::Nic
                | Self::Copper
                | Self::ActiveOptical
        )
    }

    /// Tests whether it is a port of an electrical switch.
    pub const fn is_port(self) -> bool {
        matches!(self, Self::SwitchPort | Self::ChassisPort)
    }
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// Dollars for one: the typical price.
    pub dollars: Dollars,
    /// Lowest price of a public source; `None` if there is only one.
    pub dollars_low: Option<Dollars>,
    /// The most.
    pub dollars_high: Option<Dollars>,
    /// Watts of one part; `None` if unknown.
    pub watts: Option<Watts>,
    /// Date of reading.
    pub date: String,
    /// Source of the price.
    pub dollars_source: String,
    /// Address of the source, or `unknown`.
    pub address: String,
    /// Source of the power.
    pub watts_source: String,
    /// `retrieved`, `recalled`, `inferred`, `derived`, `unknown` (no price), or text of the user.
    pub confidence: String,
}

impl Price {
    /// Tests whether the price has no source of its own, but follows from that of another part.
    pub fn is_derived(&self) -> bool {
        self.confidence == DERIVED
    }

    /// Tests whether no price is known: a line without one, for its watts.
    pub fn is_unknown(&self) -> bool {
        self.confidence == UNKNOWN
    }
}

/// A table of prices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    lines: BTreeMap<(Item, String), Price>,
}

impl Prices {
    /// The catalogue's.
    pub fn catalogue() -> Result<Self, Problem> {
        Self::parse(CATALOGUE, CATALOGUE_FILE)
    }

    /// Reads a table: a header with at least `item`, `part` and `usd`, then a line for each price.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        if text.len() > LONGEST {
            return Err(Problem::new("larger than 1 MiB, the limit of price lists").in_file(file));
        }
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| broken(&error, text, file))?.clone();
        for (place, name) in header.iter().enumerate() {
            if !COLUMNS.contains(&name) {
                let shown = human::shorten(name);
                let list = format!("columns are {}", COLUMNS.join(", "));
                return Err(Problem::new(format!("unknown column `{shown}`"))
                    .in_file(file)
                    .at_offset(text, 0)
                    .hint(did_you_mean(name, COLUMNS, &list)));
            }
            if header.iter().take(place).any(|earlier| earlier == name) {
                return Err(Problem::new(format!("the column `{name}` occurs twice")).in_file(file));
            }
        }
        let amount = if header.iter().any(|name| name == "price") { "price" } else { "usd" };
        for needed in ["item", "part", amount] {
            if !header.iter().any(|name| name == needed) {
                return Err(Problem::new(format!("the column `{needed}` is missing"))
                    .in_file(file)
                    .hint(format!("a price list has the header of `{CATALOGUE_FILE}`")));
            }
        }
        let mut lines = BTreeMap::new();
        let mut currency: Option<Option<Currency>> = None;
        for record in reader.records() {
            let record = record.map_err(|error| broken(&error, text, file))?;
            let at = records::start(text, record.position());
            let cell = |name: &str| {
                let column = header.iter().position(|known| known == name);
                column.and_then(|column| record.get(column)).unwrap_or_default()
            };
            let placed = |problem: Problem| problem.in_file(file).at_offset(text, at);
            let own = Currency::of_line(&cell).map_err(placed)?;
            let first = currency.get_or_insert_with(|| own.clone());
            if *first != own {
                let (first, own) = (currency::named(first.as_ref()), currency::named(own.as_ref()));
                return Err(placed(
                    Problem::new(format!(
                        "a price is in {own}, but the first price of the list is in {first}"
                    ))
                    .hint("use one list for each currency, with one rate"),
                ));
            }
            let (key, price) = line(&cell, own.as_ref()).map_err(placed)?;
            if lines.insert(key.clone(), price).is_some() {
                let (item, part) = key;
                return Err(placed(Problem::new(format!("{} {part} occurs twice", item.name()))));
            }
        }
        Ok(Self { lines })
    }

    /// Lays another table over this one: its lines take precedence. A line without watts keeps those of the
    /// same part, because a price does not change its power.
    pub fn overlay(&mut self, other: Self) {
        for (key, mut price) in other.lines {
            if let (None, Some(known)) = (price.watts, self.lines.get(&key)) {
                price.watts = known.watts;
                price.watts_source.clone_from(&known.watts_source);
            }
            self.lines.insert(key, price);
        }
    }

    /// The price of an item that has no speed.
    pub fn plain(&self, item: Item) -> Option<&Price> {
        self.lines.get(&(item, String::new()))
    }

    /// The price of an item at a speed.
    pub fn at(&self, item: Item, speed: BytesPerSecond) -> Result<&Price, Problem> {
        let part = part_of(speed);
        self.lines.get(&(item, part.clone())).ok_or_else(|| {
            let mut known: Vec<f64> = self.parts(item).filter_map(|part| part.parse().ok()).collect();
            known.sort_by(f64::total_cmp);
            let known: Vec<String> = known.iter().map(f64::to_string).collect();
            let problem = Problem::new(format!("no price for a {} of {part} Gbit/s", item.words()));
            problem.hint(format!(
                "use one of {} Gbit/s, or add `{},{part},<usd>` below the header `item,part,usd` of a price list",
                known.join(", "),
                item.name()
            ))
        })
    }

    /// The price of an item at a speed, or bounds on it if no part has exactly this speed. A faster part
    /// carries it as well, so its price is the typical and the highest one. The lowest is that of the
    /// next slower part, because faster parts cost at least as much. The power is unknown.
    ///
    /// # Errors
    ///
    /// No part is slower, or none is faster.
    pub fn near(&self, item: Item, speed: BytesPerSecond) -> Result<Price, Problem> {
        let refused = match self.at(item, speed) {
            Ok(price) => return Ok(price.clone()),
            Err(problem) => problem,
        };
        let own = speed.get() * 8.0 / 1e9;
        let known = || self.parts(item).filter_map(|part| part.parse::<f64>().ok());
        let below = known().filter(|part| *part < own).max_by(f64::total_cmp);
        let above = known().filter(|part| *part > own).min_by(f64::total_cmp);
        let (Some(below), Some(above)) = (below, above) else { return Err(refused) };
        let at = |gigabits| self.at(item, BytesPerSecond::from_gbit(gigabits));
        let (slower, faster) = (at(below)?, at(above)?);
        if slower.is_unknown() || faster.is_unknown() {
            return Err(refused);
        }
        let least = slower.dollars_low.unwrap_or(slower.dollars).min(faster.dollars);
        Ok(Price {
            dollars: faster.dollars,
            dollars_low: Some(least),
            dollars_high: Some(faster.dollars_high.unwrap_or(faster.dollars)),
            watts: None,
            date: faster.date.clone(),
            dollars_source: format!("derived: not sold; between {below} and {above} Gbit/s"),
            address: faster.address.clone(),
            watts_source: String::new(),
            confidence: DERIVED.to_owned(),
        })
    }

    /// The slowest part with a price that carries a speed, and that price: links of a torus have a share of a
    /// device's bandwidth, for which no cable is made.
    pub fn carrying(&self, item: Item, speed: BytesPerSecond) -> Result<(BytesPerSecond, &Price), Problem> {
        if let Some(price) = self.lines.get(&(item, part_of(speed))) {
            return Ok((speed, price));
        }
        let rates = self.parts(item).filter_map(|part| part.parse().ok()).map(BytesPerSecond::from_gbit);
        let rate =
            rates.filter(|rate| *rate > speed).min_by(|a, b| a.get().total_cmp(&b.get())).unwrap_or(speed);
        Ok((rate, self.at(item, rate)?))
    }

    /// The price of a port of a switch with more ports than a leaf. No public price is known. Without one
    /// in a price list it is that of a leaf's port, with unknown power; `false` for this substitute.
    pub fn chassis_port(&self, speed: BytesPerSecond) -> Result<(Price, bool), Problem> {
        if let Some(price) = self.lines.get(&(Item::ChassisPort, part_of(speed))) {
            return Ok((price.clone(), true));
        }
        let leaf = self.near(Item::SwitchPort, speed)?;
        Ok((Price { watts: None, watts_source: String::new(), ..leaf }, false))
    }

    /// The price of an accelerator by its identifier in the catalogue.
    pub fn device(&self, id: &str) -> Option<&Price> {
        self.lines.get(&(Item::Device, id.to_owned()))
    }

    /// The parts of an item that have a price.
    pub fn parts(&self, item: Item) -> impl Iterator<Item = &str> {
        self.lines.keys().filter(move |key| key.0 == item).map(|key| key.1.as_str())
    }
}

/// A speed as the table writes it: Gbit/s without needless digits.
fn part_of(speed: BytesPerSecond) -> String {
    let gigabits = speed.get() * 8.0 / 1e9;
    let rounded = (gigabits * 1e6).round() / 1e6;
    rounded.to_string()
}

fn broken(error: &csv::Error, text: &str, file: &str) -> Problem {
    let line = error.position().map(|position| records::line(text, position));
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Problem::new(format!("a line has {len} cells, but the header has {expected_len}"))
        }
        _ => Problem::new("not a table of comma-separated values"),
    };
    match line {
        Some(line) => problem.in_file(format!("{file}:{line}")),
        None => problem.in_file(file),
    }
}

fn line<'a>(
    cell: &impl Fn(&str) -> &'a str,
    currency: Option<&Currency>,
) -> Result<((Item, String), Price), Problem> {
    let [low_column, typical_column, high_column] =
        if currency.is_some() { currency::OWN } else { currency::DOLLARS };
    let name = cell("item");
    let Some(&(item, ..)) = Item::ALL.iter().find(|row| row.1 == name) else {
        let list = Item::ALL.map(|row| format!("`{}`", row.1)).join(", ");
        return Err(Problem::new(format!("unknown item `{}`", human::shorten(name))).hint(did_you_mean(
            name,
            Item::ALL.map(|row| row.1),
            &format!("items: {list}"),
        )));
    };
    let amount = |column: &str| -> Result<Option<f64>, Problem> {
        let text = cell(column);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0 && *n < 1e12);
        number.map(Some).ok_or_else(|| {
            Problem::new(format!(
                "`{}` is not a number of 0 or more in the column `{column}`",
                human::shorten(text)
            ))
        })
    };
    let part = cell("part");
    let part = match (item.has_speed(), part) {
        (true, text) => {
            let speed = text.parse::<f64>().ok().filter(|n| *n > 0.0 && *n < 1e6);
            let speed = speed.ok_or_else(|| {
                Problem::new(format!("a {} requires its speed in Gbit/s in the column `part`", item.words()))
            })?;
            part_of(BytesPerSecond::from_gbit(speed))
        }
        (false, text) => text.to_owned(),
    };
    let price = |column: &str| -> Result<Option<f64>, Problem> {
        let amount = amount(column)?;
        Ok(amount.map(|amount| currency.map_or(amount, |currency| currency.dollars(amount))))
    };
    let dollars = price(typical_column)?.or_else(|| (cell("confidence") == UNKNOWN).then_some(0.0));
    let Some(dollars) = dollars else {
        let words = item.words();
        return Err(Problem::new(format!("a {words} has no price in the column `{typical_column}`")));
    };
    let (low, high) = (price(low_column)?, price(high_column)?);
    if low.is_some_and(|low| low > dollars) || high.is_some_and(|high| high < dollars) {
        return Err(Problem::new(format!(
            "the price of a {} is not between `{low_column}` and `{high_column}`",
            item.words()
        )));
    }
    let price = Price {
        dollars: Dollars::new(dollars),
        dollars_low: low.map(Dollars::new),
        dollars_high: high.map(Dollars::new),
        watts: amount("watts")?.map(Watts::new),
        date: cell("date").to_owned(),
        dollars_source: match (cell("usd_source"), currency.map(Currency::remark)) {
            (source, None) => source.to_owned(),
            ("", Some(rate)) => rate,
            (source, Some(rate)) => format!("{source}; {rate}"),
        },
        address: cell("address").to_owned(),
        watts_source: cell("watts_source").to_owned(),
        confidence: cell("confidence").to_owned(),
    };
    Ok(((item, part), price))
}

#[cfg(test)]
mod tests;
