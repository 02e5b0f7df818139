//! Switches within a scale-up domain: chips, trays and links.
//!
//! Responsible for: published domains (`catalog/network/scale_up.csv`) and a user's own, and the share of a
//! domain's bandwidth that a lost part takes. Routes treat the domain as one non-blocking switch. Published
//! products have only the figures of their source: NVL576 and UALink pods have none, so their numbers are
//! the user's.

use railwright_spec::choice;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::{Deserialize, Serialize};

const FILE: &str = "catalog/network/scale_up.csv";
/// Maximum number of switches or links: more are a typing error.
const MOST: u64 = 4096;

/// Behaviour of a domain without one of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WithoutPart {
    /// Without a switch it is out of service, and without one of its links a device is. NVIDIA's
    /// controller does the same: the partition is not operational after the loss of a switch, and a GPU is
    /// parked (NMX Manager, partition health, <https://docs.nvidia.com/networking/display/nmxmv8513000/partition+health>).
    #[default]
    Drain,
    /// It continues with the remaining links.
    RunOn,
}

choice!(WithoutPart {
    "drain" => Self::Drain,
    "run-on" => Self::RunOn,
});

/// Switches and links of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleUp {
    /// Switch chips. In two racks, each device is linked to the chips of its own.
    pub switches: u64,
    /// Chips in a tray.
    pub per_tray: u64,
    /// Links of a device.
    pub links: u64,
    /// Chips that a device is linked to: all, or those of its rack.
    pub reached: u64,
    /// Devices that a job leaves idle.
    pub spares: u64,
    /// Behaviour without a part.
    pub without_part: WithoutPart,
}

/// A part of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DomainPart {
    /// A link between a device and a switch chip.
    Link,
    /// A switch chip.
    Switch,
    /// A tray with its chips.
    Tray,
}

impl DomainPart {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Link, Self::Switch, Self::Tray];

    /// The name in tables of failures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "domain link",
            Self::Switch => "domain switch",
            Self::Tray => "domain tray",
        }
    }

    /// The part of a name in tables of failures.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

impl ScaleUp {
    /// Parts of this kind in a domain of a number of devices.
    pub const fn count(&self, part: DomainPart, devices: u64) -> u64 {
        match part {
            DomainPart::Link => self.links * devices,
            DomainPart::Switch => self.switches,
            DomainPart::Tray => self.switches / self.per_tray,
        }
    }

    /// Share of its bandwidth that a device loses with a part. Chips take `ceil(links / chips)` links of a
    /// device at most, and packets are spread over all links by address, so the device with the fewest
    /// left is the slowest.
    pub fn lost(&self, part: DomainPart) -> f64 {
        let links = match part {
            DomainPart::Link => 1,
            DomainPart::Switch => self.links.div_ceil(self.reached),
            DomainPart::Tray => (self.links * self.per_tray).div_ceil(self.reached),
        };
        (links as f64 / self.links as f64).min(1.0)
    }

    /// Reads the name of a published domain, or `switches=18,links=18,per_tray=2`.
    pub(super) fn read(text: &str, devices: u64) -> Result<Self, Problem> {
        let placed = |problem: Problem| problem.at_key("design.domain_parts");
        let published = published()?;
        if let Some(row) = published.iter().find(|row| row.name == text.trim()) {
            if row.devices != devices {
                let message = format!("a {} has {} devices per domain, not {devices}", row.name, row.devices);
                return Err(placed(Problem::new(message))
                    .hint(format!("set design.domain = {}, or list the parts", row.devices)));
            }
            // Two racks have chips of their own.
            let racks = (row.switches / row.links).max(1);
            return Ok(Self::of(row.switches, row.per_tray, row.links, row.switches / racks));
        }
        let (mut switches, mut links, mut per_tray) = (None, None, 1);
        for setting in text.split(',') {
            let Some((key, value)) = setting.split_once('=') else {
                let names: Vec<&str> = published.iter().map(|row| row.name.as_str()).collect();
                let list = format!("use {}, or `switches=18,links=18,per_tray=2`", names.join(", "));
                let message = format!("unknown scale-up domain `{}`", human::shorten(text));
                return Err(placed(Problem::new(message)).hint(did_you_mean(text, names, &list)));
            };
            let number = value.trim().parse::<u64>().ok().filter(|n| (1..=MOST).contains(n));
            let Some(number) = number else {
                let message = format!("`{}` is not a number from 1 to {MOST}", human::shorten(value));
                return Err(placed(Problem::new(message)));
            };
            match key.trim() {
                "switches" => switches = Some(number),
                "links" => links = Some(number),
                "per_tray" => per_tray = number,
                other => {
                    let message = format!("unknown setting `{}` of a domain", human::shorten(other));
                    let keys = ["switches", "links", "per_tray"];
                    return Err(placed(Problem::new(message)).hint(did_you_mean(
                        other,
                        keys,
                        "settings are switches, links and per_tray",
                    )));
                }
            }
        }
        let (Some(switches), Some(links)) = (switches, links) else {
            return Err(placed(Problem::new("a domain needs the number of its switches and links"))
                .hint("write `switches=18,links=18`"));
        };
        if !switches.is_multiple_of(per_tray) || links < switches {
            return Err(placed(Problem::new(format!(
                "{switches} switches in trays of {per_tray} with {links} links of a device"
            )))
            .hint("use whole trays, and one link from each device to every switch"));
        }
        Ok(Self::of(switches, per_tray, links, switches))
    }

