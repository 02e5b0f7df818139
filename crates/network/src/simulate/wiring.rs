//! A network with failed parts: topology, failures and the same network with other routing.
//!
//! Responsible for: broken cables, slowed domains, and reports of disconnected devices. Independent of
//! message content. The route of a message is in `link_path`.

use super::lost::Lost;
use super::part::Part;
use crate::failures::{Recovery, lost_in_domains};
use crate::flow::LinkPath;
use crate::flow::listed::DomainPorts;
use crate::topology::scale_up::WithoutPart;
use crate::topology::{Design, Detail, Layer, LinkId, Node, Route, Routing, Topology};
use crate::traffic::RankPlacement;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use std::collections::BTreeSet;

/// A topology with its failed parts.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The network without failures.
    pub topology: Topology,
    /// Failed parts, as specified.
    pub failed: Vec<Part>,
    /// Devices that carry the traffic of NICs with lost ports.
    recovery: Recovery,
    /// Losses of NICs.
    pub(super) lost: Lost,
    /// By cable: link number over two.
    broken: Vec<bool>,
    /// The same network with hashed routing, if the usual routing has only one route.
    hashed: Option<Box<Topology>>,
    /// The same network with Valiant's detours alone, if routing chooses between these and minimal routes.
    detours: Option<Box<Self>>,
    /// The same network without the NICs that lost ports: a domain may be faster without them.
    without_lost: Option<Box<Self>>,
}

/// Cables removed by broken parts, by link number over two.
fn broken_in(topology: &Topology, failed: &[Part]) -> Result<Vec<bool>, Problem> {
    let mut broken = vec![false; topology.graph.link_count() / 2];
    for part in failed {
        for link in part.cables(topology)? {
            broken[link.index() / 2] = true;
        }
    }
    Ok(broken)
}

/// Reduces the scale-up bandwidth of devices by the links, switches and trays that their domains lost. Fails
/// if these do not run on.
fn slow_domains(topology: &mut Topology, failed: &[Part]) -> Result<(), Problem> {
    let Some(parts) = topology.design.domain.parts else { return Ok(()) };
    let of_domains = failed.iter().filter_map(|part| match part {
        Part::Domain(kind, number) => Some((*kind, u64::from(*number))),
        _ => None,
    });
    let lost = lost_in_domains(&topology.design, &parts, of_domains);
    if let (Some((domain, device)), WithoutPart::Drain) = (lost.keys().next(), parts.without_part) {
        let what = device.map_or_else(|| format!("domain {domain}"), |device| format!("device {device}"));
        let names: Vec<String> = failed.iter().map(|part| format!("`{}`", part.name())).collect();
        return Err(Problem::new(format!(
            "without {}, {what} is out of service: the step cannot finish",
            names.join(" and ")
        ))
        .hint("set design.domain_without_part = \"run-on\" for a step with less bandwidth"));
    }
    let size = topology.design.domain.size;
    let of = |place: (u64, Option<u64>)| lost.get(&place).copied().unwrap_or(0.0);
    let domains: BTreeSet<u64> = lost.keys().map(|(domain, _)| *domain).collect();
    for device in domains.iter().flat_map(|domain| domain * size..(domain + 1) * size) {
        // Without any link: as good as a broken one.
        let domain = device / size;
        let kept = (1.0 - of((domain, None)) - of((domain, Some(device)))).max(1e-9);
        for link in topology.domain_link(device as u32).into_iter().flat_map(|link| [link, link.reverse()]) {
            topology.graph.slow(link, kept);
        }
    }
    Ok(())
}

impl Wiring {
    /// A design with failed parts and the default recovery. With packet spraying on a tree, switches that
    /// remain equivalent are pooled.
    pub fn new(design: &Design, failed: &[Part]) -> Result<Self, Problem> {
        if !design.pools_links() {
            return Self::of(Topology::build(design, Detail::Links)?, failed);
        }
        if failed.is_empty() {
            return Self::of(Topology::build(design, Detail::Pooled)?, failed);
        }
        let mut whole = Topology::build(design, Detail::Links)?;
        let broken = broken_in(&whole, failed)?;
        slow_domains(&mut whole, failed)?;
        let (topology, broken) = whole.parted(&broken);
        Ok(Self::put(topology, failed, broken))
    }

    fn put(topology: Topology, failed: &[Part], broken: Vec<bool>) -> Self {
        let lost = if failed.is_empty() {
            Lost::default()
        } else {
            Lost::of(&topology, |link| broken[link.index() / 2])
        };
        let partly = lost.partly();
        let without_lost = (!partly.is_empty()).then(|| {
            let mut broken = broken.clone();
            for port in partly.iter().filter_map(|device| Part::Nic(*device).cables(&topology).ok()).flatten()
            {
                broken[port.index() / 2] = true;
            }
            Box::new(Self::put(topology.clone(), failed, broken))
        });
        let (failed, recovery) = (failed.to_vec(), Recovery::default());
        Self { topology, failed, recovery, lost, broken, hashed: None, detours: None, without_lost }
    }

