//! Every cable of a network from port to port, with its length on a floor plan.
//!
//! Responsible for: names of hosts, switches and ports, racks in rows, cable runs and the available lengths.
//! Output is CSV, plain or in the columns of NetBox's cable import. Excludes prices, and placement of
//! equipment by power or weight.
//!
//! **Floor plan.** Hosts fill racks in their order. Switches fill the following racks, tier by tier. Racks
//! form rows. A cable rises from its port to the tray, runs along the row and across rows, and descends:
//!
//! `length = 2 x rise + |difference of places in the row| x rack width + |difference of rows| x row pitch`
//!
//! Within a rack it is only the rise. The length is rounded up to the next available one.

use crate::topology::{Design, Detail, Graph, Layer, LinkId, Medium, Node, NodeId, Topology};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::BytesPerSecond;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum number of devices: more have too many cables for a list.
pub const MOST_DEVICES: u64 = 32_768;

/// Lengths of cables in metres, as vendors list them for 400G and 800G parts.
const SOLD: [f64; 14] = [0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 150.0];

/// Racks and distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Hosts (scale-up domains) of a rack.
    pub hosts_per_rack: u64,
    /// Switches of a rack.
    pub switches_per_rack: u64,
    /// Racks of a row.
    pub racks_per_row: u64,
    /// Width of a rack, in metres.
    pub rack_width: f64,
    /// Distance between rows, in metres.
    pub row_pitch: f64,
    /// Distance from a port to the tray above, in metres.
    pub rise: f64,
}

impl Default for Floor {
    /// Four hosts of eight GPUs in a rack (DGX SuperPOD). Racks are 0.6 m wide and 1.2 m deep, in rows of 16.
    /// Aisles of 1.2 m are in front of and behind them.
    fn default() -> Self {
        Self {
            hosts_per_rack: 4,
            switches_per_rack: 16,
            racks_per_row: 16,
            rack_width: 0.6,
            row_pitch: 2.4,
            rise: 1.5,
        }
    }
}

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Host or switch.
    pub equipment: String,
    /// Its port.
    pub port: String,
    /// Its rack, from 0.
    pub rack: u64,
}

/// A cable.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// Number, from 1.
    pub number: u64,
    /// Layer of the network.
    pub layer: Layer,
    /// Its lower and its upper end.
    pub ends: [End; 2],
    /// One direction.
    pub bandwidth: BytesPerSecond,
    /// Components.
    pub medium: Medium,
    /// Length in metres; `None` if no cable of this length is available.
    pub length: Option<f64>,
}

/// All cables of a design on a floor.
pub fn cables(design: &Design, floor: &Floor) -> Result<Vec<Cable>, Problem> {
    if design.devices > MOST_DEVICES {
        return Err(Problem::new(format!(
            "{} devices exceed {MOST_DEVICES}, the limit of cable lists",
            design.devices
        ))
        .at_key("design.gpus"));
    }
    let topology = Topology::build(design, Detail::Links)?;
    let graph = &topology.graph;
    let places = Places::new(design, graph, floor);
    let mut ports: BTreeMap<u32, u64> = BTreeMap::new();
    let mut list = Vec::new();
    for link in (0..graph.link_count() as u32).step_by(2).map(LinkId) {
        let class = graph.class(link);
        if matches!(class.layer, Layer::ScaleUp | Layer::Host) {
            continue;
        }
        let medium = match class.layer {
            Layer::SpineCore | Layer::CoreTop | Layer::Global => design.cabling[2].medium,
            Layer::LeafSpine | Layer::Local => design.cabling[1].medium,
            _ => design.cabling[0].medium,
        };
        let ends = [graph.from(link), graph.to(link)];
        let racks = ends.map(|node| places.rack(node));
        let ends = ends.map(|node| places.end(node, &mut ports));
        list.push(Cable {
            number: list.len() as u64 + 1,
            layer: class.layer,
            ends,
            bandwidth: class.capacity,
            medium,
            length: floor.length(racks),
        });
    }
    Ok(list)
}

