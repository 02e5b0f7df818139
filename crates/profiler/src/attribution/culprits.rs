//! Ranks that may delay others.
//!
//! Responsible for: their selection, and the cost, cause and worst intervals of each. Does not decide which
//! of them the verdict names.

use super::blame::Charges;
use super::cause::{CauseClass, Evidence, class};
use super::compared::{compared, compared_steps};
use super::measured::Measured;
use super::mending::Delay;
use super::paced::paced;
use super::report::{Culprit, Moment};
use super::stages::SlowStage;
use super::steps;
use super::stretch::Stretch;
use super::uneven::uneven;
use crate::Job;
use crate::causes::{Cause, of_delays};
use crate::certainty::Certainty;
use crate::trace::{HostActivity, HostKind};

/// Number of ranks replayed by attributed waits, and by own delays.
const REPLAYED: usize = 12;

/// Number of listed intervals of a rank.
const MOMENTS: usize = 5;

/// Members to replay: those with the largest charged waits, those with the largest own delays, which others
/// may hide, and slow ranks of single stages.
pub(super) fn candidates(charges: &Charges, excess: &[i64], stages: &[SlowStage]) -> Vec<usize> {
    let by = |key: &dyn Fn(usize) -> f64| {
        let mut order: Vec<usize> = (0..excess.len()).collect();
        order.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
        order
    };
    let mut order = by(&|m| charges.waits[m] + charges.lateness[m] as f64);
    let late = order.split_off(order.len().min(REPLAYED));
    let longest = by(&|m| excess[m] as f64);
    order.extend(longest.into_iter().take(REPLAYED).filter(|member| late.contains(member)));
    let alone =
        stages.iter().filter(|stage| stage.of_rank().is_some()).flat_map(|stage| stage.members.clone());
    let unlisted: Vec<usize> = alone.filter(|member| !order.contains(member)).collect();
    order.extend(unlisted);
    order
}

impl Measured<'_> {
    /// A member with its cost, the cause of its lateness and the intervals that others waited for.
    pub(super) fn culprit(&self, member: usize) -> Culprit {
        let (job, charges, count) = (self.job, self.charges, self.count);
        let span = self.mending.span(&[Delay::Member(member)]);
        let cost = ((self.base - span) as f64 / count).max(0.0);
        let (cause, evidence) = self.cause(member);
        let moments = self.moments(member);
        let called = cause.called(self.occupancies[member].host_alone);
        let host = if cause == CauseClass::SlowHost { self.host_cause(member, &moments) } else { None };
        Culprit {
            rank: job.members[member].rank,
            host: job.members[member].trace.identity.host.clone(),
            cost,
            certainty: Certainty::Replayed,
            share: self.share(cost),
            at_most: self.at_most(member),
            is_straggler: false,
            waits: charges.waits[member] / count,
            waits_share: if charges.total > 0.0 { charges.waits[member] / charges.total } else { 0.0 },
            lateness: charges.lateness[member] as f64 / count,
            last: charges.last[member],
            cause,
            cause_name: host.map_or(called, Cause::name),
            evidence,
            moments,
        }
    }

    /// Class of the cause of a member's lateness, with three numbers.
    fn cause(&self, member: usize) -> (CauseClass, Vec<Evidence>) {
        let (stretches, occupancies, count) = (self.stretches, self.occupancies, self.count);
        // Intervals that other ranks waited for; all of them without waits.
        let blamed = |stretch: &Stretch| stretch.own > stretch.usual;
        let compared = compared(member, self.chains, stretches, occupancies, &blamed);
        let from_host = occupancies[member].host_alone;
        let whole = || compared_steps(member, stretches, occupancies, self.opened, &blamed);
        let (mut cause, mut evidence) = class(&compared, count, from_host, whole);
        if cause == CauseClass::SlowChip && !from_host {
            // Some GEMMs take longer in every call and others do not, so the chip is not slow.
            let span = self.windows.span();
            if let Some(more) = uneven(self.job, self.names, member, &stretches.peers_of(member), span) {
                cause = CauseClass::MoreWork;
                if let Some(mean) = evidence.last_mut() {
                    *mean = more;
                }
            }
        }
        if cause == CauseClass::Unknown
            && let Some(launches) = paced(self.chains, stretches, member, count)
        {
            cause = CauseClass::SlowHost;
            evidence.insert(0, launches);
            evidence.truncate(3);
        }
        let mut alone = self.mending.stages.iter().filter(|stage| stage.members.contains(&member));
        if let Some((class, stage)) = alone.find_map(|stage| Some((stage.of_rank()?, stage))) {
            cause = class;
            evidence.insert(0, stage.evidence(count));
            evidence.truncate(3);
        } else if let Some(stage) =
            self.mending.stages.iter().find(|stage| stage.is_of_hosts() && stage.members.contains(&member))
        {
            // The peers of the rank are those of its stage, whose hosts are as slow.
            cause = CauseClass::SlowHost;
            evidence.insert(0, stage.evidence(count));
            evidence.truncate(3);
        }
        (cause, evidence)
    }

    /// Recorded cause of a late host in the intervals with the largest waits.
    fn host_cause(&self, member: usize, moments: &[Moment]) -> Option<Cause> {
        let delay = |moment: &Moment| {
            let until = self.origin() + moment.start + moment.own;
            (until - moment.excess, until)
        };
        let delays: Vec<(i64, i64)> = moments.iter().map(delay).collect();
        of_delays(&self.job.members[member].trace, &delays)
    }

    /// Intervals of a member with the largest waits.
    fn moments(&self, member: usize) -> Vec<Moment> {
        let here = (member as u32, 0)..=(member as u32, u32::MAX);
        let mut worst: Vec<(u32, f64)> =
            self.charges.stretches.range(here).map(|(&(_, place), &wait)| (place, wait)).collect();
        worst.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let moment = |(place, waits): (u32, f64)| {
            let stretch = self.stretches.get((member as u32, place));
            let collective = self.joined.matching.collectives.get(stretch.collective as usize);
            let delay = (stretch.own - stretch.usual).max(0);
            Moment {
                step: steps::at(self.opened, stretch.to),
                start: stretch.from - self.origin(),
                own: stretch.own,
                excess: delay,
                waits,
                before: collective.and_then(|collective| collective.operation),
                annotation: activity(self.job, member, (stretch.to - delay, stretch.to)),
            }
        };
        worst.into_iter().take(MOMENTS).map(moment).collect()
    }
}