    /// The same with a different recovery of domains.
    #[must_use]
    pub fn recovering(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self.detours = self.detours.map(|detours| Box::new(detours.recovering(recovery)));
        self.without_lost = self.without_lost.map(|rest| Box::new(rest.recovering(recovery)));
        self
    }

    /// The same with its hash seed increased by a number. Links do not depend on the seed, so nothing is
    /// built again.
    #[must_use]
    pub fn redrawn(&self, draw: u32) -> Self {
        let mut other = self.clone();
        other.redraw(u64::from(draw));
        other
    }

    fn redraw(&mut self, draw: u64) {
        let hashed = self.hashed.as_deref_mut();
        for topology in std::iter::once(&mut self.topology).chain(hashed) {
            topology.design.seed = topology.design.seed.wrapping_add(draw);
        }
        for other in [&mut self.detours, &mut self.without_lost].into_iter().flatten() {
            other.redraw(draw);
        }
    }

    /// Devices that carry the traffic of NICs with lost ports.
    pub const fn recovery(&self) -> Recovery {
        self.recovery
    }

    #[cfg(test)]
    pub(super) const fn lost(&self) -> &Lost {
        &self.lost
    }

    /// The same for a built topology.
    pub fn of(mut topology: Topology, failed: &[Part]) -> Result<Self, Problem> {
        let broken = broken_in(&topology, failed)?;
        slow_domains(&mut topology, failed)?;
        let needs_hashes = !failed.is_empty() && topology.design.routing == Routing::Static;
        let hashed = needs_hashes.then(|| {
            let mut other = topology.clone();
            other.design.routing = Routing::Ecmp;
            Box::new(other)
        });
        // Trees have no third groups.
        let has_detours = topology.design.routing == Routing::Adaptive && !topology.design.kind.is_clos();
        let detours = has_detours.then(|| {
            let mut other = topology.clone();
            other.design.routing = Routing::Valiant;
            Box::new(Self::put(other, failed, broken.clone()))
        });
        let mut wiring = Self { hashed, detours, ..Self::put(topology, failed, broken) };
        // Routes by destination that meet broken parts are also drawn from hashes there.
        if let Some(rest) = &mut wiring.without_lost {
            rest.hashed.clone_from(&wiring.hashed);
        }
        Ok(wiring)
    }

    /// Devices of the network.
    pub fn devices(&self) -> u32 {
        self.topology.graph.devices()
    }

    /// Tests whether a link is unbroken.
    pub fn is_alive(&self, link: LinkId) -> bool {
        !self.broken[link.index() / 2]
    }

    pub(super) fn is_whole(&self, route: &Route) -> bool {
        self.failed.is_empty() || route.hops.iter().all(|hop| self.is_alive(hop.link))
    }

    /// The topology that draws routes by hash.
    pub(super) fn hashed(&self) -> &Topology {
        self.hashed.as_deref().unwrap_or(&self.topology)
    }

    /// Alternatives to this wiring, true for those with detours: the same network with detours only, and, if
    /// domains share NICs, without the NICs that lost ports.
    pub(super) fn others(&self) -> Vec<(&Self, bool)> {
        let detours = self.detours.as_deref().map(|wiring| (wiring, true));
        let helps = self.recovery != Recovery::Alone;
        let rest = self.without_lost.as_deref().filter(|_| helps);
        let by_rest = detours.and_then(|(wiring, _)| wiring.without_lost.as_deref()).filter(|_| helps);
        let both = by_rest.map(|wiring| (wiring, true));
        detours.into_iter().chain(rest.map(|wiring| (wiring, false))).chain(both).collect()
    }

    /// A route as links with shares.
    pub(super) fn plain(&self, route: &Route) -> LinkPath {
        let mut links: Vec<(u32, f64)> = Vec::with_capacity(route.hops.len());
        for hop in &route.hops {
            // Sprayed routes are long and list each link once; a search of short ones is cheap.
            let known =
                if route.hops.len() > 64 { None } else { links.iter_mut().find(|l| l.0 == hop.link.0) };
            match known {
                Some(link) => link.1 += hop.share,
                None => links.push((hop.link.0, hop.share)),
            }
        }
        LinkPath { links, latency: route.latency(&self.topology.graph).get() }
    }

