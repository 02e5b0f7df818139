//! Report of the stragglers of a job.
//!
//! Responsible for: the value that the `stragglers` command prints: cost of every rank per step by replay, ranks above the noise, their
//! causes and times. Excludes ranks whose effect is below the noise of the steps.

use super::blame::{Charged, Charges, charge};
use super::cause::{CauseClass, Evidence, class, compared, compared_steps};
use super::chain::{Chains, Event};
use super::jitter::beyond;
use super::links::{SlowGroup, slow_groups};
use super::opening::{opened, opening};
use super::paced::paced;
use super::peers::{Stretch, Stretches};
use super::replay::{Unrecorded, replay};
use super::stages::slow_stages;
use super::steps;
use super::uneven::{is_attention, uneven};
use super::verdict::{Delay, Doubts, Kind, Mending, Named, Verdict};
use super::{idleness, lengths};
use crate::Job;
use crate::certainty::Certainty;
use crate::clocks::Clocks;
use crate::communication::{NameTable, Operation};
use crate::joined::{JoinOptions, Joined, join};
use crate::occupancy::Occupancy;
use crate::telemetry::Health;
use crate::trace::HostKind;
use crate::view::{Tables, View};
use crate::windows::{Windows, windows_by};
use crate::workers::{OneByOne, Workers};
use railwright_spec::problem::Warning;
use serde::Serialize;
use std::collections::BTreeSet;

/// Number of ranks replayed by attributed waits, and by own delays.
const REPLAYED: usize = 12;

/// Minimum reported cost as a share of a step, regardless of noise.
const LEAST_SHARE: f64 = 0.005;

/// A straggler: a rank that delays others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// The rank.
    pub rank: u32,
    /// Its host, if recorded.
    pub host: Option<String>,
    /// Step time saved if it ran like the median of its peers, in nanoseconds. Equals the upper bound `at_most` if ranks were not traced.
    #[serde(rename = "cost_ns")]
    pub cost: f64,
    /// Certainty of the cost.
    pub certainty: Certainty,
    /// Cost as a share of the step (0 to 1).
    pub share: f64,
    /// Upper bound, in nanoseconds: excess of its intervals over its peers, summed over a step. Valid for any
    /// behaviour of untraced ranks.
    #[serde(rename = "at_most_ns")]
    pub at_most: f64,
    /// True if the verdict names it.
    pub is_straggler: bool,
    /// Waits of all ranks caused by it, per step, in nanoseconds.
    #[serde(rename = "waits_ns")]
    pub waits: f64,
    /// Share of all waits (0 to 1).
    pub waits_share: f64,
    /// Time by which it entered collectives last, after the last but one, per step, in nanoseconds.
    #[serde(rename = "lateness_ns")]
    pub lateness: f64,
    /// Number of collectives that it entered last: for comparison only.
    pub last: u32,
    /// The class of the cause.
    pub cause: CauseClass,
    /// Name of the cause: a rank without a device has a slow processor, not a slow chip.
    pub cause_name: &'static str,
    /// Three numbers as evidence of the cause.
    pub evidence: Vec<Evidence>,
    /// Intervals with the largest waits, the worst first.
    pub moments: Vec<Moment>,
}

/// An interval of a rank that others waited for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// Step, if steps have numbers.
    pub step: Option<u32>,
    /// Start time, in nanoseconds since the steps began.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// Duration on the rank in nanoseconds.
    #[serde(rename = "own_ns")]
    pub own: i64,
    /// Excess over its peers, in nanoseconds.
    #[serde(rename = "excess_ns")]
    pub excess: i64,
    /// Waits charged to it, in nanoseconds.
    #[serde(rename = "waits_ns")]
    pub waits: f64,
    /// The late operation.
    pub before: Option<Operation>,
    /// The innermost host annotation around its middle.
    pub annotation: Option<String>,
}

