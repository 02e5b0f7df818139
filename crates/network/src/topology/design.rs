//! A network with every parameter set.
//!
//! Responsible for: common input of the graph, the routes, the counts and the bill. Does not read or check:
//! `resolve` did both.

use super::clos::Clos;
use super::dragonfly::{Dragonfly, DragonflyPlus, SlimFly};
pub use super::kind::Cabling;
use super::kind::{Forwarding, Kind, Routing};
use super::scale_up::ScaleUp;
use super::side::SideNetwork;
use super::torus::Torus;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use serde::Serialize;

/// A network.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Design {
    /// Name.
    pub name: String,
    /// Its family.
    pub kind: Kind,
    /// Accelerators.
    pub devices: u64,
    /// The scale-up domains.
    pub domain: Domain,
    /// Network bandwidth of one device, one direction, over all of its ports.
    pub nic_bandwidth: BytesPerSecond,
    /// Ports of a NIC, each in a separate plane.
    pub planes: u64,
    /// Rails; 1 if irrelevant.
    pub rails: u64,
    /// Ports of a switch, counted at the NIC's bandwidth.
    pub radix: u64,
    /// Bandwidth of the links between switches, one direction.
    pub port_bandwidth: BytesPerSecond,
    /// Ports of a leaf, a router, or any switch of a fabric with equal ones, counted at `port_bandwidth`.
    pub ports_per_switch: u64,
    /// Kind of network.
    pub fabric: Fabric,
    /// Endpoints other than devices in one fabric.
    pub extra_endpoints: u64,
    /// Links in one cable.
    pub links_per_cable: u64,
    /// Routing of messages.
    pub routing: Routing,
    /// Routes of a connection with hashed routing.
    pub connection: Connection,
    /// Seed of the hash.
    pub seed: u64,
    /// Forwarding of a message to another rail.
    pub forwarding: Forwarding,
    /// Latency of each link with the following switch.
    pub link_latency: Seconds,
    /// Cables between NIC and leaf, leaf and spine, spine and core.
    pub cabling: [Cabling; 3],
    /// Networks of the servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub side: Vec<SideNetwork>,
}

/// Routes of a connection between two devices with hashed routing: `channels x queue pairs x flowlets` on
/// each port, with equal bytes.
///
/// A flowlet is a burst between two gaps that are longer than the difference of path delays; a switch draws
/// its route again, at random (S. Kandula et al., 2007; E. Vanini et al., LetFlow, NSDI 2017). Here all
/// routes of a message carry their shares at the same time, so the time is an upper bound: in sequence, a
/// flowlet on a busy link delays only itself.
///
/// The defaults are NCCL's: two channels for each peer over the network (`NCCL_NCHANNELS_PER_NET_PEER`,
/// src/graph/paths.cc; a DGX H100 with 8 NICs has 16 channels), one queue pair for each
/// (`NCCL_IB_QPS_PER_CONNECTION`, src/transport/net_ib), and every message split evenly over the merged ports
/// of a NIC (`nDataQps` is the number of ports; `NCCL_IB_MERGE_NICS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connection {
    /// Channels.
    pub channels: u64,
    /// Queue pairs of each channel on a port.
    pub queue_pairs: u64,
    /// Flowlets of a message on each queue pair, each with its own route and an equal share of the bytes.
    #[serde(skip_serializing_if = "is_one")]
    pub flowlets: u64,
    /// True if bytes are split evenly over all ports. Otherwise a hash chooses one for each queue pair, as
    /// with bonded ports.
    pub plane_striping: bool,
}

impl Default for Connection {
    fn default() -> Self {
        Self { channels: 2, queue_pairs: 1, flowlets: 1, plane_striping: true }
    }
}

