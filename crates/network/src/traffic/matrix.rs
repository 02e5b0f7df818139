//! Bytes from rank to rank, for any rank or pair on demand.
//!
//! Responsible for: partners and bytes as rows, in memory that grows with partners and not with ranks x
//! ranks. Large all-to-all groups stay groups. Does not separate kinds of communication; see
//! [`super::summary`].

use super::{Exchange, Groups, Numbering, Place, Traffic};
use railwright_spec::problem::{ALWAYS, Wanted};

/// Groups of fewer members are written out.
const SMALL: u64 = 16;
/// Rows between two checks for cancellation.
const RANKS_AT_ONCE: usize = 1 << 16;

/// Senders, receivers and bytes in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    numbering: Numbering,
    /// Partners of rank `n` are `partners[starts[n]..starts[n + 1]]`, ascending.
    starts: Vec<usize>,
    partners: Vec<(u32, f64)>,
    blocks: Vec<Block>,
}

/// Groups in which all members send equal bytes to all others.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    groups: Groups,
    /// Bytes to each other member.
    bytes: f64,
}

/// A rank's block group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    group: u32,
    bytes: f64,
}

impl Label {
    /// Bytes to a rank of another label, in addition to the listed ones.
    pub(super) fn to(self, other: Self) -> f64 {
        if self.group == other.group { self.bytes } else { 0.0 }
    }
}

impl Block {
    fn of(exchange: &Exchange) -> Option<Self> {
        let bytes = exchange.to_each().filter(|_| exchange.groups.members.extent >= SMALL)?;
        Some(Self { groups: exchange.groups.clone(), bytes: bytes * exchange.count })
    }
}

impl Matrix {
    /// Matrix of a step's traffic on the domains of a placement. O(partners), large groups by their members.
    pub fn new(traffic: &Traffic, place: &Place) -> Self {
        let Ok(matrix) = Self::watched(traffic, place, ALWAYS);
        matrix
    }

    /// Cancellable variant: `wanted` is called periodically.
    pub fn watched<E>(traffic: &Traffic, place: &Place, wanted: Wanted<'_, E>) -> Result<Self, E> {
        let merged = traffic.merged();
        let (mut blocks, mut rest) = (Vec::new(), Vec::new());
        for exchange in merged.exchanges {
            match Block::of(&exchange) {
                Some(block) => blocks.push(block),
                None => rest.push(exchange),
            }
        }
        let ranks = traffic.numbering.ranks() as usize;
        let mut flows: Vec<(u32, u32, f64)> = Vec::new();
        let rest = Traffic { numbering: traffic.numbering, exchanges: rest };
        rest.flows(place, wanted, |from, to, bytes| flows.push((from, to, bytes)))?;
        let (starts, partners) = rows(ranks, &flows, wanted)?;
        Ok(Self { numbering: traffic.numbering, starts, partners, blocks })
    }

    /// Ranks.
    pub const fn ranks(&self) -> u32 {
        self.numbering.ranks() as u32
    }

    /// Pairs that [`Matrix::for_each`] visits.
    pub fn pairs(&self) -> u64 {
        let inside = |block: &Block| {
            let members = block.groups.members.extent;
            block.groups.count().saturating_mul(members).saturating_mul(members.saturating_sub(1))
        };
        self.blocks.iter().map(inside).fold(self.partners.len() as u64, u64::saturating_add)
    }

    /// Bytes of a rank outside blocks, by ascending partner.
    pub(super) fn written_out(&self, from: u32) -> &[(u32, f64)] {
        match (self.starts.get(from as usize), self.starts.get(from as usize + 1)) {
            (Some(start), Some(end)) => &self.partners[*start..*end],
            _ => &[],
        }
    }

    /// Bytes sent by a rank, by ascending partner.
    pub fn row(&self, from: u32) -> Vec<(u32, f64)> {
        let mut row = self.written_out(from).to_vec();
        let mut members = Vec::new();
        for block in &self.blocks {
            for (group, _) in block.groups.find(&self.numbering, from) {
                block.groups.members(&self.numbering, group, &mut members);
                row.extend(members.iter().filter(|to| **to != from).map(|to| (*to, block.bytes)));
            }
        }
        if !self.blocks.is_empty() {
            row.sort_by_key(|(to, _)| *to);
            row.dedup_by(|again, first| {
                let same = again.0 == first.0;
                if same {
                    first.1 += again.1;
                }
                same
            });
        }
        row
    }