/// Straggler report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StragglerReport {
    /// Readings of device and network-card counters per rank, if recorded with the traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Kind of the delay, none, or inconclusive.
    pub verdict: Verdict,
    /// Reasons for an inconclusive verdict.
    pub reasons: Vec<String>,
    /// Stragglers, largest cost first; empty if inconclusive.
    pub culprits: Vec<Named>,
    /// Ranks that were traced.
    pub ranks_traced: u32,
    /// Ranks of the job.
    pub world_size: u32,
    /// True if the world size is recorded. Otherwise it is a lower bound.
    pub world_size_known: bool,
    /// Number of analysed steps; 1 without step marks.
    pub steps: u32,
    /// The mean step, in nanoseconds.
    #[serde(rename = "step_time_ns")]
    pub step_time: f64,
    /// Step time with all ranks at the median speed of their peers.
    #[serde(rename = "step_time_without_ns")]
    pub step_time_without: f64,
    /// Minimum reported cost, in nanoseconds per step. The largest of: the variation between steps (at most 5% of a step), 0.5% of a step,
    /// and the replay error.
    #[serde(rename = "noise_ns")]
    pub noise: f64,
    /// Replay error as a share of the steps.
    pub replay_error: f64,
    /// Reason why costs are upper bounds ("at most"): untraced ranks may have absorbed them. `None` if all
    /// were traced.
    pub bounds_only: Option<String>,
    /// Waits of all ranks per step, in nanoseconds, summed over ranks.
    #[serde(rename = "waits_ns")]
    pub waits: f64,
    /// Idle share of a device during a typical step (0 to 1), mean over the ranks.
    pub idle: f64,
    /// True if no rank has a device. Host compute then replaces device compute, and time outside of operators counts as idle time.
    pub from_host: bool,
    /// True if hosts, not ranks, limit the job: every device is idle for longer than it computes, excluding waits for other ranks.
    pub host_bound: bool,
    /// Ranks by cost. Those named by the verdict are stragglers; there may be none.
    pub ranks: Vec<Culprit>,
    /// Start of the steps, in nanoseconds: the origin of all moments.
    #[serde(skip)]
    pub origin: i64,
    /// Every wait and its root, in order of time.
    #[serde(skip)]
    pub charged: Vec<Charged>,
    /// Groups with slow transfers.
    pub slow_groups: Vec<SlowGroup>,
    /// Ranks of every stage with longer compute than the others, for any verdict.
    #[serde(skip)]
    pub slow_stages: Vec<Vec<u32>>,
    /// Clock alignment.
    pub clocks: Clocks,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl StragglerReport {
    /// Ranks that the verdict names.
    pub fn stragglers(&self) -> impl Iterator<Item = &Culprit> {
        self.ranks.iter().filter(|culprit| culprit.is_straggler)
    }

    /// Step time saved without all named delays, in nanoseconds.
    pub fn joint(&self) -> f64 {
        self.culprits.iter().map(|named| named.cost_s * 1e9).sum()
    }
}

/// Joins a job (with aligned clocks) and attributes waits to stragglers.
pub fn straggler_report(job: &mut Job, options: &JoinOptions) -> StragglerReport {
    let joined = join(job, options);
    joined_straggler_report(job, &joined, options.names.as_ref(), &OneByOne)
}

/// Attributes waits of a joined job to stragglers. `names` is the table used for joining; the shipped one by default.
pub fn joined_straggler_report(
    job: &Job,
    joined: &Joined,
    names: Option<&NameTable>,
    workers: &impl Workers,
) -> StragglerReport {
    let mut tables = Tables::shipped();
    if let Some(names) = names {
        tables.communication = names.clone();
    }
    let views = workers.map(&job.members, |_, member| View::new(&member.trace, &tables));
    let mut windows = windows_by(&views, joined, workers);
    drop(views);
    windows.leave_out_warm_up(job.members.iter().map(|member| &member.trace));
    let mut report = stragglers_of(job, joined, &tables.communication, &windows, workers);
    report.warnings.extend(windows.warnings);
    report
}

/// Attributes waits of a joined job to stragglers, within its steps.
pub fn stragglers_of(
    job: &Job,
    joined: &Joined,
    names: &NameTable,
    windows: &Windows,
    workers: &impl Workers,
) -> StragglerReport {
    let occupancies = workers.map(&job.members, |_, member| Occupancy::of(&member.trace, names));
    judge(job, joined, (&occupancies, names), windows, workers)
}

