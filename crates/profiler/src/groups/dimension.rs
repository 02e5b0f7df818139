//! Dimension of a process group.
//!
//! Responsible for: the order of evidence: user, description, tiling of the world by sets of ranks,
//! operations of the group. Does not guess beyond that.

use super::{Group, GroupProfile, Groups, Layout, RankSet};
use railwright_step::Dimension;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Evidence for the dimension of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Parallel sizes set by the user.
    Sizes,
    /// The framework described the group.
    Description,
    /// Sets of ranks tile the world in only one way.
    Tiling,
    /// Kind of traffic: messages, all-to-all, many equal all-reduces, norms.
    Operations,
    /// No evidence.
    Nothing,
}

/// The dimension of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupDimension {
    /// The dimension; [`Dimension::Other`] if unknown or none of the others.
    pub dimension: Dimension,
    /// Label.
    pub label: String,
    /// Evidence for the dimension.
    pub evidence: Evidence,
}

impl GroupDimension {
    pub(super) fn unknown(ranks: Option<&RankSet>, size: u32) -> Self {
        let label = match ranks.and_then(RankSet::stride) {
            Some(stride) => format!("unknown (size {size}, stride {stride})"),
            None => format!("unknown (size {size})"),
        };
        Self { dimension: Dimension::Other, label, evidence: Evidence::Nothing }
    }

    pub(super) fn known(dimension: Dimension, evidence: Evidence) -> Self {
        Self { dimension, label: dimension.name().to_owned(), evidence }
    }
}

/// Evidence from a group's operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Answer {
    dimension: Option<Dimension>,
    /// True if they reduce and gather in many sizes.
    reduces: bool,
    /// True if they transfer only single numbers.
    scalars: bool,
}

/// Maximum number of groups of one size and stride whose operations are read.
const ASKED: u32 = 4;

/// Finds the dimension of every group. `profile` provides the operations of a group, by index; it is called
/// only for groups without other evidence.
pub fn infer(
    groups: &mut Groups,
    world: u32,
    layout: Option<&Layout>,
    mut profile: impl FnMut(usize) -> GroupProfile,
) {
    let tiles = tiling(groups, world);
    // Sets of one size and stride serve one dimension, so one of them is examined for all. If several groups
    // share a set, each is examined on its own.
    let mut asked: BTreeMap<(Option<u32>, u32, u32), (Answer, u32)> = BTreeMap::new();
    let mut replicas: BTreeMap<RankSet, u32> = BTreeMap::new();
    let mut answers = vec![Answer::default(); groups.groups.len()];
    for (at, (group, answer)) in groups.groups.iter_mut().zip(&mut answers).enumerate() {
        let from_layout = layout.zip(group.ranks.as_ref()).and_then(|(l, set)| l.dimension(set));
        if let Some(dimension) = from_layout {
            group.dimension = GroupDimension::known(dimension, Evidence::Sizes);
            continue;
        }
        if let Some(described) = group.description.as_deref().and_then(described) {
            group.dimension = match described {
                Some(dimension) => GroupDimension::known(dimension, Evidence::Description),
                None => GroupDimension {
                    dimension: Dimension::Other,
                    label: group.description.clone().unwrap_or_default(),
                    evidence: Evidence::Description,
                },
            };
            continue;
        }
        if group.dimension.evidence != Evidence::Nothing {
            continue;
        }
        let size = group.ranks.as_ref().map_or(group.size, RankSet::len);
        // Sizes set by the user exclude what the group's set and operations suggest.
        let allowed =
            |dimension: &Dimension| layout.is_none_or(|l| l.allows(*dimension, group.ranks.as_ref(), size));
        let tiled = group.ranks.as_ref().and_then(|set| tiles.get(&(set.stride()?, set.len())).copied());
        if let Some(dimension) = tiled.filter(allowed) {
            group.dimension = GroupDimension::known(dimension, Evidence::Tiling);
            continue;
        }
        let mut ask = || {
            let profile = profile(at);
            // All ranks of a job also exchange embeddings and samples.
            let doubted =
                |dimension: &Dimension| *dimension == Dimension::Expert && size == world && !profile.experts;
            Answer {
                dimension: profile.dimension().filter(|found| !doubted(found)),
                reduces: profile.reduces_many_sizes(),
                scalars: profile.scalars(),
            }
        };
        let does = match group.ranks.as_ref() {
            Some(set) if set.stride().is_some() => {
                let replica = replicas.entry(set.clone()).or_default();
                *replica += 1;
                let (found, times) =
                    asked.entry((set.stride(), set.len(), *replica)).or_insert((Answer::default(), 0));
                // A group without operations is no evidence for others; samples at most N groups per shape.
                if *found == Answer::default() && *times < ASKED {
                    *found = ask();
                    *times += 1;
                }
                *found
            }
            _ => ask(),
        };
        *answer = does;
        if let Some(dimension) = does.dimension.filter(allowed) {
            group.dimension = GroupDimension::known(dimension, Evidence::Operations);
        } else if does.scalars && size < world {
            let label = "norms and flags".to_owned();
            group.dimension =
                GroupDimension { dimension: Dimension::Other, label, evidence: Evidence::Operations };
        }
    }
    mark_drains(groups, &answers);
    // If there are groups for other purposes, the group of all ranks is not for gradients.
    let others = groups.groups.iter().any(|group| {
        group.size > 1 && !matches!(group.dimension.dimension, Dimension::Data | Dimension::Other)
    });
    for (group, answer) in groups.groups.iter_mut().zip(&answers) {
        let size = group.ranks.as_ref().map_or(group.size, RankSet::len);
        if world < 2 || size != world || group.dimension.evidence != Evidence::Nothing {
            continue;
        }
        let allowed = layout.is_none_or(|l| l.allows(Dimension::Data, group.ranks.as_ref(), size));
        group.dimension = if !others && answer.reduces && allowed {
            GroupDimension::known(Dimension::Data, Evidence::Operations)
        } else {
            GroupDimension {
                dimension: Dimension::Other,
                label: "whole world".to_owned(),
                evidence: Evidence::Nothing,
            }
        };
    }
}