impl Floor {
    /// The length that is sold for a run between two racks.
    fn length(&self, [a, b]: [u64; 2]) -> Option<f64> {
        let row = self.racks_per_row.max(1);
        let apart = |x: u64, y: u64| x.abs_diff(y) as f64;
        let run = if a == b {
            self.rise
        } else {
            2.0 * self.rise
                + apart(a % row, b % row) * self.rack_width
                + apart(a / row, b / row) * self.row_pitch
        };
        SOLD.into_iter().find(|length| *length >= run - 1e-9)
    }
}

struct Places<'a> {
    design: &'a Design,
    graph: &'a Graph,
    floor: &'a Floor,
    /// First rack of switches.
    first: u64,
    /// Number among all switches by node.
    switches: BTreeMap<u32, u64>,
}

impl<'a> Places<'a> {
    fn new(design: &'a Design, graph: &'a Graph, floor: &'a Floor) -> Self {
        let mut switches: Vec<(u8, u32)> = graph
            .nodes()
            .filter_map(|(id, node)| match node {
                Node::Switch(switch) => Some((switch.tier, id.0)),
                _ => None,
            })
            .collect();
        switches.sort_unstable();
        let first = design.domains().div_ceil(floor.hosts_per_rack.max(1));
        let switches = switches.into_iter().enumerate().map(|(n, (_, id))| (id, n as u64)).collect();
        Self { design, graph, floor, first, switches }
    }

    fn rack(&self, node: NodeId) -> u64 {
        match self.graph.node(node) {
            Node::Device(device) | Node::Nic(device) => {
                u64::from(device) / self.design.domain.size / self.floor.hosts_per_rack.max(1)
            }
            Node::Domain(domain) => u64::from(domain) / self.floor.hosts_per_rack.max(1),
            Node::Switch(_) => {
                let number = self.switches.get(&node.0).copied().unwrap_or(0);
                self.first + number / self.floor.switches_per_rack.max(1)
            }
        }
    }

    /// The next free port of a node.
    fn end(&self, node: NodeId, ports: &mut BTreeMap<u32, u64>) -> End {
        let next = ports.entry(node.0).or_insert(0);
        let port = *next;
        *next += 1;
        let (equipment, port) = match self.graph.node(node) {
            Node::Device(device) | Node::Nic(device) => {
                let (host, own) = (
                    u64::from(device) / self.design.domain.size,
                    u64::from(device) % self.design.domain.size,
                );
                (format!("host-{host:05}"), format!("nic{own}/{port}"))
            }
            Node::Domain(domain) => (format!("host-{domain:05}"), format!("domain/{port}")),
            Node::Switch(switch) => {
                let tier = match switch.tier {
                    1 => "leaf",
                    2 => "spine",
                    3 => "core",
                    _ => "top",
                };
                (format!("{tier}-{:05}", switch.index), format!("port{}", port + 1))
            }
        };
        End { equipment, port, rack: self.rack(node) }
    }
}

/// Cables as CSV: `cable,layer,from,from_port,from_rack,to,to_port,to_rack,gbit_s,medium,length_m`.
pub fn csv(cables: &[Cable]) -> String {
    let mut text =
        String::from("cable,layer,from,from_port,from_rack,to,to_port,to_rack,gbit_s,medium,length_m\n");
    for cable in cables {
        let [from, to] = &cable.ends;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{}",
            cable.number,
            crate::simulate::layer_name(cable.layer),
            from.equipment,
            from.port,
            from.rack,
            to.equipment,
            to.port,
            to.rack,
            cable.bandwidth.get() * 8.0 / 1e9,
            medium(cable.medium),
            cable.length.map_or_else(String::new, |length| length.to_string())
        );
    }
    text
}

