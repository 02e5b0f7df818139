//! Names of network parts that can fail.
//!
//! Responsible for: reading `leaf:3`, `nic:17` or `link:leaf-spine:5`, and the cables of a part. Does not
//! find detours.

use crate::failures::state::Part as Numbered;
use crate::topology::scale_up::DomainPart;
use crate::topology::{Design, Layer, LinkId, Node, NodeId, Topology};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;

/// A part that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A cable: its layer, and its number in it.
    Link(Layer, u32),
    /// The network interface of a device, with all of its ports.
    Nic(u32),
    /// A switch: its tier (1 leaf or router, 2 spine, 3 core, 4 top), and its number in it.
    Switch(u8, u32),
    /// A part within scale-up domains, and its number.
    Domain(DomainPart, u32),
}

/// Names of layers within a part's name.
const LAYERS: [(&str, Layer); 9] = [
    ("scale-up", Layer::ScaleUp),
    ("host", Layer::Host),
    ("access", Layer::Access),
    ("leaf-spine", Layer::LeafSpine),
    ("spine-core", Layer::SpineCore),
    ("core-top", Layer::CoreTop),
    ("local", Layer::Local),
    ("global", Layer::Global),
    ("torus", Layer::Torus),
];
const TIERS: [(&str, u8); 5] = [("leaf", 1), ("router", 1), ("spine", 2), ("core", 3), ("top", 4)];
const DOMAINS: [(&str, DomainPart); 3] = [
    ("domain-link", DomainPart::Link),
    ("domain-switch", DomainPart::Switch),
    ("domain-tray", DomainPart::Tray),
];
const WORDS: [&str; 10] =
    ["link", "nic", "leaf", "router", "spine", "core", "top", "domain-link", "domain-switch", "domain-tray"];

/// A layer's name.
pub fn layer_name(layer: Layer) -> &'static str {
    LAYERS.iter().find(|(_, known)| *known == layer).map_or("link", |(name, _)| name)
}

impl Part {
    /// The same part by its name in `network failures`. `None` for parts that are numbered differently there.
    pub fn of_failures(part: Numbered, design: &Design) -> Option<Self> {
        let n = u32::try_from(part.number).ok()?;
        let (planes, devices) = (design.planes as u32, design.devices as u32);
        let is_clos = design.kind.is_clos();
        Some(match part.class {
            "NIC" => Self::Nic(n),
            // By device and plane there, by plane and device here.
            "NIC-leaf link" => Self::Link(Layer::Access, n % planes * devices + n / planes),
            "leaf" if is_clos => Self::Switch(1, n),
            "spine" if is_clos => Self::Switch(2, n),
            "core" if is_clos => Self::Switch(3, n),
            "top switch" if is_clos => Self::Switch(4, n),
            "leaf-spine link" if is_clos => Self::Link(Layer::LeafSpine, n),
            "spine-core link" if is_clos => Self::Link(Layer::SpineCore, n),
            "core-top link" if is_clos => Self::Link(Layer::CoreTop, n),
            _ => return None,
        })
    }

