//! Counts of network parts: switches, ports, links, cables, transceivers, NICs.
//!
//! Responsible for: counting by arithmetic, in constant time at any size; a test compares it with built
//! graphs. Excludes prices.
//!
//! Whole switches are counted, including free ports. A fibre cable has a transceiver at each end, a copper
//! cable none, an active optical cable includes them, and co-packaged optics are parts of switches. Ends at
//! an optical circuit switch have none.

use super::design::{Cabling, ClosNetwork, Design, Fabric};
use super::graph::Layer;
use super::kind::Medium;
use super::torus::Torus;
use railwright_spec::quantity::BytesPerSecond;
use serde::Serialize;

/// Switches of one tier.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TierCount {
    /// `leaf`, `spine`, `core`, `top`, `router`.
    pub name: &'static str,
    /// Switches.
    pub switches: u64,
    /// Ports that cables are plugged into.
    pub ports_used: u64,
    /// Total number of ports.
    pub ports: u64,
}

/// Links of one layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerCount {
    /// Layer of the network.
    pub layer: Layer,
    /// Links, both directions counted once.
    pub links: u64,
    /// Cables.
    pub cables: u64,
    /// Components.
    pub cabling: Cabling,
    /// Transceivers.
    pub transceivers: u64,
    /// Bandwidth of a link, one direction.
    pub bandwidth: BytesPerSecond,
}

/// Parts of a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Switches by tier, from the leaves.
    pub tiers: Vec<TierCount>,
    /// Links by layer, from the NICs.
    pub layers: Vec<LayerCount>,
    /// Network interfaces.
    pub nics: u64,
    /// Ports of optical circuit switches.
    pub circuit_ports: u64,
}

impl Counts {
    /// Total number of switches.
    pub fn switches(&self) -> u64 {
        self.tiers.iter().map(|tier| tier.switches).sum()
    }

    /// Total number of ports of switches.
    pub fn ports(&self) -> u64 {
        self.tiers.iter().map(|tier| tier.ports).sum()
    }

    /// Total number of cables.
    pub fn cables(&self) -> u64 {
        self.layers.iter().map(|layer| layer.cables).sum()
    }

    /// Total number of links.
    pub fn links(&self) -> u64 {
        self.layers.iter().map(|layer| layer.links).sum()
    }

    /// Total number of transceivers.
    pub fn transceivers(&self) -> u64 {
        self.layers.iter().map(|layer| layer.transceivers).sum()
    }

    /// Links of a layer.
    pub fn links_in(&self, layer: Layer) -> u64 {
        self.layers.iter().filter(|l| l.layer == layer).map(|l| l.links).sum()
    }

    /// Switches of a tier.
    pub fn switches_in(&self, tier: &str) -> u64 {
        self.tiers.iter().filter(|t| t.name == tier).map(|t| t.switches).sum()
    }
}

impl Design {
    /// Counts the parts of the network.
    pub fn counts(&self) -> Counts {
        let mut counts =
            Counts { tiers: Vec::new(), layers: Vec::new(), nics: self.devices, circuit_ports: 0 };
        match &self.fabric {
            Fabric::Clos(network) => self.count_clos(network, &mut counts),
            Fabric::Dragonfly(d) => {
                let used = self.devices + 2 * (d.local_links() + d.global_links());
                self.tier(&mut counts, "router", d.switches(), used);
                self.layer(&mut counts, Layer::Access, self.devices);
                self.layer(&mut counts, Layer::Local, d.local_links());
                self.layer(&mut counts, Layer::Global, d.global_links());
            }
            Fabric::DragonflyPlus(d) => {
                self.tier(&mut counts, "leaf", d.groups * d.leaves, self.devices + d.local_links());
                self.tier(&mut counts, "spine", d.groups * d.spines, d.local_links() + 2 * d.global_links());
                self.layer(&mut counts, Layer::Access, self.devices);
                self.layer(&mut counts, Layer::Local, d.local_links());
                self.layer(&mut counts, Layer::Global, d.global_links());
            }
            Fabric::SlimFly(s) => {
                self.tier(&mut counts, "router", s.switches(), self.devices + 2 * s.links());
                self.layer(&mut counts, Layer::Access, self.devices);
                self.layer(&mut counts, Layer::Local, s.links());
            }
            Fabric::Torus(torus) => self.count_torus(torus, &mut counts),
            Fabric::None => counts.nics = 0,
        }
        counts
    }

