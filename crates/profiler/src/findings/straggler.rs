//! Straggler rank.
//!
//! Responsible for: findings from the verdicts of the straggler report. Excludes ranks below the noise.

use super::{Context, Rule, percent, short, time};
use crate::NameId;
use crate::attribution::{CauseClass, Culprit, Kind, Named};
use crate::causes::{Cause, CauseUse};
use crate::profile::Finding;
use railwright_spec::human;

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
         at the median speed of its peers. Reported if it is above the noise of steps and above 0.5 % of the \
         step. Classes: slow chip (the same kernels take longer), more work (more kernels at the same rate), \
         slow host (the device is idle until it launches), slow link (transfers longer than those of peers \
         with the same bytes), memory copies, schedule.\n\n\
         `railwright stragglers` lists all ranks with times."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(report) = context.stragglers else { return Vec::new() };
        let tell = |named: &Named| {
            let culprits: Vec<&Culprit> =
                report.ranks.iter().filter(|one| named.ranks.contains(&one.rank)).collect();
            let cost = named.cost_s * 1e9;
            let cause = culprits.first().map_or(CauseClass::Unknown, |culprit| culprit.cause);
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
                // Ranks that were not traced may have absorbed it: then only the most that it can be is known.
                certainty: report.bounds_only.as_ref().map(|_| named.certainty),
                evidence: culprits
                    .iter()
                    .flat_map(|culprit| shown(culprit, named.ranks.len() > 1))
                    .chain(
                        named
                            .ranks
                            .iter()
                            .filter(|_| cause == CauseClass::SlowHost)
                            .filter_map(|&rank| doing(context, rank)),
                    )
                    .chain(context.health_of(named.ranks.iter().copied().take(4)))
                    .chain(report.bounds_only.as_ref().map(|reason| format!("an upper bound: {reason}")))
                    .collect(),
                advice: advice(cause, context.from_host()).to_owned(),
                ..Finding::default()
            }
        };
        report.culprits.iter().filter(|named| named.kind == Kind::Rank).map(tell).collect()
    }
}

/// What the host of a rank did while its device was idle, most of it.
fn doing(context: &Context<'_>, rank: u32) -> Option<String> {
    let (rank, names) = context.ranks().find(|(own, _)| own.rank == rank)?;
    let of = |part: &&CauseUse| part.cause != Cause::Device;
    let all: i64 = rank.causes.iter().filter(of).map(|part| part.time).sum();
    let most =
        rank.causes.iter().filter(of).max_by_key(|part| (part.time, std::cmp::Reverse(part.place.frame)))?;
    let frame = names.get(NameId(most.place.frame));
    Some(format!(
        "rank {}: {} of its idle time is {}{}",
        rank.rank,
        percent(most.time as f64 / all.max(1) as f64),
        most.cause.name(),
        if frame.is_empty() { ", no recorded frame".to_owned() } else { format!(" in {}", short(frame)) }
    ))
}

/// What shows a rank's cause; with its number where it is one of several.
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
        CauseClass::SlowLink => {
            "check the NIC, cable and NVLink of this rank; `railwright comm` compares its transfers with its peers"
        }
        CauseClass::Copies => "copy from pinned memory, overlap the copy with compute, or remove it",
        CauseClass::Schedule | CauseClass::Unknown => {
            "record this rank and its neighbours with stacks to find the cause"
        }
    }
}