impl Connection {
    /// Routes on each port, or on all together if ports are bonded.
    pub const fn routes(&self) -> u64 {
        self.channels * self.queue_pairs * self.flowlets
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_one(flowlets: &u64) -> bool {
    *flowlets == 1
}

/// Scale-up domains, each modelled as one non-blocking switch with a share of its bandwidth for each of its
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Domain {
    /// Devices in each.
    pub size: u64,
    /// Bandwidth of one device, one direction.
    pub bandwidth: BytesPerSecond,
    /// Latency through a domain, one way.
    pub latency: Seconds,
    /// Its switches and links, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<ScaleUp>,
}

/// Kinds of networks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fabric {
    /// Folded Clos fabrics.
    Clos(ClosNetwork),
    /// A dragonfly.
    Dragonfly(Dragonfly),
    /// A dragonfly+.
    DragonflyPlus(DragonflyPlus),
    /// A Slim Fly.
    SlimFly(SlimFly),
    /// A torus.
    Torus(Torus),
    /// No fabric: all devices are in one domain.
    None,
}

/// Equivalent folded Clos fabrics, and the devices of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosNetwork {
    /// One of them.
    pub clos: Clos,
    /// Fabrics in each plane: one, or one for each rail.
    pub fabrics_per_plane: u64,
    /// Fabrics that share one switch, if a switch is larger than needed for one.
    pub fabrics_per_switch: u64,
    /// Rails that share leaves: those of one group of the fabric.
    pub rails_per_group: u64,
    /// Remaining tiers; fewer than those of the fabric if layers without traffic were removed.
    pub kept_tiers: u64,
    /// NIC ports that one switch port serves.
    pub hosts_per_port: u64,
    /// Ports of a spine, counted at the bandwidth of links between switches.
    pub spine_ports: u64,
    /// Ports of a core, counted as those of a spine.
    pub core_ports: u64,
    /// Ports of a fourth-tier switch; `None` below four tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_ports: Option<u64>,
}

impl Design {
    /// Bandwidth of one port of a NIC, one direction.
    pub fn nic_port_bandwidth(&self) -> BytesPerSecond {
        self.nic_bandwidth / self.planes as f64
    }

    /// The network as used by devices that send and receive at most `limit`: the rest of their NICs is idle.
    /// Links between switches and the bill are those of the design.
    #[must_use]
    pub fn fed(mut self, limit: BytesPerSecond) -> Self {
        if self.kind != Kind::Torus {
            self.nic_bandwidth = self.nic_bandwidth.min(limit);
        }
        self
    }

    /// Tests whether links with the same state are pooled: one sprayed message over every link of a tree
    /// would use thousands.
    pub const fn pools_links(&self) -> bool {
        self.routing.is_even_in_trees() && self.kind.is_clos()
    }

    /// Scale-up domains.
    pub const fn domains(&self) -> u64 {
        self.devices / self.domain.size
    }

    /// The rail of a device.
    pub const fn rail(&self, device: u64) -> u64 {
        device % self.domain.size % self.rails
    }

    /// The index of a device among those of its rail.
    pub const fn place_in_rail(&self, device: u64) -> u64 {
        let (domain, local) = (device / self.domain.size, device % self.domain.size);
        domain * (self.domain.size / self.rails) + local / self.rails
    }

    /// The fabric of a device in each plane, and its leaf in that fabric.
    pub fn leaf_of(&self, network: &ClosNetwork, device: u64) -> (u64, u64) {
        let (rail, place) = (self.rail(device), self.place_in_rail(device));
        if network.fabrics_per_plane > 1 {
            return (rail, network.clos.leaf(0, place));
        }
        // Rails that share leaves follow each other below them.
        let (group, within) = (rail / network.rails_per_group, rail % network.rails_per_group);
        (0, network.clos.leaf(group, within * (self.devices / self.rails) + place))
    }

    /// Tests whether the network, without scale-up domains, joins all devices.
    pub fn joins_rails(&self) -> bool {
        !self.separates_rails() && self.fabric != Fabric::None
    }

    /// Tests whether devices of different rails reach each other only through a scale-up domain.
    pub fn separates_rails(&self) -> bool {
        match &self.fabric {
            Fabric::Clos(network) => {
                self.rails > 1 && (network.fabrics_per_plane > 1 || network.kept_tiers < network.clos.tiers)
            }
            _ => false,
        }
    }
}

impl Design {
    /// Returns an error for networks that are counted and priced, but have no routes: four tiers with routes
    /// by destination.
    pub fn require_graph(&self) -> Result<(), Problem> {
        if self.fabric_tiers() < 4 || self.routing != Routing::Static {
            return Ok(());
        }
        Err(Problem::new("`static` routing is not supported on four tiers")
            .at_key("design.routing")
            .hint("choose `spray` or `ecmp`"))
    }

    /// Number of tiers of switches; 0 without switches, 1 for routers that are joined to each other.
    pub fn fabric_tiers(&self) -> u64 {
        match &self.fabric {
            Fabric::Clos(network) => network.kept_tiers,
            Fabric::DragonflyPlus(_) => 2,
            Fabric::Dragonfly(_) | Fabric::SlimFly(_) => 1,
            Fabric::Torus(_) | Fabric::None => 0,
        }
    }
}
