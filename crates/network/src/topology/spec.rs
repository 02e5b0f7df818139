//! A network as a user writes it: a kind, how many devices, ports and speeds, and whatever differs from the usual.
//!
//! Responsible for: the table of keys of a design file, which is also that of the flags. Refuses to fill anything in; that is
//! `resolve`.

use super::kind::{Forwarding, Kind, Medium, Routing};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use railwright_spec::run::{Section as _, Sheet};
use railwright_spec::section;

section! {
    /// The keys of a design file.
    DesignSpec in "design" {
        /// The family of topologies; `railwright network topologies` lists them.
        kind: Kind = "kind", "clos";
        /// What to call it.
        name: String = "name", "the kind";
        /// Accelerators that the network joins.
        devices: u64 = "gpus", "1024";
        /// Accelerators in one scale-up domain.
        domain: u64 = "domain", "8; 1 in a torus";
        /// Bandwidth of one device into its scale-up domain, one direction.
        domain_bandwidth: BytesPerSecond = "domain_bandwidth", "450 GB/s";
        /// Latency through a scale-up domain, one way.
        domain_latency: Seconds = "domain_latency", "1 us";
        /// Network bandwidth of one device, one direction, over all of its ports.
        speed: BytesPerSecond = "speed", "400 Gbit/s";
        /// Ports of a switch or router, counted at speed: a port of half the speed counts half.
        radix: u64 = "radix", "64";
        /// Bandwidth of the links between switches, one direction.
        port_speed: BytesPerSecond = "port_speed", "speed in a dual-plane, else that of a NIC's port: speed / planes";
        /// Tiers of switches, 1 to 3.
        tiers: u64 = "tiers", "as few as possible";
        /// Bandwidth below a leaf over bandwidth above it.
        leaf_oversubscription: f64 = "leaf_oversubscription", "1";
        /// Bandwidth below a spine over bandwidth above it, where there are cores.
        spine_oversubscription: f64 = "spine_oversubscription", "1";
        /// Rails: devices of the same place in their domain, modulo this.
        rails: u64 = "rails", "the domain's size; 1 in a clos or multi-plane";
        /// Planes: independent fabrics, one for each port of a NIC.
        planes: u64 = "planes", "2 if dual-plane, 4 if multi-plane, else 1";
        /// Pods of a fabric of three tiers.
        pods: u64 = "pods", "as few as possible";
        /// Devices under a leaf, counted by NIC ports.
        hosts_per_leaf: u64 = "hosts_per_leaf", "by radix and oversubscription";
        /// NIC ports' worth of a leaf that stays free for failures.
        backup_ports: u64 = "backup_ports", "0";
        /// Endpoints beside the devices in one fabric: management servers.
        extra_endpoints: u64 = "extra_endpoints", "0";
        /// Whether several rails may share a leaf where one leaf has room for all of their devices.
        share_switches: bool = "share_switches", "true";
        /// Links in one cable: 2 with twin-port transceivers.
        links_per_cable: u64 = "links_per_cable", "1";
        /// Groups of a dragonfly.
        groups: u64 = "groups", "as few as possible";
        /// Routers in a group of a dragonfly, leaves in a group of a dragonfly-plus.
        routers_per_group: u64 = "routers_per_group", "(radix + 1) / 2; radix / 2";
        /// Devices at a router of a dragonfly, under a leaf of a dragonfly-plus.
        hosts_per_router: u64 = "hosts_per_router", "(radix + 1) / 4; radix / 2";
        /// Global links of a router of a dragonfly, of a spine of a dragonfly-plus.
        globals_per_router: u64 = "globals_per_router", "(radix + 1) / 4; radix / 2";
        /// Spines in a group of a dragonfly-plus.
        spines_per_group: u64 = "spines_per_group", "radix / 2";
        /// Devices along each dimension of a torus.
        dimensions: Vec<u64> = "dimensions", "three, as even as possible";
        /// Edge of the cubes of a torus within which links are copper.
        cube: u64 = "cube", "none";
        /// How a message finds its way among equally long ones.
        routing: Routing = "routing", "ecmp";
        /// Seed of the hash.
        seed: u64 = "seed", "0";
        /// What a message to another rail does.
        forwarding: Forwarding = "forwarding", "before if rails are separate, else none";
        /// Latency of each link with the switch behind it.
        link_latency: Seconds = "link_latency", "1 us";
        /// Medium of cables between NIC and leaf.
        access_medium: Medium = "access_medium", "fibre; copper within cubes of a torus";
        /// Medium of cables between leaf and spine, and within groups.
        spine_medium: Medium = "spine_medium", "fibre";
        /// Medium of cables between spine and core, and between groups.
        core_medium: Medium = "core_medium", "fibre";
        /// Mean length of cables between NIC and leaf, in metres.
        access_length: f64 = "access_length", "5";
        /// Mean length of cables between leaf and spine, in metres.
        spine_length: f64 = "spine_length", "30";
        /// Mean length of cables between spine and core, in metres.
        core_length: f64 = "core_length", "100";
    }
}

/// Reads a design file: keys at its top level.
pub fn parse(text: &str, file: &str) -> Result<Sheet<DesignSpec>, Problem> {
    Sheet::parse(text, file)
}

impl DesignSpec {
    /// A design of a kind with the figures that nearly all kinds have; the rest is open.
    pub fn of(kind: Kind, devices: u64, domain: u64, radix: u64) -> Self {
        Self {
            kind: Some(kind),
            devices: Some(devices),
            domain: Some(domain),
            radix: Some(radix),
            ..Self::default()
        }
    }

    /// What it is called: its name, else its kind.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.kind.unwrap_or(Kind::Clos).name().to_owned())
    }

    /// The design file that says the same.
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

    #[test]
    fn a_design_file_says_what_was_read() {
        let text = "kind = \"dragonfly-plus\"\ngpus = 4096\nspeed = \"400 Gbit/s\"\nrouting = \"spray\"\ncore_medium = \"aoc\"\n";
        let spec = parse(text, "net.toml").expect("valid").spec;
        let again = parse(&spec.to_toml(), "again.toml").expect("valid").spec;
        assert_eq!((spec.devices, spec.core_medium), (Some(4096), Some(Medium::ActiveOptical)));
        assert_eq!(spec, again);
        let problem = parse("gpus = 8\nkind = \"cloz\"\n", "net.toml").expect_err("a typo");
        assert_eq!(problem.hint.as_deref(), Some("did you mean `clos`?"));
        assert_eq!(problem.place.expect("a place").line, Some(2));
    }
}
