//! Straggler rank.
//!
//! Responsible for: findings from the verdicts of the straggler report. Excludes ranks below the noise.

use super::context::EXPLAINED;
use super::words::{percent, short, time};
use super::{Context, Rule, host_work};
use crate::NameId;
use crate::attribution::{CauseClass, Culprit, Kind, Named, OwnParts, StragglerReport};
use crate::causes::Cause;
use crate::profile::{Explained, Finding, Subject};
use crate::replay::lower_median;
use crate::waterfall::RankWaterfall;
use railwright_spec::human;
use railwright_step::columns::Class;
use std::collections::BTreeMap;

/// Minimum share of the additional idle time for a cause that decides the advice.
const PROVEN: f64 = 0.5;

pub(super) struct Straggler;

impl Rule for Straggler {
    fn id(&self) -> &'static str {
        "straggler"
    }

    fn title(&self) -> &'static str {
        "Straggler rank"
    }

    fn text(&self) -> &'static str {
        "Waits are attributed to the late rank and traced to the root cause. Cost: by replay with that rank \
         at the median speed of its peers. Reported if it is above the noise of steps and above 0.5% of the \
         step. Classes: slow chip (the same kernels take longer), more work (more kernels at the same rate), \
         slow host (the device is idle until it launches), launch latency (launched kernels start 1 ms or more \
         later on an idle device), slow link (transfers longer than those of peers with the same bytes), \
         memory copies, schedule.\n\n\
         `railwright stragglers` lists all ranks with times."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(report) = context.stragglers else { return Vec::new() };
        let largest = report.culprits.iter().map(|named| named.cost_s).fold(0.0, f64::max);
        let is_largest = |named: &Named| named.cost_s >= largest;
        let rest_of = || {
            (report.unexplained > 0.0).then(|| {
                format!(
                    "delays of other ranks and stages cost another {} per step; none of them stands out",
                    time(report.unexplained)
                )
            })
        };
        // `each` is the cost of one of its ranks.
        let tell = |named: &Named, each: f64| {
            let culprits: Vec<&Culprit> =
                report.ranks.iter().filter(|one| named.ranks.contains(&one.rank)).collect();
            let cost = named.cost_s * 1e9;
            let cause = culprits.first().map_or(CauseClass::Unknown, |culprit| culprit.cause);
            // The replay gives the cost, these numbers the cause: they may explain less.
            let beyond = |culprit: &&Culprit| culprit.evidence.first().map_or(0.0, |e| e.own - e.peers);
            let accounted = culprits.iter().map(beyond).sum::<f64>().max(0.0);
            let partly = cause != CauseClass::Unknown && accounted < EXPLAINED * cost;
            let rest = || format!("this accounts for {} of the cost", percent(accounted / cost));
            Finding {
                id: self.id().to_owned(),
                message: format!(
                    "{} ({})",
                    match named.ranks.as_slice() {
                        [one] => format!("rank {one} is a straggler"),
                        many => format!("{} are joint stragglers", human::ranks(many)),
                    },
                    named.cause
                ),
                cost: Some(cost),
                explained: Explained::Whole,
                subject: Subject::of_ranks(named.ranks.clone(), spans(cause)),
                // Untraced ranks may have absorbed it: then only an upper bound is known.
                certainty: report.bounds_only.as_ref().map(|_| named.certainty),
                evidence: culprits
                    .iter()
                    .take(SHOWN)
                    .flat_map(|culprit| shown(culprit, named.ranks.len() > 1))
                    .chain(further(&culprits))
                    .chain(
                        named
                            .ranks
                            .iter()
                            .filter(|_| matches!(cause, CauseClass::SlowHost | CauseClass::LaunchLatency))
                            .filter_map(|&rank| doing(context, rank, each).map(|found| found.line)),
                    )
                    .chain(partly.then(rest))
                    .chain(context.health_of(named.ranks.iter().copied().take(4)))
                    .chain(report.bounds_only.as_ref().map(|reason| format!("upper bound: {reason}")))
                    .chain(is_largest(named).then(rest_of).flatten())
                    .collect(),
                advice: proven(context, cause, &named.ranks, each).unwrap_or_else(|| {
                    advice(if partly { CauseClass::Unknown } else { cause }, context.from_host()).to_owned()
                }),
                ..Finding::default()
            }
        };
        let (several, others) = by_cause_of_host(report);
        let joint = several.map(|one| Finding {
            message: format!("{} delay the others in turn ({})", human::ranks(&one.ranks), one.cause),
            ..tell(&one, one.cost_s * 1e9 / one.ranks.len() as f64)
        });
        joint.into_iter().chain(others.into_iter().map(|named| tell(named, named.cost_s * 1e9))).collect()
    }
}

