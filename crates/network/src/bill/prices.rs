//! Unit prices and powers: a dated table that users override line by line with a file of the same shape.
//!
//! Responsible for: strict reading of `catalog/network/prices.csv` and its overrides, with the origin of each
//! value. Does not interpolate: an unknown speed is an error.

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
        self.confidence == "derived"
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
        let leaf = self.at(Item::SwitchPort, speed)?.clone();
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
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_has_every_item_with_a_date_and_a_source() {
        let prices = Prices::catalogue().expect("well formed");
        // A price of a chassis was never published.
        for (item, ..) in Item::ALL.into_iter().filter(|row| row.0 != Item::ChassisPort) {
            assert!(prices.parts(item).count() > 0, "{item:?}");
        }
        for (key, price) in &prices.lines {
            assert!(!price.date.is_empty() && !price.dollars_source.is_empty(), "{key:?}");
            assert!(price.address.starts_with("https://") || price.address == "unknown", "{key:?}");
            assert_eq!(price.watts.is_some(), !price.watts_source.is_empty(), "{key:?}");
            let known = ["retrieved", "recalled", "derived", UNKNOWN];
            assert!(known.contains(&price.confidence.as_str()), "{key:?}");
            // A part without a price is in the table for its watts.
            assert!(
                !price.is_unknown() || price.watts.is_some() && price.dollars == Dollars::ZERO,
                "{key:?}"
            );
            // A derived price is a range, and its source is the rule.
            assert_eq!(price.is_derived(), price.dollars_source.starts_with("derived: "), "{key:?}");
            assert!(
                !price.is_derived() || price.dollars_low.is_some() && price.dollars_high.is_some(),
                "{key:?}"
            );
        }
        // The columns of the planning interface at 400 Gbit/s, and the ratio at 100 Gbit/s that the rail-only
        // paper's savings imply.
        let at = |item, gbit| prices.at(item, BytesPerSecond::from_gbit(gbit)).expect("known").dollars.get();
        assert_eq!(
            (at(Item::Transceiver, 400.0), at(Item::Nic, 400.0), at(Item::SwitchPort, 400.0)),
            (659.0, 1499.0, 781.25)
        );
        // A switch of 64 ports: $36,000 and about $50,000 in August 2024.
        let port = prices.at(Item::SwitchPort, BytesPerSecond::from_gbit(400.0)).expect("known");
        assert_eq!(
            (port.dollars_low.map(|low| low.get() * 64.0), port.dollars.get() * 64.0),
            (Some(36_000.0), 50_000.0)
        );
        assert!((at(Item::SwitchPort, 100.0) / at(Item::Transceiver, 100.0) - 1.889).abs() < 1e-3);
    }

    /// Parts at 1.6 Tbit/s follow from those at 800 Gbit/s by the rule in their source.
    #[test]
    fn derived_prices_follow_from_their_rule() {
        let prices = Prices::catalogue().expect("well formed");
        let at = |item, gbit| prices.at(item, BytesPerSecond::from_gbit(gbit)).expect("known");
        for item in [Item::SwitchPort, Item::Nic, Item::Copper] {
            let (half, own) = (at(item, 800.0), at(item, 1600.0));
            assert!(own.is_derived());
            assert_eq!(own.dollars, half.dollars * 2.0);
            assert_eq!(own.dollars_low, Some(half.dollars));
            assert_eq!(own.dollars_high, Some(half.dollars_high.unwrap_or(half.dollars) * 2.0));
        }
        let end = at(Item::Transceiver, 1600.0);
        assert!(!end.is_derived());
        assert_eq!(at(Item::ActiveOptical, 1600.0).dollars, end.dollars * 2.0);
        let watts = |item, gbit| at(item, gbit).watts.expect("known").get();
        assert!((watts(Item::SwitchPort, 1600.0) / watts(Item::SwitchPort, 800.0) - 1.45).abs() < 1e-3);
    }

    #[test]
    fn lines_of_a_user_win() {
        let mut prices = Prices::catalogue().expect("well formed");
        prices.overlay(
            Prices::parse("item,part,usd\nnic,400,1\ndevice,h100-sxm5-80gb,2\n", "own.csv").expect("valid"),
        );
        assert_eq!(prices.at(Item::Nic, BytesPerSecond::from_gbit(400.0)).expect("own").dollars.get(), 1.0);
        assert_eq!(prices.device("h100-sxm5-80gb").expect("own").dollars.get(), 2.0);
        let at_300 = prices.at(Item::SwitchPort, BytesPerSecond::from_gbit(300.0)).expect_err("not sold");
        assert_eq!(at_300.message, "no price for a switch port of 300 Gbit/s");
        assert!(at_300.hint.expect("a hint").starts_with(
            "use one of 1, 10, 25, 40, 100, 200, 400, 800, 1600 Gbit/s, or add `switch-port,300,<usd>`"
        ));
    }

    #[test]
    fn a_list_has_one_currency_with_the_rate_of_the_user() {
        let list = "item,part,currency,usd_per_unit,price_low,price\nnic,400,EUR,1.25,800,1000\n";
        let prices = Prices::parse(list, "own.csv").expect("valid");
        let nic = prices.at(Item::Nic, BytesPerSecond::from_gbit(400.0)).expect("own");
        assert_eq!((nic.dollars.get(), nic.dollars_low), (1250.0, Some(Dollars::new(1000.0))));
        assert_eq!(nic.dollars_source, "1 EUR = 1.25 USD");
        for (text, message) in [
            (
                "item,part,currency,price\nnic,400,EUR,1\n",
                "own.csv:2:1: prices are in EUR, but no exchange rate is set",
            ),
            (
                "item,part,currency,usd_per_unit,price,usd\nnic,400,EUR,1.1,1,1\n",
                "own.csv:2:1: the column `usd` is in dollars, but the list is in EUR",
            ),
            (
                "item,part,currency,usd_per_unit,price\nnic,400,EUR,1.1,1\nnic,800,GBP,1.3,1\n",
                "own.csv:3:1: a price is in GBP (1 GBP = 1.3 USD), but the first price of the list is in EUR (1 EUR = 1.1 USD)",
            ),
            ("item,part,currency,price\nnic,400,,1\n", "own.csv:2:1: a price has no currency"),
            ("item,part,currency,price\nnic,400,euro,1\n", "own.csv:2:1: `euro` is not a currency"),
            (
                "item,part,currency,usd_per_unit,price\nnic,400,EUR,0,1\n",
                "own.csv:2:1: `0` is not an exchange rate above 0",
            ),
        ] {
            assert_eq!(Prices::parse(text, "own.csv").expect_err(text).to_string(), message);
        }
    }

    /// Linear and co-packaged optics have watts, but no public price.
    #[test]
    fn parts_without_a_price_are_not_free() {
        let prices = Prices::catalogue().expect("well formed");
        let watts = |item, gbit| {
            let price = prices.at(item, BytesPerSecond::from_gbit(gbit)).expect("known");
            assert_eq!(price.is_unknown(), item != Item::Transceiver);
            price.watts.expect("known").get()
        };
        // Quantum-X Photonics: 9 W in place of 30 W at 1.6 Tbit/s, 3.5 times the power efficiency. LPO: about
        // half.
        assert!((30.0 / watts(Item::CoPackagedEnd, 1600.0) - 3.5).abs() < 0.2);
        let ratio = watts(Item::LinearTransceiver, 800.0) / watts(Item::Transceiver, 800.0);
        assert!((ratio - 0.5).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn a_link_of_an_odd_speed_has_the_next_faster_cable() {
        let prices = Prices::catalogue().expect("well formed");
        let speed_of = |gigabits: f64| {
            let found = prices.carrying(Item::Copper, BytesPerSecond::from_gbit(gigabits));
            found.map(|(rate, price)| (part_of(rate), price.dollars))
        };
        let at_100 = prices.at(Item::Copper, BytesPerSecond::from_gbit(100.0)).expect("known").dollars;
        assert_eq!(speed_of(200.0 / 3.0).expect("slower than 100"), ("100".to_owned(), at_100));
        assert_eq!(speed_of(400.0).expect("known").0, "400");
        assert_eq!(
            speed_of(1e5).expect_err("too fast").message,
            "no price for a copper cable of 100000 Gbit/s"
        );
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let error_of = |text: &str| Prices::parse(text, "own.csv").expect_err("wrong").to_string();
        assert_eq!(error_of("item,part,usd\nnic,400,1\nnik,400,2\n"), "own.csv:3:1: unknown item `nik`");
        assert_eq!(error_of("item,part,cost\n"), "own.csv:1:1: unknown column `cost`");
        assert_eq!(error_of("item,part\n"), "own.csv: the column `usd` is missing");
        assert_eq!(
            error_of("item,part,usd\nnic,fast,1\n"),
            "own.csv:2:1: a NIC requires its speed in Gbit/s in the column `part`"
        );
        assert_eq!(
            error_of("item,part,usd\nnic,400,-1\n"),
            "own.csv:2:1: `-1` is not a number of 0 or more in the column `usd`"
        );
        assert_eq!(
            error_of("item,part,usd\nnic,400,nan\n"),
            "own.csv:2:1: `nan` is not a number of 0 or more in the column `usd`"
        );
        assert_eq!(
            error_of("item,part,usd_low,usd\nnic,400,3,2\n"),
            "own.csv:2:1: the price of a NIC is not between `usd_low` and `usd_high`"
        );
        assert_eq!(
            error_of("item,part,usd\nnic,400,\n"),
            "own.csv:2:1: a NIC has no price in the column `usd`"
        );
        assert_eq!(error_of("item,part,usd\nnic,400,1\nnic,400.0,2\n"), "own.csv:3:1: nic 400 occurs twice");
        assert_eq!(
            error_of("item,part,usd\nnic,400\n"),
            "own.csv:2: a line has 2 cells, but the header has 3"
        );
    }
}