fn judge(
    job: &Job,
    joined: &Joined,
    (occupancies, names): (&[Occupancy], &NameTable),
    windows: &Windows,
    workers: &impl Workers,
) -> StragglerReport {
    let opening = opening(job, occupancies, windows);
    let with_opening = opened(windows, opening);
    let chains = Chains::of(job, joined, occupancies, &with_opening, workers);
    let stretches = Stretches::of(&chains, joined);
    let charges = charge(&chains, joined, &stretches);
    let measured = |member: usize, place: usize| chains.events[member][place].own;
    let transfer = |member: usize, place: usize| chains.events[member][place].transfer;
    let base = replay(&chains, joined, &measured, &transfer);
    let (base, forced) = (base.span, base.forced);
    let count = steps::count(windows, opening, occupancies);
    let real = real_span(&chains);
    // Replaced own time of an event: the usual time of its interval, distributed as measured.
    let usual = usual_times(&chains, &stretches.lists);
    let like_peers = |member: usize, place: usize| usual[member][place];
    let without = replay(&chains, joined, &like_peers, &transfer).span;
    let step_time = base as f64 / count;
    let replay_error = if real > 0 { (base - real) as f64 / real as f64 } else { 0.0 };
    let noise = steps::noise(windows).unwrap_or(0.0).max(step_time * LEAST_SHARE).min(step_time * 0.05);
    let noise = noise.max(replay_error.abs() * step_time);
    let missing = (job.world_size as usize).saturating_sub(job.members.len());
    let bounds_only = (missing > 0)
        .then(|| {
            let were = if missing == 1 { "was" } else { "were" };
            format!("{missing} of {} ranks {were} not traced", job.world_size)
        })
        .or_else(|| partly_recorded(job, windows));

    let excess: Vec<i64> = (0..job.members.len()).map(|member| at_most(&stretches, member)).collect();
    let order = candidates(&charges, &excess);
    let (mut slow, links) = slow_groups(joined);
    let stages = slow_stages(joined, occupancies, windows);
    let evident = beyond(&stretches);
    let mending = Mending {
        chains: &chains,
        joined,
        usual: &usual,
        links: &links,
        stages: &stages,
        evident: &evident,
        unrecorded: Unrecorded::Measured,
    };
    let origin =
        chains.events.iter().filter_map(|events| events.first()).map(|event| event.time).min().unwrap_or(0);
    let mut culprits: Vec<Culprit> = Vec::new();
    for &member in &order {
        let span = mending.span(&[Delay::Member(member)]);
        let cost = ((base - span) as f64 / count).max(0.0);
        // Intervals that other ranks waited for; all of them without waits.
        let blamed = |stretch: &Stretch| stretch.own > stretch.usual;
        let compared = compared(member, &stretches, occupancies, &blamed);
        let from_host = occupancies[member].host_alone;
        let whole = || compared_steps(member, &stretches, occupancies, &with_opening, &blamed);
        let (mut cause, mut evidence) = class(&compared, count, from_host, whole);
        if cause == CauseClass::SlowChip && !from_host {
            // Some GEMMs take longer in every call and others do not, so the chip is not slow.
            let span = windows.span();
            if let Some(more) = uneven(job, names, member, &stretches.peers_of(member), span) {
                cause = CauseClass::MoreWork;
                if let Some(mean) = evidence.last_mut() {
                    *mean = more;
                }
            }
        }
        if cause == CauseClass::Unknown
            && let Some(launches) = paced(&chains, &stretches, member, count)
        {
            cause = CauseClass::SlowHost;
            evidence.insert(0, launches);
            evidence.truncate(3);
        }
        culprits.push(Culprit {
            rank: job.members[member].rank,
            host: job.members[member].trace.identity.host.clone(),
            cost,
            certainty: Certainty::Replayed,
            share: if step_time > 0.0 { cost / step_time } else { 0.0 },
            at_most: excess[member] as f64 / count,
            is_straggler: false,
            waits: charges.waits[member] / count,
            waits_share: if charges.total > 0.0 { charges.waits[member] / charges.total } else { 0.0 },
            lateness: charges.lateness[member] as f64 / count,
            last: charges.last[member],
            cause,
            cause_name: cause.called(from_host),
            evidence,
            moments: moments(job, member, joined, &stretches, &charges, &with_opening, origin),
        });
    }
    let delays: Vec<Delay> = (order.iter().copied().map(Delay::Member))
        .chain((0..links.len()).map(Delay::Link))
        .chain((0..stages.len()).map(Delay::Stage))
        .collect();
    let least = (noise * count) as i64;
    let mut found = mending.name(&delays, least);
    found.extend(mending.together(&found, &excess, least));
    if found.is_empty() && joined.ranks_missing {
        found = without_waits_for_unrecorded(&mending, base, &delays, least);
    }
    let certainty = Certainty::bounded(bounds_only.is_some());
    let named = found.iter().map(|(delays, cost)| {
        let ranks_of = |members: &[usize]| {
            let mut ranks: Vec<u32> = members.iter().map(|&member| job.members[member].rank).collect();
            ranks.sort_unstable();
            ranks
        };
        let mut cost_s = *cost as f64 / count / 1e9;
        if bounds_only.is_some() {
            // Upper bounds are valid for any behaviour of untraced ranks.
            let of = |delay: &Delay| {
                if let Delay::Member(member) = delay { excess[*member] as f64 / count / 1e9 } else { 0.0 }
            };
            cost_s = cost_s.max(delays.iter().map(of).sum());
        }
        let of = |kind: Kind, ranks: Vec<u32>, cause: &'static str| Named {
            kind,
            ranks,
            stage: None,
            cause,
            cost_s,
            certainty,
        };
        match *delays.as_slice() {
            [Delay::Link(at)] => {
                let communicators = links[at].communicators.iter();
                let members =
                    communicators.flat_map(|&id| &joined.matching.communicators[id as usize].members);
                let members: BTreeSet<usize> = members.map(|m| m.member as usize).collect();
                let members: Vec<usize> = members.into_iter().collect();
                of(Kind::Group, ranks_of(&members), CauseClass::SlowLink.name())
            }
            [Delay::Stage(at)] => {
                let stage = &stages[at];
                Named { stage: Some(stage.stage), ..of(Kind::Stage, ranks_of(&stage.members), "imbalance") }
            }
            _ => {
                let member =
                    |delay: &Delay| if let Delay::Member(member) = delay { Some(*member) } else { None };
                let members: Vec<usize> = delays.iter().filter_map(member).collect();
                let ranks = ranks_of(&members);
                let first = culprits.iter().find(|one| ranks.contains(&one.rank));
                of(Kind::Rank, ranks, first.map_or(CauseClass::Unknown.name(), |one| one.cause_name))
            }
        }
    });
    let mut named: Vec<Named> = named.collect();
    // A rank with longer attention only has longer sequences.
    let of_attention =
        |one: &Named| {
            let at = |rank: &u32| job.members.iter().position(|member| member.rank == *rank);
            one.kind == Kind::Rank
                && one.cause == CauseClass::SlowChip.name()
                && one.ranks.iter().filter_map(at).all(|member| {
                    is_attention(job, names, member, &stretches.peers_of(member), windows.span())
                })
        };
    // The variation between steps is no threshold here: unequal sequences cause it.
    if base > without
        && named.iter().all(of_attention)
        && let Some(cost) = lengths::cost(job, names, (&chains, joined), base, workers)
    {
        let mut ranks: Vec<u32> = job.members.iter().map(|member| member.rank).collect();
        ranks.sort_unstable();
        let cost_s = cost as f64 / count / 1e9;
        named.clear();
        named.push(Named {
            kind: Kind::Group,
            ranks,
            stage: None,
            cause: lengths::LENGTHS,
            cost_s,
            certainty,
        });
    }
    // A rank without an excess over its peers is late because of another named one: no accusation without evidence.
    let mut first = true;
    named.retain(|one| {
        std::mem::take(&mut first) || one.kind != Kind::Rank || one.cause != CauseClass::Unknown.name()
    });
    for (id, group) in &mut slow {
        if let Some(at) = links.iter().position(|link| link.communicators.first() == Some(id)) {
            group.cost = ((base - mending.span(&[Delay::Link(at)])) as f64 / count).max(0.0);
        }
    }
    let doubts = Doubts::of(job, joined, replay_error, forced, bounds_only.as_deref());
    let (verdict, reasons) = doubts.judge(&named);
    if verdict == Verdict::CannotTell {
        named.clear();
    }
    for culprit in &mut culprits {
        let named = named.iter().find(|one| one.kind == Kind::Rank && one.ranks.contains(&culprit.rank));
        culprit.is_straggler = named.is_some();
        // Alone, its delay may be hidden by another one.
        culprit.cost =
            named.map_or(culprit.cost, |one| culprit.cost.max(one.cost_s * 1e9 / one.ranks.len() as f64));
        culprit.share = if step_time > 0.0 { culprit.cost / step_time } else { 0.0 };
    }
    culprits.sort_by(|a, b| {
        b.cost.total_cmp(&a.cost).then(b.waits.total_cmp(&a.waits)).then(a.rank.cmp(&b.rank))
    });
    if bounds_only.is_some() {
        // Stragglers and their order are determined by replay of the recording; reported bounds are valid for
        // any behaviour of other ranks.
        for culprit in &mut culprits {
            (culprit.cost, culprit.certainty) = (culprit.at_most, Certainty::AtMost);
            culprit.share = if step_time > 0.0 { culprit.cost / step_time } else { 0.0 };
        }
    }
    let idle: Vec<(f64, bool)> = occupancies.iter().map(|on| idleness::of(on, windows)).collect();
    let has_devices = job.members.iter().any(|member| !member.trace.gpu.is_empty());
    let mut warnings = job.warnings.clone();
    warnings.extend(joined.warnings.iter().cloned());
    let health = Health::of_job(job);
    warnings.extend(health.iter().flat_map(Health::warnings));
    StragglerReport {
        health,
        verdict,
        reasons,
        culprits: named,
        ranks_traced: job.members.len() as u32,
        world_size: job.world_size,
        world_size_known: job.world_size_known,
        steps: windows.steps.len().max(1) as u32,
        step_time,
        step_time_without: (without as f64 / count).min(step_time),
        noise,
        replay_error,
        bounds_only,
        waits: charges.total / count,
        idle: idle.iter().map(|rank| rank.0).sum::<f64>() / idle.len().max(1) as f64,
        from_host: occupancies.iter().all(|on| on.host_alone),
        host_bound: has_devices && idle.iter().all(|rank| rank.1),
        ranks: culprits,
        origin,
        charged: charges.list,
        slow_groups: slow.into_iter().map(|found| found.1).take(20).collect(),
        slow_stages: stages
            .iter()
            .map(|stage| stage.members.iter().map(|&member| job.members[member].rank).collect())
            .collect(),
        clocks: joined.clocks.clone(),
        warnings,
    }
}

