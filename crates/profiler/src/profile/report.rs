//! Content of a profile report.
//!
//! Responsible for: the value behind every view of the report, with exact times (whole nanoseconds over all
//! ranks and steps) and means (per rank and step). Excludes judgements: a share that is too high is a
//! finding.

use super::finding::Finding;
use super::rows::{Joint, KernelRow, Line, Part, RankRow, Recorded, Repair, StepRow, WarmUp};
use super::{Options, RankSteps};
use crate::causes::CauseRow;
use crate::groups::JobLayout;
use crate::job::{Member, extent};
use crate::joined::Joined;
use crate::launches::launches_work;
use crate::origins::Origins;
use crate::phases::FoundBy;
use crate::roofline::Roofline;
use crate::serving::Serving;
use crate::telemetry::Health;
use crate::trace::{Identity, Source};
use crate::tree::Node;
use crate::view::{Role, View};
use crate::waterfall::{
    Group, Hardware, Ideal, Label, Parts, Peak, RankWaterfall, Share, Spread, Totals, Waterfall, spreads,
};
use crate::windows::{CutBy, Windows};
use crate::{Job, Names};
use indexmap::IndexMap;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{Flop, Seconds};
use railwright_step::Phase;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// Maximum number of individually listed ranks; more are shown as distributions.
const MOST_ROWS: usize = 64;

/// Maximum number of named missing ranks.
const MISSING: usize = 16;

/// Report of a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Number of recorded and displayed ranks.
    pub ranks: usize,
    /// Number of ranks in the job.
    pub world_size: u32,
    /// True if the world size is recorded. Otherwise it is a lower bound.
    pub world_size_known: bool,
    /// True if no rank recorded a device: times are those of host operators, and hours are rank-hours.
    pub from_host: bool,
    /// Number of ranks that were not recorded.
    pub missing: u32,
    /// Numbers of the first missing ranks.
    pub missing_ranks: Vec<u32>,
    /// Parallel sizes and process groups of the job; `None` for one rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<JobLayout>,
    /// The devices, from the traces.
    pub device: Option<String>,
    /// The accelerator's peak, if known.
    pub peak: Option<Peak>,
    /// The model's operations per step, if known.
    pub flop_per_step: Option<Flop>,
    /// Model FLOPs utilization (0 to 1), if known.
    pub utilisation: Option<f64>,
    /// Source of step boundaries.
    pub cut_by: Option<CutBy>,
    /// Spread of step starts over ranks, in nanoseconds.
    #[serde(rename = "step_spread_ns")]
    pub step_spread: i64,
    /// Ranks times steps, without steps in which a rank was not recorded: the divisor from sums to means per
    /// rank and step.
    #[serde(skip)]
    pub samples: usize,
    /// The steps, such as `steps 10-12`; `the whole recording` without steps.
    pub steps_covered: String,
    /// Part of the last step after the end of the recording, in nanoseconds: it completes the step, for a
    /// mean over whole steps.
    #[serde(rename = "added_ns")]
    pub added: i64,
    /// The mean step, in nanoseconds.
    #[serde(rename = "step_time_ns")]
    pub step_time: f64,
    /// The median step, in nanoseconds.
    pub median_step_ns: f64,
    /// Leading steps excluded as warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// Steps by content, if the trace is of an inference server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving: Option<Serving>,
    /// Breakdown: parts that add up to it.
    pub lines: Vec<Line>,
    /// Idle time by cause and host frame, the longest first.
    pub causes: Vec<CauseRow>,
    /// Operators relative to the roofline of the accelerator, if shapes were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roofline: Option<Roofline>,
    /// Estimated waiting per step because of unrecorded ranks, in nanoseconds.
    #[serde(rename = "estimated_wait_ns")]
    pub estimated_wait: f64,
    /// Time by limiting part of the machine.
    pub hardware: Vec<Part>,
    /// Compute by phase.
    pub phases: Vec<Part>,
    /// Steps.
    pub steps: Vec<StepRow>,
    /// Ranks, if there are few.
    pub rows: Vec<RankRow>,
    /// Every rank in every step.
    pub rank_steps: Option<RankSteps>,
    /// Distribution of labels over ranks, if there are several.
    pub spreads: Vec<Spread>,
    /// Ranks whose kernels take longer than the same kernels of other ranks, with the factor.
    pub slower_chips: Vec<(u32, f64)>,
    /// Totals of the common window of all ranks.
    pub recorded: Recorded,
    /// Tree of label, phase, family, kernel.
    pub tree: Vec<Node>,
    /// All kernels, the longest time first.
    pub kernels: Vec<KernelRow>,
    /// Time by module or line of Python, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<Origins>,
    /// Readings of device and network-card counters per rank, if recorded with the traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Number of rows by method of phase detection, over all ranks.
    pub phases_found: FoundBy,
    /// Clock alignment and its reason.
    pub clocks: String,
    /// Repairs and omissions on reading.
    pub repairs: Vec<Repair>,
    /// Findings of the rules.
    pub findings: Vec<Finding>,
    /// Joint cost of the findings with a known cost; `None` with fewer than two.
    pub joint: Option<Joint>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Unit of hours over all ranks.
    pub fn hours(&self) -> &'static str {
        if self.from_host { "rank-hours" } else { "GPU-hours" }
    }

    /// Number of recorded and of all ranks, and of displayed ones. If one of several recorded ranks is shown,
    /// the others are not missing.
    pub fn extent(&self) -> String {
        let recorded = self.world_size.saturating_sub(self.missing) as usize;
        let all = extent(recorded, self.world_size, self.world_size_known);
        let plural = if self.ranks == 1 { "" } else { "s" };
        match (self.ranks < recorded, self.missing) {
            (false, _) => extent(self.ranks, self.world_size, self.world_size_known),
            (true, 0) => format!("{} of {all} shown", human::whole(self.ranks as u64)),
            (true, _) => format!("{} rank{plural} shown, {all} recorded", human::whole(self.ranks as u64)),
        }
    }
}

