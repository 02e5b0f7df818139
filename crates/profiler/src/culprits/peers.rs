//! What an own time is compared with.
//!
//! Responsible for: the same stretch of other ranks that run the same program (twins: the same operations in the same order), else of the members of the
//! collective that ends it. Refuses stretches that begin or end differently.

use super::chain::{Chains, What};
use crate::communication::Operation;
use crate::joined::Joined;
#[cfg(doc)]
use crate::trace::NONE;
use std::collections::BTreeMap;

/// A stretch of a rank: from the start of one matched communication to the start of the next, where the first and the last of the steps reach to their edges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stretch {
    /// The member.
    pub member: u32,
    /// The collective that it ends with; [`NONE`] where the steps end.
    pub collective: u32,
    /// The collective that it begins with; [`NONE`] where the steps begin.
    pub previous: u32,
    /// From when, in nanoseconds: the last event before that let it go on.
    pub from: i64,
    /// Until when.
    pub to: i64,
    /// The rank's own time in it.
    pub own: i64,
    /// The lower median of its peers' own times, itself included; its own where it has none.
    pub usual: i64,
    /// How many peers it has.
    pub peers: u32,
    /// Its peers and itself, by the place in [`Stretches::columns`].
    pub column: Option<u32>,
    /// The last collective that it was held by, before it.
    pub gate: Option<u32>,
    /// Its events, as places: after the first, up to and with the last.
    pub events: (u32, u32),
}

/// The stretches of all members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stretches {
    /// By member and time.
    pub lists: Vec<Vec<Stretch>>,
    /// Stretches that are compared with each other, as (member, place).
    pub columns: Vec<Vec<(u32, u32)>>,
    /// For every collective the stretches that end with it, as (member, place).
    pub ends: Vec<Vec<(u32, u32)>>,
    /// Those that end with the steps.
    at_end: Vec<(u32, u32)>,
}

impl Stretches {
    pub(super) fn of(chains: &Chains, joined: &Joined) -> Self {
        let lists: Vec<Vec<Stretch>> = (0..chains.events.len()).map(|m| of_member(chains, m)).collect();
        let mut ends: Vec<Vec<(u32, u32)>> = vec![Vec::new(); joined.matching.collectives.len()];
        let mut at_end = Vec::new();
        for (member, list) in lists.iter().enumerate() {
            for (place, stretch) in list.iter().enumerate() {
                ends.get_mut(stretch.collective as usize)
                    .unwrap_or(&mut at_end)
                    .push((member as u32, place as u32));
            }
        }
        let mut found = Self { lists, columns: Vec::new(), ends, at_end };
        let classes = found.twins(joined);
        // Two twins say less than the members of a collective, but where messages go back and forth there are no members.
        found.compare_twins(&classes, 3);
        found.compare_members(joined);
        found.compare_twins(&classes, 2);
        found
    }

    /// A stretch.
    pub(super) fn get(&self, at: (u32, u32)) -> &Stretch {
        &self.lists[at.0 as usize][at.1 as usize]
    }

    /// The classes of ranks that run the same program.
    fn twins(&self, joined: &Joined) -> Vec<Class> {
        let mut kinds = Kinds::default();
        let programs: Vec<Vec<u32>> = self
            .lists
            .iter()
            .map(|list| list.iter().map(|stretch| kinds.of(joined, stretch)).collect())
            .collect();
        let mut classes: Vec<Class> = Vec::new();
        for (member, program) in programs.iter().enumerate().filter(|(_, program)| !program.is_empty()) {
            let fits = classes.iter_mut().find_map(|class| {
                let by = shift(&class.program, program)?;
                Some((class, by))
            });
            match fits {
                Some((class, by)) => class.members.push((member, by)),
                None => classes.push(Class { program: program.clone(), members: vec![(member, 0)] }),
            }
        }
        for class in &mut classes {
            // Members may have begun earlier than the first.
            let earliest = class.members.iter().map(|(_, by)| *by).min().unwrap_or(0).min(0);
            class.members.iter_mut().for_each(|member| member.1 -= earliest);
            let missing = usize::try_from(-earliest).unwrap_or(0);
            class.program.splice(0..0, std::iter::repeat_n(u32::MAX, missing));
        }
        for class in &mut classes {
            class.check(&programs);
        }
        classes
    }

    /// Compares ranks that run the same program, at least `least` of them, where nothing is compared yet.
    fn compare_twins(&mut self, classes: &[Class], least: usize) {
        for class in classes.iter().filter(|class| class.members.len() >= least) {
            let mut columns: Vec<Vec<(u32, u32)>> = vec![Vec::new(); class.program.len()];
            for &(member, by) in &class.members {
                for (place, stretch) in self.lists[member].iter().enumerate() {
                    let at = moved(place, by);
                    if let Some(column) =
                        at.and_then(|at| columns.get_mut(at)).filter(|_| stretch.column.is_none())
                    {
                        column.push((member as u32, place as u32));
                    }
                }
            }
            for column in columns.into_iter().filter(|column| column.len() >= least) {
                self.compare(column);
            }
        }
    }

    /// Compares the members of a collective where no twins were found.
    fn compare_members(&mut self, joined: &Joined) {
        for collective in 0..self.ends.len() {
            if joined.matching.communicator(&joined.matching.collectives[collective]).channel.is_some() {
                continue;
            }
            self.compare_alike(joined, &self.ends[collective].clone());
        }
        self.compare_alike(joined, &self.at_end.clone());
    }

