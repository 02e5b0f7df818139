//! User settings of a network: kind, number of devices, ports, speeds, and overrides of defaults.
//!
//! Responsible for: the table of keys of a design file, which also defines the flags. Defaults are in
//! `resolve`.

use super::kind::{Forwarding, Kind, Medium, Routing};
use super::scale_up::WithoutPart;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use railwright_spec::run::{Section as _, Sheet};
use railwright_spec::section;

section! {
    /// The keys of a design file.
    DesignSpec in "design" {
        /// Topology family, as listed by `railwright network topologies`.
        kind: Kind = "kind", "clos";
        /// Label of the design.
        name: String = "name", "its kind";
        /// Number of accelerators (GPUs) on the network.
        devices: u64 = "gpus", "1024";
        /// Size of the scale-up (NVLink) domain.
        domain: u64 = "domain", "8, or 1 for a torus";
        /// Scale-up bandwidth per device, one direction.
        domain_bandwidth: BytesPerSecond = "domain_bandwidth", "450 GB/s";
        /// One-way latency within a scale-up domain.
        domain_latency: Seconds = "domain_latency", "1 us";
        /// Switches and links of a domain, for the failure model: a published domain such as `gb200-nvl72`, or `switches=18,links=18,per_tray=2`.
        domain_parts: String = "domain_parts", "none";
        /// Domain that lost a switch, or device that lost a link: `drain` (out of service) or `run-on` (less bandwidth).
        domain_without_part: WithoutPart = "domain_without_part", "drain";
        /// Devices of each domain that a job leaves idle.
        domain_spares: u64 = "domain_spares", "0";
        /// NIC bandwidth per device over all ports, one direction.
        speed: BytesPerSecond = "speed", "400 Gbit/s";
        /// Switch radix: ports at full speed (a port at half speed counts as half); of leaves, if `spine_radix` is set.
        radix: u64 = "radix", "64";
        /// Ports of a spine, counted as in `radix`, such as 576 of a modular chassis.
        spine_radix: u64 = "spine_radix", "radix";
        /// Ports of a core switch, counted as in `radix`.
        core_radix: u64 = "core_radix", "spine_radix";
        /// Ports of a fourth-tier switch, counted as in `radix`.
        top_radix: u64 = "top_radix", "core_radix";
        /// Bandwidth of inter-switch links, one direction.
        port_speed: BytesPerSecond = "port_speed", "speed for dual-plane, else speed / planes";
        /// Number of switch tiers, 1 to 4.
        tiers: u64 = "tiers", "the minimum up to 3; 4 with zones";
        /// Leaf oversubscription: downlink over uplink bandwidth.
        leaf_oversubscription: f64 = "leaf_oversubscription", "1";
        /// Spine oversubscription in three-tier fabrics: downlink over uplink bandwidth.
        spine_oversubscription: f64 = "spine_oversubscription", "1";
        /// Core oversubscription in four-tier fabrics: downlink over uplink bandwidth.
        core_oversubscription: f64 = "core_oversubscription", "1";
        /// Number of rails; a device's rail is its index in the domain modulo this number.
        rails: u64 = "rails", "domain size, or 1 for clos and multi-plane";
        /// Number of planes: independent fabrics, one per NIC port.
        planes: u64 = "planes", "2 for dual-plane, 4 for multi-plane, else 1";
        /// Number of pods in a three-tier fabric, or in each zone of a four-tier one.
        pods: u64 = "pods", "the minimum";
        /// Number of zones in a four-tier fabric: islands or buildings of three tiers, joined by top switches.
        zones: u64 = "zones", "the minimum";
        /// Devices per leaf, counted by NIC ports.
        hosts_per_leaf: u64 = "hosts_per_leaf", "computed from radix and oversubscription";
        /// Leaf ports reserved for failures, in NIC ports.
        backup_ports: u64 = "backup_ports", "0";
        /// Additional endpoints in a fabric, such as management servers.
        extra_endpoints: u64 = "extra_endpoints", "0";
        /// Let rails share a leaf if all their devices fit on it.
        share_switches: bool = "share_switches", "true";
        /// Links per cable, such as 2 with twin-port transceivers.
        links_per_cable: u64 = "links_per_cable", "1";
        /// Number of dragonfly groups.
        groups: u64 = "groups", "the minimum";
        /// Routers per dragonfly group, or leaves per dragonfly-plus group.
        routers_per_group: u64 = "routers_per_group", "(radix + 1) / 2; radix / 2";
        /// Devices per dragonfly router, or per dragonfly-plus leaf.
        hosts_per_router: u64 = "hosts_per_router", "(radix + 1) / 4; radix / 2";
        /// Global links per dragonfly router, or per dragonfly-plus spine.
        globals_per_router: u64 = "globals_per_router", "(radix + 1) / 4; radix / 2";
        /// Spines per dragonfly-plus group.
        spines_per_group: u64 = "spines_per_group", "radix / 2";
        /// Torus size: devices along each dimension.
        dimensions: Vec<u64> = "dimensions", "three, as even as possible";
        /// Edge length of torus cubes with copper links, in devices.
        cube: u64 = "cube", "none";
        /// Routing among equal-length paths.
        routing: Routing = "routing", "spray, or adaptive for dragonflies";
        /// NCCL channels per connection; each has its own route (`NCCL_NCHANNELS_PER_NET_PEER`).
        channels: u64 = "channels", "2";
        /// Queue pairs per channel and NIC port; each has its own route (`NCCL_IB_QPS_PER_CONNECTION`).
        queue_pairs: u64 = "queue_pairs", "1";
        /// Flowlets per message on each queue pair, with `ecmp`: after a gap, a switch selects a new route.
        flowlets: u64 = "flowlets", "1";
        /// Split each connection evenly over all NIC ports, as NCCL does with merged ports; false: a hash selects the port.
        plane_striping: bool = "plane_striping", "true";
        /// Hash seed.
        seed: u64 = "seed", "0";
        /// Forwarding to another rail through the scale-up domain, before (like NCCL's PXN) or after the network.
        forwarding: Forwarding = "forwarding", "`before` with several rails, else `none`";
        /// Latency per link, including the next switch.
        link_latency: Seconds = "link_latency", "1 us";
        /// Cable medium between NIC and leaf.
        access_medium: Medium = "access_medium", "fibre, or copper within torus cubes";
        /// Cable medium between leaf and spine, and within groups.
        spine_medium: Medium = "spine_medium", "fibre";
        /// Cable medium between spine and core, and between groups.
        core_medium: Medium = "core_medium", "fibre";
        /// Mean cable length between NIC and leaf, in metres.
        access_length: f64 = "access_length", "5";
        /// Mean cable length between leaf and spine, in metres.
        spine_length: f64 = "spine_length", "30";
        /// Mean cable length between spine and core, in metres.
        core_length: f64 = "core_length", "100";
        /// Devices per server, for storage and management networks.
        server: u64 = "server", "domain, if it has up to 8 devices";
        /// Storage network of the servers, such as `ports=2,speed=400G,oversubscription=4:3,endpoints=56`.
        storage: String = "storage", "none; ports 2, speed and radix as for devices, oversubscription 1, endpoints 0, medium fibre";
        /// In-band management network, set as `storage`; `endpoints` is the number of other ports.
        in_band: String = "in_band", "none; as storage, at 100G with radix 64";
        /// Out-of-band management network of copper switches: servers, all other switches, and `endpoints`.
        out_of_band: String = "out_of_band", "none; ports 1, speed 1G, radix 48, endpoints 0, uplinks 2 per switch to in-band";
    }
}