/// Input of a report.
pub(super) struct Inputs<'a> {
    pub(super) job: &'a Job,
    pub(super) joined: &'a Joined,
    pub(super) views: &'a [View<'a>],
    pub(super) windows: &'a Windows,
    pub(super) waterfall: &'a Waterfall,
}

/// Name of the device that a rank ran on; `None` if not recorded.
pub(super) fn device(identity: &Identity) -> Option<&str> {
    let own = identity.devices.iter().find(|device| Some(device.id) == identity.device);
    own.or(identity.devices.first()).map(|device| device.name.as_str()).filter(|name| !name.is_empty())
}

pub(super) fn report(
    inputs: &Inputs<'_>,
    tree: Vec<Node>,
    peak: Option<Peak>,
    options: &Options,
    names: &[&Names],
    mut warnings: Vec<Warning>,
) -> Report {
    let Inputs { job, joined, views, windows, waterfall } = *inputs;
    let samples = waterfall.samples() as f64;
    let part = |name: String, time: i64| Part {
        name,
        time,
        mean: time as f64 / samples,
        share: waterfall.share(time),
    };
    warnings.extend(job.warnings.iter().chain(&joined.warnings).chain(&windows.warnings).cloned());
    warnings.extend(doubts(waterfall, windows, options));
    let missing = job.world_size - u32::try_from(job.members.len()).unwrap_or(u32::MAX).min(job.world_size);
    if missing > 0 {
        let message = format!("from {}: waits on unrecorded ranks cannot be attributed", job.extent());
        warnings.push(Warning::new("trace-missing-ranks", message));
    }
    let estimated_wait = waterfall.ranks.iter().map(|rank| rank.estimated_wait).sum::<i64>() as f64 / samples;
    if estimated_wait > 0.0 {
        let message = format!(
            "{} of waiting per step is a lower bound, because some ranks were not recorded; it is the time beyond the shortest collective of the kind",
            human::seconds(Seconds::new(estimated_wait * 1e-9))
        );
        warnings.push(Warning::new("waiting-estimated", message));
    }
    warnings.extend(bounds(waterfall, samples));
    let unrecorded = views.iter().any(|view| view.from_host && launches_work(view.trace));
    if unrecorded {
        let is_nsight = views.iter().any(|view| view.trace.identity.source == Source::NsightSystems);
        let option = if is_nsight { "nsys profile --trace=cuda,nvtx" } else { "ProfilerActivity.CUDA" };
        let message = format!(
            "the host launched kernels, but none was recorded: times are those of host operators, and the device's are \
             unknown; record with `{option}`"
        );
        warnings.push(Warning::new("kernels-not-recorded", message));
    }
    let hardware = Hardware::ALL.map(|hardware| {
        part(hardware.name().to_owned(), waterfall.total.sum(|label| label.hardware() == hardware))
    });
    Report {
        ranks: waterfall.ranks.len(),
        world_size: job.world_size,
        world_size_known: job.world_size_known,
        from_host: !views.is_empty() && views.iter().all(|view| view.from_host),
        missing,
        missing_ranks: if missing > 0 { job.missing(MISSING) } else { Vec::new() },
        layout: JobLayout::of(&joined.groups, joined.layout.as_ref(), job.world_size, job.world_size_known),
        device: job.members.iter().find_map(|m| device(&m.trace.identity)).map(str::to_owned),
        peak,
        flop_per_step: options.flop_per_step,
        utilisation: waterfall.utilisation(),
        cut_by: Some(windows.cut_by),
        step_spread: windows.spread,
        samples: waterfall.samples(),
        steps_covered: windows.covered(),
        added: windows.added,
        step_time: waterfall.time() as f64 / samples,
        median_step_ns: windows.median_step(),
        warm_up: None,
        serving: None,
        lines: lines(waterfall, windows.recur().then_some(job.world_size), part),
        causes: Vec::new(),
        roofline: None,
        estimated_wait,
        hardware: hardware.into_iter().filter(|part| part.time > 0 && !unrecorded).collect(),
        phases: phases(waterfall, part),
        steps: steps(windows, waterfall),
        rows: if waterfall.ranks.len() <= MOST_ROWS { rows(job, waterfall) } else { Vec::new() },
        rank_steps: None,
        spreads: if waterfall.ranks.len() > 1 { spreads(&waterfall.ranks) } else { Vec::new() },
        slower_chips: waterfall.slower_chips.clone(),
        recorded: recorded(&waterfall.ranks),
        tree,
        kernels: kernels(&waterfall.ranks, names, samples),
        origins: None,
        health: None,
        phases_found: found_by(views),
        clocks: joined.clocks.reason.clone(),
        repairs: repairs(&job.members),
        findings: Vec::new(),
        joint: None,
        warnings,
    }
}

