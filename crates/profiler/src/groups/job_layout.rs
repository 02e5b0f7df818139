//! Parallel sizes of a job as the arrangement of its ranks.
//!
//! Responsible for: the sizes set by the user, otherwise those that follow from the process groups and their
//! dimensions ([`super::infer`]), with evidence and reasons for doubt. Does not choose among several
//! arrangements.

use super::dimension::tile;
use super::{Evidence, Groups, Layout, RankSet};
use railwright_step::Dimension;
use serde::Serialize;
use std::collections::BTreeMap;

/// One dimension of a job's ranks. Rank `r` is at position `r / stride % ranks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutSize {
    /// The dimension; `other` if no process group joins these ranks.
    pub dimension: Dimension,
    /// Short name, as in `--layout`.
    pub name: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Distance between neighbouring ranks.
    pub stride: u32,
    /// Evidence for the dimension.
    pub evidence: Evidence,
    /// True if the ranks of its groups are inferred from the end times of collectives.
    pub inferred: bool,
}

/// Process groups of one dimension, size and stride.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupClass {
    /// The dimension.
    pub dimension: Dimension,
    /// Label.
    pub label: String,
    /// Number of ranks in a group.
    pub ranks: u32,
    /// Distance between neighbouring ranks; `None` if it varies or the ranks are not recorded.
    pub stride: Option<u32>,
    /// Number of groups.
    pub groups: u32,
    /// Evidence for the dimension.
    pub evidence: Evidence,
    /// True if the groups are not recorded, but inferred from the end times of collectives.
    pub inferred: bool,
}

/// The arrangement of a job's ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobLayout {
    /// Dimensions with more than one rank, innermost first. Empty if the arrangement is not determined.
    pub sizes: Vec<LayoutSize>,
    /// True if all dimensions are known and their sizes multiply to the number of ranks.
    pub complete: bool,
    /// Reasons for doubt, and for an arrangement that is not determined.
    pub doubts: Vec<String>,
    /// Process groups with more than one rank, by dimension, size and stride.
    pub groups: Vec<GroupClass>,
}

/// Dimension, size and stride of groups that tile the ranks of a job.
type Class = (Dimension, u32, u32);

impl JobLayout {
    /// The arrangement of `world` ranks; `None` for a single rank. `known` is false if the number of ranks is
    /// a lower bound.
    pub fn of(groups: &Groups, layout: Option<&Layout>, world: u32, known: bool) -> Option<Self> {
        if world < 2 {
            return None;
        }
        let mut found = Self { groups: classes(groups), ..Self::default() };
        match layout {
            Some(layout) => found.stated(layout, world),
            None => found.determined(groups, world),
        }
        if !known {
            found.doubts.push(format!("the number of ranks is not recorded: at least {world}"));
        }
        Some(found)
    }

    /// The arrangement in the form of `--layout`, such as `tp=2,dp=4`.
    pub fn text(&self) -> String {
        text(self.sizes.iter().map(|size| (size.dimension, size.ranks)))
    }

    /// The arrangement with its doubts, for a report.
    pub fn words(&self) -> String {
        let sizes = if self.sizes.is_empty() { "not determined".to_owned() } else { self.text() };
        std::iter::once(sizes).chain(self.doubts.iter().cloned()).collect::<Vec<_>>().join("; ")
    }

    /// Sizes set by the user.
    fn stated(&mut self, layout: &Layout, world: u32) {
        let all =
            [Dimension::Tensor, Dimension::Context, Dimension::Expert, Dimension::Data, Dimension::Pipeline];
        let placed = all.into_iter().filter_map(|dimension| Some((dimension, layout.place(dimension)?)));
        let size = |(dimension, (ranks, stride))| size(dimension, ranks, stride, Evidence::Sizes, false);
        self.sizes = placed.map(size).collect();
        self.sizes.sort_by_key(|size| size.stride);
        self.complete = layout.world() == u64::from(world);
        if !self.complete {
            self.doubts.push(format!("the sizes multiply to {}, not to {world} ranks", layout.world()));
        }
    }