/// Minimum number of ranks with slow hosts that are one finding: their costs add up, and the remedy is one.
const SEVERAL: usize = 3;

/// Ranks whose hosts are late for the same recorded cause, as one, and the other ranks.
fn by_cause_of_host(report: &StragglerReport) -> (Option<Named>, Vec<&Named>) {
    let ranks = || report.culprits.iter().filter(|named| named.kind == Kind::Rank);
    let is_late = |named: &Named| {
        let [rank] = named.ranks.as_slice() else { return false };
        report.ranks.iter().any(|one| one.rank == *rank && one.cause == CauseClass::SlowHost)
    };
    let first = ranks().filter(|named| is_late(named)).max_by(|a, b| a.cost_s.total_cmp(&b.cost_s));
    let Some(first) = first else { return (None, ranks().collect()) };
    let (mut alike, others): (Vec<&Named>, Vec<&Named>) =
        ranks().partition(|named| is_late(named) && named.cause == first.cause);
    if alike.len() < SEVERAL {
        return (None, ranks().collect());
    }
    alike.sort_by(|a, b| b.cost_s.total_cmp(&a.cost_s).then(a.ranks.cmp(&b.ranks)));
    let joint = Named {
        ranks: alike.iter().flat_map(|named| named.ranks.iter().copied()).collect(),
        cost_s: alike.iter().map(|named| named.cost_s).sum(),
        ..first.clone()
    };
    (Some(joint), others)
}

/// Classes of the spans that show the delay: a straggler is visible in its own slow activity, not in its
/// waits.
fn spans(cause: CauseClass) -> Vec<Class> {
    match cause {
        CauseClass::SlowHost | CauseClass::LaunchLatency => vec![Class::Host],
        CauseClass::Copies => vec![Class::Copy],
        _ => Subject::COMPUTE.to_vec(),
    }
}

/// Advice for the host activity of a slow host's first rank, if it is most of its additional idle time.
fn proven(context: &Context<'_>, cause: CauseClass, ranks: &[u32], cost: f64) -> Option<String> {
    let &first = ranks.first().filter(|_| cause == CauseClass::SlowHost)?;
    let held = || {
        let culprit = context.stragglers?.ranks.iter().find(|one| one.rank == first)?;
        held(culprit).map(|(name, _)| of_place(&name))
    };
    match doing(context, first, cost) {
        // Only an annotation: neither its code nor the clocks of the host are known.
        Some(found) if found.share < PROVEN => None,
        Some(Doing { cause: Cause::Unknown, .. }) | None => held(),
        Some(Doing { cause: Cause::HostWork, frame, .. }) => host_work::on_one_rank(context, first, &frame),
        Some(found) => super::idle::advice(context, found.cause),
    }
}

/// Advice for delays in one host activity of one rank.
fn of_place(name: &str) -> String {
    format!(
        "inspect {} on this rank, where its host is late and the hosts of its peers are not; `with_stack=True` records the functions",
        short(name)
    )
}

/// Host activity of a rank while it delays others.
struct Doing {
    /// Line of evidence.
    line: String,
    cause: Cause,
    /// Share of the cause in the additional idle time (0 to 1).
    share: f64,
    /// Name of the frame with most of it; empty without one.
    frame: String,
}