/// Delays named if unrecorded ranks are never late. Measured waits for unrecorded ranks stay in a replay, although they may be waits for the
/// same late rank. If all waits for unrecorded ranks are longer than a delay, an unrecorded rank may be the cause: that delay is not named.
fn without_waits_for_unrecorded(
    mending: &Mending<'_>,
    base: i64,
    delays: &[Delay],
    least: i64,
) -> Vec<(Vec<Delay>, i64)> {
    let prompt = Mending { unrecorded: Unrecorded::Prompt, ..*mending };
    let waits = base - prompt.span(&[]);
    prompt.name(delays, least.max(waits))
}

/// Members to replay: those with the largest charged waits, and those with the largest own delays, which others may hide.
fn candidates(charges: &Charges, excess: &[i64]) -> Vec<usize> {
    let by = |key: &dyn Fn(usize) -> f64| {
        let mut order: Vec<usize> = (0..excess.len()).collect();
        order.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
        order
    };
    let mut order = by(&|m| charges.waits[m] + charges.lateness[m] as f64);
    let late = order.split_off(order.len().min(REPLAYED));
    let longest = by(&|m| excess[m] as f64);
    order.extend(longest.into_iter().take(REPLAYED).filter(|member| late.contains(member)));
    order
}

/// Reason why costs are bounds although all ranks were traced: some ranks were not recorded in all steps, so their work there is unknown.
fn partly_recorded(job: &Job, windows: &Windows) -> Option<String> {
    let lacking = |member: usize| windows.steps.iter().filter(|step| !step.holds(member)).count();
    let short: Vec<usize> = (0..job.members.len()).filter(|&member| lacking(member) > 0).collect();
    let of = windows.steps.len();
    match *short.as_slice() {
        [] => None,
        [one] => {
            Some(format!("rank {} was not recorded in {} of {of} steps", job.members[one].rank, lacking(one)))
        }
        _ => Some(format!("{} ranks were not recorded in all of {of} steps", short.len())),
    }
}

