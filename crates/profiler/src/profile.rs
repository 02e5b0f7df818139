//! The profile of a job as one value, starting with the largest loss.
//!
//! Responsible for: the order of the work (views of ranks, steps, sweeps, joining) and the report that every
//! view of it prints. Ranks are processed in parallel by the caller's [`Workers`]; the answer does not depend
//! on them. Does not print; rules ([`crate::findings`]) fill [`Report::findings`].

mod bubbles;
mod finding;
mod heat;
mod notices;
mod options;
mod peak;
mod report;
mod rows;

pub use crate::workers::{OneByOne, Workers};
pub use finding::{Explained, Finding, Subject};
pub use heat::RankSteps;
pub use options::Options;
pub use report::Report;
pub use rows::{Joint, KernelRow, Line, Part, RankRow, Recorded, Repair, StepRow, WarmUp};

use crate::attribution::judged;
use crate::joined::Joined;
use crate::occupancy::Occupancy;
use crate::origins::origins;
use crate::roofline::roofline;
use crate::serving::serving;
use crate::steps::{all, steady};
use crate::telemetry::Health;
use crate::view::View;
use crate::waterfall::{Exchanges, Ideal, RankWaterfall, Waterfall};
use crate::windows::Windows;
use crate::{Job, Names, causes, findings};
use railwright_spec::problem::{Problem, Warning};
use railwright_step::OperatorFamily;

/// Share of a step in kernels of unknown purpose that is worth a warning.
const UNKNOWN: f64 = 0.2;

/// A warning if the names of kernels leave the purpose of much of a step unknown: shares by purpose are then
/// lower bounds.
fn unknown_kernels(report: &Report) -> Option<Warning> {
    let unknown = || report.kernels.iter().filter(|row| row.family == OperatorFamily::Other);
    let share = unknown().map(|row| row.per_step).sum::<f64>() / report.step_time.max(1.0);
    let longest = unknown().max_by(|a, b| a.per_step.total_cmp(&b.per_step))?;
    (share > UNKNOWN).then(|| {
        let text = format!(
            "{:.0}% of the step is in kernels whose names do not show their purpose, most of it in `{}`: add their names with \
             `--families FILE`",
            100.0 * share.min(1.0),
            longest.name
        );
        Warning::new("kernels-unknown", text)
    })
}

/// The profile of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its steps.
    pub windows: Windows,
    /// Time of these ranks by label.
    pub waterfall: Waterfall,
    /// Displayed report.
    pub report: Report,
}

