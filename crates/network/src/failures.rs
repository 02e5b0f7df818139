//! Effect of one failed part, for each class of equivalent parts.
//!
//! Responsible for: disconnected devices and remaining bandwidth after a link, NIC or switch fails and routes
//! have been withdrawn. All members of a class are equivalent, so one failure per class is exact for all.
//! Parts of one name in different positions (partly filled leaves and pods) are several classes. Excludes
//! failure rates ([`rates`]), monthly cost ([`expected`], [`Outages`]), flaps and slow parts ([`brief`]) and
//! simultaneous failures ([`state`], [`sample`]).
//!
//! Three values of remaining bandwidth: *alone*, with the device's own NIC; *neighbour*, if another device of
//! its scale-up domain also carries its traffic; and *spread*, if the devices of a domain share all its
//! remaining NICs (forwarding through the domain, in either order).

mod above;
pub mod brief;
mod class;
mod domain;
pub mod expected;
mod lost;
mod outages;
pub mod rates;
pub mod sample;
pub mod state;

use crate::topology::design::ClosNetwork;
use crate::topology::{Design, Fabric};
use above::Above;
use class::Part;
pub(crate) use class::neighbour_share;
pub use class::{Class, Recovery, slowdown};
pub(crate) use domain::lost as lost_in_domains;
use lost::{Lost, narrow};
pub use outages::{Outages, usual_network};
use std::collections::BTreeMap;

/// Classes of parts that can fail in a design, from the devices outwards. Parts in different places whose
/// failures have the same effect form one class.
pub fn classes(design: &Design) -> Vec<Class> {
    let mut found: Vec<Class> = Vec::new();
    for class in in_places(design) {
        let is_equivalent = |known: &&mut Class| Class { count: class.count, ..(*known).clone() } == class;
        match found.iter_mut().find(is_equivalent) {
            Some(known) => known.count += class.count,
            None => found.push(class),
        }
    }
    found
}

/// The same, place by place.
fn in_places(design: &Design) -> Vec<Class> {
    let mut list = domain::classes(design);
    match &design.fabric {
        Fabric::None => {}
        Fabric::Torus(torus) => {
            let ring = torus.dimensions.iter().copied().max().unwrap_or(1);
            list.push(Class {
                part: "link",
                count: torus.all_links(),
                cut_off: 0,
                stranded: 0,
                slowed: ring,
                touched: ring,
                kept_alone: 0.5,
                kept_neighbour: 0.5,
                kept_spread: 0.5,
                remark: "the ring becomes a line with half the bandwidth; other dimensions are intact",
                ..Class::default()
            });
        }
        Fabric::Clos(network) => {
            nics(design, &mut list);
            clos(design, network, &mut list);
        }
        Fabric::Dragonfly(d) => {
            nics(design, &mut list);
            switch(design, "router", d.switches(), d.hosts, &mut list);
            let between = d.wiring().used() / (d.groups - 1).max(1);
            detour(design, "link within a group", d.local_links(), 2 * d.hosts, (1, 0.5), &mut list);
            let both = 2 * d.hosts * d.routers;
            // Other routers of the group reach the links that are left over links within it, which carry
            // other traffic.
            detour(design, "global link", d.global_links(), both, (between, 0.5), &mut list);
        }
        Fabric::DragonflyPlus(d) => {
            nics(design, &mut list);
            switch(design, "leaf", d.groups * d.leaves, d.hosts, &mut list);
            let within = d.hosts * d.leaves;
            let between = d.wiring().used() / (d.groups - 1).max(1);
            // A spine also has the global links of its pairs of groups, and a leaf reaches them through this
            // spine alone.
            let of_spine = if d.groups > 1 { d.globals.div_ceil(d.groups - 1) } else { 0 };
            let left = 1.0 - 1.0 / d.spines as f64;
            let is_detour = of_spine > 0 && between <= of_spine;
            let mut add = |part, count, slowed, of_pair: f64| {
                let kept = if of_spine > 0 { left.min(of_pair) } else { left };
                let class = shared(design, part, count, slowed, 1.0 - kept, 1);
                list.push(Class { remark: if is_detour { DETOURS } else { class.remark }, ..class });
            };
            // All detours of a spine at once use the links of the others.
            let of_pair = over_pair(of_spine, between);
            add("spine", d.groups * d.spines, within, if is_detour { 0.5 * left } else { of_pair });
            add("leaf-spine link", d.local_links(), d.hosts, of_pair);
            let kept = without_global(d.globals, d.groups, between);
            detour(design, "global link", d.global_links(), 2 * within, (between, kept), &mut list);
        }
        Fabric::SlimFly(s) => {
            nics(design, &mut list);
            switch(design, "router", s.switches(), s.hosts, &mut list);
            // Each of two routers' links is the only one between them; others of the same length do not
            // exist.
            detour(design, "link", s.links(), 2 * s.hosts, (1, 0.5), &mut list);
        }
    }
    list
}

