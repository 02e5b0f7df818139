//! Peers for the comparison of a rank's own time.
//!
//! Responsible for: the same interval of other ranks with the same program (same operations in the same
//! order). Without such ranks, the members of the collective that ends it are the peers, unless they belong
//! to different pipeline stages. A single other rank is compared over all steps. A rank without peers is
//! compared with itself in other steps. Excludes intervals with other boundaries.

use super::event::{Chains, Event, What};
use super::repeats::joined_by_step;
use super::replicas::{self, Class};
use super::stretch::{Stretch, joined_at, of_member};
use crate::joined::Joined;
use crate::trace::NONE;
use railwright_step::CollectiveKind;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of peers.
const PEERS: usize = 16;

/// Minimum number of ranks of one program for their comparison in one step.
const REPLICAS: usize = 3;

/// Minimum number of steps for the comparison of a rank with itself: of two, the longer one would always be
/// an excess.
const STEPS: usize = 3;

/// The intervals of all members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stretches {
    /// By member and time.
    pub lists: Vec<Vec<Stretch>>,
    /// Intervals that are compared with each other, as (member, index).
    pub columns: Vec<Vec<(u32, u32)>>,
    /// By collective: the intervals that end with it, as (member, index).
    pub ends: Vec<Vec<(u32, u32)>>,
    /// Collectives of further micro-batches, which most replicas lack.
    pub extra: BTreeSet<u32>,
    /// Intervals that end with the steps.
    at_end: Vec<(u32, u32)>,
}

impl Stretches {
    pub(super) fn of(chains: &Chains, joined: &Joined) -> Self {
        let lists: Vec<Vec<Stretch>> = (0..chains.events.len()).map(|m| of_member(chains, m)).collect();
        let mut found = Self { lists, ..Self::default() };
        let classes = replicas::classes(chains, joined);
        found.extra = classes.iter().flat_map(|class| extra(chains, class)).collect();
        let columns = found.at_places(chains, &classes);
        found.index(chains, joined);
        for column in columns.iter().filter(|column| column.len() >= REPLICAS) {
            found.compare(found.open(column.clone()));
        }
        // With a single peer the shorter interval would be the usual one, and all variation an excess of the
        // longer one.
        let pairs = columns.into_iter().map(|column| found.open(column)).filter(|pair| pair.len() > 1);
        for pairs in joined_by_step(chains, joined, &found.lists, pairs.collect()) {
            found.compare(pairs);
        }
        found.compare_members(joined);
        let alone = found.alone();
        for steps in joined_by_step(chains, joined, &found.lists, alone) {
            if steps.len() >= STEPS {
                found.compare(steps);
            }
        }
        found
    }

    /// Other intervals that an interval is compared with, at most `most`: those of other ranks, or else its
    /// own in other steps.
    pub(super) fn others(&self, stretch: &Stretch, most: usize) -> impl Iterator<Item = &Stretch> {
        let column = stretch.column.and_then(|column| self.columns.get(column as usize));
        let all = || column.into_iter().flatten().map(|&at| self.get(at));
        let member = stretch.member;
        let of_others = all().any(|other| other.member != member);
        let from = stretch.events;
        let is_other = move |other: &&Stretch| {
            if of_others { other.member != member } else { other.events != from }
        };
        all().filter(is_other).take(most)
    }

    /// The intervals of a column that are not compared yet.
    fn open(&self, column: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        column.into_iter().filter(|&at| self.get(at).column.is_none()).collect()
    }

    /// All intervals that are not compared yet, each by itself.
    fn alone(&self) -> Vec<Vec<(u32, u32)>> {
        let of_member = |(member, list): (usize, &Vec<Stretch>)| {
            let open = list.iter().enumerate().filter(|(_, stretch)| stretch.column.is_none());
            open.map(move |(place, _)| vec![(member as u32, place as u32)]).collect::<Vec<_>>()
        };
        self.lists.iter().enumerate().flat_map(of_member).collect()
    }

    /// Members that a member's intervals are compared with; a selection of many.
    pub(super) fn peers_of(&self, member: usize) -> Vec<usize> {
        let mut peers: BTreeSet<usize> = BTreeSet::new();
        for column in self.lists[member].iter().filter_map(|stretch| stretch.column) {
            if peers.len() >= PEERS {
                break;
            }
            let others = self.columns[column as usize].iter().map(|at| at.0 as usize);
            peers.extend(others.filter(|&other| other != member).take(PEERS));
        }
        peers.into_iter().collect()
    }