/// Warning about exposed communication that is transfer or wait: only one rank of its group was recorded.
fn bounds(waterfall: &Waterfall, samples: f64) -> Option<Warning> {
    let of = |share: Share| waterfall.total.sum(|label| label.is_exposed(share)) as f64 / samples;
    let undivided = of(Share::Undivided);
    let time = |ns: f64| human::seconds(Seconds::new(ns * 1e-9));
    (undivided > 0.0).then(|| {
        let (least, most) = (of(Share::Transfer), of(Share::Transfer) + undivided);
        let message = format!(
            "{} of exposed communication per step cannot be split into transfer and waiting: only one rank of \
            its groups was recorded. All exposed transfers together take {} to {}",
            time(undivided),
            time(least),
            time(most)
        );
        Warning::new("communication-bounds", message)
    })
}

/// Message about steps with less compute than the model's operations take: only these steps are compared,
/// because longer ones contain the operations.
fn exceeding(waterfall: &Waterfall, ideal: &Ideal) -> String {
    let steps = || waterfall.ranks.iter().flat_map(|rank| &rank.steps).map(Ideal::recorded);
    let short: Vec<i64> = steps().filter(|&recorded| recorded < ideal.nanoseconds()).collect();
    let (count, all) = (short.len(), steps().count());
    let factor = ideal.nanoseconds() as f64 * count as f64 / (short.iter().sum::<i64>() as f64).max(1.0);
    let within =
        if count < all { format!(" of {count} of {all} recorded steps of ranks") } else { String::new() };
    format!(
        "model FLOPs take {factor:.2} times the recorded compute time{within}: the FLOPs are too high, or the peak \
         of another format applies"
    )
}