    /// Switches of one kind, as many ports as a leaf has.
    fn tier(&self, counts: &mut Counts, name: &'static str, switches: u64, ports_used: u64) {
        tier_of(counts, name, (switches, self.ports_per_switch), ports_used);
    }

    fn layer(&self, counts: &mut Counts, layer: Layer, links: u64) {
        if links == 0 {
            return;
        }
        let (cabling, bandwidth) = match layer {
            Layer::Access => (self.cabling[0], self.nic_port_bandwidth()),
            Layer::SpineCore | Layer::CoreTop | Layer::Global => (self.cabling[2], self.port_bandwidth),
            _ => (self.cabling[1], self.port_bandwidth),
        };
        let cables = links.div_ceil(self.links_per_cable);
        let transceivers = cabling.medium.transceivers(layer == Layer::Access) * cables;
        counts.circuit_ports += cabling.medium.circuit_ports() * cables;
        counts.layers.push(LayerCount { layer, links, cables, cabling, transceivers, bandwidth });
    }

    fn count_clos(&self, network: &ClosNetwork, counts: &mut Counts) {
        let (clos, kept) = (&network.clos, network.kept_tiers);
        let fabrics = self.planes * network.fabrics_per_plane;
        let leaves = if clos.tiers == 1 {
            self.planes * network.fabrics_per_plane.div_ceil(network.fabrics_per_switch)
        } else {
            fabrics * clos.leaves()
        };
        let hosts = fabrics * (clos.endpoints() + self.extra_endpoints);
        let leaf_spine = if kept < 2 { 0 } else { fabrics * clos.leaf_spine_links() };
        let spine_core = if kept < 3 { 0 } else { fabrics * clos.spine_core_links() };
        let core_top = if kept < 4 { 0 } else { fabrics * clos.core_top_links() };
        self.tier(counts, "leaf", leaves, hosts.div_ceil(network.hosts_per_port) + leaf_spine);
        if kept >= 2 {
            let spines = (fabrics * clos.spines(), network.spine_ports);
            tier_of(counts, "spine", spines, leaf_spine + spine_core);
        }
        if kept >= 3 {
            let cores = (fabrics * clos.cores(), network.core_ports);
            tier_of(counts, "core", cores, spine_core + core_top);
        }
        if let Some(ports) = network.top_ports.filter(|_| kept >= 4) {
            tier_of(counts, "top", (fabrics * clos.tops(), ports), core_top);
        }
        self.layer(counts, Layer::Access, hosts);
        self.layer(counts, Layer::LeafSpine, leaf_spine);
        self.layer(counts, Layer::SpineCore, spine_core);
        self.layer(counts, Layer::CoreTop, core_top);
    }

    /// Counts the parts of a torus. A device has its own ports: no NICs. Links between cubes are two fibres
    /// into a circuit switch, with a transceiver at the device's end of each (TPU v4).
    fn count_torus(&self, torus: &Torus, counts: &mut Counts) {
        counts.nics = 0;
        let bandwidth = self.torus_link_bandwidth(torus);
        let optical = torus.cube.map_or(0, |_| torus.links_between_cubes());
        let copper = torus.all_links() - optical;
        let mut add = |links: u64, cabling: Cabling, ends: u64| {
            if links > 0 {
                let transceivers = if cabling.medium == Medium::Fibre { 2 * links } else { 0 };
                let layer = Layer::Torus;
                counts.layers.push(LayerCount {
                    layer,
                    links,
                    cables: links * ends,
                    cabling,
                    transceivers,
                    bandwidth,
                });
            }
        };
        add(copper, self.cabling[0], 1);
        add(optical, Cabling { medium: Medium::Fibre, ..self.cabling[2] }, 2);
        counts.circuit_ports = 2 * optical;
    }

