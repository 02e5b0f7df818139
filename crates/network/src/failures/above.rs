//! Bandwidth that failed parts above the leaves of a folded Clos leave to the devices below a leaf.
//!
//! Responsible for: the policy of routes past failed parts, as in `network simulate`. A NIC spreads its
//! packets evenly over its ports, and a switch over its links, that lead on to the receiver; hashed
//! connections do so in the mean. Neither knows the bandwidth further up: there are no weights (J. Zhou et
//! al., WCMP: weighted cost multipathing for improved fairness in data centers, EuroSys 2014). So one
//! spine with three of four uplinks limits all devices of its pod to 3/4.
//!
//! The share is the worst of three, for traffic that leaves the leaf, the pod or the zone completely
//! and returns evenly, relative to the whole network. Loads of links are sums of shares; all other pods and
//! zones are whole. Approximate where pods have different numbers of links to some cores: each pod sends as
//! this one does.

use super::lost::Lost;
use crate::topology::clos::Clos;
use crate::topology::design::ClosNetwork;
use crate::topology::{Design, Forwarding};

/// Bandwidth above the leaves of a design.
#[derive(Debug)]
pub(super) struct Above<'a> {
    clos: &'a Clos,
    kept_tiers: u64,
    /// Bandwidth of a NIC port over that of a link between switches.
    port: f64,
    /// Devices below each leaf, by fabric of a plane.
    under: Vec<Vec<u64>>,
    /// The rail of each leaf, if messages do not leave their rail; else 0.
    rails: Vec<Vec<u64>>,
    /// Load of the fullest link of the whole network, at least that of a NIC port: for traffic over two,
    /// three and four tiers.
    whole: [f64; 3],
}

impl<'a> Above<'a> {
    pub(super) fn new(design: &Design, network: &'a ClosNetwork) -> Self {
        let clos = &network.clos;
        let mut under = vec![vec![0; clos.leaves() as usize]; network.fabrics_per_plane as usize];
        let mut rails = under.clone();
        let forwards = design.rails > 1
            && network.rails_per_group == 1
            && (design.separates_rails() || design.forwarding != Forwarding::None);
        for device in 0..design.devices {
            let (fabric, leaf) = design.leaf_of(network, device);
            under[fabric as usize][leaf as usize] += 1;
            rails[fabric as usize][leaf as usize] = if forwards { design.rail(device) } else { 0 };
        }
        let port = design.nic_port_bandwidth() / design.port_bandwidth;
        let mut above = Self { clos, kept_tiers: network.kept_tiers, port, under, rails, whole: [1.0; 3] };
        above.whole = above.loads();
        above
    }

    /// Loads of the whole network.
    fn loads(&self) -> [f64; 3] {
        let clos = self.clos;
        let per_pod = clos.leaves_per_pod as usize;
        let per_zone = per_pod * clos.pods_per_zone() as usize;
        let most = |of: usize| {
            let parts = self.under.iter().flat_map(|leaves| leaves.chunks(of.max(1)));
            parts.map(|leaves| leaves.iter().sum::<u64>()).max().unwrap_or(0) as f64 * self.port
        };
        let tops = clos.upper.map_or(0, |upper| clos.cores_per_zone() * upper.core_uplinks);
        let links = [clos.leaf_uplinks, clos.spines_per_pod * clos.spine_uplinks, tops];
        let mut least = 1.0_f64;
        [(1, links[0]), (per_pod, links[1]), (per_zone, links[2])].map(|(of, links)| {
            if links > 0 {
                least = least.max(most(of) / links as f64);
            }
            least
        })
    }

    /// The fullest of some leaves of a fabric.
    pub(super) fn fullest(&self, fabric: u64, leaves: std::ops::Range<u64>) -> u64 {
        let devices = |leaf: &u64| self.under[fabric as usize].get(*leaf as usize).copied().unwrap_or(0);
        leaves.rev().max_by_key(devices).unwrap_or(0)
    }

