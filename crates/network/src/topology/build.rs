//! A design as a graph, with the arithmetic that finds its links.
//!
//! Responsible for: nodes and links of every family in a fixed order. A link's number therefore follows from
//! its position, without a table of pairs. Does not choose routes (`link_paths` does).

mod clos;
mod detail;
mod grouped;
mod parted;

use super::design::{Design, Fabric};
use super::graph::{Builder, Graph, Layer, LinkId, Node, NodeId, class, nth};
use super::torus::Torus;
pub(crate) use clos::ClosLayout;
pub use detail::Detail;
pub(crate) use grouped::{Crossing, DragonflyLayout, DragonflyPlusLayout};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;

/// Maximum number of devices in a graph; larger networks are counted and priced only.
pub const MOST_IN_A_GRAPH: u64 = 1 << 20;

/// A network: its design, its graph, and the routes through it ([`Topology::route`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Its resolved parameters.
    pub design: Design,
    /// Nodes and links.
    pub graph: Graph,
    /// Resolution.
    pub detail: Detail,
    pub(crate) layout: Layout,
}

/// First link of each kind in the numbering.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Device to domain, a pair for each device; only in domains of more than one.
    pub(crate) domains: Option<LinkId>,
    /// Device to NIC, a pair for each device.
    pub(crate) hosts: LinkId,
    /// NIC to leaf or router, a pair for each device in each plane.
    pub(crate) access: LinkId,
    pub(crate) fabric: FabricLayout,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FabricLayout {
    Clos(ClosLayout),
    Dragonfly(DragonflyLayout),
    DragonflyPlus(DragonflyPlusLayout),
    /// First link of each dimension: from each device to its next neighbour.
    Torus([LinkId; 3]),
    None,
}

impl Topology {
    /// Builds the graph of a design.
    pub fn build(design: &Design, detail: Detail) -> Result<Self, Problem> {
        design.require_graph()?;
        // The number of links bounds the memory: a dragonfly may have many groups for few devices.
        let links = design.counts().links();
        if design.devices > MOST_IN_A_GRAPH || links > 8 * MOST_IN_A_GRAPH {
            let what = format!("{} devices and {} cables", human::whole(design.devices), human::whole(links));
            return Err(Problem::new(format!("simulation of {what} is not supported"))
                .at_key("design.gpus")
                .hint(format!(
                    "up to {} devices are simulated; counts and costs have no such limit",
                    human::whole(MOST_IN_A_GRAPH)
                )));
        }
        let mut builder = Builder::new(design.devices as u32);
        let domains = join_domains(design, &mut builder);
        let hosts = builder.next_link();
        let mut layout = Layout { domains, hosts, access: hosts, fabric: FabricLayout::None };
        match &design.fabric {
            Fabric::None => {}
            Fabric::Torus(torus) => {
                layout.fabric = FabricLayout::Torus(join_torus(design, torus, &mut builder));
            }
            Fabric::SlimFly(_) => {
                return Err(Problem::new("simulation of a slim-fly is not supported")
                    .at_key("design.kind")
                    .hint("only counts and cost are supported; the most similar kind is `dragonfly`"));
            }
            Fabric::Clos(network) => {
                let nics = join_nics(design, &mut builder);
                layout.access = builder.next_link();
                layout.fabric = FabricLayout::Clos(clos::join(design, network, detail, &nics, &mut builder));
            }
            Fabric::Dragonfly(dragonfly) => {
                let nics = join_nics(design, &mut builder);
                layout.access = builder.next_link();
                layout.fabric =
                    FabricLayout::Dragonfly(grouped::join(design, dragonfly, &nics, &mut builder));
            }
            Fabric::DragonflyPlus(plus) => {
                let nics = join_nics(design, &mut builder);
                layout.access = builder.next_link();
                layout.fabric =
                    FabricLayout::DragonflyPlus(grouped::join_plus(design, plus, &nics, &mut builder));
            }
        }
        Ok(Self { design: design.clone(), graph: builder.build(), detail, layout })
    }

    /// The link from a device into its scale-up domain; its reverse leads out of it.
    pub fn domain_link(&self, device: u32) -> Option<LinkId> {
        self.layout.domains.map(|first| nth(first, u64::from(device)))
    }

    /// The link from a device to its NIC; `None` in a torus and without a network.
    pub fn host_link(&self, device: u32) -> Option<LinkId> {
        match self.layout.fabric {
            FabricLayout::None | FabricLayout::Torus(_) => None,
            _ => Some(nth(self.layout.hosts, u64::from(device))),
        }
    }

    /// The link from a device's NIC to its leaf or router in a plane.
    pub fn access_link(&self, device: u32, plane: u64) -> Option<LinkId> {
        self.host_link(device)?;
        (plane < self.design.planes)
            .then(|| nth(self.layout.access, plane * self.design.devices + u64::from(device)))
    }
}

/// Half of a domain's latency into the domain, half out of it.
fn join_domains(design: &Design, builder: &mut Builder) -> Option<LinkId> {
    if design.domain.size < 2 {
        return None;
    }
    let first = builder.next_link();
    let class = class(builder, Layer::ScaleUp, design.domain.bandwidth, design.domain.latency / 2.0);
    let domains: Vec<NodeId> =
        (0..design.domains()).map(|domain| builder.node(Node::Domain(domain as u32))).collect();
    for device in 0..design.devices {
        builder.connect(NodeId(device as u32), domains[(device / design.domain.size) as usize], class);
    }
    Some(first)
}

/// Links to NICs have no latency: published latencies include it in the first link.
fn join_nics(design: &Design, builder: &mut Builder) -> Vec<NodeId> {
    let class = class(builder, Layer::Host, design.nic_bandwidth, Seconds::ZERO);
    let nics: Vec<NodeId> =
        (0..design.devices as u32).map(|device| builder.node(Node::Nic(device))).collect();
    for (device, nic) in nics.iter().enumerate() {
        builder.connect(NodeId(device as u32), *nic, class);
    }
    nics
}

fn join_torus(design: &Design, torus: &Torus, builder: &mut Builder) -> [LinkId; 3] {
    let class = class(builder, Layer::Torus, design.torus_link_bandwidth(torus), design.link_latency);
    let mut first = [builder.next_link(); 3];
    for (dimension, size) in torus.dimensions.iter().enumerate() {
        first[dimension] = builder.next_link();
        if *size < 2 {
            continue;
        }
        for device in 0..design.devices {
            let mut place = torus.place(device);
            place[dimension] = (place[dimension] + 1) % size;
            let next = torus.device(place);
            builder.connect(NodeId(device as u32), NodeId(next as u32), class);
        }
    }
    first
}
