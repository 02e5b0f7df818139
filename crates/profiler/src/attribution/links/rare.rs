//! Links with rare slow transfers.
//!
//! Responsible for: transfers several times as long as usual for their operation and size, and groups with
//! more of them than chance gives among their peers: retransmissions, and links that fail for moments.
//! Medians do not show them. Excludes links without peers: their long transfers are a doubt only.

use super::typical::{Found, SlowGroup, Transfer, Typical};
use crate::attribution::in_turn::at_least;
use crate::windows::Windows;
use railwright_spec::{human, median};
use railwright_step::CollectiveKind;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum ratio of a long transfer to the usual one of its size: contention with compute doubles a transfer.
const LONG: f64 = 3.0;

/// Resolution of a transfer, in nanoseconds.
const RESOLVED: f64 = 2_000.0;

/// Maximum probability that a group of a dimension has its long transfers by chance, if it is named.
const BY_CHANCE: f64 = 0.01;

/// Minimum share of the steps that long transfers cost, for a doubt about "no straggler".
const NOTABLE: f64 = 0.05;

/// A long transfer.
struct Long {
    start: i64,
    time: f64,
    usual: f64,
    operation: Option<CollectiveKind>,
    bytes: u64,
    collective: u32,
}

/// The transfers of one link.
#[derive(Default)]
struct OfLink {
    /// Start of each transfer, with its place among the long ones.
    all: Vec<(i64, Option<usize>)>,
    long: Vec<Long>,
}

impl OfLink {
    /// Number of moments with long transfers: consecutive ones are one moment.
    fn moments(&mut self) -> usize {
        self.all.sort_unstable();
        let mut before = false;
        let begins = |(_, long): &&(i64, Option<usize>)| {
            let begins = long.is_some() && !before;
            before = long.is_some();
            begins
        };
        self.all.iter().filter(begins).count()
    }
}

/// Long transfers, by dimension and link.
pub(super) struct Rare {
    span: (i64, i64),
    links: BTreeMap<String, BTreeMap<u32, OfLink>>,
    /// By collective: usual time of the transfers of its size in nanoseconds, if its own is long.
    all: BTreeMap<u32, i64>,
}

impl Rare {
    pub(super) fn new(windows: &Windows) -> Self {
        Self { span: windows.span(), links: BTreeMap::new(), all: BTreeMap::new() }
    }

    /// Adds the transfers of links of one dimension with one size, with their collectives. A transfer is long
    /// relative to the usual one of the size and to that of its link.
    pub(super) fn add(
        &mut self,
        links: &[Typical],
        usual: f64,
        (operation, bytes): (Option<CollectiveKind>, u64),
        transfers: &BTreeMap<u32, Vec<Transfer>>,
        collectives: &BTreeMap<u32, Vec<u32>>,
    ) {
        for link in links {
            let least = LONG * usual.max(link.transfer) + RESOLVED;
            let lists = transfers.get(&link.id).zip(collectives.get(&link.id));
            let pairs = lists.into_iter().flat_map(|(times, collectives)| times.iter().zip(collectives));
            let within = pairs.filter(|((start, _), _)| self.span.0 <= *start && *start < self.span.1);
            // A link without peers has no reference for its counts.
            let mut of = (links.len() > 1)
                .then(|| self.links.entry(link.label.clone()).or_default().entry(link.id).or_default());
            for (&(start, time), &collective) in within {
                let is_long = time > least;
                if is_long {
                    self.all.insert(collective, usual as i64);
                }
                let Some(of) = &mut of else { continue };
                of.all.push((start, is_long.then_some(of.long.len())));
                if is_long {
                    of.long.push(Long { start, time, usual, operation, bytes, collective });
                }
            }
        }
    }

    /// All long transfers: by collective, their usual time in nanoseconds.
    pub(super) fn all(&self) -> BTreeMap<u32, i64> {
        self.all.clone()
    }

