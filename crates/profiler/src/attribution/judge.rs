//! Straggler verdict of a job: from its events to the straggler report.
//!
//! Responsible for: the order of the work (events, intervals, waits, replays, candidates, names, verdict) and
//! the assembly of the report.

use super::blame::charge;
use super::bounds::{not_traced, partly_recorded};
use super::culprits::candidates;
use super::event::Chains;
use super::in_turn::{in_turn, keep_dominant, keep_exceptions, paused, visited};
use super::jitter::beyond;
use super::links::{Links, LowRates, long_transfers, slow_groups};
use super::measured::{Measured, at_most, real_span, usual_times};
use super::mending::{Delay, Mending};
use super::naming::keep_evident;
use super::nodes::join_nodes;
use super::one_off::{OneOff, without_first};
use super::peers::Stretches;
use super::replay::{Unrecorded, replay};
use super::replays::Replays;
use super::report::{Culprit, StragglerReport};
use super::stages::{by_stage, near, slow_stages};
use super::verdict::{Doubts, Kind, Lacking, Named, Verdict, unnamed};
use super::{idleness, slow_steps, steps};
use crate::Job;
use crate::certainty::Certainty;
use crate::communication::NameTable;
use crate::joined::{JoinOptions, Joined, join};
use crate::occupancy::Occupancy;
use crate::steps::{complete, count, opened, opening, steady_of};
use crate::telemetry::Health;
use crate::view::Tables;
use crate::windows::Windows;
use crate::workers::{OneByOne, Workers};

/// Minimum reported cost as a share of a step, regardless of noise.
const LEAST_SHARE: f64 = 0.005;

/// Joins a job (with aligned clocks) and attributes waits to stragglers.
pub fn straggler_report(job: &mut Job, options: &JoinOptions) -> StragglerReport {
    let joined = join(job, options);
    joined_straggler_report(job, &joined, options.names.as_ref(), &OneByOne)
}

/// Attributes waits of a joined job to stragglers. `names` is the table used for joining; the shipped one by
/// default.
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
    let (mut windows, occupancies) = steady_of(job, joined, &tables, workers);
    let mut report = judged(job, joined, (&occupancies, &tables.communication), &mut windows, workers).0;
    report.warnings.extend(windows.warnings);
    report
}

/// The steps of a joined job without a first one of a one-off delay, the activity of its ranks, and the
/// straggler report in these steps if all ranks can be compared.
pub(crate) fn judged_steps(
    job: &Job,
    joined: &Joined,
    tables: &Tables,
    workers: &impl Workers,
) -> (Windows, Vec<Occupancy>, Option<StragglerReport>) {
    let (mut windows, occupancies) = steady_of(job, joined, tables, workers);
    let inputs = (occupancies.as_slice(), &tables.communication);
    let can_compare = job.members.len() > 1 && joined.matching.parts.len() == job.members.len();
    let report = can_compare.then(|| judged(job, joined, inputs, &mut windows, workers).0);
    (windows, occupancies, report)
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
    judged(job, joined, (&occupancies, names), &mut windows.clone(), workers).0
}

/// The same report with the replays that other analyses need. Excludes the first step as warm-up, with a
/// warning, if it has a one-off delay.
pub(crate) fn judged(
    job: &Job,
    joined: &Joined,
    (occupancies, names): (&[Occupancy], &NameTable),
    windows: &mut Windows,
    workers: &impl Workers,
) -> (StragglerReport, Replays) {
    let judged = |windows: &Windows| judge(job, joined, (occupancies, names), windows, workers);
    let recorded = windows.recorded();
    let (report, one_off, replays) = judged(&recorded);
    let Some(one_off) = one_off else { return (report, replays) };
    let mut steady = without_first(&recorded);
    let (mut later, _, of_later) = judged(&steady);
    if one_off.persists(&later) {
        return (report, replays);
    }
    steady.warnings.push(one_off.note(&windows.name(0), &mut later));
    complete(job, &mut steady, occupancies);
    *windows = steady;
    (later, of_later)
}

