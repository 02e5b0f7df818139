//! Exchanges of one kind as flows, one for each group.
//!
//! Responsible for: the pairs of every group, and their time limited only by the ports of the devices.
//! Independent of links.
//!
//! The slowest edge of a ring determines its rate: its edges are one flow that takes a share of every link it
//! crosses. So are the pairs of an all-to-all, which ends with its slowest. [`crate::flow::program`] has the
//! individual messages; without contention both have the same time except for latency.

use super::edge::Edge;
use super::lattice;
use crate::topology::{Design, Fabric};
use crate::traffic::{Algorithm, Exchange, Numbering, RankPlacement};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Devices that all send equal bytes to each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Ranks in order.
    pub members: Vec<u32>,
    /// Bytes from each to each.
    pub bytes: f64,
}

impl Block {
    /// Calls `edge` for every pair.
    pub(super) fn for_each(&self, mut edge: impl FnMut(Edge)) {
        for &from in &self.members {
            for &to in self.members.iter().filter(|to| **to != from) {
                edge(Edge { from, to, bytes: self.bytes });
            }
        }
    }
}

/// Exchanges of one kind that start together: one for every group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// Name.
    pub name: String,
    /// The pairs of each group.
    pub members: Vec<Vec<Edge>>,
    /// Groups by their blocks, if pairs would be too many to list.
    pub blocks: Vec<Vec<Block>>,
    /// Seconds for the members' bytes when only their own ports limit them.
    pub ideal: f64,
    /// Sequential messages: the latency is that of this number of routes.
    pub steps: f64,
    /// True if groups are independent even if they are not equivalent, as for other jobs.
    pub apart: bool,
}

impl Class {
    /// Groups by their pairs.
    pub fn new(name: impl Into<String>, members: Vec<Vec<Edge>>, steps: f64, design: &Design) -> Self {
        let ideal = members.iter().map(|edges| ideal(edges, &Ports::of(design))).fold(0.0, f64::max);
        Self { name: name.into(), members, blocks: Vec::new(), ideal, steps, apart: false }
    }

    /// One call by all groups, or by those of some stages.
    pub fn of(exchange: &Exchange, numbering: &Numbering, stage: Option<u32>, design: &Design) -> Self {
        let groups = groups_of(exchange, stage).map(|group| {
            let mut ranks = Vec::new();
            exchange.groups.members(numbering, group, &mut ranks);
            ranks
        });
        Self::of_groups(exchange, groups, design)
    }

    /// The same with ranks on devices other than those of their numbers. The ideal time stays that of the
    /// first devices, as in the closed form: groups that share fewer domains there are slower because of
    /// their own ports.
    pub fn seated(
        exchange: &Exchange,
        numbering: &Numbering,
        stage: Option<u32>,
        design: &Design,
        seats: Option<&RankPlacement>,
    ) -> Self {
        let first = Self::of(exchange, numbering, stage, design);
        let Some(seats) = seats else { return first };
        let groups = groups_of(exchange, stage).map(|group| {
            let mut ranks = Vec::new();
            exchange.ranks_of(numbering, group, &mut ranks);
            ranks.into_iter().map(|rank| seats.device(rank)).collect()
        });
        Self { ideal: first.ideal, ..Self::of_groups(exchange, groups, design) }
    }

    /// One call of an exchange by groups of any devices, instead of its own groups; all groups have equal
    /// size.
    pub fn of_groups(
        exchange: &Exchange,
        groups: impl IntoIterator<Item = Vec<u32>>,
        design: &Design,
    ) -> Self {
        let (mut members, mut blocks) = (Vec::new(), Vec::new());
        for ranks in groups {
            if ranks.len() >= MANY {
                let mut own = Vec::new();
                let is_blocks = exchange.blocks(&ranks, design.domain.size, |members, bytes| {
                    own.push(Block { members, bytes });
                });
                if is_blocks {
                    blocks.push(own);
                    continue;
                }
            }
            if let Fabric::Torus(torus) = &design.fabric
                && let Some(edges) = lattice::edges(torus, exchange, &ranks)
            {
                members.push(edges);
                continue;
            }
            let mut edges = Vec::with_capacity(2 * ranks.len());
            exchange.flows(&ranks, design.domain.size, &mut |from, to, bytes| {
                edges.push(Edge { from, to, bytes });
            });
            members.push(edges);
        }
        let steps = steps(exchange, exchange.groups.members.extent as f64);
        let class = Self::new(exchange.purpose, members, steps, design);
        let ideal = blocks.iter().map(|blocks| ideal_of(blocks, design)).fold(class.ideal, f64::max);
        Self { blocks, ideal, ..class }
    }
}

