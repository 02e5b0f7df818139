//! Routes up and down a folded Clos.
//!
//! Responsible for: links from leaf to leaf, by hash, by destination, or all of them with their shares.
//! Excludes the links of NICs, which are the same for every family, and links of single cables above spines
//! below top switches (`walk`).

use super::super::build::ClosLayout;
use super::super::clos::Clos;
use super::super::design::{ClosNetwork, Design};
use super::super::graph::LinkId;
use super::super::hash::Choices;
use super::super::kind::Routing;
use super::super::route::Route;
use super::Message;
use crate::topology::graph::nth;
use std::ops::Range;

pub(super) struct LinkPath<'a> {
    pub(super) design: &'a Design,
    pub(super) network: &'a ClosNetwork,
    pub(super) layout: &'a ClosLayout,
    pub(super) message: Message,
}

/// Leaves of both ends in their fabric.
struct Ends {
    fabric: u64,
    from: u64,
    to: u64,
    /// The receiver's port below its leaf: the input of routing by destination.
    port: u64,
}

/// A link with the share of the message on it.
type Shares = Vec<(LinkId, f64)>;

impl LinkPath<'_> {
    fn ends(&self) -> Ends {
        let (fabric, from) = self.design.leaf_of(self.network, self.message.from);
        let (_, to) = self.design.leaf_of(self.network, self.message.to);
        let within = self.design.rail(self.message.to) % self.network.rails_per_group;
        let place =
            within * (self.design.devices / self.design.rails) + self.design.place_in_rail(self.message.to);
        let port = place % self.network.clos.hosts_per_leaf;
        Ends { fabric, from, to, port }
    }

    /// Tests whether a message between pods crosses a fabric with top switches, whose links are found by
    /// walking the graph.
    pub(super) fn is_walked(&self) -> bool {
        let ends = self.ends();
        self.network.clos.upper.is_some()
            && self.network.clos.pod(ends.from) != self.network.clos.pod(ends.to)
    }

    pub(super) fn route(&self, planes: Range<u64>, choices: &mut Choices, route: &mut Route) {
        let ends = self.ends();
        if ends.from == ends.to {
            return;
        }
        let mut layers: Vec<Shares> = Vec::new();
        let count = planes.end - planes.start;
        for plane in planes {
            for (n, layer) in self.in_plane(plane, &ends, choices).into_iter().enumerate() {
                if layers.len() <= n {
                    layers.push(Vec::new());
                }
                layers[n].extend(layer.into_iter().map(|(link, share)| (link, share / count as f64)));
            }
        }
        for layer in layers {
            route.side_by_side(layer);
        }
    }

    fn in_plane(&self, plane: u64, ends: &Ends, choices: &mut Choices) -> Vec<Shares> {
        let clos = &self.network.clos;
        let links = self.layout.fabrics[(plane * self.network.fabrics_per_plane + ends.fabric) as usize];
        let fabric = Fabric { clos, leaf_spine: links.leaf_spine, spine_core: links.spine_core };
        let pods = (clos.pod(ends.from), clos.pod(ends.to));
        let spray = self.design.routing.is_even_in_trees();
        match (pods.0 == pods.1, spray) {
            (true, true) => {
                vec![fabric.all_uplinks(ends.from), reversed(fabric.all_uplinks(ends.to))]
            }
            (false, true) => fabric.all_between_pods(ends),
            (true, false) => {
                let (up, trunk) = match self.design.routing {
                    // The same uplink on both sides, so that a receiver's port decides both.
                    Routing::Static => {
                        let uplink = ends.port % clos.leaf_uplinks;
                        (uplink, uplink / clos.spines_per_pod)
                    }
                    _ => (choices.below(clos.leaf_uplinks), choices.below(clos.trunk())),
                };
                let down = trunk * clos.spines_per_pod + up % clos.spines_per_pod;
                vec![one(fabric.uplink(ends.from, up)), one(fabric.uplink(ends.to, down).reverse())]
            }
            (false, false) => self.one_between_pods(&fabric, ends, choices),
        }
    }

    fn one_between_pods(&self, fabric: &Fabric<'_>, ends: &Ends, choices: &mut Choices) -> Vec<Shares> {
        let clos = fabric.clos;
        let (from, to) = (clos.pod(ends.from), clos.pod(ends.to));
        if self.design.routing == Routing::Static {
            return fabric.by_destination(ends);
        }
        let up = choices.below(clos.leaf_uplinks);
        let spine = up % clos.spines_per_pod;
        let spine_up = choices.below(clos.spine_uplinks);
        let (group, link) = fabric.pod_link(from, spine, spine_up);
        let (first, count) = fabric.links_of_core(to, link % clos.cores_per_group);
        let down_link = first + choices.below(count) * clos.cores_per_group;
        let (down_spine, down_uplink) = fabric.spine_of(to, group, down_link);
        let down = choices.below(clos.trunk()) * clos.spines_per_pod + down_spine;
        vec![
            one(fabric.uplink(ends.from, up)),
            one(fabric.spine_uplink(from, spine, spine_up)),
            one(fabric.spine_uplink(to, down_spine, down_uplink).reverse()),
            one(fabric.uplink(ends.to, down).reverse()),
        ]
    }

    pub(super) fn route_pooled(&self, planes: Range<u64>, route: &mut Route) {
        let ends = self.ends();
        if ends.from == ends.to {
            return;
        }
        let clos = &self.network.clos;
        let share = 1.0 / (planes.end - planes.start) as f64;
        let pods = (clos.pod(ends.from), clos.pod(ends.to));
        let zones = (clos.zone(pods.0), clos.zone(pods.1));
        let mut layer = |link: &dyn Fn(u64) -> LinkId| {
            let of = |plane: u64| plane * self.network.fabrics_per_plane + ends.fabric;
            route.side_by_side(planes.clone().map(|plane| (link(of(plane)), share)));
        };
        layer(&|n| nth(self.layout.fabrics[n as usize].leaf_spine, ends.from));
        if pods.0 != pods.1 {
            layer(&|n| nth(self.layout.fabrics[n as usize].spine_core, pods.0));
            if zones.0 != zones.1 {
                layer(&|n| nth(self.layout.fabrics[n as usize].core_top, zones.0));
                layer(&|n| nth(self.layout.fabrics[n as usize].core_top, zones.1).reverse());
            }
            layer(&|n| nth(self.layout.fabrics[n as usize].spine_core, pods.1).reverse());
        }
        layer(&|n| nth(self.layout.fabrics[n as usize].leaf_spine, ends.to).reverse());
    }
}