    /// Compares those of some stretches with one end that begin alike, where nothing is compared yet.
    fn compare_alike(&mut self, joined: &Joined, stretches: &[(u32, u32)]) {
        let mut kinds: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
        for &at in stretches.iter().filter(|&&at| self.get(at).column.is_none()) {
            kinds.entry(kind(joined, self.get(at).previous)).or_default().push(at);
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

/// Ranks that run the same program.
#[derive(Clone, Debug)]
struct Class {
    /// The kinds of its stretches.
    program: Vec<u32>,
    /// Members, with the place of their first stretch in the program.
    members: Vec<(usize, i64)>,
}

impl Class {
    /// Leaves out members that differ where all others agree: their times would be compared with other work.
    fn check(&mut self, programs: &[Vec<u32>]) {
        let program = &self.program;
        self.members.retain(|&(member, by)| {
            let own = &programs[member];
            let at = |place: usize| moved(place, by).and_then(|at| program.get(at));
            let differ = own
                .iter()
                .enumerate()
                .filter(|(place, kind)| at(*place).is_some_and(|k| *k != u32::MAX && k != *kind));
            differ.count() * 10 <= own.len()
        });
    }
}

/// What a matched communication is to a program; none at the edges of the steps.
type Kind = Option<(Option<Operation>, Option<u64>, Option<String>, bool)>;

fn kind(joined: &Joined, collective: u32) -> Kind {
    let collective = joined.matching.collectives.get(collective as usize)?;
    let communicator = joined.matching.communicator(collective);
    let group =
        communicator.group.and_then(|id| joined.groups.get(id)).map(|group| group.dimension.label.clone());
    // What is exchanged differs between ranks of one program.
    let uneven = matches!(collective.operation, Some(Operation::AllToAll | Operation::SendReceive));
    Some((collective.operation, collective.bytes.filter(|_| !uneven), group, communicator.channel.is_some()))
}

/// Numbers for the kinds of stretches: what they begin and end with, and on which side of a message.
#[derive(Default)]
struct Kinds {
    collectives: BTreeMap<u32, u32>,
    communications: BTreeMap<Kind, u32>,
    pairs: BTreeMap<(u32, u32, bool, bool), u32>,
}

impl Kinds {
    fn collective(&mut self, joined: &Joined, collective: u32) -> u32 {
        if let Some(&known) = self.collectives.get(&collective) {
            return known;
        }
        let next = self.communications.len() as u32;
        let number = *self.communications.entry(kind(joined, collective)).or_insert(next);
        self.collectives.insert(collective, number);
        number
    }

    fn of(&mut self, joined: &Joined, stretch: &Stretch) -> u32 {
        let sends = |collective: u32| {
            let known = joined.matching.collectives.get(collective as usize);
            let communicator = known.map(|collective| joined.matching.communicator(collective));
            communicator.is_some_and(|communicator| {
                let from = communicator.channel.map(|channel| channel.0);
                communicator.members.iter().any(|m| m.member == stretch.member && Some(m.rank) == from)
            })
        };
        let sides = (sends(stretch.previous), sends(stretch.collective));
        let pair = (
            self.collective(joined, stretch.previous),
            self.collective(joined, stretch.collective),
            sides.0,
            sides.1,
        );
        let next = self.pairs.len() as u32;
        *self.pairs.entry(pair).or_insert(next)
    }
}

/// A place moved by some places.
fn moved(place: usize, by: i64) -> Option<usize> {
    usize::try_from(i64::try_from(place).ok()?.checked_add(by)?).ok()
}

/// By how many places a program is behind another of the same kind: its item `k` is the other's `k + shift`; none when they are not the same. Traces usually end
/// together, so ends are tried first.
fn shift(first: &[u32], other: &[u32]) -> Option<i64> {
    let length = |program: &[u32]| i64::try_from(program.len()).unwrap_or(i64::MAX);
    let together = length(first) - length(other);
    let near = (0..=8_i64).flat_map(|by| [together - by, together + by]);
    near.into_iter().find(|&by| {
        let from = usize::try_from(by).unwrap_or(0);
        let skip = usize::try_from(-by).unwrap_or(0);
        let pairs = first.iter().skip(from).zip(other.iter().skip(skip));
        let (mut same, mut all) = (0_usize, 0_usize);
        for (a, b) in pairs {
            same += usize::from(a == b);
            all += 1;
        }
        all * 4 >= first.len().max(other.len()) * 3 && same * 10 >= all * 9
    })
}

fn of_member(chains: &Chains, member: usize) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut open: Option<Stretch> = None;
    let mut gate = None;
    for (place, event) in chains.events[member].iter().enumerate() {
        if let Some(stretch) = &mut open {
            stretch.own += event.own;
        }
        match event.what {
            What::Gate => {
                gate = Some(event.collective);
                if let Some(stretch) = &mut open {
                    stretch.from = event.time;
                }
            }
            What::Begin | What::Start | What::End => {
                if let Some(mut stretch) = open.take() {
                    stretch.collective = event.collective;
                    stretch.to = event.time;
                    stretch.usual = stretch.own;
                    stretch.gate = gate;
                    stretch.events.1 = place as u32;
                    stretches.push(stretch);
                }
                open = (event.what != What::End).then(|| Stretch {
                    member: member as u32,
                    previous: event.collective,
                    from: event.time,
                    events: (place as u32, place as u32),
                    ..Stretch::default()
                });
            }
        }
    }
    stretches
}