/// Ports of a domain: `devices x planes`; one of them is `1 / (K P)`. HPN loses 6.25% to one NIC-ToR link of
/// 16 in a host (10.1145/3651890.3672265).
fn nics(design: &Design, list: &mut Vec<Class>) {
    let size = design.domain.size;
    let (k, planes) = (size as f64, design.planes as f64);
    let alone = u64::from(size == 1);
    list.push(Class {
        part: "NIC",
        count: design.devices,
        cut_off: 1,
        stranded: alone,
        slowed: 0,
        touched: size,
        kept_alone: 0.0,
        kept_neighbour: neighbour_share(size, 1),
        kept_spread: 1.0 - 1.0 / k,
        ..Class::default()
    });
    let is_only = u64::from(design.planes == 1);
    list.push(Class {
        part: "NIC-leaf link",
        count: design.devices * design.planes,
        cut_off: is_only,
        stranded: alone * is_only,
        slowed: 1 - is_only,
        touched: size,
        kept_alone: 1.0 - 1.0 / planes,
        kept_neighbour: if design.planes == 1 { neighbour_share(size, 1) } else { 1.0 - 1.0 / planes },
        kept_spread: 1.0 - 1.0 / (k * planes),
        ..Class::default()
    });
}

/// Adds a switch whose devices are consecutive whole domains, as far as they go.
fn switch(design: &Design, part: &'static str, count: u64, hosts: u64, list: &mut Vec<Class>) {
    list.push(first_switch(design, part, count, hosts.min(design.devices), hosts.min(design.domain.size)));
}

/// A switch with NICs: number of devices in total, and of one domain. Other planes are unaffected.
fn first_switch(design: &Design, part: &'static str, count: u64, devices: u64, of_domain: u64) -> Class {
    let planes = design.planes as f64;
    let size = design.domain.size;
    let is_only = design.planes == 1;
    let lost = of_domain as f64 / (size as f64 * planes);
    let kept_alone = 1.0 - 1.0 / planes;
    Class {
        part,
        count,
        cut_off: if is_only { devices } else { 0 },
        stranded: if is_only && of_domain == size { devices / size * size } else { 0 },
        slowed: if is_only { 0 } else { devices },
        touched: domains_of(design, devices, of_domain),
        kept_alone,
        kept_neighbour: if is_only { neighbour_share(size, of_domain) } else { kept_alone },
        kept_spread: 1.0 - lost,
        ..Class::default()
    }
}

/// Devices of all domains with affected devices, given the number per domain.
fn domains_of(design: &Design, devices: u64, of_domain: u64) -> u64 {
    let domains = devices.div_ceil(of_domain.max(1));
    domains.saturating_mul(design.domain.size).min(design.devices)
}

/// A part with redundancy: a share of the bandwidth above leaves is lost in one plane, for some of a domain's
/// rails. Packets are spread evenly over planes, and other NICs of the domain do not help, because the NIC's
/// own ports work.
fn shared(
    design: &Design,
    part: &'static str,
    count: u64,
    slowed: u64,
    lost: f64,
    rails_apart: u64,
) -> Class {
    let slowed = slowed.min(design.devices);
    Class {
        part,
        count,
        cut_off: 0,
        stranded: 0,
        slowed,
        touched: domains_of(design, slowed, design.domain.size.div_ceil(rails_apart.max(1))),
        kept_alone: 1.0 - lost,
        kept_neighbour: 1.0 - lost,
        kept_spread: 1.0 - lost,
        ..Class::default()
    }
}

/// Remark of a part whose loss leaves detours alone.
const DETOURS: &str = "the only direct link of its pair, so detours use two links each";

/// Share of the bandwidth between two groups that is left without some of their links; detours over a third
/// group take two links each.
fn over_pair(lost: u64, between: u64) -> f64 {
    if between <= lost { 0.5 } else { 1.0 - lost as f64 / between as f64 }
}