const fn medium(medium: Medium) -> &'static str {
    match medium {
        Medium::Copper => "copper",
        Medium::ActiveOptical => "active-optical",
        Medium::Fibre => "fibre",
        Medium::Linear => "linear",
        Medium::CoPackaged => "co-packaged",
        Medium::Circuit => "circuit",
    }
}

/// Cables in the columns of NetBox's bulk import, which has none for the bandwidth: it is in the label.
/// Hosts, switches and their interfaces must exist there under these names.
pub fn netbox(cables: &[Cable]) -> String {
    let mut text = String::from(
        "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,label,length,length_unit\n",
    );
    for cable in cables {
        let [from, to] = &cable.ends;
        let kind = match cable.medium {
            Medium::Copper => "dac-passive",
            Medium::ActiveOptical => "aoc",
            // Short runs are multimode.
            Medium::Fibre if cable.length.is_some_and(|length| length <= 50.0) => "mmf-om4",
            Medium::Fibre | Medium::Linear | Medium::CoPackaged | Medium::Circuit => "smf-os2",
        };
        let (length, unit) = cable.length.map_or_else(Default::default, |length| (length.to_string(), "m"));
        let _ = writeln!(
            text,
            "{},dcim.interface,{},{},dcim.interface,{},{kind},planned,{} {} Gbit/s,{length},{unit}",
            from.equipment,
            from.port,
            to.equipment,
            to.port,
            cable.number,
            cable.bandwidth.get() * 8.0 / 1e9
        );
    }
    text
}

/// Cables to order: counts by layer, bandwidth, medium and length.
pub fn orders(cables: &[Cable]) -> Vec<(Layer, BytesPerSecond, Medium, Option<f64>, u64)> {
    type Kind = (Layer, u64, &'static str, Option<u64>);
    let mut sums: BTreeMap<Kind, (&Cable, u64)> = BTreeMap::new();
    for cable in cables {
        let length = cable.length.map(|length| (length * 1e3) as u64);
        let key = (cable.layer, cable.bandwidth.get() as u64, medium(cable.medium), length);
        sums.entry(key).or_insert((cable, 0)).1 += 1;
    }
    let of =
        |(cable, count): (&Cable, u64)| (cable.layer, cable.bandwidth, cable.medium, cable.length, count);
    sums.into_values().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{DesignSpec, Kind};
    use std::collections::BTreeSet;

    #[test]
    fn cables_are_those_that_are_counted() {
        for kind in [Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::DualPlane, Kind::Dragonfly] {
            let spec = DesignSpec {
                kind: Some(kind),
                devices: Some(256),
                domain: Some(8),
                radix: Some(32),
                ..DesignSpec::default()
            };
            let design = spec.resolve().expect("a design");
            let list = cables(&design, &Floor::default()).expect("few");
            for layer in &design.counts().layers {
                let own = list.iter().filter(|cable| cable.layer == layer.layer).count() as u64;
                assert_eq!(own, layer.links, "{kind:?} {:?}", layer.layer);
            }
            let ports: BTreeSet<(&str, &str)> = list
                .iter()
                .flat_map(|cable| &cable.ends)
                .map(|end| (end.equipment.as_str(), end.port.as_str()))
                .collect();
            assert_eq!(ports.len(), 2 * list.len(), "{kind:?}: a port with two cables");
            assert_eq!(orders(&list).iter().map(|order| order.4).sum::<u64>(), list.len() as u64);
            assert_eq!(csv(&list).lines().count(), list.len() + 1);
            assert_eq!(netbox(&list).lines().count(), list.len() + 1);
        }
    }

    #[test]
    fn lengths_follow_the_floor() {
        let floor = Floor::default();
        assert_eq!(floor.length([0, 0]), Some(1.5));
        // Two rises and one rack: 3.6 m.
        assert_eq!(floor.length([0, 1]), Some(5.0));
        // Ten racks along and two rows across: 3 + 6 + 4.8 m.
        assert_eq!(floor.length([0, 42]), Some(15.0));
        assert_eq!(floor.length([0, 160_000]), None);
    }
}