    /// Reads `nic:7`, `leaf:0`, `spine:2`, `core:1`, `top:1`, `router:4` or `link:leaf-spine:12`; numbers
    /// start at 0. `leaf#0` is `leaf:0`, the spelling of `network failures`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let shown = human::shorten(text);
        let mut words = text.trim().split([':', '#']);
        let word = words.next().unwrap_or_default();
        let layer = if word == "link" {
            let name = words.next().unwrap_or_default();
            let known = LAYERS.iter().find(|(known, _)| *known == name);
            let Some((_, layer)) = known else {
                let names = LAYERS.map(|(name, _)| name);
                let list = format!("layers are {}; use one as in `link:leaf-spine:0`", names.join(", "));
                return Err(Problem::new(format!("unknown layer of links `{}`", human::shorten(name)))
                    .hint(did_you_mean(name, names, &list)));
            };
            Some(*layer)
        } else {
            None
        };
        if !WORDS.contains(&word) {
            let list = "parts are link:LAYER:N, nic:N, leaf:N, router:N, spine:N, core:N, top:N, domain-link:N, domain-switch:N and domain-tray:N";
            return Err(Problem::new(format!("unknown part of a network `{shown}`"))
                .hint(did_you_mean(word, WORDS, list)));
        }
        let number = words.next().and_then(|n| n.parse::<u32>().ok());
        let (Some(number), None) = (number, words.next()) else {
            return Err(Problem::new(format!("`{shown}` requires the number of the failed {word}"))
                .hint(format!("append a number from 0: `{}0`", prefix(word, layer))));
        };
        if let Some((_, part)) = DOMAINS.iter().find(|(name, _)| *name == word) {
            return Ok(Self::Domain(*part, number));
        }
        Ok(match (layer, TIERS.iter().find(|(name, _)| *name == word)) {
            (Some(layer), _) => Self::Link(layer, number),
            (None, Some((_, tier))) => Self::Switch(*tier, number),
            (None, None) => Self::Nic(number),
        })
    }

    /// Name that parses to this part.
    pub fn name(self) -> String {
        match self {
            Self::Link(layer, n) => format!("link:{}:{n}", layer_name(layer)),
            Self::Nic(n) => format!("nic:{n}"),
            Self::Switch(tier, n) => format!("{}:{n}", tier_name(tier)),
            Self::Domain(part, n) => format!("{}:{n}", part.name().replace(' ', "-")),
        }
    }

    /// The cables lost with it, each as the lower of its two links. Fails for a number outside the network.
    pub fn cables(self, topology: &Topology) -> Result<Vec<LinkId>, Problem> {
        let graph = &topology.graph;
        let missing = |there: usize, what: &str| {
            let hint = match there {
                0 => format!("this network has no {what}"),
                1 => "the only number is 0".to_owned(),
                n => format!("use a number from 0 to {}", n - 1),
            };
            Err(Problem::new(format!("there is no `{}` in this network", self.name())).hint(hint))
        };
        match self {
            Self::Domain(part, n) => {
                let design = &topology.design;
                let each = design.domain.parts.map_or(0, |parts| parts.count(part, design.domain.size));
                let there = design.domains() * each;
                if u64::from(n) < there { Ok(Vec::new()) } else { missing(there as usize, part.name()) }
            }
            Self::Link(layer, n) => {
                let all = || (0..graph.link_count() as u32).step_by(2).map(LinkId);
                let mut cables = all().filter(|link| graph.class(*link).layer == layer);
                match cables.nth(n as usize) {
                    Some(link) => Ok(vec![link]),
                    None => missing(graph.cables(layer), "such link"),
                }
            }
            Self::Nic(device) => {
                let Some(host) = topology.host_link(device).filter(|_| device < graph.devices()) else {
                    let there = topology.host_link(0).map_or(0, |_| graph.devices() as usize);
                    return missing(there, "network interface of its own");
                };
                let ports = (0..topology.design.planes).filter_map(|p| topology.access_link(device, p));
                Ok(std::iter::once(host).chain(ports).collect())
            }
            Self::Switch(tier, n) => {
                let of_tier = |node: &Node| matches!(node, Node::Switch(s) if s.tier == tier);
                let found = graph
                    .nodes()
                    .find(|(_, node)| matches!(node, Node::Switch(s) if s.tier == tier && s.index == n));
                let Some((id, _)) = found else {
                    let there = graph.nodes().filter(|(_, node)| of_tier(node)).count();
                    return missing(there, tier_name(tier));
                };
                Ok(around(topology, id))
            }
        }
    }
}

fn prefix(word: &str, layer: Option<Layer>) -> String {
    layer.map_or_else(|| format!("{word}:"), |layer| format!("link:{}:", layer_name(layer)))
}

fn tier_name(tier: u8) -> &'static str {
    TIERS.iter().find(|(_, known)| *known == tier).map_or("switch", |(name, _)| name)
}

fn around(topology: &Topology, node: NodeId) -> Vec<LinkId> {
    let mut cables: Vec<LinkId> =
        topology.graph.outgoing(node).map(|link| link.min(link.reverse())).collect();
    cables.sort_unstable();
    cables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{DesignSpec, Detail, Kind};

    fn clos() -> Topology {
        let spec = DesignSpec {
            kind: Some(Kind::Clos),
            devices: Some(32),
            domain: Some(4),
            radix: Some(8),
            ..DesignSpec::default()
        };
        Topology::build(&spec.resolve().expect("valid"), Detail::Links).expect("small")
    }

    #[test]
    fn names_read_back_and_find_their_cables() {
        let clos = clos();
        for (name, cables) in
            [("link:leaf-spine:3", 1), ("nic:7", 2), ("leaf:0", 8), ("spine:1", 8), ("link:scale-up:31", 1)]
        {
            let part = Part::parse(name).expect(name);
            assert_eq!(part.name(), name);
            // In the form of `network failures`.
            let (class, number) = name.rsplit_once(':').expect("a number");
            assert_eq!(Part::parse(&format!("{class}#{number}")).expect(name), part);
            assert_eq!(part.cables(&clos).expect(name).len(), cables, "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_reported() {
        let clos = clos();
        let problem = |text: &str| Part::parse(text).and_then(|part| part.cables(&clos)).expect_err(text);
        assert_eq!(problem("leef:1").hint.as_deref(), Some("did you mean `leaf`?"));
        assert_eq!(problem("link:leaf-spline:1").hint.as_deref(), Some("did you mean `leaf-spine`?"));
        assert_eq!(problem("leaf").hint.as_deref(), Some("append a number from 0: `leaf:0`"));
        assert_eq!(problem("nic:-1").message, "`nic:-1` requires the number of the failed nic");
        assert_eq!(problem("leaf:8").hint.as_deref(), Some("use a number from 0 to 7"));
        assert_eq!(problem("core:0").hint.as_deref(), Some("this network has no core"));
        assert_eq!(problem("nic:32").hint.as_deref(), Some("use a number from 0 to 31"));
    }
}
