//! Ranks that delay each other in turn.
//!
//! Responsible for: the reason against a verdict if the named ranks are not exceptions, because most ranks
//! are as late as they are. Garbage collection pauses every rank in different steps, and a slow data set
//! delays any of them. Does not find the cause.

use super::cause::CauseClass;
use super::jitter::Beyond;
use super::nodes::nodes;
use super::verdict::{Kind, Named};
use crate::Job;
use railwright_spec::Portable as _;
use std::collections::BTreeSet;

/// Minimum ratio of the smallest to the largest cost of ranks that delay each other in turn.
const SIMILAR: f64 = 0.5;

/// Reason against naming every recorded rank at a similar cost: none of them is a reference for the others.
pub(super) fn in_turn(job: &Job, named: &[Named]) -> Option<String> {
    let ranks: Vec<&Named> = named.iter().filter(|one| one.kind == Kind::Rank).collect();
    let all: BTreeSet<u32> = ranks.iter().flat_map(|one| one.ranks.iter().copied()).collect();
    let costs = || ranks.iter().map(|one| one.cost_s);
    let (least, most) = (costs().fold(f64::INFINITY, f64::min), costs().fold(0.0, f64::max));
    (all.len() > 1 && all.len() == job.members.len() && least >= SIMILAR * most)
        .then(|| format!("all {} recorded ranks delay each other in turn at similar costs", all.len()))
}

/// Removes ranks at less than half of the largest cost if every recorded rank is named: each of them is late
/// at times, and only the largest cost is an exception. Both lists are parallel.
pub(super) fn keep_exceptions<F>(job: &Job, found: &mut Vec<F>, named: &mut Vec<Named>) {
    let ranks: Option<BTreeSet<u32>> = of_ranks(named);
    let most = named.iter().map(|one| one.cost_s).fold(0.0, f64::max);
    if ranks.is_none_or(|ranks| ranks.len() < 2 || ranks.len() < job.members.len()) {
        return;
    }
    let keeps: Vec<bool> = named.iter().map(|one| one.cost_s >= SIMILAR * most).collect();
    let mut of_found = keeps.iter();
    found.retain(|_| of_found.next().copied().unwrap_or(true));
    let mut of_named = keeps.iter();
    named.retain(|_| of_named.next().copied().unwrap_or(true));
}

/// Keeps the largest cost if every recorded rank is named although one of them causes most waits: the others
/// are late at times. Both lists are parallel, largest cost first.
pub(super) fn keep_dominant<F>(job: &Job, found: &mut Vec<F>, named: &mut Vec<Named>) {
    if of_ranks(named).is_some() && in_turn(job, named).is_some() {
        found.truncate(1);
        named.truncate(1);
    }
}

/// Ranks that are named, if nothing else is. Ranks of a named stage or of sequences are named for another
/// reason.
fn of_ranks(named: &[Named]) -> Option<BTreeSet<u32>> {
    let is_of_ranks = |one: &Named| one.kind == Kind::Rank && one.stage.is_none();
    let are_ranks = !named.is_empty() && named.iter().all(is_of_ranks);
    are_ranks.then(|| named.iter().flat_map(|one| one.ranks.iter().copied()).collect())
}

/// Minimum ratio of the excess of most ranks to the largest one of the named ranks: a rank three times as
/// late as most others is an exception.
const COMPARABLE: f64 = 1.0 / 3.0;

/// Reason against naming a few of many ranks that are late as much: more than half of all ranks. `evident` is
/// the excess over the peers without jitter by member, in nanoseconds of all `count` steps. Ranks that pause
/// in one step hide each other. Therefore more late ranks than named ones suffice if the others' delays cost
/// more: `rest`, in nanoseconds per step.
pub(super) fn visited(
    job: &Job,
    named: &[Named],
    evident: &[i64],
    (count, rest): (f64, f64),
) -> Option<String> {
    let ranks = of_ranks(named)?;
    let of_named = job.members.iter().zip(evident).filter(|(member, _)| ranks.contains(&member.rank));
    let most = of_named.map(|(_, &evident)| evident).max()?;
    if is_of_stages(named, most, count) {
        return None;
    }
    let late = evident.iter().filter(|&&evident| evident as f64 >= COMPARABLE * most as f64).count();
    let cost: f64 = named.iter().map(|one| one.cost_s * 1e9).sum();
    let is_most = late * 2 > evident.len() || (rest > cost && late > 2 * ranks.len());
    (most > 0 && is_most).then(|| {
        format!(
            "{late} of {} recorded ranks delay each other in turn by comparable times: no rank stands out (garbage \
            collection, \
             data loading or uneven experts)",
            evident.len()
        )
    })
}