/// Sum of a member's excesses over its peers, in nanoseconds: the upper bound of what any replay without them saves.
fn at_most(stretches: &Stretches, member: usize) -> i64 {
    stretches.lists[member].iter().map(|stretch| (stretch.own - stretch.usual).max(0)).sum()
}

/// Measured time from the first event to the last, in nanoseconds.
fn real_span(chains: &Chains) -> i64 {
    let first = chains.events.iter().filter_map(|events| events.first()).map(|event| event.time).min();
    let last = chains.events.iter().filter_map(|events| events.last()).map(|event| event.time).max();
    last.unwrap_or(0) - first.unwrap_or(0)
}

/// By member and event: own time with which its interval is as long as its peers', in nanoseconds.
pub(super) fn usual_times(chains: &Chains, stretches: &[Vec<Stretch>]) -> Vec<Vec<i64>> {
    let own = |events: &Vec<Event>| events.iter().map(|event| event.own).collect::<Vec<i64>>();
    let mut times: Vec<Vec<i64>> = chains.events.iter().map(own).collect();
    for (member, list) in stretches.iter().enumerate() {
        for stretch in list.iter().filter(|stretch| stretch.own > 0 && stretch.own != stretch.usual) {
            let factor = stretch.usual as f64 / stretch.own as f64;
            let (first, last) = (stretch.events.0 as usize + 1, stretch.events.1 as usize);
            for time in &mut times[member][first..=last] {
                *time = (*time as f64 * factor).round() as i64;
            }
        }
    }
    times
}