/// Multiple of the mean recorded step that the model's operations take at the peak, if above 1: no device
/// does that.
pub(super) fn excess(ranks: &[RankWaterfall], ideal: &Ideal) -> Option<f64> {
    let recorded: i64 = ranks.iter().map(|rank| rank.total.total()).sum();
    let samples: usize = ranks.iter().map(|rank| rank.steps.len() - rank.missing.len()).sum();
    let factor = ideal.nanoseconds() as f64 * samples as f64 / recorded.max(1) as f64;
    (factor > 1.0 && recorded > 0).then_some(factor)
}

/// Warning about model FLOPs that no step of these traces can contain.
pub(super) fn other_model(factor: f64) -> Warning {
    let factor = if factor < 10.0 { format!("{factor:.2}") } else { human::whole(factor.round() as u64) };
    let message = format!(
        "model FLOPs take {factor} times the recorded step at the peak: the run is not that of these traces, or \
         the peak of another format applies; there is no MFU"
    );
    Warning::new("flop-exceed-compute", message)
}

/// Warnings about the sums themselves.
fn doubts(waterfall: &Waterfall, windows: &Windows, options: &Options) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(ideal) = &waterfall.ideal {
        let wanted = ideal.nanoseconds() as f64 * waterfall.samples() as f64;
        if (waterfall.total.get(Label::Ideal) as f64) < 0.99 * wanted {
            warnings.push(Warning::new("flop-exceed-compute", exceeding(waterfall, ideal)));
        }
    } else if options.flop_per_step.is_none() && !windows.is_inference() {
        let message = "model FLOPs are unknown, so compute is not split into ideal and loss; specify the run or its model FLOPs";
        warnings.push(Warning::new("trace-unknown-mfu", message));
    }
    if !windows.repeat() {
        let message = format!(
            "the longest step takes {:.0} times the median: steps do not repeat, so their mean is \
             meaningless; specify one step",
            windows.longest()
        );
        warnings.push(Warning::new("steps-do-not-repeat", message));
    }
    // The end of the last step is outside the recording.
    let outside = windows.added * i64::try_from(waterfall.ranks.len()).unwrap_or(i64::MAX);
    let unexplained = waterfall.share((waterfall.total.get(Label::Unexplained) - outside).max(0));
    if unexplained > 0.01 {
        let message = format!(
            "{:.1}% of the time is idle without a recorded cause (missing launches, or end of the recording)",
            unexplained * 100.0
        );
        warnings.push(Warning::new("time-unexplained", message));
    }
    warnings
}

/// Lines of the first page. Hours per day need the number of ranks (`daily`).
fn lines(waterfall: &Waterfall, daily: Option<u32>, part: impl Fn(String, i64) -> Part) -> Vec<Line> {
    let known = waterfall.ideal.is_some();
    let lines = Group::ALL.into_iter().map(|group| {
        let all = part(group.name(known).to_owned(), waterfall.total.group(group));
        let of_group = waterfall.total.iter().filter(|(label, _)| label.group() == group);
        let mut parts: Vec<Part> = of_group.map(|(label, time)| part(label.name(), time)).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.time));
        // A single part with the line's own name is redundant.
        if matches!(parts.as_slice(), [one] if one.name == all.name || group == Group::Ideal) {
            parts.clear();
        }
        let gpu_hours_per_day = daily.map(|ranks| all.share * f64::from(ranks) * 24.0);
        Line { group, gpu_hours_per_day, part: all, parts }
    });
    lines.filter(|line| line.part.time > 0).collect()
}

fn phases(waterfall: &Waterfall, part: impl Fn(String, i64) -> Part) -> Vec<Part> {
    let time = |phase: Phase| {
        let uses = waterfall.ranks.iter().flat_map(|rank| &rank.uses);
        uses.filter(|sum| sum.phase == phase && sum.label.is_compute()).map(|sum| sum.time).sum()
    };
    Phase::ALL
        .into_iter()
        .map(|phase| part(phase.name().to_owned(), time(phase)))
        .filter(|p| p.time > 0)
        .collect()
}