/// Reads a design file: keys at its top level.
pub fn parse(text: &str, file: &str) -> Result<Sheet<DesignSpec>, Problem> {
    Sheet::parse(text, file)
}

impl DesignSpec {
    /// A design of a kind with the parameters common to nearly all kinds; the rest is open.
    pub fn of(kind: Kind, devices: u64, domain: u64, radix: u64) -> Self {
        Self {
            kind: Some(kind),
            devices: Some(devices),
            domain: Some(domain),
            radix: Some(radix),
            ..Self::default()
        }
    }

    /// Title: the name, or the kind without a name.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.kind.unwrap_or(Kind::Clos).name().to_owned())
    }

    /// The equivalent design file.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for key in Self::KEYS {
            if let Some(value) = self.get(key.name) {
                text.extend([key.name, " = ", &value.to_toml(), "\n"]);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::run::Value;

    #[test]
    fn a_design_file_holds_what_was_read() {
        let text = "kind = \"dragonfly-plus\"\ngpus = 4096\nspeed = \"400 Gbit/s\"\nrouting = \"spray\"\ncore_medium = \"aoc\"\n";
        let spec = parse(text, "net.toml").expect("valid").spec;
        let again = parse(&spec.to_toml(), "again.toml").expect("valid").spec;
        assert_eq!((spec.devices, spec.core_medium), (Some(4096), Some(Medium::ActiveOptical)));
        assert_eq!(spec, again);
        let problem = parse("gpus = 8\nkind = \"cloz\"\n", "net.toml").expect_err("a typo");
        assert_eq!(problem.hint.as_deref(), Some("did you mean `clos`?"));
        assert_eq!(problem.place.expect("a place").line, Some(2));
    }

    /// Each remedy of a refused design is a key of it, and with that value it can be built.
    #[test]
    fn remedies_mend_what_they_are_of() {
        let mut tried = 0;
        for (kind, devices, domain, radix) in [
            (Kind::RailOptimized, 1001, 8, 64),
            (Kind::RailOnly, 5, 8, 64),
            (Kind::Clos, 131_072, 8, 64),
            (Kind::Trimmed, 1024, 8, 3),
        ] {
            let spec = DesignSpec::of(kind, devices, domain, radix);
            let problem = spec.resolve().expect_err("cannot be built");
            assert!(!problem.remedies.is_empty(), "{problem:?}");
            for remedy in &problem.remedies {
                let mut mended = spec.clone();
                let name = remedy.key.strip_prefix("design.").expect("a key of a design");
                let value = remedy.value.parse().map(Value::Integer).expect("a number");
                mended.set(name, &value).expect("a known key").expect("a valid value");
                mended.resolve().unwrap_or_else(|left| panic!("{remedy:?} leaves {left:?}"));
                tried += 1;
            }
        }
        assert!(tried >= 5, "{tried}");
    }
}
