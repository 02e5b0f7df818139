//! Ranks of one node with slow hosts.
//!
//! Responsible for: joining them into one cause with one cost if they are at least half of their node,
//! because their processes share CPUs. Hosts are taken from the traces. Without them, ranks numbered like the
//! devices of one node are of one node. Does not join ranks with other causes: chips differ.

use super::cause::CauseClass;
use super::verdict::{Kind, Named};
use crate::Job;
use crate::job::Member;
use std::collections::{BTreeMap, BTreeSet};

/// Node of a rank: the recorded host, or the rank of its first device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node<'a> {
    Host(&'a str),
    First(u32),
}

fn on_host(member: &Member) -> Option<(u32, Node<'_>)> {
    Some((member.rank, Node::Host(member.trace.identity.host.as_deref()?)))
}

/// Nodes of all ranks; empty if unknown.
pub(super) fn nodes(job: &Job) -> BTreeMap<u32, Node<'_>> {
    let named: Option<BTreeMap<u32, Node<'_>>> = job.members.iter().map(on_host).collect();
    if let Some(named) = named {
        return named;
    }
    // A process that sees one device only calls it 0, so its number shows no node.
    let devices: BTreeSet<u32> =
        job.members.iter().filter_map(|member| member.trace.identity.device).collect();
    if devices.len() < 2 {
        return BTreeMap::new();
    }
    let first = |member: &Member| {
        Some((member.rank, Node::First(member.rank.checked_sub(member.trace.identity.device?)?)))
    };
    job.members.iter().filter_map(first).collect()
}

/// Joins named ranks with slow hosts that are at least half of a node, if there are other nodes. Costs add
/// up: each is the saving after the preceding ones.
pub(super) fn join_nodes(job: &Job, named: &[Named]) -> Vec<Named> {
    let nodes = nodes(job);
    let node = |one: &Named| {
        let is_host = one.kind == Kind::Rank && CauseClass::is_of_host(one.cause);
        let mut of = one.ranks.iter().map(|rank| nodes.get(rank));
        let first = of.next().flatten().filter(|_| is_host)?;
        of.all(|other| other == Some(first)).then_some(first)
    };
    let count = |of: &Node<'_>, ranks: &dyn Fn(&u32) -> bool| {
        nodes.iter().filter(|(rank, node)| *node == of && ranks(rank)).count()
    };
    let is_slow = |of: &Node<'_>| {
        let ranks: BTreeSet<u32> =
            named.iter().filter(|one| node(one) == Some(of)).flat_map(|one| one.ranks.clone()).collect();
        let all = count(of, &|_| true);
        all < nodes.len() && 2 * count(of, &|rank| ranks.contains(rank)) >= all
    };
    let slow: Vec<&Node<'_>> = named.iter().filter_map(node).filter(|of| is_slow(of)).collect();
    let mut joined: Vec<Named> = Vec::with_capacity(named.len());
    for one in named.iter().cloned() {
        let own = node(&one).filter(|own| slow.contains(own));
        match joined.iter_mut().find(|other| own.is_some() && node(other) == own && other.cause == one.cause)
        {
            Some(other) => {
                other.ranks.extend(one.ranks);
                other.ranks.sort_unstable();
                other.cost_s += one.cost_s;
            }
            None => joined.push(one),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::straggler_report;
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// Two of the four ranks of one host pause in different steps, and so does a rank of another host.
    #[test]
    fn slow_hosts_of_one_node_are_one_cause() {
        let stalls = vec![(5, 1, 20_000_000), (6, 2, 15_000_000), (11, 3, 12_000_000)];
        let plan = Synthetic { data: 8, steps: 5, stalls, ..Synthetic::default() };
        let named = |change: &dyn Fn(&mut Job)| {
            let mut job = plan.job();
            change(&mut job);
            let report = straggler_report(&mut job, &JoinOptions::default());
            report.culprits.into_iter().map(|one| (one.ranks, one.cost_s)).collect::<Vec<_>>()
        };
        let ranks = |named: &[(Vec<u32>, f64)]| {
            let mut ranks: Vec<Vec<u32>> = named.iter().map(|one| one.0.clone()).collect();
            ranks.sort();
            ranks
        };
        let alone = named(&|_| {});
        assert_eq!(ranks(&alone), [vec![5], vec![6], vec![11]]);
        let by_host = named(&|job| {
            for member in &mut job.members {
                member.trace.identity.host = Some(format!("node{}", member.rank / 4));
            }
        });
        assert_eq!(ranks(&by_host), [vec![5, 6], vec![11]]);
        let by_device = named(&|job| {
            for member in &mut job.members {
                member.trace.identity.device = Some(member.rank % 4);
            }
        });
        assert_eq!(by_device, by_host);
        let sum = |named: &[(Vec<u32>, f64)]| named.iter().map(|one| one.1).sum::<f64>();
        assert!((sum(&by_host) / sum(&alone) - 1.0).abs() < 1e-9);
    }
}