    /// Sizes that follow from the groups.
    fn determined(&mut self, groups: &Groups, world: u32) {
        let mut tiles: BTreeMap<Class, (Evidence, bool)> = BTreeMap::new();
        for group in groups.groups.iter().filter(|group| group.dimension.dimension != Dimension::Other) {
            let Some((stride, ranks)) = group.ranks.as_ref().and_then(|set| tile(set, world)) else {
                continue;
            };
            let evidence = (group.dimension.evidence, group.inferred);
            let known = tiles.entry((group.dimension.dimension, ranks, stride)).or_insert(evidence);
            *known = (*known).min(evidence);
        }
        if tiles.is_empty() {
            self.doubts.push("no process group has a known dimension".to_owned());
            return;
        }
        let mut chains = Vec::new();
        // Experts are divided among ranks of other dimensions: equal groups are one size, that of the other.
        let is_other = |one: &Class| *one != (Dimension::Expert, one.1, one.2);
        let (others, experts): (Vec<Class>, Vec<Class>) = tiles.keys().copied().partition(is_other);
        let is_own = |one: &Class| !others.iter().any(|other| (other.1, other.2) == (one.1, one.2));
        let all: Vec<Class> = others.iter().copied().chain(experts.into_iter().filter(is_own)).collect();
        arrange(&all, 1, world, &mut Vec::new(), &mut chains);
        // A dimension that is divided further is the finer one, such as data into context and data.
        let unnamed = |chain: &[Class]| chain.iter().filter(|one| one.0 == Dimension::Other).count();
        let rank = |chain: &Vec<Class>| (unnamed(chain), std::cmp::Reverse(chain.len()));
        let best = chains.iter().map(rank).min();
        let mut best = chains.iter().filter(|chain| Some(rank(chain)) == best);
        let (Some(chain), other) = (best.next(), best.next()) else { return };
        if let Some(other) = other {
            let [one, other] =
                [chain, other].map(|chain| text(chain.iter().map(|&(of, ranks, _)| (of, ranks))));
            self.doubts.push(format!("the groups fit several layouts: {one} and {other}"));
            return;
        }
        self.sizes = chain
            .iter()
            .map(|&(dimension, ranks, stride)| {
                let evidence = tiles.get(&(dimension, ranks, stride)).copied();
                let (evidence, inferred) = evidence.unwrap_or((Evidence::Nothing, false));
                size(dimension, ranks, stride, evidence, inferred)
            })
            .collect();
        self.complete = unnamed(chain) == 0;
        let doubts: Vec<String> = self.sizes.iter().filter_map(LayoutSize::doubt).collect();
        self.doubts.extend(doubts);
    }
}

impl LayoutSize {
    /// Reason for doubt about a size.
    fn doubt(&self) -> Option<String> {
        let Self { name, ranks, stride, .. } = self;
        let reason = match (self.evidence, self.inferred) {
            (Evidence::Nothing, _) => {
                return Some(format!("no process group joins the {ranks} ranks of stride {stride}"));
            }
            (_, true) => "the ranks of its groups are inferred from the end times of collectives",
            (Evidence::Operations, _) => "inferred from the operations of its groups",
            (Evidence::Tiling, _) => "inferred from the order of the sizes",
            (Evidence::Sizes | Evidence::Description, _) => return None,
        };
        Some(format!("{name}={ranks}: {reason}"))
    }
}

/// Extends a chain of dimensions with strides that follow from the sizes before, up to the world size: all
/// such chains. A stride without a group is a dimension without a name.
fn arrange(all: &[Class], inner: u32, world: u32, chain: &mut Vec<Class>, chains: &mut Vec<Vec<Class>>) {
    /// Maximum number of chains; several are as good as more.
    const MOST: usize = 64;
    if inner == world {
        chains.push(chain.clone());
        return;
    }
    if chains.len() >= MOST {
        return;
    }
    let open = |chain: &[Class], one: &Class| chain.iter().all(|known| known.0 != one.0);
    let divides = |ranks: u32| world.is_multiple_of(inner.saturating_mul(ranks));
    let next: Vec<Class> =
        all.iter().filter(|one| one.2 == inner && open(chain, one) && divides(one.1)).copied().collect();
    for one in &next {
        chain.push(*one);
        arrange(all, inner * one.1, world, chain, chains);
        chain.pop();
    }
    if next.is_empty() {
        let strides = all.iter().filter(|one| open(chain, one)).map(|one| one.2);
        let further = strides.filter(|stride| *stride > inner && stride.is_multiple_of(inner)).min();
        let outer = further.unwrap_or(world);
        chain.push((Dimension::Other, outer / inner, inner));
        arrange(all, outer, world, chain, chains);
        chain.pop();
    }
}

fn size(dimension: Dimension, ranks: u32, stride: u32, evidence: Evidence, inferred: bool) -> LayoutSize {
    LayoutSize { dimension, name: Layout::short(dimension).to_owned(), ranks, stride, evidence, inferred }
}

/// Sizes in the form of `--layout`.
fn text(sizes: impl Iterator<Item = (Dimension, u32)>) -> String {
    let sizes = sizes.map(|(dimension, ranks)| format!("{}={ranks}", Layout::short(dimension)));
    sizes.collect::<Vec<_>>().join(",")
}

/// Groups with more than one rank, counted by dimension, size and stride.
fn classes(groups: &Groups) -> Vec<GroupClass> {
    let mut found: Vec<GroupClass> = Vec::new();
    let mut places = BTreeMap::new();
    for group in &groups.groups {
        let ranks = group.ranks.as_ref().map_or(group.size, RankSet::len);
        if ranks < 2 {
            continue;
        }
        let stride = group.ranks.as_ref().and_then(RankSet::stride);
        let (dimension, label) = (group.dimension.dimension, group.dimension.label.as_str());
        let (evidence, inferred) = (group.dimension.evidence, group.inferred);
        let place =
            *places.entry((dimension, label, ranks, stride, evidence, inferred)).or_insert_with(|| {
                let label = label.to_owned();
                found.push(GroupClass { dimension, label, ranks, stride, groups: 0, evidence, inferred });
                found.len() - 1
            });
        found[place].groups += 1;
    }
    found.sort_by_key(|class| (class.stride, class.ranks, class.dimension));
    found
}

#[cfg(test)]
mod tests;
