//! Process groups, joined over the ranks of a job.
//!
//! Responsible for: identity of groups of different ranks, and their parallel dimension. A group's name is a
//! counter of its own rank, so groups are joined by their set of ranks. Several groups of one set are joined
//! by equal names, otherwise by order of creation. Dimensions are not guessed: "unknown (size, stride)" is a
//! valid result.

mod dimension;
mod job_layout;
mod layout;
mod profile;
mod rank_set;

pub(crate) use dimension::described;
pub use dimension::{Evidence, GroupDimension, infer};
pub use job_layout::{GroupClass, JobLayout, LayoutSize};
pub use layout::Layout;
pub use profile::{Call, GroupProfile};
pub use rank_set::RankSet;

use crate::Job;
use crate::trace::RankGroup;
use indexmap::IndexMap;
use railwright_step::Dimension;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A group, by its index in [`Groups::groups`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupId(pub u32);

/// A process group of the job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Its ranks; `None` if no trace lists them.
    pub ranks: Option<RankSet>,
    /// Number of its ranks.
    pub size: u32,
    /// Its purpose as recorded.
    pub description: Option<String>,
    /// Names of the group on its ranks, each once; at most [`Group::NAMES`].
    pub names: Vec<String>,
    /// Its parallel dimension.
    pub dimension: GroupDimension,
    /// True if the group is not recorded: its ranks are inferred from the end times of collectives.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
    /// True if it joins the stages of a pipeline and the ranks within them (Megatron's
    /// `MODEL_PARALLEL_GROUP`, or a group of norms and flags). Ranks that wait in it wait for the
    /// pipeline to drain.
    #[serde(skip)]
    pub drains: bool,
}

impl Group {
    /// Maximum number of names.
    pub const NAMES: usize = 4;
}

/// The groups of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Groups {
    /// The groups: by set of ranks, description and order.
    pub groups: Vec<Group>,
    /// By member of the job and local group: the joined group.
    #[serde(skip)]
    pub of: Vec<Vec<Option<GroupId>>>,
}

/// Identity of a group across ranks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// Listed sets come before unlisted ones.
    unlisted: bool,
    ranks: RankSet,
    size: u32,
    description: Option<String>,
    /// Name if the ranks share names, otherwise empty.
    name: String,
    /// Number among groups with otherwise equal keys.
    ordinal: u32,
}