    /// Share of bandwidth that the devices below a leaf keep in one plane (0 to 1).
    pub(super) fn share(&self, lost: &Lost, plane: u64, fabric: u32, leaf: u32) -> f64 {
        let clos = self.clos;
        let pod = clos.pod(u64::from(leaf));
        let zone = clos.zone(pod);
        let place = |n: u64| (plane, fabric, super::lost::narrow(n));
        let is_whole = !lost.leaf_links.contains_key(&(plane, fabric, leaf))
            && !lost.spines.contains_key(&place(pod))
            && !lost.core_links.contains_key(&place(pod))
            && !lost.cores.contains_key(&place(zone))
            && !lost.top_links.contains_key(&place(zone))
            && !lost.tops.contains_key(&(plane, fabric));
        if is_whole || self.kept_tiers < 2 {
            return 1.0;
        }
        let view = View::new(self, lost, (plane, fabric), pod);
        let leaves = &self.under[fabric as usize];
        let rails = &self.rails[fabric as usize];
        // Traffic over more tiers needs another leaf of the pod, pod of the zone or zone with devices of the
        // rail.
        let is_there = |of: u64, within: u64| {
            let first = (u64::from(leaf) / within * within) as usize;
            let end = (first + within as usize).min(leaves.len());
            let is_used = |leaf: usize, rail: u64| leaves[leaf] > 0 && rails[leaf] == rail;
            let own = u64::from(leaf) / of;
            (first..end).any(|other| other as u64 / of != own && is_used(other, rails[leaf as usize]))
        };
        let (per_pod, per_zone) = (clos.leaves_per_pod, clos.leaves_per_pod * clos.pods_per_zone());
        let tiers = [is_there(1, per_pod), is_there(per_pod, per_zone), is_there(per_zone, clos.leaves())];
        let mut kept = 1.0_f64;
        for (n, _) in
            tiers.iter().enumerate().filter(|(n, is_there)| **is_there && *n as u64 + 2 <= self.kept_tiers)
        {
            let load = view.load(n + 2, u64::from(leaf)) * self.port;
            kept = kept.min(self.whole[n] / load.max(self.whole[n]));
        }
        kept
    }
}

/// One pod with its losses, and what is above it.
struct View<'a> {
    clos: &'a Clos,
    /// Links of a whole leaf and of each damaged one, by spine, with the devices below; damaged ones by
    /// number.
    leaves: Vec<(Option<u64>, f64, Vec<u64>)>,
    /// Working uplinks of each spine: cores of the zone.
    spines: Vec<Vec<usize>>,
    /// Links of the whole pod to each core of the zone.
    usual: Vec<f64>,
    /// Working uplinks of each core; `None` if it is dead.
    cores: Vec<Option<u64>>,
    /// Devices below a leaf, and in the other pods of the zone.
    under: &'a [u64],
    others: f64,
    /// The most devices below a leaf of the pod.
    fullest: f64,
}

