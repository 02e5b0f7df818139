//! Collectives of one communicator, matched across ranks.
//!
//! Responsible for: joining parts of different ranks into one communication. Parts are matched by number if
//! recorded, otherwise by order. The shift of the order is found together with the clock offset. Messages are
//! matched by channel. Order alone is not sufficient: half of all multi-rank traces lack leading kernels on
//! some rank. Lists that do not fit stay separate.

mod across;
mod alike;
mod assign;
mod inferred;
mod lanes;
pub mod line;
mod messages;
mod neighbours;
mod part;
mod shift;
mod ties;
mod tiling;

pub use alike::Alike;
pub use inferred::{Inferred, Tiling};
pub use part::{Lane, Part, parts};
pub use shift::compatible;

use crate::Job;
use crate::groups::{GroupId, Groups, Layout};
use assign::{Key, Lists, assign};
use line::Line;
use railwright_step::CollectiveKind;
use serde::Serialize;
use shift::{Fit, Scratch};
use std::collections::BTreeMap;
use ties::Ties;

/// Method by which the parts of a communicator were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// By recorded numbers.
    Sequence,
    /// By order, with a shift.
    Order,
}

/// One rank's list in a communicator.
#[derive(Clone, Debug, PartialEq)]
pub struct Membership {
    /// The member of the job.
    pub member: u32,
    /// Its rank.
    pub rank: u32,
    /// Indices of its parts in [`Matching::parts`] of the member, in order.
    pub parts: Vec<u32>,
    /// Number of missing leading collectives (lost kernels, or a window that opens later).
    pub lost: u32,
    /// Its item `k` is item `k + shift` of the communicator's first member; with numbers, of the lowest
    /// number.
    pub shift: i32,
    /// Number of pairs with the first member whose operation or size differs.
    pub mismatches: u32,
    /// Offset and drift of its clock relative to the first member.
    pub line: Line,
}

/// Ranks that communicate with each other in one sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Communicator {
    /// The process group, if recorded.
    pub group: Option<GroupId>,
    /// The lane that represents an unrecorded communicator.
    pub lane: Option<Lane>,
    /// Sender and receiver, for messages.
    pub channel: Option<(u32, u32)>,
    /// Matching method.
    pub how: How,
    /// The traced participating ranks; the first is the reference for comparison.
    pub members: Vec<Membership>,
}

/// One communication of several ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    /// Index of its communicator.
    pub communicator: u32,
    /// Its number within the communicator, from 0.
    pub index: u32,
    /// Its operation, from the most specific of its parts.
    pub operation: Option<CollectiveKind>,
    /// Size in bytes; the largest of its parts if they differ.
    pub bytes: Option<u64>,
    /// True if every member of the communicator takes part.
    pub complete: bool,
    /// True if its parts agree on operation and size.
    pub consistent: bool,
    first: u32,
    count: u32,
}

/// A part, by member and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartRef {
    /// The member of the job.
    pub member: u32,
    /// Index among its parts.
    pub part: u32,
}

/// Matched communications of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matching {
    /// Parts of every member, by start.
    pub parts: Vec<Vec<Part>>,
    /// The communicators.
    pub communicators: Vec<Communicator>,
    /// Communications with at least two parts, by communicator and order.
    pub collectives: Vec<Collective>,
    /// By member and part: index of the part's collective.
    pub of: Vec<Vec<Option<u32>>>,
    /// The sets of ranks inferred from the end times of collectives.
    pub inferred: Vec<Inferred>,
    /// Streams with groups that are neither recorded nor inferred.
    pub unspecified: Vec<Lane>,
    /// The pipelines inferred from the end times of messages.
    pub pipelines: Option<Tiling>,
    refs: Vec<PartRef>,
    /// True if groups were inferred from ends, on streams without recorded groups.
    asked: bool,
}

/// Number of pairs of a communicator used to relate the clocks of two ranks.
const TIED: u32 = 8;

impl Matching {
    /// Matches the parts of a job. `layout` provides possible sets of ranks for unrecorded groups.
    pub fn of(job: &Job, groups: &Groups, parts: Vec<Vec<Part>>, layout: Option<&Layout>) -> Self {
        let mut matching =
            Self { of: parts.iter().map(|p| vec![None; p.len()]).collect(), parts, ..Self::default() };
        let mut scratch = Scratch::default();
        let mut assigned = assign(job, groups, &matching.parts);
        matching.learn(job, groups, &mut assigned, layout, &mut scratch);
        // Lanes with the most collectives determine clocks best, and known clocks determine shifts of other
        // lanes.
        let mut order: Vec<(Key, Lists)> = assigned.into_iter().collect();
        order.sort_by_key(|(key, lists)| (std::cmp::Reverse(tiling::length(lists)), *key));
        let mut ties = Ties::default();
        for (key, lists) in order {
            if lists.len() < 2 {
                continue;
            }
            if matching.leaves(&key) {
                matching.unspecified.extend(key.lane);
                continue;
            }
            let (sets, inferred) = matching.sets(job, key, lists);
            for lists in sets {
                matching.communicate(job, key, (lists, inferred), (&mut ties, &mut scratch));
            }
        }
        matching.unspecified.sort_unstable();
        matching.index();
        matching
    }

