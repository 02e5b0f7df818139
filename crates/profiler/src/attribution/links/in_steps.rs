//! Links that are slow in some steps.
//!
//! Responsible for: comparing the transfers of a group with those of its peers step by step, where the group
//! is not slow in general: a link that fails over, retrains or is shared for a while. Does not decide whether
//! the delay costs the steps anything.

use super::typical::{Found, SlowGroup, THAN_ONE, Transfer, Typical, usual};
use crate::windows::Windows;
use railwright_spec::median;
use railwright_step::CollectiveKind;
use std::collections::{BTreeMap, BTreeSet};

/// A group with slow transfers in some steps, of one operation and size.
struct Part {
    link: Typical,
    usual: f64,
    operation: Option<CollectiveKind>,
    bytes: u64,
    step: usize,
}

/// Groups with slow transfers, by step.
pub(super) struct InSteps<'a> {
    windows: &'a Windows,
    parts: BTreeMap<u32, Vec<Part>>,
}

/// A link that is slow in some steps.
pub(super) struct Slow {
    pub id: u32,
    /// Indices of these steps.
    pub steps: BTreeSet<usize>,
    /// Time of its slow transfers there, and at the usual speed, in nanoseconds.
    pub sum: (f64, f64),
    pub groups: Vec<(u32, SlowGroup)>,
}

impl<'a> InSteps<'a> {
    pub(super) fn new(windows: &'a Windows) -> Self {
        Self { windows, parts: BTreeMap::new() }
    }

    /// Compares links with one size in every step. A slow one takes half as long again as its peers in the
    /// step, as the usual transfer of all steps, and as its own.
    pub(super) fn compare(
        &mut self,
        links: &[Typical],
        transfers: &BTreeMap<u32, Vec<Transfer>>,
        operation: Option<CollectiveKind>,
        bytes: u64,
    ) {
        let steps = &self.windows.steps;
        if steps.len() < 2 {
            return;
        }
        let (of_all, _) = usual(links);
        let mut by_step: BTreeMap<usize, Vec<(&Typical, Typical)>> = BTreeMap::new();
        for (link, list) in links.iter().filter_map(|link| Some((link, transfers.get(&link.id)?))) {
            let mut times: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            for &(start, time) in list {
                let step = steps.partition_point(|step| step.end <= start);
                if steps.get(step).is_some_and(|step| step.start <= start) {
                    times.entry(step).or_default().push(time);
                }
            }
            for (step, mut times) in times {
                let count = times.len() as f64;
                let transfer = median(&mut times);
                let here = Typical { id: link.id, label: link.label.clone(), transfer, count };
                by_step.entry(step).or_default().push((link, here));
            }
        }
        for (step, links) in by_step.into_iter().filter(|step| step.1.len() > 1) {
            let (in_general, here): (Vec<&Typical>, Vec<Typical>) = links.into_iter().unzip();
            let peers = usual(&here).0.max(of_all);
            for (link, in_general) in here.into_iter().zip(in_general) {
                if link.exceeds(THAN_ONE, peers.max(in_general.transfer)) {
                    let part = Part { link, usual: peers, operation, bytes, step };
                    self.parts.entry(part.link.id).or_default().push(part);
                }
            }
        }
    }

    /// Slow links, except those that are slow in general.
    pub(super) fn slow(self, found: &Found<'_>) -> Vec<Slow> {
        let windows = self.windows;
        let links = self.parts.into_iter().filter(|(id, _)| !found.sums.contains_key(id));
        let slow = |(id, parts): (u32, Vec<Part>)| {
            let steps: BTreeSet<usize> = parts.iter().map(|part| part.step).collect();
            let sum = |of: &dyn Fn(&Part) -> f64| parts.iter().map(|part| of(part) * part.link.count).sum();
            let sum = (sum(&|part| part.link.transfer), sum(&|part| part.usual));
            let mut kinds: BTreeMap<(Option<CollectiveKind>, u64), Vec<&Part>> = BTreeMap::new();
            for part in &parts {
                kinds.entry((part.operation, part.bytes)).or_default().push(part);
            }
            let group = |((operation, bytes), parts): ((Option<CollectiveKind>, u64), Vec<&Part>)| {
                let typical = |of: &dyn Fn(&Part) -> f64| {
                    median(&mut parts.iter().map(|part| of(part)).collect::<Vec<_>>())
                };
                let link = Typical {
                    id,
                    label: parts[0].link.label.clone(),
                    transfer: typical(&|part| part.link.transfer),
                    count: 1.0,
                };
                let mut group = found.group(&link, &[link.id], typical(&|part| part.usual), operation, bytes);
                group.steps = parts.iter().map(|part| number(windows, part.step)).collect();
                (id, group)
            };
            Slow { id, steps, sum, groups: kinds.into_iter().map(group).collect() }
        };
        links.map(slow).collect()
    }
}

/// Number of a step; its index without numbers.
pub(super) fn number(windows: &Windows, step: usize) -> u64 {
    windows.steps.get(step).and_then(|step| step.number).unwrap_or(step as u64)
}

/// Start and end of steps, in nanoseconds.
pub(super) fn steps_of(windows: &Windows, steps: &BTreeSet<usize>) -> Vec<(i64, i64)> {
    let of = |&at: &usize| windows.steps.get(at).map(|step| (step.start, step.end));
    steps.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Kind, StragglerReport, Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    fn report(plan: &Synthetic) -> StragglerReport {
        straggler_report(&mut plan.job(), &JoinOptions::default())
    }

    /// The gradients of one shard are reduced eight times slower in two of six steps.
    #[test]
    fn a_link_that_is_slow_in_some_steps_is_named_with_its_cost() {
        let plan = Synthetic { data: 4, steps: 6, ..Synthetic::default() };
        let faulty = Synthetic { slow_links: vec![(1, 8.0)], slow_link_steps: vec![2, 3], ..plan.clone() };
        let (quiet, found) = (report(&plan), report(&faulty));
        assert!(quiet.slow_groups.is_empty(), "{:?}", quiet.slow_groups);
        assert_eq!(
            found.verdict,
            Verdict::SlowLink,
            "{:?} {:?} {:?}",
            found.culprits,
            found.reasons,
            found.slow_groups
        );
        let [named] = found.culprits.as_slice() else { panic!("{:?}", found.culprits) };
        assert_eq!((named.kind, named.ranks.as_slice()), (Kind::Group, &[1, 3, 5, 7][..]));
        let truth = (found.step_time - quiet.step_time) * 1e-9;
        assert!((named.cost_s / truth - 1.0).abs() < 0.15, "{} {truth}", named.cost_s);
        let steps: Vec<u64> = found.slow_groups.iter().flat_map(|group| group.steps.clone()).collect();
        assert_eq!(steps.len(), 2, "{:?}", found.slow_groups);
        // In most of the steps it is slow in general.
        let faulty = Synthetic { slow_link_steps: vec![1, 2, 3, 4], ..faulty };
        let found = report(&faulty);
        assert_eq!(found.verdict, Verdict::SlowLink, "{:?}", found.culprits);
    }
}