/// Marks the groups whose waits are bubble. They contain all ranks of a pipeline, and either their
/// description is model parallel, or they reduce only norms and flags. Their collectives come after the last
/// pass.
fn mark_drains(groups: &mut Groups, answers: &[Answer]) {
    let is_pipeline = |group: &&Group| group.dimension.dimension == Dimension::Pipeline && group.size > 1;
    let pipelines: BTreeSet<RankSet> =
        groups.groups.iter().filter(is_pipeline).filter_map(|group| group.ranks.clone()).collect();
    for (group, answer) in groups.groups.iter_mut().zip(answers) {
        let whole = group.description.as_deref().is_some_and(is_model_parallel) || answer.scalars;
        let Some(ranks) = group.ranks.as_ref().filter(|_| whole) else { continue };
        let own: BTreeSet<u32> = ranks.ranks().iter().copied().collect();
        group.drains = pipelines.iter().any(|set| set.ranks().iter().all(|rank| own.contains(rank)));
    }
}

/// Tests whether a description covers the tensor and the pipeline dimension together.
fn is_model_parallel(description: &str) -> bool {
    let text = description.to_ascii_lowercase();
    matches!(text.strip_prefix("mesh_").unwrap_or(&text), "model_parallel_group" | "mp")
}

/// Dimension from a description. `Some(None)` if the purpose is known but no dimension (embeddings, all
/// ranks); `None` if unknown.
#[allow(clippy::option_option, reason = "a known purpose without a dimension is not unknown")]
pub(crate) fn described(description: &str) -> Option<Option<Dimension>> {
    let text = description.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let mesh = text.strip_prefix("mesh_").unwrap_or(&text);
    let is = |words: &[&str]| words.contains(&mesh);
    // Descriptions of groups of several dimensions also contain the inner one: the outer one is their
    // purpose.
    if has(&["embedding"]) {
        Some(None)
    } else if has(&["expert_data", "data_parallel", "data parallel", "intra_distributed_optimizer"])
        || is(&[
            "dp",
            "fsdp",
            "ddp",
            "hsdp",
            "data",
            "dp_shard",
            "dp_replicate",
            "dp_cp",
            "dp_shard_cp",
            "zero",
        ])
    {
        Some(Some(Dimension::Data))
    } else if has(&["pipeline"]) || is(&["pp", "stage"]) {
        Some(Some(Dimension::Pipeline))
    } else if has(&["expert_tensor", "expert_model", "expert_parallel"])
        || is(&["ep", "etp", "expert", "moe", "ep_group"])
    {
        Some(Some(Dimension::Expert))
    } else if has(&["context_parallel", "context parallel", "sequence_parallel"])
        || is(&["cp", "context", "sp", "ulysses", "ring"])
    {
        Some(Some(Dimension::Context))
    } else if is_model_parallel(description) {
        // Megatron's model-parallel group joins the tensor and the pipeline dimension.
        Some(None)
    } else if has(&["tensor", "model_parallel"]) || is(&["tp", "model"]) {
        Some(Some(Dimension::Tensor))
    } else {
        None
    }
}

/// Stride and size of a set of several ranks; `None` unless such sets tile the world.
pub(super) fn tile(set: &RankSet, world: u32) -> Option<(u32, u32)> {
    let (stride, size) = (set.stride()?, set.len());
    let start = set.ranks().first().copied().unwrap_or_default();
    let block = u64::from(stride) * u64::from(size);
    let tiles = size > 1 && u64::from(world) % block == 0 && u64::from(start) % block < u64::from(stride);
    tiles.then_some((stride, size))
}

/// Dimensions by (stride, size), if the listed sets allow only one assignment. It needs two or more classes
/// of sets that tile the world. Their strides follow from each other's sizes, and the product of the sizes is
/// the world size. The innermost is tensor, then data, then pipeline, as Megatron numbers ranks. With two
/// classes the outer one must be inferred from its operations.
fn tiling(groups: &Groups, world: u32) -> BTreeMap<(u32, u32), Dimension> {
    let mut classes: BTreeSet<(u32, u32)> = BTreeSet::new();
    for group in &groups.groups {
        classes.extend(group.ranks.as_ref().and_then(|set| tile(set, world)).filter(|one| one.1 < world));
    }
    // A chain from stride 1 upwards to the world size.
    let mut chain: Vec<(u32, u32)> = Vec::new();
    let mut inner = 1;
    while inner < world {
        let mut next = classes.iter().filter(|&&(stride, _)| stride == inner);
        let (Some(&class), None) = (next.next(), next.next()) else { return BTreeMap::new() };
        chain.push(class);
        inner *= class.1;
    }
    if inner != world {
        return BTreeMap::new();
    }
    match chain.as_slice() {
        [tensor, data, pipeline] => BTreeMap::from([
            (*tensor, Dimension::Tensor),
            (*data, Dimension::Data),
            (*pipeline, Dimension::Pipeline),
        ]),
        _ => BTreeMap::new(),
    }
}