/// Share of the bandwidth between two groups without one of `between` links. No switch weighs its links: one
/// with several links to a group sends it as much as before.
fn without_global(globals: u64, groups: u64, between: u64) -> f64 {
    let others = groups.saturating_sub(1).max(1);
    let parallel = match globals / others {
        0 | 1 => globals.div_ceil(others),
        least => least,
    };
    let of_pair = over_pair(1, between);
    if parallel > 1 { of_pair.min(1.0 - 1.0 / parallel as f64) } else { of_pair }
}

/// A link between routers or groups with a number of parallel links, and the share that is left without it.
fn detour(
    design: &Design,
    part: &'static str,
    count: u64,
    slowed: u64,
    (beside, kept): (u64, f64),
    list: &mut Vec<Class>,
) {
    if count == 0 {
        return;
    }
    // A detour over a third router or group takes two links instead of one, on links with other traffic.
    let mut class = shared(design, part, count, slowed, 1.0 - kept, 1);
    if beside < 2 {
        class.remark = DETOURS;
    }
    list.push(class);
}

/// Devices and domains below one switch of the first plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Below {
    /// Total number of devices.
    devices: u64,
    /// The most of one domain.
    of_domain: u64,
    /// Domains that have some of theirs there.
    domains: u64,
    /// Domains that have all of theirs there.
    whole: u64,
}

impl Below {
    /// Counts devices in their order, so that domains come one after the other.
    fn of(devices: impl IntoIterator<Item = u64>, size: u64) -> Self {
        let (mut below, mut last, mut here) = (Self::default(), u64::MAX, 0);
        for device in devices {
            let domain = device / size;
            if domain != last {
                (last, here) = (domain, 0);
                below.domains += 1;
            }
            here += 1;
            below.devices += 1;
            below.whole += u64::from(here == size);
            below.of_domain = below.of_domain.max(here);
        }
        below
    }
}

/// Switches of a plane by the devices below each: number and first of each kind, fullest first. `key` maps a
/// device to its switch; empty switches are included up to `count` per plane.
fn kinds<K: Ord>(design: &Design, count: u64, key: impl Fn(u64) -> K) -> Vec<(Below, u64, Option<K>)> {
    let mut under: BTreeMap<K, Vec<u64>> = BTreeMap::new();
    for device in 0..design.devices {
        under.entry(key(device)).or_default().push(device);
    }
    let mut kinds: BTreeMap<Below, (u64, Option<K>)> = BTreeMap::new();
    let used = under.len() as u64;
    for (key, devices) in under {
        let (count, first) = kinds.entry(Below::of(devices, design.domain.size)).or_default();
        *count += 1;
        first.get_or_insert(key);
    }
    if count > used {
        kinds.entry(Below::default()).or_default().0 += count - used;
    }
    kinds.into_iter().rev().map(|(below, (count, first))| (below, count, first)).collect()
}

