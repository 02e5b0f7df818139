//! Vocabulary of a design: kinds of topologies, routings, media of cables.
//!
//! Responsible for: names, and one sentence on each for lists and help. Independent of the structure of a
//! kind.

use railwright_spec::choice;
use serde::Serialize;

/// A family of topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One folded Clos for all devices, in their order.
    Clos,
    /// One folded Clos; devices of the same position in their domain share leaves.
    RailOptimized,
    /// A separate folded Clos for each rail, without links between rails.
    RailOnly,
    /// The rail-optimized Clos without the layers that no rail's traffic reaches.
    Trimmed,
    /// Two planes, each a rail-optimized Clos; a NIC has a port in both.
    DualPlane,
    /// Several planes, each a Clos for all devices; a NIC has a port in each.
    MultiPlane,
    /// Groups of fully joined routers, joined to each other by global links.
    Dragonfly,
    /// Groups of leaves and spines, joined by global links of the spines.
    DragonflyPlus,
    /// Devices joined to their neighbours in two or three dimensions, with wrap-around links.
    Torus,
    /// McKay-Miller-Siran graphs of diameter two; counted, not built.
    SlimFly,
    /// All devices in one scale-up domain: the ideal to compare with.
    ScaleUp,
}

choice!(Kind {
    "clos" | "fat-tree" | "folded-clos" => Self::Clos,
    "rail-optimized" | "rail-optimised" => Self::RailOptimized,
    "rail-only" => Self::RailOnly,
    "trimmed" | "any-to-any-trimmed" => Self::Trimmed,
    "dual-plane" | "hpn" => Self::DualPlane,
    "multi-plane" => Self::MultiPlane,
    "dragonfly" => Self::Dragonfly,
    "dragonfly-plus" | "dragonfly+" => Self::DragonflyPlus,
    "torus" => Self::Torus,
    "slim-fly" | "slimfly" => Self::SlimFly,
    "scale-up" | "ideal" => Self::ScaleUp,
});

impl Kind {
    /// Every kind, in the order of lists.
    pub const ALL: [Self; 11] = [
        Self::Clos,
        Self::RailOptimized,
        Self::RailOnly,
        Self::Trimmed,
        Self::DualPlane,
        Self::MultiPlane,
        Self::Dragonfly,
        Self::DragonflyPlus,
        Self::Torus,
        Self::SlimFly,
        Self::ScaleUp,
    ];

