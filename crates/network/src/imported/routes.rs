//! Shortest routes through a fabric from a file.
//!
//! Responsible for: all shortest paths over switches, by hash or with packets spread evenly at every switch.
//! No path passes through devices, with one exception. If switches alone do not join two devices, the message
//! passes through the sender's scale-up domain. It leaves from the devices nearest to the receiver (NCCL's
//! PXN).

use super::fabric::Imported;
use crate::flow::LinkPath;
use crate::flow::listed::{DomainPorts, Routes};
use crate::topology::{Routing, choices};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

/// Distances that are kept, in nodes of all destinations together.
const KEPT: usize = 1 << 26;
/// A node without a path.
const FAR: u16 = u16::MAX;

impl Imported {
    /// The route of a message; `None` if nothing joins the two. Messages between the same devices are hashed
    /// by their label.
    pub fn link_path(&self, from: u32, to: u32, label: u64) -> Option<LinkPath> {
        let mut link_path = LinkPath::default();
        let domain = self.domain as u32;
        if domain > 1 && from / domain == to / domain {
            self.through_domain(from, to, 1.0, &mut link_path);
            return Some(link_path);
        }
        let distances = self.distances(to);
        let far = |device: u32| distances.get(device as usize).copied().unwrap_or(FAR);
        if far(from) < FAR {
            self.across((from, to, label), &distances, 1.0, &mut link_path);
            return Some(link_path);
        }
        let own = from / domain.max(1) * domain..(from / domain.max(1) + 1) * domain;
        let own: Vec<u32> = own.filter(|peer| (*peer as usize) < self.devices.len()).collect();
        let least = own.iter().map(|peer| far(*peer)).min().filter(|least| *least < FAR)?;
        let peers: Vec<u32> = own.into_iter().filter(|peer| far(*peer) == least).collect();
        for &peer in &peers {
            let share = 1.0 / peers.len() as f64;
            self.through_domain(from, peer, share, &mut link_path);
            self.across((peer, to, label), &distances, share, &mut link_path);
        }
        Some(link_path)
    }

    fn through_domain(&self, from: u32, to: u32, share: f64, link_path: &mut LinkPath) {
        if let Some(first) = self.domain_links {
            add(link_path, first + 2 * from, share);
            add(link_path, first + 2 * to + 1, share);
        }
    }

    /// A share of a message over the network.
    fn across(
        &self,
        (from, to, label): (u32, u32, u64),
        distances: &[u16],
        share: f64,
        link_path: &mut LinkPath,
    ) {
        let latency = if self.setting.routing == Routing::Spray {
            self.sprayed((from, to), distances, share, link_path)
        } else {
            let paths = self.setting.paths.max(1);
            let mut latency = 0.0_f64;
            for path in 0..paths {
                let label = label.wrapping_mul(u64::from(paths)).wrapping_add(u64::from(path));
                let own = share / f64::from(paths);
                latency = latency.max(self.hashed((from, to, label), distances, own, link_path));
            }
            latency
        };
        link_path.latency = link_path.latency.max(latency);
    }

    /// The links from a node that lead nearer to the destination.
    fn nearer<'a>(&'a self, node: u32, distances: &'a [u16]) -> impl Iterator<Item = (u32, u32, f64)> + 'a {
        let here = distances.get(node as usize).copied().unwrap_or(FAR);
        self.outgoing(node).filter_map(move |(number, link)| {
            let there = distances.get(link.to as usize).copied().unwrap_or(FAR);
            (there < here && there + 1 == here).then_some((number, link.to, link.latency))
        })
    }

    fn hashed(
        &self,
        (from, to, label): (u32, u32, u64),
        distances: &[u16],
        share: f64,
        link_path: &mut LinkPath,
    ) -> f64 {
        let mut choices = choices(self.setting.seed, from, to, label);
        let (mut node, mut latency) = (from, 0.0);
        while node != to {
            let next: Vec<(u32, u32, f64)> = self.nearer(node, distances).collect();
            let Some(&(link, there, time)) = next.get(choices.below(next.len() as u64) as usize) else {
                break;
            };
            add(link_path, link, share);
            latency += time;
            node = there;
        }
        latency
    }

    fn sprayed(
        &self,
        (from, to): (u32, u32),
        distances: &[u16],
        share: f64,
        link_path: &mut LinkPath,
    ) -> f64 {
        let mut level = BTreeMap::from([(from, share)]);
        let mut latency = 0.0;
        while !level.is_empty() && !level.contains_key(&to) {
            let (mut next, mut slowest) = (BTreeMap::new(), 0.0_f64);
            for (node, share) in level {
                let links: Vec<(u32, u32, f64)> = self.nearer(node, distances).collect();
                let share = share / links.len().max(1) as f64;
                for (link, there, time) in links {
                    add(link_path, link, share);
                    *next.entry(there).or_insert(0.0) += share;
                    slowest = slowest.max(time);
                }
            }
            latency += slowest;
            level = next;
        }
        latency
    }

    /// Cables from every node to a destination over switches.
    fn distances(&self, to: u32) -> Arc<[u16]> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.known.get(&to) {
            return Arc::clone(found);
        }
        if (known.known.len() + 1) * self.names.len() > KEPT {
            known.known.clear();
        }
        let found: Arc<[u16]> = self.search(to).into();
        known.known.insert(to, Arc::clone(&found));
        found
    }

    /// Breadth-first search from the destination; cables join both directions.
    fn search(&self, to: u32) -> Vec<u16> {
        let mut distances = vec![FAR; self.names.len()];
        let mut level = vec![to];
        if let Some(own) = distances.get_mut(to as usize) {
            *own = 0;
        }
        let mut distance = 0;
        while !level.is_empty() && distance < FAR - 1 {
            distance += 1;
            let mut next = Vec::new();
            for node in level.into_iter().filter(|node| *node == to || self.is_switch(*node)) {
                for (_, link) in self.outgoing(node).filter(|(_, link)| link.to < self.switches_end) {
                    if let Some(far) = distances.get_mut(link.to as usize).filter(|far| **far == FAR) {
                        *far = distance;
                        next.push(link.to);
                    }
                }
            }
            level = next;
        }
        distances
    }
}

fn add(link_path: &mut LinkPath, link: u32, share: f64) {
    match link_path.links.iter_mut().find(|known| known.0 == link) {
        Some(known) => known.1 += share,
        None => link_path.links.push((link, share)),
    }
}

impl DomainPorts for Imported {
    fn device_count(&self) -> u32 {
        self.devices.len() as u32
    }

    fn domain_size(&self) -> u32 {
        self.domain.max(1) as u32
    }

    fn domain_port(&self, link: u32) -> Option<(u32, bool)> {
        let port = link.checked_sub(self.domain_links?).filter(|port| port / 2 < self.device_count())?;
        Some((port / 2, port % 2 == 0))
    }
}

impl Routes for Imported {
    fn capacities(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.capacity).collect()
    }

    fn link_path(&self, from: u32, to: u32, label: u64) -> Option<LinkPath> {
        Self::link_path(self, from, to, label)
    }
}