/// Host activity of a rank during its excess idle time in the intervals that delay others. Excess idle time
/// is beyond the median of the peers in the same interval; the largest part counts. `None` if it explains
/// less than half of the cost per step, in nanoseconds: then every rank is idle for the same reason, or the
/// rank's delay is something else.
fn doing(context: &Context<'_>, rank: u32, cost: f64) -> Option<Doing> {
    let member =
        context.job.position(rank).filter(|_| context.waterfall.ranks.len() == context.job.members.len())?;
    let (own, names) = context.ranks().nth(member)?;
    let origin = context.windows.span().0;
    let mut excess: BTreeMap<Cause, i64> = BTreeMap::new();
    let mut places: BTreeMap<(Cause, u32), i64> = BTreeMap::new();
    for blamed in context.replays?.blamed(member) {
        let of_own = idle_within(origin, own, &blamed.own);
        let of_peers: Vec<BTreeMap<u32, i64>> = (blamed.peers.iter())
            .filter_map(|(peer, parts)| Some((context.waterfall.ranks.get(*peer)?, parts)))
            .map(|(peer, parts)| by_cause(peer, &idle_within(origin, peer, parts)))
            .collect();
        for (cause, time) in by_cause(own, &of_own) {
            let mut usual: Vec<i64> =
                of_peers.iter().map(|peer| peer.get(&cause).copied().unwrap_or(0)).collect();
            let Some(cause) = Cause::ALL.get(cause as usize) else { continue };
            *excess.entry(*cause).or_default() += time - lower_median(&mut usual).unwrap_or(0);
        }
        for (row, time) in of_own {
            if let Some(part) = own.causes.get(row as usize) {
                *places.entry((part.cause, part.place.frame)).or_default() += time;
            }
        }
    }
    excess.retain(|cause, time| *time > 0 && !matches!(cause, Cause::Device | Cause::NotRecorded));
    let all: i64 = excess.values().sum();
    let (&cause, &most) = excess.iter().max_by_key(|&(cause, time)| (*time, std::cmp::Reverse(*cause)))?;
    let steps = own.step_causes.len() - own.missing.len().min(own.step_causes.len());
    if (most as f64) < EXPLAINED * cost * steps as f64 {
        return None;
    }
    let of_cause = places.iter().filter(|place| place.0.0 == cause);
    let (&(_, frame), _) = of_cause.max_by_key(|&(place, time)| (*time, std::cmp::Reverse(place.1)))?;
    let frame = names.get(NameId(frame));
    let share = most as f64 / all as f64;
    let line = format!(
        "rank {rank}: {} of its additional idle time has the cause `{}`{}",
        percent(share),
        cause.name(),
        if frame.is_empty() { ", no recorded frame".to_owned() } else { format!(" in {}", short(frame)) }
    );
    Some(Doing { line, cause, share, frame: frame.to_owned() })
}

/// Idle time of a rank within some times by row of its causes, in nanoseconds. The steps begin at `origin`.
fn idle_within(origin: i64, rank: &RankWaterfall, within: &OwnParts) -> BTreeMap<u32, i64> {
    let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
    for &(from, to) in within {
        let (from, to) = (from - origin, to - origin);
        let first = rank.idle.partition_point(|part| part.end <= from);
        for part in rank.idle.iter().skip(first).take_while(|part| part.start < to) {
            *sums.entry(part.row).or_default() += part.end.min(to) - part.start.max(from);
        }
    }
    sums
}

/// The same by cause, as its index in [`Cause::ALL`].
fn by_cause(rank: &RankWaterfall, rows: &BTreeMap<u32, i64>) -> BTreeMap<u32, i64> {
    let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
    for (&row, &time) in rows {
        if let Some(part) = rank.causes.get(row as usize) {
            *sums.entry(part.cause as u32).or_default() += time;
        }
    }
    sums
}

/// The host activity during most of the longest delays of a rank with a slow host, with its share of them (0
/// to 1). `None` below half.
fn held(culprit: &Culprit) -> Option<(String, f64)> {
    if culprit.cause != CauseClass::SlowHost {
        return None;
    }
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for moment in &culprit.moments {
        if let Some(name) = &moment.annotation {
            *sums.entry(name.as_str()).or_default() += moment.excess;
        }
    }
    let all: i64 = culprit.moments.iter().map(|moment| moment.excess).sum();
    let (name, most) = sums.into_iter().max_by_key(|&(_, time)| time)?;
    (2 * most > all).then(|| (name.to_owned(), most as f64 / all as f64))
}

/// Number of ranks of one finding whose evidence is listed.
const SHOWN: usize = 2;