/// Profiles a job with aligned clocks.
pub fn profile(
    job: &Job,
    joined: &Joined,
    options: &Options,
    workers: &impl Workers,
) -> Result<Profile, Problem> {
    let views = workers.map(&job.members, |_, member| View::new(&member.trace, &options.tables));
    let names = &options.tables.communication;
    let occupancies = workers.map(&job.members, |_, member| Occupancy::of(&member.trace, names));
    let activity = (views.as_slice(), occupancies.as_slice());
    let mut windows = match (options.steps, options.step) {
        (None, None) => steady(job, joined, activity, workers),
        (range, step) => {
            let mut windows = all(job, joined, activity, workers);
            if let Some(range) = range {
                windows = windows.within(range)?;
            }
            match step {
                Some(step) => windows.only(step).ok_or_else(|| no_step(step, &windows))?,
                None => windows,
            }
        }
    };
    if let Some(rank) = options.rank
        && job.position(rank).is_none()
    {
        return Err(no_rank(rank, job));
    }
    // A one-off delay makes the first step a part of the warm-up.
    let together = job.members.len() > 1 && joined.matching.parts.len() == job.members.len();
    let (stragglers, replays) =
        together.then(|| judged(job, joined, (&occupancies, names), &mut windows, workers)).unzip();
    drop(occupancies);
    let ranks: Vec<RankWaterfall> = workers.map(&views, |at, view| {
        let exchanges = Exchanges::of(joined, at, view);
        RankWaterfall::new(job.members[at].rank, at, view, &windows, &exchanges)
    });
    let names: Vec<&Names> = job.members.iter().map(|member| &member.trace.names).collect();
    let mut warnings = Vec::new();
    let peak = peak::peak(job, options, &ranks, &names, &mut warnings)?;
    let ideal = options.flop_per_step.zip(peak.as_ref()).map(|(flop_per_step, peak)| Ideal {
        flop_per_step,
        ranks: options.sharers.unwrap_or(job.world_size),
        peak: peak.rate,
    });
    // Traces of one rank often lack the world size; a recorded size above 1 is used.
    if let Some(sharers) = options.sharers.filter(|&sharers| job.world_size > 1 && sharers != job.world_size)
    {
        warnings.push(Warning::new(
            "trace-other-run",
            format!(
                "the run has {sharers} ranks, but the traced job {}{}: MFU is wrong unless they are the same \
                 run",
                if job.world_size_known { "" } else { "at least " },
                job.world_size
            ),
        ));
    }
    let ideal = ideal.filter(|ideal| match report::excess(&ranks, ideal) {
        Some(factor) => {
            warnings.push(report::other_model(factor));
            false
        }
        None => true,
    });
    let mut waterfall = Waterfall::join(ranks, &names, ideal);
    bubbles::divide(job, joined, &windows, &mut waterfall);
    let mut shown = names;
    let mut seen: Vec<&View<'_>> = views.iter().collect();
    if let Some(at) = options.rank.and_then(|rank| job.position(rank)) {
        waterfall = waterfall.only(at);
        shown = vec![shown[at]];
        seen = vec![seen[at]];
    }
    let tree = crate::tree::tree(&waterfall.ranks, &shown);
    let parts = report::Inputs { job, joined, views: &views, windows: &windows, waterfall: &waterfall };
    let mut report = report::report(&parts, tree, peak, options, &shown, warnings);
    let samples = waterfall.samples() as f64;
    report.causes = causes::rows(&waterfall.ranks, &shown, samples, waterfall.time() as f64 / samples);
    report.warm_up = warm_up(&views, &windows, joined, job, (&shown_ranks(&waterfall), &shown), workers);
    report.roofline = peak::accelerator(job, options)?.and_then(|a| roofline(&seen, &windows, &a, samples));
    report.serving = serving(&views, &windows, &waterfall);
    report.rank_steps = Some(heat::rank_steps(job, &windows, &waterfall, stragglers.as_ref()));
    report.warnings.extend(unknown_kernels(&report));
    let health = Health::of_job(job);
    report.warnings.extend(health.iter().flat_map(Health::warnings));
    if let Some(by) = options.by {
        let only = options.rank.and_then(|rank| job.position(rank));
        let shown = views.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| *at == only));
        let walked: Vec<_> = shown.map(|(at, view)| (at, view, Exchanges::of(joined, at, view))).collect();
        let step = waterfall.time() as f64 / samples;
        report.origins = Some(origins(&walked, &windows, by, samples, step));
    }
    let found = findings::find(&findings::Context {
        job,
        joined,
        views: &seen,
        names: &shown,
        windows: &windows,
        waterfall: &waterfall,
        causes: &report.causes,
        roofline: report.roofline.as_ref(),
        stragglers: stragglers.as_ref(),
        replays: replays.as_ref(),
        health: health.as_ref(),
        serves: findings::serves(&windows, &seen),
    });
    report.health = health;
    (report.findings, report.joint) = found;
    report.warnings.extend(notices::unassessed(&report));
    report.warnings.extend(notices::unknown_device(
        &seen,
        options,
        peak::recorded(job),
        report.roofline.is_some(),
    ));
    Ok(Profile { windows, waterfall, report })
}

/// Numbers of the displayed ranks.
fn shown_ranks(waterfall: &Waterfall) -> Vec<u32> {
    waterfall.ranks.iter().map(|rank| rank.rank).collect()
}

/// Excluded steps, with the idle time in them by cause.
fn warm_up(
    views: &[View<'_>],
    windows: &Windows,
    joined: &Joined,
    job: &Job,
    (shown, names): (&[u32], &[&Names]),
    workers: &impl Workers,
) -> Option<WarmUp> {
    let steps = windows.warm_up.len();
    if steps == 0 {
        return None;
    }
    let only = Windows { steps: windows.warm_up.clone(), warm_up: Vec::new(), ..windows.clone() };
    let of = |at: usize, view: &View<'_>| {
        let rank = job.members.get(at).map(|member| member.rank).filter(|rank| shown.contains(rank))?;
        Some(RankWaterfall::new(rank, at, view, &only, &Exchanges::of(joined, at, view)))
    };
    let ranks: Vec<RankWaterfall> = workers.map(views, of).into_iter().flatten().collect();
    let duration =
        |all: &[crate::windows::StepWindow]| all.iter().map(|step| step.duration() as f64).sum::<f64>();
    let time_ns = duration(&only.steps);
    let samples = (ranks.len() * steps).max(1) as f64;
    Some(WarmUp {
        steps: (0..steps).map(|at| only.name(at)).collect(),
        time_ns,
        one_off_ns: (time_ns - windows.median_step() * steps as f64).max(0.0),
        causes: causes::rows(&ranks, names, samples, time_ns / steps as f64),
    })
}

fn no_step(step: u64, windows: &Windows) -> Problem {
    Problem::new(format!("there is no step {step}")).in_file("--step").hint(windows.known())
}

fn no_rank(rank: u32, job: &Job) -> Problem {
    let mut known: Vec<String> = job.members.iter().take(16).map(|m| m.rank.to_string()).collect();
    if job.members.len() > known.len() {
        known.push(format!("... ({} in all)", job.members.len()));
    }
    Problem::new(format!("no trace of rank {rank}"))
        .in_file("--rank")
        .hint(format!("use one of the traced ranks: {}", known.join(", ")))
}
