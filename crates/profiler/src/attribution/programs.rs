//! Programs of ranks: their communications in order.
//!
//! Responsible for: the starts of a rank, each with its kind, and the order in which its host launched them.
//! Does not compare ranks.

use super::event::{Chains, Event, What};
use super::launches::{Launch, is_alone};
use crate::joined::Joined;
use crate::matching::{Lane, Membership, Part};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Identity of a matched communication in a program: operation, bytes, group or else lane. For messages also
/// whether the rank sends, and whether the peer is a later rank: that distinguishes forward and backward
/// passes.
type Kind = (Option<CollectiveKind>, Option<u64>, Option<String>, Option<Lane>, Option<(bool, bool)>);

/// A position: its kind, and its number among those of its kind.
pub(super) type Key = (u32, i64);

/// A start of a rank's program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub kind: u32,
    pub message: bool,
    /// Entry time of the last rank, in nanoseconds: the same for all members of the collective.
    pub time: i64,
}

/// The starts of a member.
pub(super) fn program(chains: &Chains, joined: &Joined, member: usize, kinds: &mut Kinds) -> Program {
    let is_start = |event: &&Event| matches!(event.what, What::Start | What::Alone);
    let events = chains.events[member].iter().filter(is_start);
    let places: Vec<usize> =
        events.clone().filter_map(|event| event.part).map(|part| part as usize).collect();
    let turns = chains.launches[member].as_ref().map(|launches| {
        let parts = launches.iter().zip(&joined.matching.of[member]).zip(&joined.matching.parts[member]);
        let all = parts.map(|((launch, of), part)| match of {
            Some(of) => Some((*launch, kinds.of(joined, member, *of).0)),
            None if is_alone(joined, part, None) => Some((*launch, kinds.of_part(joined, member, part).0)),
            None => None,
        });
        Turns::of(&all.collect::<Vec<_>>(), &places)
    });
    let start = |event: &Event| {
        let part = event.part.filter(|_| event.what == What::Alone);
        let (kind, message) = match part.and_then(|part| joined.matching.parts[member].get(part as usize)) {
            Some(part) => kinds.of_part(joined, member, part),
            None => kinds.of(joined, member, event.collective),
        };
        let time = chains.last_start.get(event.collective as usize).copied().unwrap_or(event.time);
        Start { kind, message, time }
    };
    Program { starts: events.map(start).collect(), turns }
}

/// The starts of a member.
pub(super) struct Program {
    /// In order of time.
    pub starts: Vec<Start>,
    /// Their launch order; `None` if not recorded.
    pub turns: Option<Turns>,
}

/// The order in which the host launched a member's communications.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Turns {
    /// By start: its number among those of its kind in the whole recording.
    pub numbers: Vec<i64>,
    /// By start: the step of its launch, and its number among those of its kind there.
    pub in_steps: Vec<(u64, u32)>,
    /// Indices of starts in launch order.
    pub order: Vec<usize>,
    /// Number of launches by kind and step.
    pub counts: BTreeMap<(u32, u64), u32>,
}

impl Turns {
    /// Derives the order from all parts with their kinds, and the indices of the starts among them.
    pub(super) fn of(parts: &[Option<(Launch, u32)>], starts: &[usize]) -> Self {
        let mut turns = Self::default();
        let mut by_launch: Vec<(i64, usize, u32)> = Vec::new();
        let mut steps: Vec<u64> = vec![0; parts.len()];
        for (at, (launch, kind)) in parts.iter().enumerate().filter_map(|(at, part)| Some((at, (*part)?))) {
            by_launch.push((launch.time, at, kind));
            steps[at] = launch.step;
            *turns.counts.entry((kind, launch.step)).or_default() += 1;
        }
        by_launch.sort_unstable();
        let mut next: BTreeMap<u32, i64> = BTreeMap::new();
        let mut next_in_step: BTreeMap<(u32, u64), u32> = BTreeMap::new();
        let mut numbers: Vec<(i64, usize)> = vec![(0, usize::MAX); parts.len()];
        let mut in_steps: Vec<(u64, u32)> = vec![(0, 0); parts.len()];
        for (turn, &(_, at, kind)) in by_launch.iter().enumerate() {
            let number = next.entry(kind).or_default();
            let in_step = next_in_step.entry((kind, steps[at])).or_default();
            numbers[at] = (*number, turn);
            in_steps[at] = (steps[at], *in_step);
            *number += 1;
            *in_step += 1;
        }
        let of_start = |place: &usize| numbers.get(*place).copied().unwrap_or_default();
        turns.numbers = starts.iter().map(|place| of_start(place).0).collect();
        turns.in_steps =
            starts.iter().map(|&place| in_steps.get(place).copied().unwrap_or_default()).collect();
        turns.order = (0..starts.len()).collect();
        turns.order.sort_by_key(|&at| (starts.get(at).map(of_start).map(|number| number.1), at));
        turns
    }
}