    /// Links with more long transfers than chance gives among their peers: by link, the group and the usual
    /// times of its long transfers.
    pub(super) fn slow(
        self,
        found: &Found<'_>,
        windows: &Windows,
    ) -> Vec<(u32, SlowGroup, BTreeMap<u32, i64>)> {
        let mut slow = Vec::new();
        for (label, mut links) in self.links {
            let moments: Vec<usize> = links.values_mut().map(OfLink::moments).collect();
            let counts: Vec<usize> = links.values().map(|link| link.all.len()).collect();
            let (of_all, all): (usize, usize) = (moments.iter().sum(), counts.iter().sum());
            let number = links.len() as f64;
            for (at, (id, link)) in links.into_iter().enumerate() {
                let (own, count) = (moments[at], counts[at]);
                // Half a moment of the peers, so that few transfers without one are not a certainty.
                let rate = (of_all - own) as f64 + 0.5;
                let usual = count as f64 * rate / (all - count).max(1) as f64;
                if own > 0 && at_least(own, usual) * number <= BY_CHANCE {
                    let group = group(found, id, &label, &link.long, windows);
                    slow.push((
                        id,
                        group,
                        link.long.iter().map(|one| (one.collective, one.usual as i64)).collect(),
                    ));
                }
            }
        }
        slow
    }
}

/// Operation and bytes of transfers.
type Kind = (Option<CollectiveKind>, u64);
/// Their time above the usual one, their times, and the usual time.
type Times = (f64, Vec<f64>, f64);

/// The operation and size of the longest transfers of a link, with their median.
fn group(found: &Found<'_>, id: u32, label: &str, long: &[Long], windows: &Windows) -> SlowGroup {
    let mut kinds: BTreeMap<Kind, Times> = BTreeMap::new();
    for one in long {
        let kind = kinds.entry((one.operation, one.bytes)).or_insert((0.0, Vec::new(), one.usual));
        kind.0 += one.time - one.usual;
        kind.1.push(one.time);
    }
    let most = kinds.into_iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let ((operation, bytes), (_, mut times, usual)) = most.unwrap_or_default();
    let transfer = if times.is_empty() { 0.0 } else { median(&mut times) };
    let link = Typical { id, label: label.to_owned(), transfer, count: times.len() as f64 };
    let mut group = found.group(&link, &[id], usual, operation, bytes);
    let at = |time: i64| windows.steps.partition_point(|step| step.end <= time);
    let steps: BTreeSet<usize> = long.iter().map(|one| at(one.start)).collect();
    if steps.len() < windows.steps.len() {
        let number = |&step: &usize| super::in_steps::number(windows, step);
        group.steps = steps.iter().filter(|step| **step < windows.steps.len()).map(number).collect();
    }
    group
}

/// Reason against the verdict "no straggler" if long transfers cost `saved` of `base` nanoseconds of all
/// steps.
pub(in crate::attribution) fn doubt(saved: i64, base: i64) -> Option<String> {
    let share = saved as f64 / (base as f64).max(1.0);
    (share > NOTABLE).then(|| {
        format!(
            "transfers of equal size vary: those that take {LONG:.0} times as long as usual cost {} of the step, and no \
            group has more of them than chance explains; \
             check link error and retransmission counters",
            human::percent(share)
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Kind, StragglerReport, Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    fn report(rare_long: &[(u32, u32, i64)]) -> StragglerReport {
        let plan = Synthetic { data: 4, steps: 5, rare_long: rare_long.to_vec(), ..Synthetic::default() };
        straggler_report(&mut plan.job(), &JoinOptions::default())
    }

    /// One of seven all-reduces of one tensor group takes much longer: medians show nothing.
    #[test]
    fn a_link_with_rare_long_transfers_is_named_with_its_cost() {
        let (quiet, found) = (report(&[]), report(&[(3, 7, 2_000_000)]));
        assert_eq!(quiet.verdict, Verdict::None);
        assert_eq!(found.verdict, Verdict::SlowLink, "{:?} {:?}", found.culprits, found.reasons);
        let [named] = found.culprits.as_slice() else { panic!("{:?}", found.culprits) };
        assert_eq!((named.kind, named.ranks.as_slice()), (Kind::Group, &[6, 7][..]));
        let truth = (found.step_time - quiet.step_time) * 1e-9;
        assert!((named.cost_s / truth - 1.0).abs() < 0.15, "{} {truth}", named.cost_s);
    }

    /// All groups have long transfers at the same rate, in turn.
    #[test]
    fn rare_long_transfers_of_all_groups_are_a_doubt() {
        let found = report(&[(0, 9, 2_000_000), (1, 10, 2_000_000), (2, 11, 2_000_000), (3, 12, 2_000_000)]);
        assert_eq!(found.verdict, Verdict::CannotTell, "{:?}", found.culprits);
        assert!(found.reasons.iter().any(|reason| reason.contains("equal size")), "{:?}", found.reasons);
    }
}
