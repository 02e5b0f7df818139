//! Inference of unrecorded groups from ends of collectives and messages.
//!
//! Responsible for: the sets of every lane (`tiling`), the neighbours of pipelines (`neighbours`), matching
//! the messages of neighbours, and groups with ranks for the identified ones. A pipeline of two stages and an
//! all-to-all of two ranks are ambiguous if both ranks run the same kernels: then no pipeline is inferred.

use super::assign::{Assigned, Key, Lists};
use super::inferred::{Inferred, Tiling};
use super::line::{self, Line, Point, Slope};
use super::neighbours::{Ends, neighbours};
use super::shift::Scratch;
use super::ties::Ties;
use super::{How, Lane, Matching, Membership, PartRef, tiling};
use crate::groups::{GroupId, Groups, Layout, RankSet};
use crate::trace::GpuKind;
use crate::{Job, RankTrace};
use railwright_step::{CollectiveKind, Dimension};
use std::collections::{BTreeMap, BTreeSet};

/// The two ends of a message.
type Message = (PartRef, PartRef);

impl Matching {
    /// Infers groups from ends, and removes the messages of pipelines from the unmatched parts.
    pub(super) fn learn(
        &mut self,
        job: &Job,
        groups: &Groups,
        assigned: &mut Assigned,
        layout: Option<&Layout>,
        scratch: &mut Scratch,
    ) {
        *assigned = super::lanes::alike(std::mem::take(assigned), &self.parts);
        let carries = |member: u32, part: u32| {
            self.parts[member as usize][part as usize].operation.is_some_and(CollectiveKind::may_be_message)
        };
        let unspecified = assigned.iter().filter(|(key, lists)| key.is_unspecified() && lists.len() > 1);
        let (messages, others): (Vec<_>, Vec<_>) = unspecified.partition(|(_, lists)| {
            lists.iter().all(|(member, list)| list.iter().all(|part| carries(*member, *part)))
        });
        let lanes =
            |list: &[(&Key, &Lists)]| -> Vec<Lane> { list.iter().filter_map(|(key, _)| key.lane).collect() };
        let (messages, others) = (lanes(&messages), lanes(&others));
        // One stream of all ranks is one group, even with few collectives.
        let streams = messages.iter().chain(&others).filter(|lane| **lane != Lane::Host).count();
        self.asked = streams > 1 || job.members.len() < job.world_size as usize;
        let mut ties = of_hosts(job);
        // Streams with more collectives than messages determine clocks better than messages do. Messages
        // determine them better than the rest.
        let usual = chosen(assigned, &messages).iter().map(|(_, lists)| tiling::length(lists)).max();
        let (first, later): (Vec<Lane>, Vec<Lane>) = others.iter().partition(|lane| {
            let own = chosen(assigned, &[**lane]).iter().map(|(_, lists)| tiling::length(lists)).max();
            own >= usual
        });
        self.inferred =
            tiling::inferred(job, &self.parts, &chosen(assigned, &first), layout, &mut ties, scratch);
        let mut known: Vec<Tiling> = self.inferred.iter().map(|inferred| inferred.tiling).collect();
        known.extend(groups.groups.iter().filter_map(Tiling::of));
        known.retain(|tiling| tiling.size < job.world_size);
        let stated_by_layout = layout.and_then(|layout| Tiling::of_dimension(layout, Dimension::Pipeline));
        let found = neighbours(job, &self.message_ends(job), &known, stated_by_layout, &ties);
        let found = found.filter(|found| {
            found.tiling.size > 2 || stated_by_layout.is_some() || differ(job, found.tiling.stride)
        });
        if let Some(found) = &found {
            for (one, other, ahead) in &found.clocks {
                ties.tie(*one, *other, *ahead);
            }
        }
        let inferred =
            tiling::inferred(job, &self.parts, &chosen(assigned, &later), layout, &mut ties, scratch);
        self.inferred.extend(inferred);
        if let Some(found) = found {
            assigned.retain(|key, _| {
                !(key.is_unspecified() && key.lane.is_some_and(|lane| messages.contains(&lane)))
            });
            self.pipelines = Some(found.tiling);
            for pairs in found.pairs.into_values() {
                self.pair(job, pairs);
            }
        } else {
            // All-to-alls consist of messages. Ranks of a group for other purposes send theirs in step, and
            // two neighbours of a pipeline look like a group of two.
            let inferred =
                tiling::inferred(job, &self.parts, &chosen(assigned, &messages), layout, &mut ties, scratch);
            let is_exchange =
                |inferred: &Inferred| inferred.tiling.size > 2 && !known.contains(&inferred.tiling);
            self.inferred.extend(inferred.into_iter().filter(is_exchange));
        }
    }

    /// Messages without a recorded peer, by rank and end.
    fn message_ends(&self, job: &Job) -> Vec<Ends> {
        let of = |(at, parts): (usize, &Vec<super::Part>)| {
            let unspecified = parts.iter().enumerate().filter(|(_, part)| {
                part.operation.is_some_and(CollectiveKind::may_be_message)
                    && part.lane != Lane::Host
                    && part.group.is_none()
                    && part.peer.is_none()
            });
            let mut ends: Vec<(i64, PartRef)> = unspecified
                .map(|(place, part)| (part.end, PartRef { member: at as u32, part: place as u32 }))
                .collect();
            ends.sort_unstable();
            Ends { rank: job.members[at].rank, member: at as u32, moments: ends }
        };
        self.parts.iter().enumerate().map(of).collect()
    }