/// Intervals of a member with the largest waits.
fn moments(
    job: &Job,
    member: usize,
    joined: &Joined,
    stretches: &Stretches,
    charges: &Charges,
    windows: &Windows,
    origin: i64,
) -> Vec<Moment> {
    let here = (member as u32, 0)..=(member as u32, u32::MAX);
    let mut worst: Vec<(u32, f64)> =
        charges.stretches.range(here).map(|(&(_, place), &wait)| (place, wait)).collect();
    worst.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    worst
        .into_iter()
        .take(5)
        .map(|(place, waits)| {
            let stretch = stretches.get((member as u32, place));
            Moment {
                step: steps::at(windows, stretch.to),
                start: stretch.from - origin,
                own: stretch.own,
                excess: (stretch.own - stretch.usual).max(0),
                waits,
                before: joined
                    .matching
                    .collectives
                    .get(stretch.collective as usize)
                    .and_then(|c| c.operation),
                annotation: annotation(job, member, i64::midpoint(stretch.from, stretch.to)),
            }
        })
        .collect()
}

/// The innermost annotation of a member's host at a time.
fn annotation(job: &Job, member: usize, time: i64) -> Option<String> {
    let trace = &job.members.get(member)?.trace;
    let around = trace
        .host
        .iter()
        .filter(|row| row.kind == HostKind::Annotation && row.start <= time && time < row.end);
    let innermost = around
        .filter(|row| !trace.names.get(row.name).starts_with("ProfilerStep#"))
        .min_by_key(|row| (row.duration(), row.start))?;
    Some(trace.names.get(innermost.name).to_owned())
}