/// The waits attributed to all ranks of a finding, if some are not listed.
fn further(culprits: &[&Culprit]) -> Option<String> {
    let more = culprits.len().checked_sub(SHOWN).filter(|more| *more > 0)?;
    let all: f64 = culprits.iter().map(|culprit| culprit.waits_share).sum();
    Some(format!(
        "{} with the same evidence; {} of all waits are attributed to all of these ranks",
        human::several(more as u64, "further rank"),
        percent(all)
    ))
}

/// Evidence of a rank's cause; with the rank number if it is one of several.
fn shown(culprit: &Culprit, several: bool) -> Vec<String> {
    let of = if several { format!("rank {}, ", culprit.rank) } else { String::new() };
    let line = |e: &crate::attribution::Evidence| {
        let is_count = matches!(e.name.as_str(), "kernels" | "operators");
        let shown = |value: f64| match e.unit {
            "ns" => time(value),
            _ if is_count => human::whole(value.round().max(0.0) as u64),
            _ => human::count(value),
        };
        // Sums over the intervals that delay others, not over whole steps.
        let when =
            if matches!(e.name.as_str(), "compute" | "kernels" | "operators") { " in delays" } else { "" };
        let each = if is_count || e.unit == "ns" && !e.name.starts_with("mean ") { " per step" } else { "" };
        format!("{of}{}{when}: {}{each} (peers: {})", e.name, shown(e.own), shown(e.peers))
    };
    let waits = format!("{of}{} of all waits are attributed to it", percent(culprit.waits_share));
    let held = held(culprit).map(|(name, share)| {
        format!("{of}{} of its longest delays: host in {}", percent(share), short(&name))
    });
    culprit.evidence.iter().map(line).chain([waits]).chain(held).collect()
}

fn advice(cause: CauseClass, from_host: bool) -> &'static str {
    match cause {
        CauseClass::SlowChip | CauseClass::SlowHost if from_host => {
            "check the CPUs of the straggler's host: other processes, threads that share a core, clocks and temperature, \
             garbage collection, data loading"
        }
        CauseClass::SlowChip => {
            "check clocks, temperature and power of the slow device; drain its host if it stays slow"
        }
        CauseClass::MoreWork => "balance the work: sequence lengths, experts, layers per stage",
        CauseClass::SlowHost => {
            "compare CPUs, clocks and other processes of the slow host with its peers; `with_stack=True` records the functions of its delays"
        }
        CauseClass::LaunchLatency => {
            "check for other processes on the slow device (`nvidia-smi`), and compare the step time without the \
             profiler"
        }
        CauseClass::SlowLink => {
            "check the NIC, cable and NVLink of the slow rank; `railwright comm` compares its transfers with its peers"
        }
        CauseClass::Copies => "copy from pinned memory, overlap copies with compute, or remove them",
        CauseClass::Schedule | CauseClass::Unknown => {
            "record the slow rank and its neighbours with stacks to find the cause"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::straggler_report;
    use crate::certainty::Certainty;
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    #[test]
    fn late_hosts_of_one_cause_are_one_finding() {
        let plan = Synthetic { data: 8, tensor: 1, ..Synthetic::default() };
        let mut report = straggler_report(&mut plan.job(), &JoinOptions::default());
        report.ranks.iter_mut().for_each(|one| one.cause = CauseClass::SlowHost);
        let named = |rank: u32, cost_s: f64, cause: &'static str| Named {
            kind: Kind::Rank,
            ranks: vec![rank],
            stage: None,
            cause,
            cost_s,
            certainty: Certainty::Replayed,
        };
        report.culprits =
            vec![named(3, 0.1, "slow host"), named(5, 0.4, "slow host"), named(1, 0.2, "data loading")];
        let (joint, others) = by_cause_of_host(&report);
        assert!(joint.is_none() && others.len() == 3, "two of one cause: {joint:?}");
        report.culprits.push(named(6, 0.2, "slow host"));
        let (joint, others) = by_cause_of_host(&report);
        let joint = joint.expect("three of one cause");
        assert_eq!(joint.ranks, [5, 6, 3]);
        assert!((joint.cost_s - 0.7).abs() < 1e-9, "{joint:?}");
        assert_eq!(others.iter().map(|one| one.ranks[0]).collect::<Vec<u32>>(), [1]);
        // Slow chips have a remedy each.
        report.ranks.iter_mut().for_each(|one| one.cause = CauseClass::SlowChip);
        assert!(by_cause_of_host(&report).0.is_none());
    }
}