impl Groups {
    /// Joins the groups of all ranks. Dimensions are unknown until [`infer`] is called.
    pub fn of(job: &Job) -> Self {
        let mut sets = Sets { world: job.world_size, all: None, known: IndexMap::default() };
        // Names used by more than one rank for one set and description.
        let mut users: BTreeMap<(RankSet, Option<&str>), BTreeMap<&str, u32>> = BTreeMap::new();
        let mut traced: BTreeMap<(RankSet, Option<&str>), BTreeSet<u32>> = BTreeMap::new();
        for member in &job.members {
            for group in &member.trace.groups {
                let Some(ranks) = sets.listed(group) else { continue };
                let key = (ranks, group.description.as_deref());
                *users.entry(key.clone()).or_default().entry(&group.name).or_default() += 1;
                traced.entry(key).or_default().insert(member.rank);
            }
        }
        let shares_names = |key: &(RankSet, Option<&str>)| {
            let most = users.get(key).and_then(|names| names.values().max().copied()).unwrap_or(0);
            most > 1 || traced.get(key).is_none_or(|ranks| ranks.len() < 2)
        };
        let mut keys: BTreeMap<Key, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, member) in job.members.iter().enumerate() {
            let mut order: Vec<usize> = (0..member.trace.groups.len()).collect();
            order.sort_by_key(|&local| made(&member.trace.groups[local].name, local));
            let mut counts: BTreeMap<(Option<RankSet>, Option<&str>), u32> = BTreeMap::new();
            for local in order {
                let group = &member.trace.groups[local];
                let ranks = sets.listed(group);
                let description = group.description.as_deref();
                let shared = match &ranks {
                    Some(set) => shares_names(&(set.clone(), description)),
                    None => true,
                };
                let count = counts.entry((ranks.clone(), description)).or_default();
                let ordinal = *count;
                *count += 1;
                let key = Key {
                    unlisted: ranks.is_none(),
                    size: group.size.or(ranks.as_ref().map(RankSet::len)).unwrap_or(0),
                    ranks: ranks.unwrap_or_default(),
                    description: group.description.clone(),
                    name: if shared { group.name.clone() } else { String::new() },
                    ordinal: if shared { 0 } else { ordinal },
                };
                keys.entry(key).or_default().push((at, local));
            }
        }
        let mut groups = Self {
            groups: Vec::with_capacity(keys.len()),
            of: job.members.iter().map(|m| vec![None; m.trace.groups.len()]).collect(),
        };
        for (key, places) in keys {
            let id = GroupId(groups.groups.len() as u32);
            let mut names: Vec<String> = Vec::new();
            for (at, local) in places {
                groups.of[at][local] = Some(id);
                let name = &job.members[at].trace.groups[local].name;
                if names.len() < Group::NAMES && !names.contains(name) {
                    names.push(name.clone());
                }
            }
            let ranks = (!key.unlisted).then_some(key.ranks);
            let dimension = GroupDimension::unknown(ranks.as_ref(), key.size);
            groups.groups.push(Group {
                ranks,
                size: key.size,
                description: key.description,
                names,
                dimension,
                inferred: false,
                drains: false,
            });
        }
        groups
    }

    /// Adds an unrecorded group: its ranks, label, and dimension if inferred from its operations.
    pub fn add(&mut self, ranks: RankSet, name: String, dimension: Option<Dimension>) -> GroupId {
        let id = GroupId(self.groups.len() as u32);
        let size = ranks.len();
        let unknown = || GroupDimension::unknown(Some(&ranks), size);
        let dimension = dimension
            .map_or_else(unknown, |dimension| GroupDimension::known(dimension, Evidence::Operations));
        self.groups.push(Group {
            ranks: Some(ranks),
            size,
            description: None,
            names: vec![name],
            dimension,
            inferred: true,
            drains: false,
        });
        id
    }

    /// A group.
    pub fn get(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(id.0 as usize)
    }

    /// By rank: index of its pipeline group, and its stage there. A pair of a pipeline's stages is a group of
    /// its own, as for a shared embedding: the largest group counts, and the first of several.
    pub fn stages(&self) -> BTreeMap<u32, (usize, u32)> {
        let is_pipeline = |group: &(usize, &Group)| group.1.dimension.dimension == Dimension::Pipeline;
        let mut pipelines: Vec<(usize, &Group)> =
            self.groups.iter().enumerate().filter(is_pipeline).collect();
        pipelines.sort_by_key(|(at, group)| (std::cmp::Reverse(group.size), *at));
        let mut stages = BTreeMap::new();
        for (pipeline, group) in pipelines {
            let ranks = group.ranks.as_ref().map(RankSet::ranks).unwrap_or_default();
            for (&rank, stage) in ranks.iter().zip(0_u32..) {
                stages.entry(rank).or_insert((pipeline, stage));
            }
        }
        stages
    }

    /// Group of a member's local number; `None` if unknown.
    pub fn id(&self, member: usize, local: u32) -> Option<GroupId> {
        *self.of.get(member)?.get(local as usize)?
    }
}

/// Sets are not expanded for larger recorded world sizes, which are not trusted.
const LARGEST_WORLD: u32 = 1 << 20;

/// Sets of ranks of a job, without duplicates.
struct Sets<'a> {
    world: u32,
    all: Option<RankSet>,
    known: IndexMap<&'a [u32], RankSet, FxBuildHasher>,
}

impl<'a> Sets<'a> {
    /// Ranks of a group: the listed ones, or all if it is as large as the world.
    fn listed(&mut self, group: &'a RankGroup) -> Option<RankSet> {
        let world = self.world;
        match &group.ranks {
            Some(ranks) => Some(self.known.entry(ranks).or_insert_with(|| RankSet::new(ranks)).clone()),
            None if group.size == Some(world) && (2..=LARGEST_WORLD).contains(&world) => {
                Some(self.all.get_or_insert_with(|| RankSet::range(0, 1, world)).clone())
            }
            None => None,
        }
    }
}

/// Order of creation: by name if it is a counter.
fn made(name: &str, local: usize) -> (u64, usize) {
    (name.parse().unwrap_or(u64::MAX), local)
}

#[cfg(test)]
mod tests;