    /// The name that a design file uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clos => "clos",
            Self::RailOptimized => "rail-optimized",
            Self::RailOnly => "rail-only",
            Self::Trimmed => "trimmed",
            Self::DualPlane => "dual-plane",
            Self::MultiPlane => "multi-plane",
            Self::Dragonfly => "dragonfly",
            Self::DragonflyPlus => "dragonfly-plus",
            Self::Torus => "torus",
            Self::SlimFly => "slim-fly",
            Self::ScaleUp => "scale-up",
        }
    }

    /// Description in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Clos => "one fat tree of one to four tiers for all devices, filled in order",
            Self::RailOptimized => "one fat tree; devices with the same index in their domain share leaves",
            Self::RailOnly => {
                "a separate fat tree for each rail; traffic between rails is forwarded through the domain"
            }
            Self::Trimmed => "the rail-optimized tree without the layers that carry no rail traffic",
            Self::DualPlane => "two planes, each a rail-optimized tree; a NIC has a port in both (HPN)",
            Self::MultiPlane => "several planes, each a tree for all devices; a NIC has a port in each",
            Self::Dragonfly => {
                "groups of routers, fully connected within a group and by global links between \
                groups"
            }
            Self::DragonflyPlus => "groups of leaves and spines; global links leave from the spines",
            Self::Torus => {
                "no switches: each device is connected to its neighbours in up to three \
                dimensions"
            }
            Self::SlimFly => "a graph of diameter two with few switches; counts only, without a cable list",
            Self::ScaleUp => "all devices in one scale-up domain, as an ideal for comparison",
        }
    }

    /// Tests whether it consists of folded Clos fabrics.
    pub const fn is_clos(self) -> bool {
        matches!(
            self,
            Self::Clos
                | Self::RailOptimized
                | Self::RailOnly
                | Self::Trimmed
                | Self::DualPlane
                | Self::MultiPlane
        )
    }

    /// Routings that it supports. Detours are for groups joined by few links. Adaptive routing in trees has
    /// none.
    pub const fn routings(self) -> &'static [Routing] {
        match self {
            Self::ScaleUp => &[],
            Self::Dragonfly | Self::DragonflyPlus => {
                &[Routing::Ecmp, Routing::Spray, Routing::Static, Routing::Valiant, Routing::Adaptive]
            }
            kind if kind.is_clos() => &[Routing::Ecmp, Routing::Spray, Routing::Static, Routing::Adaptive],
            _ => &[Routing::Ecmp, Routing::Spray, Routing::Static],
        }
    }

    /// Default routing of simulated packets: evenly over all routes, and adaptively in dragonflies, with
    /// their detours.
    pub const fn usual_routing(self) -> Option<Routing> {
        match self {
            Self::ScaleUp => None,
            Self::Dragonfly | Self::DragonflyPlus => Some(Routing::Adaptive),
            _ => Some(Routing::Spray),
        }
    }

    /// Forwarding options for messages to another rail. Required if rails are joined through domains alone.
    pub const fn forwardings(self) -> &'static [Forwarding] {
        match self {
            Self::RailOnly | Self::Trimmed => &[Forwarding::Before, Forwarding::After],
            kind if kind.is_clos() => &[Forwarding::None, Forwarding::Before, Forwarding::After],
            _ => &[],
        }
    }

    /// Tests whether a key of a design file applies to it.
    pub fn takes(self, key: &str) -> bool {
        let has_switches = !matches!(self, Self::Torus | Self::ScaleUp);
        match key {
            "tiers"
            | "spine_radix"
            | "core_radix"
            | "top_radix"
            | "leaf_oversubscription"
            | "spine_oversubscription"
            | "core_oversubscription"
            | "rails"
            | "planes"
            | "pods"
            | "zones"
            | "hosts_per_leaf"
            | "backup_ports"
            | "extra_endpoints"
            | "plane_striping"
            | "forwarding" => self.is_clos(),
            "share_switches" => self == Self::RailOnly,
            "groups" | "routers_per_group" | "hosts_per_router" | "globals_per_router" => {
                matches!(self, Self::Dragonfly | Self::DragonflyPlus)
            }
            "spines_per_group" => self == Self::DragonflyPlus,
            "dimensions" | "cube" => self == Self::Torus,
            "radix" | "port_speed" | "links_per_cable" | "spine_medium" | "spine_length" => has_switches,
            "speed" | "access_medium" | "access_length" | "core_medium" | "core_length" | "routing"
            | "channels" | "queue_pairs" | "flowlets" | "seed" | "link_latency" => self != Self::ScaleUp,
            _ => true,
        }
    }
}

/// Routing among equal-length paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// A hash of both ends and a label chooses one route for all packets of a queue pair; a connection has a
    /// few of them (`Connection`).
    #[default]
    Ecmp,
    /// Packets spread evenly over all equal paths.
    Spray,
    /// The destination alone chooses the route (D-mod-k), so that a permutation does not collide on the way
    /// up.
    Static,
    /// Packets between groups of a dragonfly spread evenly over all third groups (Valiant's, not minimal):
    /// twice the links for messages that would congest few of them.
    Valiant,
    /// In dragonflies, sprayed over minimal routes or Valiant's detours, whichever is faster for a collective
    /// with the network to itself. In trees, sprayed with weights: packets avoid links behind which parts
    /// have failed.
    Adaptive,
}

choice!(Routing {
    "ecmp" | "hash" => Self::Ecmp,
    "spray" | "packet-spray" => Self::Spray,
    "static" | "d-mod-k" => Self::Static,
    "valiant" | "non-minimal" => Self::Valiant,
    "adaptive" | "ugal" => Self::Adaptive,
});

impl Routing {
    /// The name that a design file uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecmp => "ecmp",
            Self::Spray => "spray",
            Self::Static => "static",
            Self::Valiant => "valiant",
            Self::Adaptive => "adaptive",
        }
    }

    /// Tests whether a hash selects routes, so that another seed gives another draw.
    pub const fn is_hashed(self) -> bool {
        matches!(self, Self::Ecmp)
    }

    /// Tests whether packets spread evenly over all links upwards of a whole tree.
    pub const fn is_even_in_trees(self) -> bool {
        matches!(self, Self::Spray | Self::Adaptive)
    }

    /// Tests whether packets of one message use many routes concurrently.
    pub const fn is_spread(self) -> bool {
        matches!(self, Self::Spray | Self::Valiant | Self::Adaptive)
    }
}