    /// Bandwidth of one link of a torus: a device's bandwidth over its links, two along each dimension of
    /// more than one device.
    pub fn torus_link_bandwidth(&self, torus: &Torus) -> BytesPerSecond {
        let dimensions = torus.dimensions.iter().filter(|d| **d > 1).count().max(1);
        self.nic_bandwidth / (2 * dimensions) as f64
    }
}

/// Adds switches with a number of ports each.
fn tier_of(counts: &mut Counts, name: &'static str, (switches, each): (u64, u64), ports_used: u64) {
    if switches > 0 {
        counts.tiers.push(TierCount { name, switches, ports_used, ports: switches * each });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::kind::Kind;
    use crate::topology::spec::DesignSpec;

    fn counts(spec: &DesignSpec) -> Counts {
        spec.resolve().expect("it can be built").counts()
    }

    #[test]
    fn the_rail_only_papers_table_of_switches_and_transceivers() {
        // arXiv 2307.12169, Table 2, as derived from its percentages: N, radix, switches and transceivers of
        // the Clos, of rail-only.
        let table = [
            (32_768, 64, 2560, 196_608, 1536, 131_072),
            (32_768, 128, 1280, 196_608, 256, 65_536),
            (32_768, 256, 384, 131_072, 128, 65_536),
            (65_536, 64, 5120, 393_216, 3072, 262_144),
            (65_536, 128, 2560, 393_216, 1536, 262_144),
            (65_536, 256, 1280, 393_216, 256, 131_072),
        ];
        for (devices, radix, clos_switches, clos_transceivers, switches, transceivers) in table {
            for kind in [Kind::Clos, Kind::RailOptimized] {
                let clos = counts(&DesignSpec::of(kind, devices, 256, radix));
                assert_eq!(clos.switches(), clos_switches, "{kind:?} {devices} {radix}");
                assert_eq!(clos.transceivers(), clos_transceivers, "{kind:?} {devices} {radix}");
                assert_eq!(clos.ports(), clos.tiers.iter().map(|t| t.ports_used).sum::<u64>());
            }
            let rail_only = counts(&DesignSpec::of(Kind::RailOnly, devices, 256, radix));
            assert_eq!((rail_only.switches(), rail_only.transceivers()), (switches, transceivers));
        }
        let alone =
            DesignSpec { share_switches: Some(false), ..DesignSpec::of(Kind::RailOnly, 32_768, 256, 256) };
        assert_eq!(counts(&alone).switches(), 256);
    }

    #[test]
    fn a_third_of_the_links_is_removed_by_trimming() {
        // "33% of links" of the paper: 3 N with cores, 2 N without, host links counted.
        let clos = counts(&DesignSpec::of(Kind::RailOptimized, 32_768, 256, 64));
        let trimmed = counts(&DesignSpec::of(Kind::Trimmed, 32_768, 256, 64));
        assert_eq!((clos.links(), trimmed.links()), (3 * 32_768, 2 * 32_768));
        assert_eq!(trimmed.switches_in("core"), 0);
        // The same leaves and spines, with half of the spines' ports free; rail-only turns these around.
        assert_eq!((trimmed.switches(), clos.switches()), (2048, 2560));
    }

    #[test]
    fn a_torus_counts_fibres_at_circuit_switches() {
        let pod = DesignSpec { cube: Some(4), domain: None, ..DesignSpec::of(Kind::Torus, 4096, 1, 64) };
        let pod = counts(&pod);
        assert_eq!((pod.circuit_ports, pod.switches(), pod.nics), (48 * 128, 0, 0));
        assert_eq!(pod.links(), 3 * 4096);
        assert_eq!(pod.transceivers(), 64 * 96);
    }
}
