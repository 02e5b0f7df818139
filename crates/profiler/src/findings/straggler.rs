//! Straggler rank.
//!
//! Responsible for: findings from the verdicts of the straggler report. Excludes ranks below the noise.

use super::{Context, EXPLAINED, Rule, percent, short, time};
use crate::NameId;
use crate::attribution::{CauseClass, Culprit, Kind, Named};
use crate::causes::Cause;
use crate::profile::{Explained, Finding, Subject};
use crate::replay::lower_median;
use crate::waterfall::RankWaterfall;
use railwright_spec::human;
use railwright_step::columns::Class;

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
         slow host (the device is idle until it launches), launch latency (launched work starts 1 ms or more \
         later on an idle device), slow link (transfers longer than those of peers with the same bytes), \
         memory copies, schedule.\n\n\
         `railwright stragglers` lists all ranks with times."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(report) = context.stragglers else { return Vec::new() };
        let tell = |named: &Named| {
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
                    "{} ({}): {} of the step",
                    match named.ranks.as_slice() {
                        [one] => format!("rank {one} is a straggler"),
                        many => format!("{} are stragglers together", human::ranks(many)),
                    },
                    named.cause,
                    named.certainty.worded(&percent(context.share(cost)))
                ),
                cost: Some(cost),
                explained: Explained::Whole,
                subject: Subject::of_ranks(named.ranks.clone(), spans(cause)),
                // Untraced ranks may have absorbed it: then only an upper bound is known.
                certainty: report.bounds_only.as_ref().map(|_| named.certainty),
                evidence: culprits
                    .iter()
                    .flat_map(|culprit| shown(culprit, named.ranks.len() > 1))
                    .chain(
                        named
                            .ranks
                            .iter()
                            .filter(|_| matches!(cause, CauseClass::SlowHost | CauseClass::LaunchLatency))
                            .filter_map(|&rank| doing(context, rank, cost).map(|found| found.0)),
                    )
                    .chain(partly.then(rest))
                    .chain(context.health_of(named.ranks.iter().copied().take(4)))
                    .chain(report.bounds_only.as_ref().map(|reason| format!("upper bound: {reason}")))
                    .collect(),
                advice: proven(context, cause, &named.ranks, cost)
                    .unwrap_or_else(|| {
                        advice(if partly { CauseClass::Unknown } else { cause }, context.from_host())
                    })
                    .to_owned(),
                ..Finding::default()
            }
        };
        report.culprits.iter().filter(|named| named.kind == Kind::Rank).map(tell).collect()
    }
}

/// Classes of the spans that show the delay: a straggler is visible in its own slow activity, not in its waits.
fn spans(cause: CauseClass) -> Vec<Class> {
    match cause {
        CauseClass::SlowHost | CauseClass::LaunchLatency => vec![Class::Host],
        CauseClass::Copies => vec![Class::Copy],
        _ => Subject::COMPUTE.to_vec(),
    }
}

/// Advice for the host activity of a slow host's first rank, if it is most of its additional idle time.
fn proven(context: &Context<'_>, cause: CauseClass, ranks: &[u32], cost: f64) -> Option<&'static str> {
    let &first = ranks.first().filter(|_| cause == CauseClass::SlowHost)?;
    let (_, cause, share) = doing(context, first, cost)?;
    super::idle::advice(cause).filter(|_| share >= PROVEN)
}

/// Host activity of a rank during its excess idle time, with its cause and share (0 to 1). Excess idle time is beyond the median of the
/// ranks; the largest part counts. `None` if it explains less than half of the cost per step, in nanoseconds: then every rank is idle for the
/// same reason, or the rank's delay is something else.
fn doing(context: &Context<'_>, rank: u32, cost: f64) -> Option<(String, Cause, f64)> {
    let (rank, names) = context.ranks().find(|(own, _)| own.rank == rank)?;
    let of = |rank: &RankWaterfall, cause: Cause| {
        rank.causes.iter().filter(|part| part.cause == cause).map(|part| part.time).sum::<i64>()
    };
    let beyond = |cause: Cause| {
        let mut all: Vec<i64> = context.waterfall.ranks.iter().map(|rank| of(rank, cause)).collect();
        of(rank, cause) - lower_median(&mut all).unwrap_or(0)
    };
    let causes = Cause::ALL.into_iter().filter(|cause| !matches!(cause, Cause::Device | Cause::NotRecorded));
    let excess: Vec<(i64, Cause)> =
        causes.map(|cause| (beyond(cause), cause)).filter(|(time, _)| *time > 0).collect();
    let all: i64 = excess.iter().map(|part| part.0).sum();
    let &(most, cause) = excess.iter().max_by_key(|&&(time, cause)| (time, std::cmp::Reverse(cause)))?;
    let steps = rank.step_causes.len() - rank.missing.len().min(rank.step_causes.len());
    if (most as f64) < EXPLAINED * cost * steps as f64 {
        return None;
    }
    let parts = rank.causes.iter().filter(|part| part.cause == cause);
    let part = parts.max_by_key(|part| (part.time, std::cmp::Reverse(part.place.frame)))?;
    let frame = names.get(NameId(part.place.frame));
    let share = most as f64 / all as f64;
    let line = format!(
        "rank {}: {} of its additional idle time is {}{}",
        rank.rank,
        percent(share),
        cause.name(),
        if frame.is_empty() { ", no recorded frame".to_owned() } else { format!(" in {}", short(frame)) }
    );
    Some((line, cause, share))
}

/// Evidence of a rank's cause; with the rank number if it is one of several.
fn shown(culprit: &Culprit, several: bool) -> Vec<String> {
    let of = if several { format!("rank {}, ", culprit.rank) } else { String::new() };
    let line = |e: &crate::attribution::Evidence| {
        let shown = |value: f64| match e.unit {
            "ns" => time(value),
            _ => human::count(value),
        };
        format!("{of}{}: {}, median of its peers {}", e.name, shown(e.own), shown(e.peers))
    };
    let waits = format!("{of}{} of all waits are attributed to it", percent(culprit.waits_share));
    culprit.evidence.iter().map(line).chain([waits]).collect()
}

fn advice(cause: CauseClass, from_host: bool) -> &'static str {
    match cause {
        CauseClass::SlowChip | CauseClass::SlowHost if from_host => {
            "check the CPUs of this host: other processes, threads that share a core, clocks and temperature, \
             garbage collection, data loading"
        }
        CauseClass::SlowChip => {
            "check clocks, temperature and power of this device; drain the host if it stays slow"
        }
        CauseClass::MoreWork => "balance the work: sequence lengths, experts, layers of stages",
        CauseClass::SlowHost => {
            "compare CPUs and clocks of this host with its peers; record with `with_stack=True` if no frame \
             shows the cause"
        }
        CauseClass::LaunchLatency => {
            "check for other processes on this device (`nvidia-smi`), and compare the step time without the \
             profiler"
        }
        CauseClass::SlowLink => {
            "check the NIC, cable and NVLink of this rank; `railwright comm` compares its transfers with its peers"
        }
        CauseClass::Copies => "copy from pinned memory, overlap the copy with compute, or remove it",
        CauseClass::Schedule | CauseClass::Unknown => {
            "record this rank and its neighbours with stacks to find the cause"
        }
    }
}
