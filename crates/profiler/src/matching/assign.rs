//! Communicator of a part.
//!
//! Responsible for: the group of a part. It is the group that the part names, otherwise the group of all
//! named parts of its stream. Without these it is the only possible group, otherwise the stream itself.
//! Messages are assigned by channel. Excludes messages without a recorded peer.

use super::{Lane, Part};
use crate::Job;
use crate::groups::{GroupId, Groups, RankSet, described};
use railwright_step::{CollectiveKind, Dimension};
use std::collections::BTreeMap;

/// Identity of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub group: Option<GroupId>,
    pub lane: Option<Lane>,
    pub channel: Option<(u32, u32)>,
}

impl Key {
    /// True if the participating ranks are not recorded.
    pub(super) fn is_unspecified(&self) -> bool {
        self.group.is_none() && self.channel.is_none()
    }
}

/// The parts of one communicator, by member.
pub(super) type Lists = BTreeMap<u32, Vec<u32>>;

/// The parts of every communicator.
pub(super) type Assigned = BTreeMap<Key, Lists>;

/// The parts of every communicator, by member.
pub(super) fn assign(job: &Job, groups: &Groups, parts: &[Vec<Part>]) -> Assigned {
    let mut lists = Assigned::new();
    for (at, (member, parts)) in job.members.iter().zip(parts).enumerate() {
        let candidates = Candidates::of(at, groups, parts);
        for (place, part) in parts.iter().enumerate() {
            let Some(key) = candidates.key(member.rank, part, groups) else { continue };
            lists.entry(key).or_default().entry(at as u32).or_default().push(place as u32);
        }
    }
    lists
}

/// Possible groups of one rank's parts without a named group.
struct Candidates {
    /// The group of all named parts of a lane.
    lanes: BTreeMap<Lane, Option<GroupId>>,
    /// The only group of the rank described as pipeline.
    pipeline: Option<GroupId>,
    /// The only other group; the group of all ranks counts only if there is no other.
    other: Option<GroupId>,
}

impl Candidates {
    fn of(member: usize, groups: &Groups, parts: &[Part]) -> Self {
        let mut lanes: BTreeMap<Lane, Option<GroupId>> = BTreeMap::new();
        for part in parts {
            if let Some(group) = part.group {
                let known = lanes.entry(part.lane).or_insert(Some(group));
                if *known != Some(group) {
                    *known = None;
                }
            }
        }
        let mut own: Vec<GroupId> = groups.of.get(member).into_iter().flatten().flatten().copied().collect();
        own.sort_unstable();
        own.dedup();
        own.retain(|&id| groups.get(id).is_some_and(|group| group.size > 1 && group.ranks.is_some()));
        let is_pipeline = |id: &GroupId| {
            let text = groups.get(*id).and_then(|group| group.description.as_deref());
            text.and_then(described) == Some(Some(Dimension::Pipeline))
        };
        let is_default = |id: &GroupId| {
            groups.get(*id).and_then(|group| group.description.as_deref()) == Some("default_pg")
        };
        let only = |mut ids: Vec<GroupId>| if ids.len() == 1 { ids.pop() } else { None };
        let pipeline = only(own.iter().copied().filter(is_pipeline).collect());
        let rest: Vec<GroupId> = own.iter().copied().filter(|id| !is_pipeline(id)).collect();
        let named: Vec<GroupId> = rest.iter().copied().filter(|id| !is_default(id)).collect();
        let other = if named.is_empty() { only(rest) } else { only(named) };
        Self { lanes, pipeline, other }
    }

    fn key(&self, rank: u32, part: &Part, groups: &Groups) -> Option<Key> {
        if part.operation == Some(CollectiveKind::Copy) {
            return None;
        }
        let message = part.operation.filter(|operation| operation.is_message());
        let group = part
            .group
            .or_else(|| self.lanes.get(&part.lane).copied().flatten())
            .or(if message.is_some() { self.pipeline } else { self.other });
        let Some(operation) = message else {
            let lane = group.is_none().then_some(part.lane);
            return Some(Key { group, lane, channel: None });
        };
        let ranks = group.and_then(|id| groups.get(id)?.ranks.as_ref()).map_or(&[][..], RankSet::ranks);
        let peer = part.peer.or(match *ranks {
            [a, b] if a == rank => Some(b),
            [a, b] if b == rank => Some(a),
            _ => None,
        })?;
        let channel = if operation == CollectiveKind::Send { (rank, peer) } else { (peer, rank) };
        Some(Key { group, lane: None, channel: Some(channel) })
    }
}