impl Program {
    /// Starts with their keys in launch order; in order of time if launches are not recorded.
    pub(super) fn in_order(&self, keys: &[Key]) -> Vec<(Start, Key)> {
        let pairs: Vec<(Start, Key)> = self.starts.iter().copied().zip(keys.iter().copied()).collect();
        match &self.turns {
            Some(turns) => turns.order.iter().filter_map(|&at| pairs.get(at).copied()).collect(),
            None => pairs,
        }
    }
}

/// Numbers for kinds.
#[derive(Default)]
pub(super) struct Kinds {
    known: BTreeMap<(u32, bool), (u32, bool)>,
    numbers: BTreeMap<Kind, u32>,
}

impl Kinds {
    /// The kind of a collective for a member, and whether it is a message.
    fn of(&mut self, joined: &Joined, member: usize, collective: u32) -> (u32, bool) {
        let matching = &joined.matching;
        let Some(of) = matching.collectives.get(collective as usize) else { return (u32::MAX, false) };
        let communicator = matching.communicator(of);
        let sends = communicator.channel.map(|(from, to)| {
            let is_sender = |m: &Membership| m.member as usize == member && m.rank == from;
            (communicator.members.iter().any(is_sender), to > from)
        });
        let at = (collective, sends.is_some_and(|(sends, _)| sends));
        if let Some(&known) = self.known.get(&at) {
            return known;
        }
        let group = communicator.group.and_then(|id| joined.groups.get(id));
        let label = group.map(|group| group.dimension.label.clone());
        let lane = communicator.lane.filter(|_| label.is_none());
        let found = self.number(of.operation, of.bytes, label, lane, sends);
        self.known.insert(at, found);
        found
    }

    /// The kind of a communication without a recorded counterpart, and whether it is a message.
    fn of_part(&mut self, joined: &Joined, member: usize, part: &Part) -> (u32, bool) {
        let rank = joined.clocks.clocks.get(member).map(|clock| clock.rank);
        let sends = match (part.operation, part.peer.zip(rank)) {
            (Some(CollectiveKind::Send), Some((peer, rank))) => Some((true, peer > rank)),
            (Some(CollectiveKind::Receive), Some((peer, rank))) => Some((false, rank > peer)),
            _ => None,
        };
        let label =
            part.group.and_then(|id| joined.groups.get(id)).map(|group| group.dimension.label.clone());
        let lane = Some(part.lane).filter(|_| label.is_none() && sends.is_none());
        self.number(part.operation, part.bytes, label, lane, sends)
    }

    /// The number of a kind, and whether it is a message.
    fn number(
        &mut self,
        operation: Option<CollectiveKind>,
        bytes: Option<u64>,
        label: Option<String>,
        lane: Option<Lane>,
        sends: Option<(bool, bool)>,
    ) -> (u32, bool) {
        // Sizes of all-to-alls and messages differ between ranks of one program.
        let uneven = matches!(operation, Some(CollectiveKind::AllToAll | CollectiveKind::SendReceive))
            || sends.is_some();
        let kind = (operation.filter(|_| sends.is_none()), bytes.filter(|_| !uneven), label, lane, sends);
        let next = self.numbers.len() as u32;
        (*self.numbers.entry(kind).or_insert(next), sends.is_some())
    }
}