impl<'a> View<'a> {
    fn new(above: &'a Above<'a>, lost: &Lost, (plane, fabric): (u64, u32), pod: u64) -> Self {
        let clos = above.clos;
        let zone = clos.zone(pod);
        let place = |n: u64| (plane, fabric, super::lost::narrow(n));
        let under = &above.under[fabric as usize];
        let dead = lost.spines.get(&place(pod));
        let is_dead = |spine: u64| dead.is_some_and(|dead| dead.contains(&spine));
        let links = |gone: Option<&std::collections::BTreeMap<u64, u64>>| -> Vec<u64> {
            let left = |spine: u64| {
                clos.trunk().saturating_sub(gone.and_then(|gone| gone.get(&spine)).copied().unwrap_or(0))
            };
            (0..clos.spines_per_pod).map(|spine| if is_dead(spine) { 0 } else { left(spine) }).collect()
        };
        let first = pod * clos.leaves_per_pod;
        let mut leaves = vec![(None, 0.0, links(None))];
        for leaf in first..(first + clos.leaves_per_pod).min(under.len() as u64) {
            let devices = under[leaf as usize] as f64;
            match lost.leaf_links.get(&place(leaf)) {
                Some(gone) => leaves.push((Some(leaf), devices, links(Some(gone)))),
                None => leaves[0].1 += devices,
            }
        }
        let has_cores = above.kept_tiers >= 3;
        let all = if has_cores { clos.cores_per_zone() } else { 0 };
        let gone = lost.core_links.get(&place(pod));
        let mut usual = vec![0.0; all as usize];
        let spines = (0..clos.spines_per_pod).map(|spine| {
            let uplinks = if has_cores { clos.spine_uplinks } else { 0 };
            let to =
                |uplink: &u64| (clos.core_of(pod, spine, *uplink) - zone * clos.cores_per_zone()) as usize;
            (0..uplinks).for_each(|uplink| usual[to(&uplink)] += 1.0);
            let works = |uplink: &u64| !gone.is_some_and(|gone| gone.contains(&(spine, *uplink)));
            (0..uplinks).filter(works).map(|uplink| to(&uplink)).collect()
        });
        let spines = spines.collect();
        let (dead, links, tops) =
            (lost.cores.get(&place(zone)), lost.top_links.get(&place(zone)), lost.tops.get(&(plane, fabric)));
        let upper = clos.upper.filter(|_| above.kept_tiers >= 4);
        let cores = (0..all).map(|core| {
            if dead.is_some_and(|dead| dead.contains(&core)) {
                return None;
            }
            let Some(upper) = &upper else { return Some(0) };
            let works = |uplink: &u64| {
                let top = clos.top_of(upper, zone * clos.cores_per_zone() + core, *uplink);
                !links.is_some_and(|gone| gone.contains(&(core, *uplink)))
                    && !tops.is_some_and(|gone| gone.contains(&top))
            };
            Some((0..upper.core_uplinks).filter(works).count() as u64)
        });
        let cores = cores.collect();
        let of_zone = clos.leaves_per_pod * clos.pods_per_zone();
        let of_zone = under.iter().skip((zone * of_zone) as usize).take(of_zone as usize).sum::<u64>();
        let own: f64 = leaves.iter().map(|(_, devices, _)| devices).sum();
        let of_pod = under.iter().skip(first as usize).take(clos.leaves_per_pod as usize);
        let fullest = of_pod.max().map_or(0.0, |devices| *devices as f64);
        Self { clos, leaves, spines, usual, cores, under, others: of_zone as f64 - own, fullest }
    }

    /// Tests whether a core leads to another pod, or zone with four tiers.
    fn leads(&self, core: usize, tiers: usize) -> bool {
        self.cores[core].is_some_and(|uplinks| tiers < 4 || uplinks > 0)
    }

    /// Load of the fullest link that messages of a leaf's devices use, in messages of one device each, if all
    /// of them go or come over this number of tiers. Infinite if no route is left.
    fn load(&self, tiers: usize, leaf: u64) -> f64 {
        let damaged = self.leaves.iter().find(|(known, ..)| *known == Some(leaf));
        let own = &damaged.unwrap_or(&self.leaves[0]).2;
        let devices = self.under[leaf as usize] as f64;
        self.load_up(tiers, devices, own).max(self.load_down(tiers, devices, own))
    }

    fn load_up(&self, tiers: usize, devices: f64, own: &[u64]) -> f64 {
        let onwards =
            |spine: usize| self.spines[spine].iter().filter(|core| self.leads(**core, tiers)).count() as f64;
        let is_used: Vec<bool> =
            (0..self.spines.len()).map(|spine| tiers == 2 || onwards(spine) > 0.0).collect();
        let links = |own: &[u64]| {
            own.iter().zip(&is_used).filter(|(_, used)| **used).map(|(n, _)| *n).sum::<u64>() as f64
        };
        let mut most = devices / links(own);
        if tiers == 2 && most.is_finite() {
            // The fullest whole leaf receives from this one, whose packets come over some spines more than
            // over others, and from whole ones.
            let fullest = self.fullest.max(devices);
            let uneven =
                own.iter().max().map_or(0.0, |links| *links as f64) * most / self.clos.trunk() as f64;
            return most.max(uneven + (fullest - devices) / self.clos.leaf_uplinks as f64);
        }
        if !most.is_finite() {
            return most;
        }
        let mut at = vec![0.0; self.spines.len()];
        for (_, devices, links_of) in &self.leaves {
            let all = links(links_of);
            for (at, (n, used)) in at.iter_mut().zip(links_of.iter().zip(&is_used)) {
                if *used && all > 0.0 {
                    *at += devices * *n as f64 / all;
                }
            }
        }
        let mut on_cores = self.of_others(tiers);
        for (spine, at) in at.iter().enumerate().filter(|(spine, _)| is_used[*spine]) {
            let each = at / onwards(spine);
            if own[spine] > 0 {
                most = most.max(each);
            }
            for core in self.spines[spine].iter().filter(|core| self.leads(**core, tiers)) {
                on_cores[*core] += each;
            }
        }
        most.max(self.at_tops(tiers, &on_cores))
    }