/// Groups of an exchange, or those that begin in one of its stages.
fn groups_of(exchange: &Exchange, stage: Option<u32>) -> impl Iterator<Item = u64> + '_ {
    let per_stage = exchange.groups.per_stage();
    let is_meant = move |group: &u64| {
        let at = exchange.groups.stages.get((group / per_stage.max(1)) as usize);
        stage.is_none_or(|stage| at == Some(&stage))
    };
    (0..exchange.groups.count()).filter(is_meant)
}

/// Minimum number of members for which an all-to-all is kept as blocks.
pub(super) const MANY: usize = 64;

/// [`ideal`] of blocks: a device receives as much as it sends.
fn ideal_of(blocks: &[Block], design: &Design) -> f64 {
    let size = design.domain.size as u32;
    let mut ports: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    for block in blocks {
        let all = block.members.len() as f64;
        for own in block.members.chunk_by(|a, b| a / size == b / size) {
            let here = own.len() as f64;
            for member in own {
                let port = ports.entry(*member).or_default();
                port[0] += (here - 1.0) * block.bytes;
                port[1] += (all - here) * block.bytes;
            }
        }
    }
    let (inside, across) = (design.domain.bandwidth.get(), design.nic_bandwidth.get());
    ports.values().map(|port| (port[0] / inside).max(port[1] / across)).fold(0.0, f64::max)
}

/// Messages of an exchange that follow each other among `n` members.
fn steps(exchange: &Exchange, n: f64) -> f64 {
    match (exchange.kind, exchange.algorithm) {
        (CollectiveKind::AllReduce, Algorithm::Direct) => 2.0,
        (CollectiveKind::AllReduce, Algorithm::Ring) => 2.0 * (n - 1.0),
        (CollectiveKind::AllGather | CollectiveKind::ReduceScatter, Algorithm::Ring)
        | (CollectiveKind::Broadcast | CollectiveKind::Reduce, _) => n - 1.0,
        _ => 1.0,
    }
}

/// Ports of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ports {
    /// Devices of a scale-up domain.
    pub domain: u32,
    /// Bytes per second into the domain, one direction.
    pub inside: f64,
    /// Bytes per second into the network, one direction.
    pub across: f64,
}

impl Ports {
    /// Ports of a design.
    pub fn of(design: &Design) -> Self {
        Self {
            domain: design.domain.size as u32,
            inside: design.domain.bandwidth.get(),
            across: design.nic_bandwidth.get(),
        }
    }
}

/// Seconds of the pairs with the devices' own ports as the only limit. It is the largest amount that any
/// device sends or receives inside its domain over the domain's bandwidth, or across over its network
/// bandwidth.
pub fn ideal(edges: &[Edge], of: &Ports) -> f64 {
    let Ports { domain, inside, across } = *of;
    let domain = domain.max(1);
    let mut ports: Vec<(u64, f64)> = Vec::with_capacity(2 * edges.len());
    for edge in edges {
        let is_inside = edge.from / domain == edge.to / domain;
        let time = edge.bytes / if is_inside { inside } else { across };
        let port = |rank: u32, side: u64| u64::from(rank) << 2 | side << 1 | u64::from(is_inside);
        ports.push((port(edge.from, 0), time));
        ports.push((port(edge.to, 1), time));
    }
    ports.sort_unstable_by_key(|(port, _)| *port);
    ports
        .chunk_by(|a, b| a.0 == b.0)
        .map(|port| port.iter().map(|(_, time)| time).sum::<f64>())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::tests::{Shape, exchange};
    use crate::topology::{DesignSpec, Kind};

    /// The bandwidth terms of the notes' table of collectives (section 4), `2 (n - 1)/n S b` and its halves.
    #[test]
    fn ideal_times_are_the_formulas() {
        let spec =
            DesignSpec { kind: Some(Kind::RailOptimized), devices: Some(512), ..DesignSpec::default() };
        let design = spec.resolve().expect("valid");
        let (inside, across, bytes) = (450e9, 50e9, 1e9);
        let near = |shape, n, stride, expected: f64| {
            let (numbering, exchange) = exchange(512, shape, n, stride, bytes);
            let time = Class::of(&exchange, &numbering, None, &design).ideal;
            assert!((time / expected - 1.0).abs() < 1e-12, "{time} {expected}");
        };
        near(Shape::Gather, 8, 1, 7.0 / 8.0 * bytes / inside);
        near(Shape::Reduce, 64, 8, 2.0 * 63.0 / 64.0 * bytes / across);
        // Four ranks in each of sixteen domains: four rails carry a quarter each, 0.25/50 versus 0.75/450.
        near(Shape::Reduce, 64, 2, 2.0 * 63.0 / 64.0 * bytes / 4.0 / across);
        near(Shape::Gather, 64, 1, 63.0 / 64.0 * bytes / 8.0 / across);
        near(Shape::Everyone, 64, 1, 56.0 / 64.0 * bytes / across);
        near(Shape::Everyone, 8, 1, 7.0 / 8.0 * bytes / inside);
        near(Shape::Next, 8, 8, bytes / across);
    }
}