/// The innermost annotation of a member that lasts for at least half of a delay (from, until); `None` without
/// one. A rank is late by the end of an interval, so the delay is there. Digests have annotations, and no
/// other host activity.
fn activity(job: &Job, member: usize, (from, until): (i64, i64)) -> Option<String> {
    let trace = &job.members.get(member)?.trace;
    let least = ((until - from) / 2).max(1);
    let lasts = |row: &HostActivity| row.end.min(until) - row.start.max(from) >= least;
    let around = trace.host.iter().filter(|row| row.kind == HostKind::Annotation && lasts(row));
    let innermost = around
        .filter(|row| !trace.names.get(row.name).starts_with("ProfilerStep#"))
        .min_by_key(|row| (row.duration(), std::cmp::Reverse(row.start)))?;
    Some(trace.names.get(innermost.name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{CauseClass, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// A host that stands still, with a frame over a part of that time.
    #[test]
    fn the_recorded_activity_of_a_late_host_is_its_cause() {
        let plan = Synthetic { data: 8, stalls: vec![(6, 2, 20_000_000)], ..Synthetic::default() };
        let bare = straggler_report(&mut plan.job(), &JoinOptions::default());
        let moment = &bare.ranks[0].moments[0];
        let end = bare.origin + moment.start + moment.own;
        let of = |name: &str, covered: i64, beside: Option<u32>| {
            let mut job = plan.job();
            let trace = &mut job.members[6].trace;
            let launching = trace.host.iter().find(|row| row.correlation.is_some()).expect("a launch").thread;
            let row = HostActivity {
                start: end - covered,
                end,
                name: trace.names.intern(name),
                kind: HostKind::Operator,
                thread: beside.map_or(launching, |other| launching + other),
                ..HostActivity::default()
            };
            trace.host.push(row);
            trace.host.sort();
            let report = straggler_report(&mut job, &JoinOptions::default());
            assert_eq!((report.ranks[0].rank, report.ranks[0].cause), (6, CauseClass::SlowHost));
            assert_eq!(report.culprits[0].cause, report.ranks[0].cause_name);
            report.ranks[0].cause_name
        };
        let loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
        let most = moment.excess * 9 / 10;
        assert_eq!(bare.ranks[0].cause_name, "slow host");
        assert_eq!(of(loader, most, None), "data loading");
        assert_eq!(of("save_checkpoint", most, None), "checkpoint");
        assert_eq!(of("gc.collect", most, None), "garbage collection");
        assert_eq!(of("aten::mm", most, None), "slow host");
        // Less than half of the delay, and a thread without launches.
        assert_eq!(of(loader, moment.excess / 4, None), "slow host");
        assert_eq!(of(loader, most, Some(1)), "slow host");
    }
}