    /// Devices disconnected from the larger part of the network, without help of their domain, in order.
    pub fn stranded(&self) -> Vec<u32> {
        if self.failed.is_empty() {
            return Vec::new();
        }
        let graph = &self.topology.graph;
        let mut part = vec![u32::MAX; graph.node_count()];
        let mut sizes: Vec<u32> = Vec::new();
        for device in 0..graph.devices() {
            if part[device as usize] != u32::MAX {
                continue;
            }
            let name = sizes.len() as u32;
            sizes.push(0);
            let mut stack = vec![crate::topology::NodeId(device)];
            part[device as usize] = name;
            while let Some(node) = stack.pop() {
                sizes[name as usize] += u32::from(node.0 < graph.devices());
                for link in graph.outgoing(node).filter(|link| self.is_alive(*link)) {
                    let to = graph.to(link);
                    if part[to.index()] == u32::MAX {
                        part[to.index()] = name;
                        stack.push(to);
                    }
                }
            }
        }
        let most = sizes.iter().copied().max().unwrap_or(0);
        let main = sizes.iter().position(|size| *size == most).unwrap_or(0) as u32;
        (0..graph.devices()).filter(|device| part[*device as usize] != main).collect()
    }

    /// Returns an error if ranks of a run on the first `ranks` devices are cut off, with the ranks and the
    /// cause.
    pub fn check(&self, ranks: u32) -> Result<(), Problem> {
        self.check_placement(ranks, None)
    }

    /// The same for ranks on other devices.
    pub fn check_placement(&self, ranks: u32, seats: Option<&RankPlacement>) -> Result<(), Problem> {
        let devices = self.devices();
        let ranks = seats.map_or(ranks, |seats| ranks.max(seats.last() + 1));
        if ranks > devices {
            return Err(too_few_devices(ranks, devices, "network")
                .at_key("design.gpus")
                .hint(format!("set design.gpus = {ranks} or more")));
        }
        let rank_of = |device: u32| seats.map_or(device, |seats| seats.rank(device));
        let mut lost: Vec<u32> =
            self.stranded().into_iter().map(rank_of).filter(|rank| *rank < ranks).collect();
        lost.sort_unstable();
        if lost.is_empty() {
            return Ok(());
        }
        let parts: Vec<String> = self.failed.iter().map(|part| format!("`{}`", part.name())).collect();
        Err(Problem::new(format!(
            "without {}, {} disconnected: the step cannot finish",
            parts.join(" and "),
            if lost.len() == 1 {
                format!("rank {} is", lost[0])
            } else {
                format!("{} ranks ({}) are", human::whole(lost.len() as u64), ranges(&lost))
            }
        ))
        .hint("a second plane, rails or a larger scale-up domain provide another route"))
    }

    /// The error for two disconnected devices.
    pub(super) fn apart(&self, from: u32, to: u32) -> Problem {
        let parts: Vec<String> = self.failed.iter().map(|part| format!("`{}`", part.name())).collect();
        let why = if parts.is_empty() { String::new() } else { format!("without {} ", parts.join(" and ")) };
        Problem::new(format!("{why}ranks {from} and {to} cannot reach each other: the step cannot finish"))
            .hint("a network with several planes or a higher radix provides another route")
    }
}

/// `0-7, 16` of sorted numbers; a few ranges, then an ellipsis.
pub fn ranges(numbers: &[u32]) -> String {
    const MOST: usize = 6;
    let runs: Vec<&[u32]> = numbers.chunk_by(|a, b| a + 1 == *b).collect();
    let mut words: Vec<String> = runs
        .iter()
        .take(MOST)
        .map(|run| match run {
            [only] => only.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    if runs.len() > MOST {
        words.push("...".to_owned());
    }
    words.join(", ")
}

impl DomainPorts for Wiring {
    fn device_count(&self) -> u32 {
        self.devices()
    }

    fn domain_size(&self) -> u32 {
        self.topology.design.domain.size as u32
    }

    fn domain_port(&self, link: u32) -> Option<(u32, bool)> {
        let (graph, link) = (&self.topology.graph, LinkId(link));
        if link.index() >= graph.link_count() || graph.class(link).layer != Layer::ScaleUp {
            return None;
        }
        match (graph.node(graph.from(link)), graph.node(graph.to(link))) {
            (Node::Device(device), _) => Some((device, true)),
            (_, Node::Device(device)) => Some((device, false)),
            _ => None,
        }
    }
}

/// Ranks of a run that exceed the devices of a network or fabric.
pub fn too_few_devices(ranks: u32, devices: u32, of: &str) -> Problem {
    let (ranks, devices) = (human::whole(u64::from(ranks)), human::whole(u64::from(devices)));
    Problem::new(format!("the run has {ranks} ranks, but the {of} {devices} devices"))
}