fn judge(
    job: &Job,
    joined: &Joined,
    (occupancies, names): (&[Occupancy], &NameTable),
    windows: &Windows,
    workers: &impl Workers,
) -> (StragglerReport, Option<OneOff>, Replays) {
    let opening = opening(job, occupancies, windows);
    let with_opening = opened(windows, opening);
    let chains = Chains::of(job, joined, occupancies, &with_opening, workers);
    let stretches = Stretches::of(&chains, joined);
    let charges = charge(&chains, joined, &stretches);
    let own = |member: usize, place: usize| chains.events[member][place].own;
    let transfer = |member: usize, place: usize| chains.events[member][place].transfer;
    let base = replay(&chains, joined, &own, &transfer);
    let (base, forced) = (base.span, base.forced);
    let count = count(windows, opening, occupancies);
    let real = real_span(&chains);
    // Replaced own time of an event: the usual time of its interval, distributed as measured.
    let usual = usual_times(&chains, &stretches.lists);
    let like_peers = |member: usize, place: usize| usual[member][place];
    let without = replay(&chains, joined, &like_peers, &transfer).span;
    let step_time = base as f64 / count;
    let replay_error = if real > 0 { (base - real) as f64 / real as f64 } else { 0.0 };
    let noise = steps::noise(windows).unwrap_or(0.0).max(step_time * LEAST_SHARE).min(step_time * 0.05);
    let noise = noise.max(replay_error.abs() * step_time);
    let bounds_only = not_traced(job).or_else(|| partly_recorded(job, windows));
    let bounded = bounds_only.is_some();

    let excess: Vec<i64> =
        (0..job.members.len()).map(|member| at_most(&stretches, member, windows)).collect();
    let Links { groups: mut slow, slow: links, apart, long } = slow_groups(job, joined, &with_opening);
    let all_stages = by_stage(joined, occupancies, windows);
    let stages = slow_stages((job, names), &all_stages, &chains, occupancies, windows);
    let near = near(&stages, &all_stages);
    let beyond = beyond(&stretches);
    let evident: Vec<i64> = beyond.iter().map(|member| member.evident).collect();
    let mending = Mending {
        chains: &chains,
        joined,
        usual: &usual,
        links: &links,
        stages: &stages,
        evident: &evident,
        unrecorded: Unrecorded::Measured,
        extra: &stretches.extra,
    };
    let measured = Measured {
        job,
        joined,
        names,
        occupancies,
        windows,
        opened: &with_opening,
        chains: &chains,
        stretches: &stretches,
        charges: &charges,
        mending: &mending,
        excess: &excess,
        base,
        count,
    };
    let order = candidates(&charges, &excess, &stages);
    let mut culprits: Vec<Culprit> = order.iter().map(|&member| measured.culprit(member)).collect();
    let found = measured.found(&order, (noise * count) as i64);
    let mut found = measured.join_dependent(found);
    let one_off = measured.one_off(&found, &culprits, (noise * count) as i64);
    let everyone = (0..job.members.len()).map(Delay::Member);
    let others = found.iter().flat_map(|found| &found.0).filter(|delay| !matches!(delay, Delay::Member(_)));
    let without_all = mending.span(&everyone.chain(others.copied()).collect::<Vec<_>>());
    let mut named = measured.named(&found, &culprits, bounded);
    keep_exceptions(job, &mut found, &mut named);
    if charges.has_dominant() {
        keep_dominant(job, &mut found, &mut named);
    }
    if let Some(work) = measured.of_work(&named, without, bounded, workers) {
        named = vec![work];
    }
    keep_evident(&mut named);
    let thin = measured.take_thin(&mut named);
    let removed: Vec<Delay> = found.iter().flat_map(|found| found.0.clone()).collect();
    let rest = measured.rest(&removed, &near, (noise * count) as i64);
    let mut named = join_nodes(job, &named);
    for (id, group) in &mut slow {
        if let Some(at) = links.iter().position(|link| link.communicators.first() == Some(id)) {
            group.cost = ((base - mending.span(&[Delay::Link(at)])) as f64 / count).max(0.0);
        }
    }
    let mut doubts = Doubts::of(job, joined, replay_error, forced, bounds_only.as_deref());
    let is_accurate = doubts.always.is_empty() && forced == 0 && !bounded && job.members.len() > 1;
    let mut planned = None;
    if named.is_empty() {
        let last = measured.always_last(&culprits, noise);
        // Where ranks cannot be compared, equal ranks are no evidence.
        let is_comparable = doubts.always.is_empty() && doubts.acquittal.is_empty();
        let leading = charges.leading();
        let leading = leading.and_then(|(at, share)| Some((job.members.get(at)?.rank, share)));
        let unnamed = || unnamed(base, without_all, leading).filter(|_| is_comparable);
        doubts.acquittal.extend(last.or_else(unnamed));
        doubts.acquittal.extend(thin);
        doubts.acquittal.extend(rest.doubts);
        let longer = slow_steps::longer(job, windows, occupancies, base - without_all);
        doubts.acquittal.extend(longer.doubt);
        planned = longer.planned;
        let even = Mending { links: std::slice::from_ref(&long), ..mending };
        doubts.acquittal.extend(long_transfers(base - even.span(&[Delay::Link(0)]), base));
        let low = LowRates::of(job, joined);
        let at_rate = Mending { links: std::slice::from_ref(&low.link), ..mending };
        doubts.acquittal.extend(low.doubt(base - at_rate.span(&[Delay::Link(0)]), base));
        doubts.acquittal.extend(apart.iter().filter_map(|link| link.doubt(base)));
    }
    let by_turns = in_turn(job, &named)
        .or_else(|| paused(job, &named, &beyond, count))
        .or_else(|| visited(job, &named, &evident, (count, rest.saving)))
        .filter(|_| !charges.has_dominant());
    let is_in_turn = by_turns.is_some();
    doubts.always.extend(by_turns);
    let (verdict, reasons) = doubts.judge(&named);
    if verdict == Verdict::CannotTell {
        named.clear();
    }
    // Unequal work delays all ranks in turn.
    let is_priced = !bounded && named.iter().any(|one| one.work().is_none());
    conclude(&measured, &mut culprits, &named, bounded);
    let idle: Vec<(f64, bool)> = occupancies.iter().map(|on| idleness::of(on, windows)).collect();
    let has_devices = job.members.iter().any(|member| !member.trace.gpu.is_empty());
    let mut warnings = job.warnings.clone();
    warnings.extend(joined.warnings.iter().cloned());
    warnings.extend(planned);
    let health = Health::of_job(job);
    warnings.extend(health.iter().flat_map(Health::warnings));
    let report = StragglerReport {
        health,
        verdict,
        reasons,
        lacking: Lacking::of(job, joined, bounded),
        in_turn: is_in_turn,
        culprits: named,
        ranks_traced: job.members.len() as u32,
        world_size: job.world_size,
        world_size_known: job.world_size_known,
        steps: windows.steps.len().max(1) as u32,
        steps_covered: windows.covered(),
        step_time,
        step_time_without: (without_all as f64 / count).min(step_time),
        noise,
        replay_error,
        unexplained: if is_priced { rest.saving } else { 0.0 },
        bounds_only,
        waits: charges.total / count,
        idle: idle.iter().map(|rank| rank.0).sum::<f64>() / idle.len().max(1) as f64,
        from_host: occupancies.iter().all(|on| on.host_alone),
        host_bound: has_devices && idle.iter().all(|rank| rank.1),
        ranks: culprits,
        origin: measured.origin(),
        charged: charges.list,
        slow_groups: slow.into_iter().map(|found| found.1).take(20).collect(),
        slow_stages: stages
            .iter()
            .filter(|stage| stage.of_rank().is_none() && !stage.is_of_hosts())
            .chain(near.iter().filter(|stage| stage.members.len() > 1))
            .map(|stage| stage.members.iter().map(|&member| job.members[member].rank).collect())
            .collect(),
        clocks: joined.clocks.clone(),
        warnings,
    };
    let replays = Replays { chains, stretches, base, count, is_accurate };
    (report, one_off, replays)
}

/// Marks the named ranks, and sorts ranks by cost.
fn conclude(measured: &Measured<'_>, culprits: &mut [Culprit], named: &[Named], bounded: bool) {
    for culprit in culprits.iter_mut() {
        let named = named.iter().find(|one| one.kind == Kind::Rank && one.ranks.contains(&culprit.rank));
        culprit.is_straggler = named.is_some();
        // Alone, its delay may be hidden by another one.
        culprit.cost =
            named.map_or(culprit.cost, |one| culprit.cost.max(one.cost_s * 1e9 / one.ranks.len() as f64));
        culprit.share = measured.share(culprit.cost);
    }
    culprits.sort_by(|a, b| {
        b.cost.total_cmp(&a.cost).then(b.waits.total_cmp(&a.waits)).then(a.rank.cmp(&b.rank))
    });
    if bounded {
        // Stragglers and their order are determined by replay of the recording; reported bounds are valid for
        // any behaviour of other ranks.
        for culprit in culprits.iter_mut() {
            (culprit.cost, culprit.certainty) = (culprit.at_most, Certainty::AtMost);
            culprit.share = measured.share(culprit.cost);
        }
    }
}