    fn of(switches: u64, per_tray: u64, links: u64, reached: u64) -> Self {
        Self { switches, per_tray, links, reached, spares: 0, without_part: WithoutPart::default() }
    }
}

/// A published domain.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Row {
    name: String,
    devices: u64,
    switches: u64,
    per_tray: u64,
    links: u64,
    source: String,
    confidence: String,
}

fn published() -> Result<Vec<Row>, Problem> {
    let mut reader = csv::Reader::from_reader(railwright_catalog::SCALE_UP.as_bytes());
    let rows: Result<Vec<Row>, csv::Error> = reader.deserialize().collect();
    rows.map_err(|error| Problem::new(error.to_string()).in_file(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links of the devices and ports of the chips agree, and each row has its source.
    #[test]
    fn published_domains_add_up() {
        let rows = published().expect("well formed");
        // Ports of a chip: 36 of the second generation, 64 of the third, 72 of the fourth.
        let ports = |name: &str| match name {
            "hgx-a100" => 36,
            "hgx-h100" => 64,
            _ => 72,
        };
        assert!(rows.len() >= 5);
        for row in &rows {
            assert!(row.source.len() > 40 && ["retrieved", "derived"].contains(&row.confidence.as_str()));
            let on_chip = (row.devices * row.links).div_ceil(row.switches);
            assert!(on_chip <= ports(&row.name), "{row:?}: {on_chip}");
            let own = ScaleUp::read(&row.name, row.devices).expect("known");
            assert_eq!(own.count(DomainPart::Tray, row.devices) * row.per_tray, row.switches);
        }
        // 72 ports of each chip of an NVL72 are taken: one link from every GPU.
        let rack = ScaleUp::read("gb200-nvl72", 72).expect("known");
        assert_eq!((rack.count(DomainPart::Link, 72), rack.count(DomainPart::Tray, 72)), (1296, 9));
        let lost = |name: &str, devices, part| ScaleUp::read(name, devices).expect("known").lost(part);
        assert_eq!(lost("gb200-nvl72", 72, DomainPart::Switch), 1.0 / 18.0);
        assert_eq!(lost("gb200-nvl72", 72, DomainPart::Tray), 2.0 / 18.0);
        assert_eq!(lost("gb200-nvl36x2", 72, DomainPart::Switch), 1.0 / 18.0);
        // 12 links over six chips; 18 over four, five of them on one.
        assert_eq!(lost("hgx-a100", 8, DomainPart::Switch), 2.0 / 12.0);
        assert_eq!(lost("hgx-h100", 8, DomainPart::Switch), 5.0 / 18.0);
    }

    #[test]
    fn own_domains_are_read_and_mistakes_named() {
        let own = ScaleUp::read("switches=8, links=16, per_tray=2", 16).expect("valid");
        assert_eq!((own.lost(DomainPart::Switch), own.count(DomainPart::Tray, 16)), (0.125, 4));
        let error = |text: &str, devices| ScaleUp::read(text, devices).expect_err("wrong");
        assert!(error("gb200-nvl73", 72).hint.is_some_and(|hint| hint.contains("`gb200-nvl72`")));
        assert_eq!(error("gb200-nvl72", 8).message, "a gb200-nvl72 has 72 devices per domain, not 8");
        for text in ["switches=0,links=1", "switches=4", "switch=4,links=4", "switches=4,links=2"] {
            assert!(error(text, 8).to_string().contains("domain_parts"), "{text}");
        }
    }
}