    fn load_down(&self, tiers: usize, devices: f64, own: &[u64]) -> f64 {
        let reached = own.iter().filter(|links| **links > 0);
        if tiers == 2 {
            let fewest = reached.clone().min().copied().unwrap_or(0) as f64;
            return devices / (reached.count() as f64 * fewest);
        }
        let (mut most, mut on_cores) = (0.0_f64, self.of_others(tiers));
        let mut on_links = vec![0.0; self.cores.len()];
        for (known, devices, links) in &self.leaves {
            let Some((arriving, behind)) = self.arrivals(tiers, links) else {
                if known.is_some() && links == own {
                    return f64::INFINITY;
                }
                continue;
            };
            for (core, (arriving, behind)) in arriving.iter().zip(&behind).enumerate() {
                on_cores[core] += devices * arriving;
                if *behind > 0.0 {
                    on_links[core] += devices * arriving / behind;
                }
            }
        }
        let Some((arriving, behind)) = self.arrivals(tiers, own) else { return f64::INFINITY };
        for (spine, links) in own.iter().enumerate().filter(|(_, links)| **links > 0) {
            let mut at = 0.0;
            for core in self.spines[spine].iter().filter(|core| arriving[**core] > 0.0) {
                at += arriving[*core] / behind[*core];
                most = most.max(on_links[*core]);
            }
            most = most.max(devices * at / *links as f64);
        }
        most.max(self.at_tops(tiers, &on_cores))
    }

    /// Messages for a leaf with these links: the share that arrives at each core, and the core's links to
    /// spines that reach the leaf. `None` if none arrives.
    fn arrivals(&self, tiers: usize, links: &[u64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut behind = vec![0.0; self.cores.len()];
        for (spine, _) in links.iter().enumerate().filter(|(_, links)| **links > 0) {
            for core in self.spines[spine].iter().filter(|core| self.leads(**core, tiers)) {
                behind[*core] += 1.0;
            }
        }
        let per_group = self.clos.cores_per_group as usize;
        let groups: Vec<f64> = behind
            .chunks(per_group)
            .zip(self.usual.chunks(per_group))
            .map(|(behind, usual)| {
                behind.iter().zip(usual).filter(|(behind, _)| **behind > 0.0).map(|(_, usual)| usual).sum()
            })
            .collect();
        let leading = groups.iter().filter(|links| **links > 0.0).count() as f64;
        let share = |core: usize| {
            if behind[core] > 0.0 { self.usual[core] / groups[core / per_group] / leading } else { 0.0 }
        };
        let arriving = (0..behind.len()).map(share).collect();
        (leading > 0.0).then_some((arriving, behind))
    }

    /// Messages of the other pods of the zone at each core, if they leave it.
    fn of_others(&self, tiers: usize) -> Vec<f64> {
        if tiers < 4 {
            return vec![0.0; self.cores.len()];
        }
        let whole = vec![1; self.spines.len()];
        let arriving = self.arrivals(tiers, &whole).map(|(arriving, _)| arriving).unwrap_or_default();
        arriving.into_iter().map(|share| share * self.others).collect()
    }

    /// Load of the fullest link between cores and top switches.
    fn at_tops(&self, tiers: usize, on_cores: &[f64]) -> f64 {
        let loads = on_cores.iter().zip(&self.cores).filter(|_| tiers == 4);
        loads
            .filter_map(|(load, uplinks)| uplinks.filter(|n| *n > 0).map(|n| load / n as f64))
            .fold(0.0, f64::max)
    }
}