fn steps(windows: &Windows, waterfall: &Waterfall) -> Vec<StepRow> {
    let ranks =
        |at: usize| waterfall.ranks.iter().filter(|rank| !rank.missing.contains(&at)).count().max(1) as f64;
    let row = |(at, (window, parts)): (usize, (&crate::windows::StepWindow, &Parts))| StepRow {
        step: windows.name(at),
        duration: window.duration(),
        groups: Group::ALL.map(|group| parts.group(group) as f64 / ranks(at)).to_vec(),
        parts: parts.clone(),
    };
    windows.steps.iter().zip(&waterfall.steps).enumerate().map(row).collect()
}

fn rows(job: &Job, waterfall: &Waterfall) -> Vec<RankRow> {
    let row = |rank: &RankWaterfall| {
        let total = rank.total.total().max(1) as f64;
        let share = |time: i64| time as f64 / total;
        let member = job.position(rank.rank).and_then(|at| job.members.get(at));
        RankRow {
            rank: rank.rank,
            host: member.and_then(|member| member.trace.identity.host.clone()),
            shares: Group::ALL.map(|group| share(rank.total.group(group))).to_vec(),
            waiting: share(rank.total.sum(|label| label.is_exposed(Share::Wait))),
            parts: rank.total.clone(),
            recorded: rank.totals,
        }
    };
    waterfall.ranks.iter().map(row).collect()
}

fn recorded(ranks: &[RankWaterfall]) -> Recorded {
    let mean = |of: fn(&Totals) -> i64| {
        ranks.iter().map(|rank| of(&rank.totals)).sum::<i64>() as f64 / ranks.len().max(1) as f64
    };
    Recorded {
        window: mean(|t| t.window),
        compute: mean(|t| t.compute),
        communication: mean(|t| t.communication),
        overlap: mean(|t| t.overlap),
        exposed: mean(|t| t.exposed),
        copies: mean(|t| t.copies),
        idle: mean(|t| t.idle),
    }
}

fn kernels(ranks: &[RankWaterfall], names: &[&Names], samples: f64) -> Vec<KernelRow> {
    let mut rows: IndexMap<(&str, u8), KernelRow, FxBuildHasher> = IndexMap::default();
    for (rank, names) in ranks.iter().zip(names) {
        for kernel in rank.kernels.iter().filter(|kernel| kernel.role != Role::None) {
            let name = names.get(kernel.name);
            let fresh = || KernelRow {
                name: name.to_owned(),
                phase: kernel.phase,
                family: kernel.family,
                count: 0,
                duration: 0,
                mean: 0,
                longest: 0,
                per_step: 0.0,
            };
            let row = rows.entry((name, kernel.phase as u8)).or_insert_with(fresh);
            row.count += kernel.count;
            row.duration += kernel.duration;
            row.longest = row.longest.max(kernel.longest);
        }
    }
    let mut rows: Vec<KernelRow> = rows.into_values().collect();
    for row in &mut rows {
        row.mean = row.duration / i64::try_from(row.count).unwrap_or(i64::MAX).max(1);
        row.per_step = row.duration as f64 / samples;
    }
    rows.sort_by(|a, b| {
        b.duration.cmp(&a.duration).then_with(|| (a.phase, &a.name).cmp(&(b.phase, &b.name)))
    });
    rows
}

fn found_by(views: &[View<'_>]) -> FoundBy {
    views.iter().fold(FoundBy::default(), |all, view| {
        let by = view.found_by;
        FoundBy {
            launch: all.launch + by.launch,
            annotation: all.annotation + by.annotation,
            name: all.name + by.name,
            same_kernel: all.same_kernel + by.same_kernel,
            neighbours: all.neighbours + by.neighbours,
            apart: all.apart + by.apart,
            unknown: all.unknown + by.unknown,
        }
    })
}

fn repairs(members: &[Member]) -> Vec<Repair> {
    let of = |member: &Member| {
        let file = member.trace.identity.label.clone();
        member.trace.report.damages.clone().into_iter().map(move |damage| Repair {
            file: file.clone(),
            kind: damage.kind,
            count: damage.count,
            first: damage.places.into_iter().next(),
        })
    };
    members.iter().flat_map(of).collect()
}
