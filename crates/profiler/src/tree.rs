//! The tree below the waterfall: label, phase, family of operators, kernel.
//!
//! Responsible for: joining the ranks' sums by name and nesting them, largest first (phases in the order of a
//! step). A node's time is the sum of its children's. Kernels of one family are limited: the rest is one node
//! with their number.

use crate::Names;
use crate::waterfall::{Label, RankWaterfall};
use indexmap::IndexMap;
use railwright_step::{OperatorFamily, Phase};
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// Maximum number of named kernels per family.
const KERNELS: usize = 16;

/// Key of a level of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Label of the time.
    Label,
    /// Phase of the step.
    Phase,
    /// Family of operators.
    Family,
    /// Kernel.
    Kernel,
    /// Rest of the kernels.
    Rest,
}

/// A node of the tree; times in nanoseconds over all ranks and steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Level of the node in the tree.
    pub level: Level,
    /// Name.
    pub name: String,
    /// Its time in the waterfall, in nanoseconds.
    #[serde(rename = "time_ns")]
    pub time: i64,
    /// Number of activities with time in it.
    pub count: u64,
    /// Mean duration including overlapped parts, in nanoseconds.
    #[serde(rename = "mean_ns")]
    pub mean: i64,
    /// Longest duration, in nanoseconds.
    #[serde(rename = "longest_ns")]
    pub longest: i64,
    /// Children: largest first, phases in the order of a step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

/// One kernel under a label and a phase, over all ranks.
struct Leaf<'a> {
    label: Label,
    phase: Phase,
    family: OperatorFamily,
    name: &'a str,
    time: i64,
    count: u64,
    duration: i64,
    longest: i64,
}

/// Tree of ranks; `names` are those of each rank's trace, in their order. Times precede the separation of
/// slower chips and of the ideal, so kernels are whole.
pub fn tree(ranks: &[RankWaterfall], names: &[&Names]) -> Vec<Node> {
    let mut leaves: IndexMap<(usize, u8, &str), Leaf<'_>, FxBuildHasher> = IndexMap::default();
    for (rank, names) in ranks.iter().zip(names) {
        for sum in &rank.uses {
            let name = sum.name.map_or("", |name| names.get(name));
            let fresh = || Leaf {
                label: sum.label,
                phase: sum.phase,
                family: sum.family,
                name,
                time: 0,
                count: 0,
                duration: 0,
                longest: 0,
            };
            let leaf = leaves.entry((sum.label.place(), sum.phase as u8, name)).or_insert_with(fresh);
            leaf.time += sum.time;
            leaf.count += sum.count;
            leaf.duration += sum.duration;
            leaf.longest = leaf.longest.max(sum.longest);
        }
    }
    let mut leaves: Vec<Leaf<'_>> = leaves.into_values().collect();
    // One order for all levels; names break ties, so that the grouping of ranks does not matter.
    leaves.sort_by(|a, b| {
        (a.label, a.phase, a.family, std::cmp::Reverse(a.time), a.name).cmp(&(
            b.label,
            b.phase,
            b.family,
            std::cmp::Reverse(b.time),
            b.name,
        ))
    });
    let labels = leaves.chunk_by(|a, b| a.label == b.label).map(|of_label| {
        let label = of_label[0].label;
        let phases = if of_label.iter().all(|leaf| leaf.name.is_empty()) {
            Vec::new()
        } else {
            of_label.chunk_by(|a, b| a.phase == b.phase).map(phase).collect()
        };
        node(Level::Label, label.name(), of_label, phases)
    });
    largest_first(labels.collect())
}

fn phase(of_phase: &[Leaf<'_>]) -> Node {
    let families = of_phase.chunk_by(|a, b| a.family == b.family).map(|of_family| {
        let mut kernels: Vec<Node> = of_family
            .iter()
            .take(KERNELS)
            .map(|leaf| node(Level::Kernel, leaf.name.to_owned(), std::slice::from_ref(leaf), Vec::new()))
            .collect();
        if of_family.len() > KERNELS {
            let rest = &of_family[KERNELS..];
            kernels.push(node(Level::Rest, format!("{} other kernels", rest.len()), rest, Vec::new()));
        }
        node(Level::Family, of_family[0].family.name().to_owned(), of_family, kernels)
    });
    let name = of_phase[0].phase.name().to_owned();
    node(Level::Phase, name, of_phase, largest_first(families.collect()))
}

fn node(level: Level, name: String, leaves: &[Leaf<'_>], children: Vec<Node>) -> Node {
    let count: u64 = leaves.iter().map(|leaf| leaf.count).sum();
    let duration: i64 = leaves.iter().map(|leaf| leaf.duration).sum();
    Node {
        level,
        name,
        time: leaves.iter().map(|leaf| leaf.time).sum(),
        count,
        mean: duration / i64::try_from(count).unwrap_or(i64::MAX).max(1),
        longest: leaves.iter().map(|leaf| leaf.longest).max().unwrap_or(0),
        children,
    }
}

fn largest_first(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waterfall::Use;

    fn adds_up(node: &Node) -> bool {
        node.children.is_empty()
            || node.time == node.children.iter().map(|c| c.time).sum::<i64>()
                && node.children.iter().all(adds_up)
    }

    #[test]
    fn ranks_meet_by_name_and_times_add_up() {
        let mut first = Names::default();
        let mut second = Names::default();
        second.intern("something before");
        let make = |names: &mut Names, time: i64| {
            let mut uses = Vec::new();
            for n in 0..20 {
                uses.push(Use {
                    label: Label::MatrixProduct,
                    phase: if n % 2 == 0 { Phase::Forward } else { Phase::Backward },
                    family: OperatorFamily::MatrixProduct,
                    name: Some(names.intern(&format!("gemm {}", n / 2 * 2))),
                    time: time + n,
                    count: 2,
                    duration: 2 * time,
                    longest: time + n,
                    absorbed: 0,
                });
            }
            uses.push(Use {
                label: Label::Host,
                name: None,
                phase: Phase::Other,
                family: OperatorFamily::Other,
                ..uses[0]
            });
            RankWaterfall { uses, ..RankWaterfall::default() }
        };
        let ranks = [make(&mut first, 100), make(&mut second, 300)];
        let tree = tree(&ranks, &[&first, &second]);
        assert_eq!(
            tree.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
            ["matrix products", "host-bound"]
        );
        assert_eq!((tree[0].count, tree[0].longest), (80, 319));
        assert!(tree[1].children.is_empty());
        let backward = &tree[0].children[1];
        assert_eq!((backward.name.as_str(), backward.children[0].children.len()), ("backward", 10));
        assert_eq!(backward.children[0].children[0].name, "gemm 18");
        assert!(tree.iter().all(adds_up));
    }
}