/// Tests whether ranks cost far more than the largest excess of one of them: a rank without peers is named by
/// its stage, and not by its excess. `most` is in nanoseconds of all `count` steps.
fn is_of_stages(named: &[Named], most: i64, count: f64) -> bool {
    let dearest = named.iter().map(|one| one.cost_s * 1e9 * count).fold(0.0, f64::max);
    (most as f64) < SIMILAR * dearest
}

/// Tests whether most of the cost is due to hosts, or has an unknown cause: a busy device does not pause.
fn may_pause(named: &[Named]) -> bool {
    let is_busy = |one: &&Named| {
        let busy = [
            CauseClass::SlowChip.called(false),
            CauseClass::SlowChip.called(true),
            CauseClass::MoreWork.name(),
        ];
        busy.contains(&one.cause)
    };
    let cost = |named: &mut dyn Iterator<Item = &Named>| named.map(|one| one.cost_s).sum::<f64>();
    cost(&mut named.iter().filter(is_busy)) <= (1.0 - SIMILAR) * cost(&mut named.iter())
}

/// Minimum number of ranks with pauses for which no rank is an exception.
const PAUSED: usize = 4;

/// Minimum number of steps in which pauses can be compared with chance.
const STEPS: f64 = 3.0;

/// Maximum probability that the pauses of the most frequently paused rank of a job, or those of all ranks,
/// are distributed by chance, if ranks are named.
const BY_CHANCE: f64 = 0.01;

/// Standard normal quantile of [`BY_CHANCE`].
const QUANTILE: f64 = 2.326;

/// Reason against naming ranks for pauses that many ranks have, none of them more often than chance gives.
/// Applies to ranks whose excess is mostly pauses of their hosts, in `steps` steps. A pause counts if it is
/// at least a third of the longest one of the named ranks. Pauses of ranks of a single node are no such case,
/// nor are those of a job in which one rank, or a few, pause more often than chance gives.
pub(super) fn paused(job: &Job, named: &[Named], beyond: &[Beyond], steps: f64) -> Option<String> {
    let ranks = of_ranks(named).filter(|_| steps >= STEPS && may_pause(named))?;
    let is_named: Vec<bool> = job.members.iter().map(|member| ranks.contains(&member.rank)).collect();
    let of_named = || beyond.iter().zip(&is_named).filter(|(_, is_named)| **is_named).map(|(one, _)| one);
    let longest = of_named().flat_map(|one| one.pauses.iter().copied()).max()?;
    let (pauses, evident) = of_named().fold((0, 0), |(pauses, evident), one| {
        (pauses + one.pauses.iter().sum::<i64>(), evident + one.evident)
    });
    let most = of_named().map(|one| one.evident).max()?;
    if (pauses as f64) < SIMILAR * evident as f64 || is_of_stages(named, most, steps) {
        return None;
    }
    let counts: Vec<usize> = beyond
        .iter()
        .map(|one| one.pauses.iter().filter(|&&pause| pause as f64 >= COMPARABLE * longest as f64).count())
        .collect();
    let late: Vec<usize> = (0..counts.len()).filter(|&member| counts[member] > 0).collect();
    if late.len() < PAUSED {
        return None;
    }
    let nodes = nodes(job);
    let node = |member: usize| nodes.get(&job.members[member].rank);
    let has_one_node = late.iter().all(|&member| node(member) == node(late[0])) && node(late[0]).is_some();
    let has_nodes = (0..counts.len()).any(|member| node(member) != node(late[0]));
    if has_one_node && has_nodes {
        return None;
    }
    let (all, ranks) = (counts.iter().sum::<usize>(), counts.len());
    let is_exception = |count: usize| {
        let usual = (all - count) as f64 / (ranks - 1) as f64;
        at_least(count, usual) * ranks as f64 <= BY_CHANCE
    };
    if counts.iter().any(|&count| is_exception(count)) || are_uneven(&counts) {
        return None;
    }
    Some(format!(
        "{} of {ranks} recorded ranks have {all} pauses of comparable lengths, and no rank has more of them than \
        chance explains: \
         ranks delay each other in turn (garbage collection or data loading)",
        late.len()
    ))
}