    /// Tests whether parts without a recorded group stay unmatched. If groups were inferred for other streams
    /// but not for this one, or if ranks are missing, any guess is unsafe.
    fn leaves(&self, key: &Key) -> bool {
        let on_device = matches!(key.lane, Some(Lane::Stream(_)));
        let is_reported = self.inferred.iter().any(|inferred| key.lane == Some(inferred.lane));
        key.is_unspecified()
            && on_device
            && !is_reported
            && (self.asked || !self.inferred.is_empty() || self.pipelines.is_some())
    }

    /// Lists of a key, split by set of ranks if these are inferred or set by the user, and whether they are.
    fn sets(&self, job: &Job, key: Key, lists: Lists) -> (Vec<Lists>, bool) {
        let inferred =
            self.inferred.iter().find(|inferred| key.is_unspecified() && key.lane == Some(inferred.lane));
        let Some(tiling) = inferred.map(|inferred| inferred.tiling) else {
            return (vec![lists], false);
        };
        let mut sets: BTreeMap<u32, Lists> = BTreeMap::new();
        for (member, list) in lists {
            let first = tiling.first(job.members[member as usize].rank);
            sets.entry(first).or_default().insert(member, list);
        }
        (sets.into_values().filter(|set| set.len() > 1).collect(), true)
    }

    /// The parts of a collective, by member.
    pub fn members(&self, collective: &Collective) -> &[PartRef] {
        let first = collective.first as usize;
        &self.refs[first..first + collective.count as usize]
    }

    /// A part.
    pub fn part(&self, at: PartRef) -> &Part {
        &self.parts[at.member as usize][at.part as usize]
    }

    /// The communicator of a collective.
    pub fn communicator(&self, collective: &Collective) -> &Communicator {
        &self.communicators[collective.communicator as usize]
    }

    /// Number of a member's parts without counterpart.
    pub fn unmatched(&self, member: usize) -> u32 {
        self.of.get(member).map_or(0, |of| of.iter().filter(|c| c.is_none()).count() as u32)
    }

    fn communicate(
        &mut self,
        job: &Job,
        key: Key,
        (lists, inferred): (Lists, bool),
        (ties, scratch): (&mut Ties, &mut Scratch),
    ) {
        if let Some(members) = self.by_sequence(job, &lists) {
            self.add(key, How::Sequence, members);
            return;
        }
        // Without a declared set of ranks, several communicators may share a lane's number. The ranks that
        // fit the longest list are joined first, then the rest.
        let declared = key.group.is_some() || key.channel.is_some();
        let mut rest = lists;
        while rest.len() > 1 {
            let longest = rest.values().map(Vec::len).max().unwrap_or(0);
            let Some(first) = rest.iter().find(|(_, list)| list.len() == longest).map(|(m, _)| *m) else {
                break;
            };
            let reference = rest.remove(&first).unwrap_or_default();
            let first_parts: Vec<&Part> = self.of_list(first, &reference);
            let interval = shift::usual_interval(&first_parts, scratch);
            let mut members = vec![Membership {
                member: first,
                rank: job.members[first as usize].rank,
                parts: reference.clone(),
                lost: 0,
                shift: 0,
                mismatches: 0,
                line: Line::default(),
            }];
            let fits: Vec<Fit> = rest
                .iter()
                .map(|(member, list)| {
                    shift::best(
                        &first_parts,
                        &self.of_list(*member, list),
                        ties.between(first, *member),
                        scratch,
                    )
                })
                .collect();
            // Groups of one job run similarly, so a rank of another group fits approximately; ranks of the
            // same group end together.
            let nearest = fits.iter().map(|fit| fit.line.scatter).fold(f64::INFINITY, f64::min);
            let together = (4.0 * nearest).max(5_000.0);
            let mut apart = BTreeMap::new();
            for ((member, list), fit) in rest.into_iter().zip(fits) {
                let fitting = fit.is_good(interval) && fit.line.scatter <= together;
                // A set inferred from all its ranks, or set by the user, is kept despite scattered ends of
                // one rank. Its host clock or a PCIe switch may cause them.
                let belongs = declared || fitting || (inferred && fit.agrees());
                if fit.pairs == 0 || !belongs {
                    apart.insert(member, list);
                    continue;
                }
                if fit.pairs >= TIED && fit.is_good(interval) {
                    ties.tie(first, member, fit.line.offset);
                }
                members.push(Membership {
                    member,
                    rank: job.members[member as usize].rank,
                    parts: list,
                    lost: 0,
                    shift: fit.shift,
                    mismatches: fit.mismatches,
                    line: fit.line,
                });
            }
            rest = apart;
            if members.len() > 1 {
                self.add(key, How::Order, members);
            }
        }
    }