fn one(link: LinkId) -> Shares {
    vec![(link, 1.0)]
}

fn reversed(shares: Shares) -> Shares {
    shares.into_iter().map(|(link, share)| (link.reverse(), share)).collect()
}

/// The links of one fabric.
struct Fabric<'a> {
    clos: &'a Clos,
    leaf_spine: LinkId,
    spine_core: LinkId,
}

impl Fabric<'_> {
    fn uplink(&self, leaf: u64, uplink: u64) -> LinkId {
        nth(self.leaf_spine, leaf * self.clos.leaf_uplinks + uplink)
    }

    fn spine_uplink(&self, pod: u64, spine: u64, uplink: u64) -> LinkId {
        nth(self.spine_core, (pod * self.clos.spines_per_pod + spine) * self.clos.spine_uplinks + uplink)
    }

    /// The core group of a spine's uplink, and the number of the link among those of all pods into that
    /// group.
    fn pod_link(&self, pod: u64, spine: u64, uplink: u64) -> (u64, u64) {
        let sharing = self.clos.spines_per_core_group();
        let n = (pod * sharing + spine % sharing) * self.clos.spine_uplinks + uplink;
        (spine / sharing, n)
    }

    /// Spine and uplink of a numbered link of a pod into a core group.
    fn spine_of(&self, pod: u64, group: u64, link: u64) -> (u64, u64) {
        let within = link - pod * self.clos.pod_links();
        let sharing = self.clos.spines_per_core_group();
        (group * sharing + within / self.clos.spine_uplinks, within % self.clos.spine_uplinks)
    }

    /// Links of a pod to a core of a group: the first number, and the number of further ones in steps of the
    /// cores.
    fn links_of_core(&self, pod: u64, core: u64) -> (u64, u64) {
        let (cores, width) = (self.clos.cores_per_group, self.clos.pod_links());
        let start = pod * width;
        let first = start + (core + cores - start % cores) % cores;
        (first, (start + width - first).div_ceil(cores))
    }

    /// D-mod-k between pods. The receiver's port chooses a spine of its pod and a link from there to its
    /// leaf. Its leaf and that link choose the spine's uplink: no two receivers of a pod share one. That
    /// link leads to a core. The sender's pod reaches the core by the link with the same index among its
    /// links to the core. Receivers with a common core therefore do not collide on the upward links
    /// either.
    fn by_destination(&self, ends: &Ends) -> Vec<Shares> {
        let clos = self.clos;
        let (from, to) = (clos.pod(ends.from), clos.pod(ends.to));
        let down = ends.port % clos.leaf_uplinks;
        let (spine, trunk) = (down % clos.spines_per_pod, down / clos.spines_per_pod);
        let leaf_within = ends.to % clos.leaves_per_pod;
        let spine_down = (leaf_within * clos.trunk() + trunk) % clos.spine_uplinks;
        let (group, link) = self.pod_link(to, spine, spine_down);
        let place = (link - to * clos.pod_links()) / clos.cores_per_group;
        let (first, count) = self.links_of_core(from, link % clos.cores_per_group);
        let (up_spine, spine_up) = self.spine_of(from, group, first + place % count * clos.cores_per_group);
        let up = trunk * clos.spines_per_pod + up_spine;
        vec![
            one(self.uplink(ends.from, up)),
            one(self.spine_uplink(from, up_spine, spine_up)),
            one(self.spine_uplink(to, spine, spine_down).reverse()),
            one(self.uplink(ends.to, down).reverse()),
        ]
    }

    fn all_uplinks(&self, leaf: u64) -> Shares {
        let share = 1.0 / self.clos.leaf_uplinks as f64;
        (0..self.clos.leaf_uplinks).map(|uplink| (self.uplink(leaf, uplink), share)).collect()
    }

    /// Packets spread evenly over all uplinks; a core spreads its input evenly over its links into the other
    /// pod.
    fn all_between_pods(&self, ends: &Ends) -> Vec<Shares> {
        let clos = self.clos;
        let (from, to) = (clos.pod(ends.from), clos.pod(ends.to));
        let each = 1.0 / (clos.spines_per_pod * clos.spine_uplinks) as f64;
        let mut up = Vec::new();
        for spine in 0..clos.spines_per_pod {
            for uplink in 0..clos.spine_uplinks {
                up.push((self.spine_uplink(from, spine, uplink), each));
            }
        }
        let mut down = Vec::new();
        let mut on_spines = vec![0.0; clos.spines_per_pod as usize];
        for group in 0..clos.core_groups {
            for core in 0..clos.cores_per_group {
                let (_, arriving) = self.links_of_core(from, core);
                let (first, leaving) = self.links_of_core(to, core);
                let share = each * arriving as f64 / leaving as f64;
                for n in 0..leaving {
                    let (spine, uplink) = self.spine_of(to, group, first + n * clos.cores_per_group);
                    down.push((self.spine_uplink(to, spine, uplink).reverse(), share));
                    on_spines[spine as usize] += share;
                }
            }
        }
        let last = (0..clos.leaf_uplinks).map(|uplink| {
            let share = on_spines[(uplink % clos.spines_per_pod) as usize] / clos.trunk() as f64;
            (self.uplink(ends.to, uplink).reverse(), share)
        });
        vec![self.all_uplinks(ends.from), up, down, last.collect()]
    }
}