/// Tests whether ranks have more different counts than chance gives, if each event is equally likely on all
/// of them: a few ranks then have most of the events, although each of them alone may be no exception among
/// the others. The sum of squares relative to the mean follows a chi-squared distribution, whose quantile is
/// that of Wilson and Hilferty.
fn are_uneven(counts: &[usize]) -> bool {
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let squares: f64 = counts.iter().map(|&count| (count as f64 - mean).powi(2)).sum();
    let freedom = counts.len() as f64 - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    freedom >= 1.0 && squares > mean * freedom * (1.0 - spread + QUANTILE * spread.sqrt()).powi(3)
}

/// Probability of at least `count` events of a Poisson distribution with this mean.
pub(super) fn at_least(count: usize, mean: f64) -> f64 {
    let (mut term, mut below) = ((-mean).portable_exp(), 0.0);
    for at in 0..count {
        below += term;
        term *= mean / (at + 1) as f64;
    }
    (1.0 - below).max(0.0)
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// Half of the ranks pause once. Those that share a step hide each other, so that no one of them costs
    /// the step anything.
    #[test]
    fn pauses_that_hide_each_other_are_no_ranks_fault() {
        let stalls: Vec<(u32, u32, i64)> =
            (0..8_u32).map(|at| (2 * at, [1, 2, 3, 3, 4, 4, 5, 5][at as usize], 20_000_000)).collect();
        let plan = Synthetic { data: 8, steps: 8, stalls, ..Synthetic::default() };
        let report = straggler_report(&mut plan.job(), &JoinOptions::default());
        assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.culprits);
        assert!(report.reasons.iter().any(|reason| reason.contains("in turn")), "{:?}", report.reasons);
    }

    /// Every rank pauses once, each in another step or layer; the pauses of three of them are somewhat
    /// longer.
    #[test]
    fn pauses_that_visit_all_ranks_are_no_ranks_fault() {
        let ranks = 16;
        let plan = Synthetic { data: ranks / 2, steps: 8, ..Synthetic::default() };
        let stalls: Vec<(u32, u32, i64)> = (0..ranks)
            .map(|rank| (rank, rank * 5 % 8, 20_000_000 + i64::from(rank % 5) * 2_000_000))
            .collect();
        let report =
            straggler_report(&mut Synthetic { stalls, ..plan.clone() }.job(), &JoinOptions::default());
        assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.culprits);
        assert!(report.culprits.is_empty());
        assert!(report.reasons.iter().any(|reason| reason.contains("in turn")), "{:?}", report.reasons);
        // A few of the ranks are an exception.
        let stalls: Vec<(u32, u32, i64)> = vec![(3, 2, 20_000_000), (3, 5, 20_000_000), (9, 4, 20_000_000)];
        let report = straggler_report(&mut Synthetic { stalls, ..plan }.job(), &JoinOptions::default());
        assert_eq!(report.verdict, Verdict::Straggler);
    }

    /// Half of the ranks pause in a random step, as garbage collection does. Too few for "most ranks", and no
    /// rank is an exception.
    #[test]
    fn pauses_of_many_ranks_by_chance_are_no_ranks_fault() {
        let plan = Synthetic { data: 16, steps: 8, ..Synthetic::default() };
        let stalls: Vec<(u32, u32, i64)> = (0..10_u32)
            .map(|at| (at * 13 % 32, at * 7 % 8, 18_000_000 + i64::from(at % 4) * 3_000_000))
            .collect();
        let report = straggler_report(
            &mut Synthetic { stalls: stalls.clone(), ..plan.clone() }.job(),
            &JoinOptions::default(),
        );
        assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.culprits);
        assert!(report.reasons.iter().any(|reason| reason.contains("pauses")), "{:?}", report.reasons);
        // One rank pauses for longer in most steps: an exception among the same pauses.
        let often = (0..8_u32).filter(|step| *step != 3).map(|step| (5, step, 45_000_000));
        let stalls = stalls.into_iter().chain(often).collect();
        let report = straggler_report(&mut Synthetic { stalls, ..plan }.job(), &JoinOptions::default());
        assert_eq!(report.verdict, Verdict::Straggler, "{:?}", report.reasons);
        assert!(report.culprits.iter().any(|one| one.ranks == [5]), "{:?}", report.culprits);
    }

    /// Both ranks of a job are late at times. The rank with most of the delays is an exception, the other one
    /// is its only reference.
    #[test]
    fn not_every_recorded_rank_is_named() {
        let stalls = vec![(0, 0, 40_000_000), (0, 1, 40_000_000), (0, 3, 40_000_000), (1, 2, 30_000_000)];
        let plan = Synthetic { tensor: 1, data: 2, steps: 4, stalls, ..Synthetic::default() };
        let report = straggler_report(&mut plan.job(), &JoinOptions::default());
        assert_eq!(report.verdict, Verdict::Straggler, "{:?}", report.reasons);
        let named: Vec<&[u32]> = report.culprits.iter().map(|one| one.ranks.as_slice()).collect();
        assert_eq!(named, [[0]], "{:?}", report.culprits);
    }

    /// The hosts of a quarter of the ranks pause before every step: too many for one rank to be an exception,
    /// and far too regular for chance.
    #[test]
    fn pauses_of_the_same_ranks_in_every_step_are_theirs() {
        let slow = 8..16_u32;
        let stalls = slow
            .clone()
            .flat_map(|rank| {
                (0..5).map(move |step| (rank, step, 10_000_000 + i64::from(rank * 7 % 5 + step) * 200_000))
            })
            .collect();
        let plan = Synthetic { data: 16, steps: 5, stalls, ..Synthetic::default() };
        let report = straggler_report(&mut plan.job(), &JoinOptions::default());
        assert_eq!(report.verdict, Verdict::Straggler, "{:?}", report.reasons);
        let named: Vec<u32> = report.culprits.iter().flat_map(|one| one.ranks.clone()).collect();
        assert_eq!(named, slow.collect::<Vec<_>>(), "{:?}", report.culprits);
    }

    /// Chips of a quarter of the ranks are slow: a busy device does not pause.
    #[test]
    fn slow_chips_are_no_pauses() {
        let slow_chip = (8..16).map(|rank| (rank, 1.15)).collect();
        let plan = Synthetic { data: 16, steps: 4, slow_chip, ..Synthetic::default() };
        let report = straggler_report(&mut plan.job(), &JoinOptions::default());
        assert_eq!(report.verdict, Verdict::Straggler, "{:?}", report.reasons);
    }

    /// Published quantiles: 99% of a chi-squared distribution with 31 degrees of freedom lie below 52.19.
    #[test]
    fn counts_that_differ_more_than_by_chance() {
        let counts =
            |of_slow: usize| (0..32).map(|rank| if rank < 8 { of_slow } else { 0 }).collect::<Vec<_>>();
        // The sum of squares is 24 times the count of a slow rank.
        assert!(!super::are_uneven(&counts(2)));
        assert!(super::are_uneven(&counts(3)));
        assert!(!super::are_uneven(&[3; 32]));
    }

    /// Published tail: a Poisson variable of mean 1 is at least 3 with probability 0.0803, one of mean 0.1 at
    /// least 2 with 0.00468.
    #[test]
    fn the_tail_of_rare_events() {
        assert!((super::at_least(3, 1.0) - 0.0803).abs() < 1e-4);
        assert!((super::at_least(2, 0.1) - 0.00468).abs() < 1e-5);
        assert!((super::at_least(0, 0.3) - 1.0).abs() < 1e-12);
    }
}