    fn of_list(&self, member: u32, list: &[u32]) -> Vec<&Part> {
        list.iter().map(|&part| &self.parts[member as usize][part as usize]).collect()
    }

    /// Memberships by number; `None` unless every part has one and none occurs twice.
    fn by_sequence(&self, job: &Job, lists: &BTreeMap<u32, Vec<u32>>) -> Option<Vec<Membership>> {
        for (member, list) in lists {
            let mut last = None;
            for part in self.of_list(*member, list) {
                let sequence = part.sequence?;
                if last.is_some_and(|last| sequence <= last) {
                    return None;
                }
                last = Some(sequence);
            }
        }
        let member = |(&member, list): (&u32, &Vec<u32>)| Membership {
            member,
            rank: job.members[member as usize].rank,
            parts: list.clone(),
            lost: 0,
            shift: 0,
            mismatches: 0,
            line: Line::default(),
        };
        Some(lists.iter().map(member).collect())
    }

    /// Adds a communicator and its collectives.
    fn add(&mut self, key: Key, how: How, mut members: Vec<Membership>) {
        let id = self.communicators.len() as u32;
        // Position of each part: (position, member, part).
        let mut places: Vec<(i64, PartRef)> = Vec::new();
        for membership in &members {
            for (k, &part) in membership.parts.iter().enumerate() {
                let at = PartRef { member: membership.member, part };
                let position = match how {
                    How::Sequence => {
                        i64::try_from(self.part(at).sequence.unwrap_or_default()).unwrap_or(i64::MAX)
                    }
                    How::Order => {
                        i64::try_from(k).unwrap_or(i64::MAX).saturating_add(i64::from(membership.shift))
                    }
                };
                places.push((position, at));
            }
        }
        places.sort_unstable();
        let origin = places.first().map_or(0, |p| p.0);
        let common = members.len();
        let full = places.chunk_by(|a, b| a.0 == b.0).find(|same| same.len() == common).map(|same| same[0].0);
        let before = full.map_or(0, |full| places.partition_point(|place| place.0 < full));
        let all = places[..before].chunk_by(|a, b| a.0 == b.0).count() as u32;
        let mut has: BTreeMap<u32, u32> = BTreeMap::new();
        for (_, at) in &places[..before] {
            *has.entry(at.member).or_default() += 1;
        }
        for membership in &mut members {
            membership.lost = all - has.get(&membership.member).copied().unwrap_or(0).min(all);
        }
        for (index, same) in places.chunk_by(|a, b| a.0 == b.0).enumerate() {
            let position = match how {
                How::Sequence => index as u32,
                How::Order => (same[0].0 - origin) as u32,
            };
            if same.len() < 2 {
                continue;
            }
            let parts = same.iter().map(|&(_, at)| self.part(at));
            let inferred = |o: &CollectiveKind| !matches!(o, CollectiveKind::SendReceive);
            let operations: Vec<CollectiveKind> = parts.clone().filter_map(|part| part.operation).collect();
            let operation = operations.iter().copied().find(inferred).or(operations.first().copied());
            let bytes = parts.clone().filter_map(|part| part.bytes).max();
            let least = parts.clone().filter_map(|part| part.bytes).min();
            let uneven = matches!(operation, Some(CollectiveKind::AllToAll | CollectiveKind::SendReceive));
            let consistent =
                parts.clone().all(|part| compatible(operation, part.operation)) && (uneven || bytes == least);
            let first = self.refs.len() as u32;
            let number = self.collectives.len() as u32;
            for &(_, at) in same {
                self.of[at.member as usize][at.part as usize] = Some(number);
                self.refs.push(at);
            }
            self.collectives.push(Collective {
                communicator: id,
                index: position,
                operation,
                bytes,
                complete: same.len() == common,
                consistent,
                first,
                count: same.len() as u32,
            });
        }
        self.communicators.push(Communicator {
            group: key.group,
            lane: key.lane,
            channel: key.channel,
            how,
            members,
        });
    }

    /// Parts of a collective in order of member.
    fn index(&mut self) {
        for collective in &self.collectives {
            let (first, count) = (collective.first as usize, collective.count as usize);
            self.refs[first..first + count].sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests;