    /// Bytes that one rank sends to another.
    pub fn bytes(&self, from: u32, to: u32) -> f64 {
        if from == to || from >= self.ranks() || to >= self.ranks() {
            return 0.0;
        }
        let row = self.written_out(from);
        let written = row.binary_search_by_key(&to, |(to, _)| *to).map_or(0.0, |place| row[place].1);
        written + self.blocks.iter().map(|block| block.between(&self.numbering, from, to)).sum::<f64>()
    }

    /// By rank: its block group and the bytes that it sends to each other member. `None` if a rank may be in
    /// several groups.
    pub(super) fn labels(&self) -> Option<Vec<Label>> {
        let mut labels = vec![Label { group: u32::MAX, bytes: 0.0 }; self.ranks() as usize];
        let (mut group, mut again) = (0, false);
        self.for_each_block(|members, bytes| {
            for member in members {
                let label = &mut labels[*member as usize];
                again |= label.group != u32::MAX;
                *label = Label { group, bytes };
            }
            group += 1;
        });
        (!again).then_some(labels)
    }

    /// Calls `visit(members, bytes)` for every group in which each member sends `bytes` to each other.
    pub(super) fn for_each_block(&self, mut visit: impl FnMut(&[u32], f64)) {
        let mut members = Vec::new();
        for block in &self.blocks {
            for group in 0..block.groups.count() {
                block.groups.members(&self.numbering, group, &mut members);
                // Groups ascend, except if the pipeline is inside.
                members.sort_unstable();
                visit(&members, block.bytes);
            }
        }
    }

    /// Calls `flow(from, to, bytes)` for every pair with traffic; a pair may occur several times.
    pub fn for_each(&self, mut flow: impl FnMut(u32, u32, f64)) {
        for from in 0..self.ranks() {
            for (to, bytes) in self.written_out(from) {
                flow(from, *to, *bytes);
            }
        }
        self.for_each_block(|members, bytes| {
            for from in members {
                for to in members.iter().filter(|to| *to != from) {
                    flow(*from, *to, bytes);
                }
            }
        });
    }
}

impl Block {
    /// Bytes from one rank to another in these groups.
    fn between(&self, numbering: &Numbering, from: u32, to: u32) -> f64 {
        let group = |rank| self.groups.find(numbering, rank).next().map(|(group, _)| group);
        match (group(from), group(to)) {
            (Some(a), Some(b)) if a == b => self.bytes,
            _ => 0.0,
        }
    }
}

/// Offset of each rank's partners, and all partners with their bytes.
type Rows = (Vec<usize>, Vec<(u32, f64)>);

/// Rows of flows by ascending partner, each once.
fn rows<E>(ranks: usize, flows: &[(u32, u32, f64)], wanted: Wanted<'_, E>) -> Result<Rows, E> {
    let mut ends = vec![0_usize; ranks + 1];
    for (from, ..) in flows {
        ends[*from as usize + 1] += 1;
    }
    for rank in 0..ranks {
        ends[rank + 1] += ends[rank];
    }
    wanted()?;
    let mut next = ends.clone();
    let mut unsorted = vec![(0_u32, 0.0); flows.len()];
    for (from, to, bytes) in flows {
        let place = &mut next[*from as usize];
        unsorted[*place] = (*to, *bytes);
        *place += 1;
    }
    let mut starts = Vec::with_capacity(ranks + 1);
    let mut partners: Vec<(u32, f64)> = Vec::with_capacity(flows.len());
    starts.push(0);
    for rank in 0..ranks {
        if rank % RANKS_AT_ONCE == 0 {
            wanted()?;
        }
        let row = &mut unsorted[ends[rank]..ends[rank + 1]];
        row.sort_by_key(|(to, _)| *to);
        let first = partners.len();
        for (to, bytes) in row.iter() {
            match partners[first..].last_mut() {
                Some(last) if last.0 == *to => last.1 += bytes,
                _ => partners.push((*to, *bytes)),
            }
        }
        starts.push(partners.len());
    }
    Ok((starts, partners))
}