/// Forwarding of a message to another rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// Through the network, if the network joins the rails.
    None,
    /// First through the sender's domain to the device on the receiver's rail, as with NCCL's PXN.
    #[default]
    Before,
    /// First along the sender's rail, then through the receiver's domain.
    After,
}

choice!(Forwarding {
    "none" => Self::None,
    "before" | "pxn" => Self::Before,
    "after" => Self::After,
});

/// Medium of a cable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Medium {
    /// Passive copper: no transceivers, a few metres.
    Copper,
    /// Active optical cable: its ends are part of it.
    ActiveOptical,
    /// Fibre with a transceiver at each end.
    #[default]
    Fibre,
    /// Fibre with linear transceivers: pluggable, without a signal processor (LPO).
    Linear,
    /// Fibre into switches whose optics share the package of the switch chip (CPO); a NIC keeps a
    /// transceiver.
    CoPackaged,
    /// Fibre through an optical circuit switch: a transceiver at each end, two ports of the circuit switch
    /// between them.
    Circuit,
}

impl Medium {
    /// Transceivers of a cable, at a NIC or between switches.
    pub const fn transceivers(self, is_at_nic: bool) -> u64 {
        match self {
            Self::Copper | Self::ActiveOptical => 0,
            Self::Fibre | Self::Linear | Self::Circuit => 2,
            Self::CoPackaged => is_at_nic as u64,
        }
    }

    /// Ports of optical circuit switches that a cable passes. A port is a fibre in both directions, with
    /// circulators at the transceivers (arXiv 2208.10041); a pod of 64 cubes with 6,144 such fibres has
    /// 48 circuit switches of 128 used ports (10.1145/3579371.3589350).
    pub const fn circuit_ports(self) -> u64 {
        match self {
            Self::Circuit => 2,
            _ => 0,
        }
    }

    /// Ends of a cable at co-packaged optics.
    pub const fn co_packaged_ends(self, is_at_nic: bool) -> u64 {
        match self {
            Self::CoPackaged => 2 - is_at_nic as u64,
            _ => 0,
        }
    }
}

choice!(Medium {
    "copper" | "dac" => Self::Copper,
    "active-optical" | "aoc" => Self::ActiveOptical,
    "fibre" | "fiber" => Self::Fibre,
    "linear" | "lpo" => Self::Linear,
    "co-packaged" | "cpo" => Self::CoPackaged,
    "circuit" | "ocs" => Self::Circuit,
});

/// Cables of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cabling {
    /// Components.
    pub medium: Medium,
    /// Mean length in metres.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "m")))]
    pub length: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::run::{Field, Value};

    #[test]
    fn every_routing_that_is_listed_can_be_had() {
        use crate::topology::{DesignSpec, Detail, Topology};
        for kind in Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::SlimFly | Kind::ScaleUp)) {
            let radix = if kind == Kind::Dragonfly { 7 } else { 8 };
            let spec = DesignSpec::of(kind, 64, if kind == Kind::Torus { 1 } else { 4 }, radix);
            for &routing in kind.routings() {
                let design = DesignSpec { routing: Some(routing), ..spec.clone() }.resolve().expect("built");
                let topology = Topology::build(&design, Detail::Links).expect("small");
                assert!(
                    topology.route(0, 63, 0).is_some_and(|route| route.length() > 0),
                    "{kind:?} {routing:?}"
                );
            }
            for &forwarding in kind.forwardings() {
                let design =
                    DesignSpec { forwarding: Some(forwarding), ..spec.clone() }.resolve().expect("built");
                assert_eq!(design.forwarding, forwarding);
            }
        }
        assert!(Kind::ScaleUp.routings().is_empty() && Kind::Torus.forwardings().is_empty());
    }

    #[test]
    fn names_read_back() {
        for kind in Kind::ALL {
            assert_eq!(kind.write(), Value::Text(kind.name().to_owned()));
            assert_eq!(Kind::read(&kind.write()), Ok(kind));
        }
        let typo = Kind::read(&Value::Text("railonly".to_owned())).expect_err("typo");
        assert!(typo.hint.is_some_and(|h| h.contains("rail-only")));
    }
}