/// Number of parts of each name, in the order of their first class.
pub fn parts(classes: &[Class]) -> Vec<(&'static str, u64)> {
    let mut parts: Vec<(&'static str, u64)> = Vec::new();
    for class in classes {
        match parts.iter_mut().find(|(part, _)| *part == class.part) {
            Some((_, count)) => *count += class.count,
            None => parts.push((class.part, class.count)),
        }
    }
    parts
}

/// Adds a leaf with the devices below it.
fn leaf(design: &Design, count: u64, below: &Below) -> Class {
    let class = first_switch(design, "leaf", count, below.devices, below.of_domain);
    let stranded = if design.planes == 1 { below.whole * design.domain.size } else { 0 };
    let touched = below.domains * design.domain.size;
    if below.devices > 0 {
        return Class { stranded, touched, ..class };
    }
    let none =
        Class { stranded: 0, touched: 0, kept_alone: 1.0, kept_neighbour: 1.0, kept_spread: 1.0, ..class };
    Class { remark: "no devices are connected to it", ..none }
}

/// A folded Clos: what is left above leaves follows from the policy of routes ([`above`]).
fn clos(design: &Design, network: &ClosNetwork, list: &mut Vec<Class>) {
    let clos = &network.clos;
    let counts = design.counts();
    let above = Above::new(design, network);
    // Leaves, pods and zones that are filled differently are classes of their own.
    let leaves = kinds(design, counts.switches_in("leaf") / design.planes, |device| {
        let (fabric, leaf) = design.leaf_of(network, device);
        (fabric / network.fabrics_per_switch, leaf)
    });
    list.extend(leaves.iter().map(|(below, count, _)| leaf(design, count * design.planes, below)));
    // With separate rails, domains of all devices are touched, but by one rail alone.
    let apart = if network.fabrics_per_plane > 1 { design.rails } else { 1 };
    // A part of the first plane, with the leaves that it serves, of which the fullest is the most affected.
    let mut add = |part: Part, below: &Below, count: u64, (fabric, first, end): (u64, u64, u64), apart| {
        let leaf = above.fullest(fabric, first..end);
        let kept = |number| {
            let mut lost = Lost::default();
            lost.add(design, network, Part { number, ..part });
            above.share(&lost, 0, narrow(fabric), narrow(leaf))
        };
        // Parts of irregular fabrics differ: the worst of them counts.
        let of_each = match part.class {
            "spine-core link" => clos.spines_per_pod * clos.spine_uplinks,
            "core" => clos.cores_per_zone(),
            "core-top link" => clos.upper.map_or(1, |upper| clos.cores_per_zone() * upper.core_uplinks),
            "top switch" => clos.tops(),
            _ => 1,
        };
        let alike = if clos.is_regular() { 1 } else { of_each };
        let kept = (part.number..part.number + alike).map(kept).fold(1.0, f64::min);
        let remark =
            if alike > 1 { "approximate: the worst of parts with unequal numbers of links" } else { "" };
        let class = shared(design, part.class, count * design.planes, below.devices, 1.0 - kept, apart);
        list.push(Class { remark, ..class });
    };
    if network.kept_tiers >= 2 {
        for (below, count, at) in &leaves {
            let (fabric, leaf) = at.unwrap_or_default();
            // A rail has a separate leaf in each plane: its neighbours' leaves are whole.
            let beside = (design.domain.size / below.of_domain.max(1)).max(1);
            let number = fabric * clos.leaf_spine_links() + leaf * clos.leaf_uplinks;
            let part = Part { class: "leaf-spine link", number };
            add(part, below, count * clos.leaf_uplinks, (fabric, leaf, leaf + 1), beside);
        }
    }
    let pods = kinds(design, network.fabrics_per_plane * clos.pods, |device| {
        let (fabric, leaf) = design.leaf_of(network, device);
        (fabric, clos.pod(leaf))
    });
    let mut above_pods = |class, each: u64, all: u64, per_pod: u64| {
        for (below, count, at) in &pods {
            let (fabric, pod) = at.unwrap_or_default();
            let leaves = (fabric, pod * clos.leaves_per_pod, (pod + 1) * clos.leaves_per_pod);
            add(Part { class, number: fabric * all + pod * per_pod }, below, count * each, leaves, apart);
        }
    };
    if network.kept_tiers >= 2 {
        above_pods("spine", clos.spines_per_pod, clos.spines(), clos.spines_per_pod);
    }
    if network.kept_tiers >= 3 {
        let links = clos.spines_per_pod * clos.spine_uplinks;
        above_pods("spine-core link", links, clos.spine_core_links(), links);
        let zones = kinds(design, network.fabrics_per_plane * clos.zones(), |device| {
            let (fabric, leaf) = design.leaf_of(network, device);
            (fabric, clos.zone(clos.pod(leaf)))
        });
        let per_zone = clos.leaves_per_pod * clos.pods_per_zone();
        let mut above_zones = |class, each: u64, all: u64| {
            for (below, count, at) in &zones {
                let (fabric, zone) = at.unwrap_or_default();
                let leaves = (fabric, zone * per_zone, (zone + 1) * per_zone);
                add(Part { class, number: fabric * all + zone * each }, below, count * each, leaves, apart);
            }
        };
        above_zones("core", clos.cores_per_zone(), clos.cores());
        if let Some(upper) = clos.upper.filter(|_| network.kept_tiers >= 4) {
            above_zones("core-top link", clos.cores_per_zone() * upper.core_uplinks, clos.core_top_links());
            let all = Below { devices: design.devices / network.fabrics_per_plane, ..Below::default() };
            let part = Part { class: "top switch", number: 0 };
            add(part, &all, network.fabrics_per_plane * upper.tops, (0, 0, clos.leaves()), apart);
        }
    }
    for class in list.iter_mut().filter(|class| class.part == "spine" && clos.spines_per_pod == 1) {
        class.remark = "the only spine, so leaves cannot reach each other in this plane";
    }
    // Parts without connections have no effect.
    for class in
        list.iter_mut().filter(|class| class.slowed == 0 && class.part != "leaf" && class.cut_off == 0)
    {
        (class.kept_alone, class.kept_neighbour, class.kept_spread) = (1.0, 1.0, 1.0);
    }
}

#[cfg(test)]
mod tests;