    /// Adds the messages of two neighbours, by direction if an end records it.
    fn pair(&mut self, job: &Job, pairs: Vec<Message>) {
        let rank = |at: PartRef| job.members[at.member as usize].rank;
        let mut channels: BTreeMap<Option<(u32, u32)>, Vec<Message>> = BTreeMap::new();
        for (one, other) in pairs {
            let channel = match (self.part(one).operation, self.part(other).operation) {
                (Some(CollectiveKind::Send), _) | (_, Some(CollectiveKind::Receive)) => {
                    Some((rank(one), rank(other)))
                }
                (Some(CollectiveKind::Receive), _) | (_, Some(CollectiveKind::Send)) => {
                    Some((rank(other), rank(one)))
                }
                _ => None,
            };
            channels.entry(channel).or_default().push((one, other));
        }
        for (channel, list) in channels {
            let point = |&(one, other): &Message| {
                let (one, other) = (self.part(one), self.part(other));
                Point {
                    time: other.end,
                    difference: other.end - one.end,
                    within: one.duration().min(other.duration()),
                }
            };
            let points: Vec<Point> = list.iter().map(point).collect();
            let fitted = Line::fit(&points, Slope::Always, &mut line::Scratch::default());
            let membership = |of: &dyn Fn(&Message) -> PartRef, line: Line| {
                let member = of(&list[0]).member;
                Membership {
                    member,
                    rank: job.members[member as usize].rank,
                    parts: list.iter().map(|pair| of(pair).part).collect(),
                    lost: 0,
                    shift: 0,
                    mismatches: 0,
                    line,
                }
            };
            let members = vec![membership(&|p| p.0, Line::default()), membership(&|p| p.1, fitted)];
            self.add(Key { group: None, lane: None, channel }, How::Order, members);
        }
    }

    /// Creates groups for communicators whose ranks were inferred from ends, and assigns their parts to them.
    pub fn name_given(&mut self, groups: &mut Groups) {
        let mut known: BTreeMap<(Option<Lane>, RankSet), GroupId> = BTreeMap::new();
        for at in 0..self.communicators.len() {
            let communicator = &self.communicators[at];
            if communicator.group.is_some() {
                continue;
            }
            let ranks: Vec<u32> = communicator.members.iter().map(|member| member.rank).collect();
            let (ranks, name, dimension) = match (communicator.lane, self.pipelines) {
                (Some(lane), _) => {
                    let inferred = self.inferred.iter().find(|inferred| inferred.lane == lane);
                    let (Some(inferred), Some(one)) = (inferred, ranks.first()) else { continue };
                    (inferred.tiling.ranks(inferred.tiling.first(*one)), lane.to_string(), None)
                }
                (None, Some(tiling))
                    if ranks.iter().all(|rank| tiling.first(*rank) == tiling.first(ranks[0])) =>
                {
                    (RankSet::new(&ranks), "messages".to_owned(), Some(Dimension::Pipeline))
                }
                _ => continue,
            };
            let lane = communicator.lane;
            let id =
                *known.entry((lane, ranks.clone())).or_insert_with(|| groups.add(ranks, name, dimension));
            self.communicators[at].group = Some(id);
            for membership in &self.communicators[at].members {
                for &part in &membership.parts {
                    self.parts[membership.member as usize][part as usize].group = Some(id);
                }
            }
        }
        // The pipelines themselves; their order of ranks is that of the stages.
        if let Some(tiling) = self.pipelines.filter(|tiling| tiling.size > 2) {
            let ranks = self.communicators.iter().flat_map(|c| c.members.iter().map(|m| m.rank));
            let firsts: BTreeSet<u32> = ranks.map(|rank| tiling.first(rank)).collect();
            for first in firsts {
                groups.add(tiling.ranks(first), "pipeline".to_owned(), Some(Dimension::Pipeline));
            }
        }
    }
}

/// Recorders of one host use the same clock.
fn of_hosts(job: &Job) -> Ties {
    let mut ties = Ties::default();
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    for (at, member) in (0_u32..).zip(&job.members) {
        if let Some(host) = member.trace.identity.host.as_deref() {
            let known = *first.entry(host).or_insert(at);
            if known != at {
                ties.tie(known, at, 0.0);
            }
        }
    }
    ties
}

fn chosen<'a>(assigned: &'a Assigned, lanes: &[Lane]) -> Vec<(Lane, &'a Lists)> {
    let unspecified = assigned.iter().filter(|(key, lists)| key.is_unspecified() && lists.len() > 1);
    let lanes =
        unspecified.filter_map(|(key, lists)| Some((key.lane.filter(|lane| lanes.contains(lane))?, lists)));
    lanes.collect()
}

/// Tests whether neighbours run kernels of different names, as the first and the last stage do (embedding,
/// loss).
fn differ(job: &Job, stride: u32) -> bool {
    let names = |trace: &RankTrace| -> BTreeSet<String> {
        let kernels = trace.gpu.iter().filter(|row| row.kind == GpuKind::Kernel);
        kernels.map(|row| trace.names.get(row.name).to_owned()).collect()
    };
    let of = |rank: u32| job.position(rank).map(|at| names(&job.members[at].trace));
    of(0).zip(of(stride)).is_some_and(|(one, other)| one != other)
}