    /// Joins an interval with the next one if its end is not a position of the class's program. Returns the
    /// intervals of one class between the same two positions, as (member, index).
    fn at_places(&mut self, chains: &Chains, classes: &[Class]) -> Vec<Vec<(u32, u32)>> {
        let mut columns = Vec::new();
        for class in classes.iter().filter(|class| class.members.len() > 1) {
            let mut between: Vec<((u32, u32), (u32, u32))> = Vec::new();
            for (member, places) in &class.members {
                // Kind of every event in the program. Edges of the steps are positions, too.
                let mut starts = places.iter();
                let at = |event: &Event| match event.what {
                    What::Start | What::Alone => starts.next().copied().flatten(),
                    What::Begin | What::End => Some(NONE),
                    What::Gate => None,
                };
                let events: Vec<Option<u32>> = chains.events[*member].iter().map(at).collect();
                let place_of = |event: u32| events.get(event as usize).copied().flatten();
                let list =
                    joined_at(std::mem::take(&mut self.lists[*member]), &|event| place_of(event).is_some());
                for (at, stretch) in list.iter().enumerate() {
                    let edges = place_of(stretch.events.0).zip(place_of(stretch.events.1));
                    between.extend(edges.map(|edges| (edges, (*member as u32, at as u32))));
                }
                self.lists[*member] = list;
            }
            between.sort_unstable();
            let alike = between.chunk_by(|a, b| a.0 == b.0);
            columns.extend(alike.map(|alike| alike.iter().map(|found| found.1).collect::<Vec<_>>()));
        }
        columns
    }

    /// Indexes the intervals by the collective at their end. Collectives within an interval count as its end,
    /// too.
    fn index(&mut self, chains: &Chains, joined: &Joined) {
        self.ends = vec![Vec::new(); joined.matching.collectives.len()];
        for (member, list) in self.lists.iter().enumerate() {
            for (place, stretch) in list.iter().enumerate() {
                let at = (member as u32, place as u32);
                let (first, last) = (stretch.events.0 as usize + 1, stretch.events.1 as usize);
                let events = chains.events[member].get(first..=last).unwrap_or_default();
                for event in events.iter().filter(|event| matches!(event.what, What::Start | What::End)) {
                    self.ends.get_mut(event.collective as usize).unwrap_or(&mut self.at_end).push(at);
                }
            }
        }
    }

    /// An interval by (member, index).
    pub(super) fn get(&self, at: (u32, u32)) -> &Stretch {
        &self.lists[at.0 as usize][at.1 as usize]
    }

    /// Compares the members of a collective without ranks of the same program.
    fn compare_members(&mut self, joined: &Joined) {
        // Stages of a pipeline have different work between the same communications.
        let stages = joined.groups.stages();
        let stage = |member: u32| {
            let rank = joined.clocks.clocks.get(member as usize)?.rank;
            stages.get(&rank).map(|(_, stage)| *stage)
        };
        for collective in 0..self.ends.len() {
            if joined.matching.communicator(&joined.matching.collectives[collective]).channel.is_some() {
                continue;
            }
            let ending = self.ends[collective].iter().copied();
            let ending = ending.filter(|&at| self.get(at).collective as usize == collective);
            self.compare_alike(joined, &stage, &ending.collect::<Vec<_>>());
        }
        self.compare_alike(joined, &stage, &self.at_end.clone());
    }

    /// Compares intervals of one stage with one end and the same kind of start, if not compared yet.
    fn compare_alike(
        &mut self,
        joined: &Joined,
        stage: &dyn Fn(u32) -> Option<u32>,
        stretches: &[(u32, u32)],
    ) {
        let mut kinds: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
        for &at in stretches.iter().filter(|&&at| self.get(at).column.is_none()) {
            kinds.entry((kind(joined, self.get(at).previous), stage(at.0))).or_default().push(at);
        }
        for alike in kinds.into_values() {
            self.compare(alike);
        }
    }

    fn compare(&mut self, column: Vec<(u32, u32)>) {
        if column.len() < 2 {
            return;
        }
        let mut own: Vec<i64> = column.iter().map(|&at| self.get(at).own).collect();
        let middle = (own.len() - 1) / 2;
        let usual = *own.select_nth_unstable(middle).1;
        let number = self.columns.len() as u32;
        for &(member, place) in &column {
            let stretch = &mut self.lists[member as usize][place as usize];
            stretch.usual = usual;
            stretch.peers = column.len() as u32 - 1;
            stretch.column = Some(number);
        }
        self.columns.push(column);
    }
}

/// Collectives that most members of a class lack.
fn extra(chains: &Chains, class: &Class) -> Vec<u32> {
    let mut found = Vec::new();
    for of_member in class.extra.chunk_by(|a, b| a.0 == b.0) {
        let is_start = |event: &&Event| matches!(event.what, What::Start | What::Alone);
        let events = of_member.first().and_then(|&(member, _)| chains.events.get(member));
        let starts: Vec<u32> =
            events.into_iter().flatten().filter(is_start).map(|event| event.collective).collect();
        found.extend(of_member.iter().filter_map(|&(_, at)| starts.get(at).copied()));
    }
    found
}

/// Identity of a matched communication in a program; `None` at the edges of the steps.
type Kind = Option<(Option<CollectiveKind>, Option<u64>, Option<String>, bool)>;

fn kind(joined: &Joined, collective: u32) -> Kind {
    let collective = joined.matching.collectives.get(collective as usize)?;
    let communicator = joined.matching.communicator(collective);
    let group =
        communicator.group.and_then(|id| joined.groups.get(id)).map(|group| group.dimension.label.clone());
    // Sizes of all-to-alls and point-to-point messages differ between ranks of one program.
    let uneven = matches!(collective.operation, Some(CollectiveKind::AllToAll | CollectiveKind::SendReceive));
    Some((collective.operation, collective.bytes.filter(|_| !uneven), group, communicator.channel.is_some()))
}
