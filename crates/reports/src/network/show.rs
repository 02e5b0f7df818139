//! `network show`: one design in numbers, or as a diagram.

use crate::network::{gigabits, switch_ports};
use railwright_network::bill::layer_name;
use railwright_network::topology::{Counts, Design, Fabric, Kind, MOST_DEVICES, Reach, Summary};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal, words};
use railwright_spec::human;
use serde::Serialize;

/// A design, and a command for the next question.
pub struct Shown(pub Summary, pub Option<String>);

/// The value and its alternatives: `ecmp (or spray, static)`.
fn one_of<T: Copy + PartialEq + serde::Serialize>(holds: T, all: &[T]) -> String {
    let others: Vec<String> = all.iter().filter(|one| **one != holds).map(|one| words(*one)).collect();
    match (all.is_empty(), others.is_empty()) {
        (true, _) => String::new(),
        (false, true) => words(holds),
        (false, false) => format!("{} (or {})", words(holds), others.join(", ")),
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownFields<'a> {
    design: &'a Design,
    counts: CountsFields<'a>,
    /// Bandwidth below over bandwidth above, by tier.
    oversubscription: &'a [f64],
    /// Maximum number of devices of the design.
    largest: u64,
    /// Routes of the first device to the others.
    reach: &'a [Reach],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct CountsFields<'a> {
    #[serde(flatten)]
    counts: &'a Counts,
    switches: u64,
    ports: u64,
    links: u64,
    cables: u64,
    transceivers: u64,
}

impl Answer for Shown {
    const KIND: &'static str = "network";

    type Json<'a> = ShownFields<'a>;

    fn json(&self) -> ShownFields<'_> {
        let Summary { design, counts, oversubscription, room, reach } = &self.0;
        ShownFields {
            design,
            counts: CountsFields {
                counts,
                switches: counts.switches(),
                ports: counts.ports(),
                links: counts.links(),
                cables: counts.cables(),
                transceivers: counts.transceivers(),
            },
            oversubscription,
            largest: *room,
            reach,
        }
    }

    fn document(&self, _: Terminal) -> Document {
        let Summary { design, counts, .. } = &self.0;
        let mut document = Document::default();
        document.verdict(self.verdict());
        let domains = match design.domain.size {
            1 => String::new(),
            size => format!(" in {} of {size}", human::several(design.domains(), "domain")),
        };
        document.heading_with(
            design.name.clone(),
            format!("{}{domains}; {}", human::several(design.devices, "device"), design.kind.about()),
        );
        document.pairs(self.figures());
        if !counts.tiers.is_empty() {
            document.heading_with(
                "switches",
                format!(
                    "of {} at {}",
                    switch_ports(design, design.ports_per_switch),
                    gigabits(design.port_bandwidth)
                ),
            );
            document.table(self.switches());
        }
        if !counts.layers.is_empty() {
            document.heading_with("cables", "both directions of a cable count once");
            document.table(self.cables());
        }
        if !design.side.is_empty() {
            document.heading_with("server networks", human::several(design.side[0].servers, "server"));
            document.table(self.side());
        }
        document.heading_with("reach", "from one device to all others");
        document.table(self.reach());
        if let Some(next) = &self.1 {
            document.next_step(format!("`{next}`"));
        }
        document
    }
}

impl Shown {
    /// Parts of the network, and its narrowest tier.
    fn verdict(&self) -> String {
        let Summary { design, counts, oversubscription, .. } = &self.0;
        let devices = human::several(design.devices, "device");
        if design.fabric == Fabric::None {
            return format!("{devices} in one scale-up domain, without a network");
        }
        let worst = oversubscription.iter().copied().fold(1.0, f64::max);
        format!(
            "{devices} on {} with {}, {}:1 at the narrowest tier",
            human::several(counts.switches(), "switch"),
            human::several(counts.cables(), "cable"),
            (worst * 1000.0).round() / 1000.0
        )
    }

    fn figures(&self) -> Vec<(&'static str, Cell)> {
        let Summary { design, oversubscription, room, .. } = &self.0;
        let tiers = design.fabric_tiers();
        let fabric = match &design.fabric {
            Fabric::Clos(network) => {
                let fabrics = network.fabrics_per_plane * design.planes;
                let shared = match network.fabrics_per_switch {
                    1 => String::new(),
                    n => format!(", {n} on each switch"),
                };
                let alike =
                    if fabrics == 1 { "one fabric".to_owned() } else { human::several(fabrics, "fabric") };
                let pods = if tiers >= 3 {
                    format!(
                        ", {} of {} leaves and {} spines",
                        human::several(network.clos.pods, "pod"),
                        network.clos.leaves_per_pod,
                        network.clos.spines_per_pod
                    )
                } else {
                    String::new()
                };
                format!("{alike} of {}{pods}{shared}", human::several(tiers, "tier"))
            }
            Fabric::Dragonfly(d) => {
                format!(
                    "{} of {} routers, {} devices and {} global links at each",
                    human::several(d.groups, "group"),
                    d.routers,
                    d.hosts,
                    d.globals
                )
            }
            Fabric::DragonflyPlus(d) => format!(
                "{} of {} leaves and {} spines, {} devices at a leaf, {} global links at a spine",
                human::several(d.groups, "group"),
                d.leaves,
                d.spines,
                d.hosts,
                d.globals
            ),
            Fabric::SlimFly(s) => {
                let field = if s.is_constructible() {
                    ""
                } else {
                    " (counts only, because no field of this order exists)"
                };
                format!("q = {}{field}, degree {}, {} devices at each router", s.q, s.degree, s.hosts)
            }
            Fabric::Torus(t) => {
                let sizes: Vec<String> = t.dimensions.iter().map(u64::to_string).collect();
                format!(
                    "{}, {} across the narrowest cut",
                    sizes.join(" x "),
                    human::several(t.bisection_links(), "link")
                )
            }
            Fabric::None => "no network: one scale-up domain".to_owned(),
        };
        let planes = match design.planes {
            1 => String::new(),
            n => format!("{n}, {} each", gigabits(design.nic_port_bandwidth())),
        };
        let rails = match design.rails {
            1 => String::new(),
            // Servers of a larger domain have 4 or 8 NICs, and published systems as many rails.
            rails if rails > 8 => format!("{rails}; for servers with 4 NICs, set --rails 4"),
            rails => human::whole(rails),
        };
        let ratio = oversubscription.iter().zip(["leaves", "spines", "cores"]);
        let ratio = ratio.map(|(o, at)| format!("{}:1 at {at}", (o * 1000.0).round() / 1000.0));
        let has_network = design.fabric != Fabric::None;
        let largest = match design.kind {
            Kind::ScaleUp | Kind::Torus => String::new(),
            // Upper limit of the search for the largest network.
            _ if *room + design.domain.size > MOST_DEVICES => {
                format!("at least {}, the limit of the model", human::several(*room, "device"))
            }
            _ => human::several(*room, "device"),
        };
        let forwarding = if design.rails > 1 || design.separates_rails() {
            one_of(design.forwarding, design.kind.forwardings())
        } else {
            String::new()
        };
        vec![
            ("fabric", fabric.into()),
            (
                "scale-up",
                format!("{} per device, one direction", human::bandwidth(design.domain.bandwidth)).into(),
            ),
            (
                "network",
                if has_network {
                    format!("{} per device, one direction", gigabits(design.nic_bandwidth)).into()
                } else {
                    Cell::default()
                },
            ),
            ("rails", rails.into()),
            ("planes", planes.into()),
            ("oversubscription", ratio.collect::<Vec<_>>().join(", ").into()),
            ("routing", one_of(design.routing, design.kind.routings()).into()),
            ("forwarding", forwarding.into()),
            ("maximum size", largest.into()),
        ]
    }

    fn switches(&self) -> Table {
        let counts = &self.0.counts;
        let mut rows: Vec<Vec<Cell>> = counts
            .tiers
            .iter()
            .map(|tier| {
                vec![
                    tier.name.into(),
                    Cell::whole(tier.switches),
                    Cell::whole(tier.ports),
                    Cell::whole(tier.ports_used),
                ]
            })
            .collect();
        let used = counts.tiers.iter().map(|tier| tier.ports_used).sum();
        rows.push(
            [
                Cell::from("all"),
                Cell::whole(counts.switches()),
                Cell::whole(counts.ports()),
                Cell::whole(used),
            ]
            .map(|cell| cell.toned(Tone::Strong))
            .into(),
        );
        let columns = vec![
            Column::words("tier"),
            Column::numbers("switches"),
            Column::numbers("ports"),
            Column::numbers("ports in use"),
        ];
        Table { columns, rows }
    }

    fn cables(&self) -> Table {
        let counts = &self.0.counts;
        let mut rows: Vec<Vec<Cell>> = counts
            .layers
            .iter()
            .map(|layer| {
                vec![
                    layer_name(layer.layer).into(),
                    Cell::whole(layer.links),
                    Cell::whole(layer.cables),
                    Cell::number(gigabits(layer.bandwidth), layer.bandwidth.get()),
                    words(layer.cabling.medium).into(),
                    Cell::whole(layer.transceivers),
                ]
            })
            .collect();
        let all = [
            Cell::from("all"),
            Cell::whole(counts.links()),
            Cell::whole(counts.cables()),
            Cell::default(),
            Cell::default(),
            Cell::whole(counts.transceivers()),
        ];
        rows.push(all.map(|cell| cell.toned(Tone::Strong)).into());
        let columns = vec![
            Column::words("layer"),
            Column::numbers("links"),
            Column::numbers("cables"),
            Column::numbers("bandwidth per link").unit("bytes_s").expendable(1),
            Column::words("medium").expendable(2),
            Column::numbers("transceivers"),
        ];
        Table { columns, rows }
    }

    /// Storage and management networks.
    fn side(&self) -> Table {
        let names = ["ports per server", "other ports", "switches", "cables", "transceivers"];
        let mut columns = vec![Column::words("network"), Column::numbers("speed").expendable(1)];
        columns.extend(names.map(Column::numbers));
        let rows = self.0.design.side.iter().map(|side| {
            let counts = side.counts();
            let numbers =
                [side.ports, side.endpoints, counts.switches(), counts.cables(), counts.transceivers()];
            let speed = Cell::number(gigabits(side.speed), side.speed.get());
            [side.purpose.name().into(), speed].into_iter().chain(numbers.map(Cell::whole)).collect()
        });
        Table { columns, rows: rows.collect() }
    }

    fn reach(&self) -> Table {
        let rows = self.0.reach.iter().map(|reach| {
            vec![
                reach.how.into(),
                Cell::whole(reach.devices),
                Cell::number(reach.links.to_string(), reach.links as f64),
                Cell::number(human::seconds(reach.latency), reach.latency.get()),
                Cell::whole(reach.link_paths),
            ]
        });
        let columns = vec![
            Column::words("location"),
            Column::numbers("devices"),
            Column::numbers("links"),
            Column::numbers("latency").unit("s").expendable(1),
            Column::numbers("shortest paths").expendable(2),
        ];
        Table { columns, rows: rows.collect() }
    }
}
