//! The waterfall of one rank: its pieces, labelled and summed by step and by kernel.
//!
//! Responsible for: one pass over the pieces of the common window. Requires only the start of transfers from
//! other ranks, so ranks are independent. Slower chips and the ideal need all ranks: see
//! [`super::Waterfall::join`].

use super::sweep::{Piece, sweep};
use super::{Bubble, Exchange, Exchanges, Label, Parts, Share};
use crate::NameId;
use crate::causes::{self, Cause, CauseTimes, CauseUse, Idle, LATE_START, Stretch};
use crate::trace::{HostKind, NONE};
use crate::view::{Role, View};
use crate::windows::Windows;
use indexmap::IndexMap;
use railwright_step::{Dimension, OperatorFamily, Phase};
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::collections::BTreeMap;

/// Minimum duration of a call of the runtime that may wait for the device, in nanoseconds: five times the 20
/// us that a launch costs at most.
const WAITING: i64 = 100_000;

/// One kernel under one label and phase, over all steps of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Label of the time.
    pub label: Label,
    /// Part of the step.
    pub phase: Phase,
    /// Kind of operator.
    pub family: OperatorFamily,
    /// The kernel, a name of the rank's trace; `None` for idle time.
    pub name: Option<NameId>,
    /// Time under this label, in nanoseconds.
    pub time: i64,
    /// Number of rows with time under it.
    pub count: u64,
    /// Duration of these rows including overlapped time, in nanoseconds.
    pub duration: i64,
    /// Longest row, in nanoseconds.
    pub longest: i64,
    /// Part of the time before a late launch, in nanoseconds: shorter kernels there save nothing, because
    /// the device waits for the same launch.
    pub absorbed: i64,
}

/// One kernel in one phase, over all steps of a rank, regardless of concurrent work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelUse {
    /// The kernel, a name of the rank's trace.
    pub name: NameId,
    /// Part of the step.
    pub phase: Phase,
    /// Kind of operator.
    pub family: OperatorFamily,
    /// Role of the kernel.
    pub role: Role,
    /// Number of calls that began within the steps.
    pub count: u64,
    /// Total duration, in nanoseconds.
    pub duration: i64,
    /// Longest call, in nanoseconds.
    pub longest: i64,
}

/// Totals of a rank's common window, regardless of steps, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// The window.
    #[serde(rename = "window_ns")]
    pub window: i64,
    /// Compute.
    #[serde(rename = "compute_ns")]
    pub compute: i64,
    /// Communication.
    #[serde(rename = "communication_ns")]
    pub communication: i64,
    /// Overlap of compute and communication.
    #[serde(rename = "overlap_ns")]
    pub overlap: i64,
    /// Communication without compute.
    #[serde(rename = "exposed_ns")]
    pub exposed: i64,
    /// Copies without compute and communication.
    #[serde(rename = "copies_ns")]
    pub copies: i64,
    /// Time without activity.
    #[serde(rename = "idle_ns")]
    pub idle: i64,
}

/// An idle interval of a device because of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdlePart {
    /// Start time in nanoseconds since the steps began.
    pub start: i64,
    /// End time in nanoseconds since the steps began.
    pub end: i64,
    /// Index of its cause and place in [`RankWaterfall::causes`].
    pub row: u32,
    /// Innermost frame at its start, a row of the host; [`NONE`] if not recorded.
    pub frame: u32,
}

/// One rank's waterfall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankWaterfall {
    /// Rank.
    pub rank: u32,
    /// Time by step and label.
    pub steps: Vec<Parts>,
    /// Sum over all steps.
    pub total: Parts,
    /// Totals of the common window, regardless of steps.
    pub totals: Totals,
    /// By label, phase and kernel.
    pub uses: Vec<Use>,
    /// By kernel and phase.
    pub kernels: Vec<KernelUse>,
    /// Idle time by cause and place.
    pub causes: Vec<CauseUse>,
    /// Idle intervals because of the host, in order.
    pub idle: Vec<IdlePart>,
    /// Idle time of each step by cause, in the order of [`Cause::ALL`].
    pub step_causes: Vec<CauseTimes>,
    /// Idle time of each step in long gaps that the host causes, in nanoseconds.
    pub step_long_gaps: Vec<i64>,
    /// Estimated part of the waits, in nanoseconds, because ranks were not recorded.
    pub estimated_wait: i64,
    /// Transfers by dimension over all steps, exposed or not: from the entry of the last rank on, in
    /// nanoseconds.
    pub transfers: BTreeMap<Dimension, i64>,
    /// Indices of steps in which the rank was not recorded; they contain no time.
    pub missing: Vec<usize>,
}

/// Idle time by step and cause.
struct ByStep<'a> {
    windows: &'a Windows,
    sums: Vec<CauseTimes>,
    long_gaps: Vec<i64>,
}

impl ByStep<'_> {
    /// Counts the time of a gap that hosts cause, by the step of its end, if it is long.
    fn count_gap(&mut self, time: i64, end: i64) {
        let at = self.windows.steps.partition_point(|step| step.end < end);
        if let Some(sum) = self.long_gaps.get_mut(at).filter(|_| time >= LATE_START) {
            *sum += time;
        }
    }

    fn count(&mut self, cause: Cause, start: i64, end: i64) {
        let steps = &self.windows.steps;
        let first = steps.partition_point(|step| step.end <= start);
        let within = steps.iter().zip(&mut self.sums).skip(first).take_while(|(step, _)| step.start < end);
        for (step, sums) in within {
            sums[cause as usize] += end.min(step.end) - start.max(step.start);
        }
    }
}

/// Label of compute.
fn compute_label(family: OperatorFamily, phase: Phase) -> Label {
    match (phase, family) {
        (Phase::Recompute, _) => Label::Recompute,
        (Phase::Optimizer, _) | (_, OperatorFamily::Optimizer) => Label::Optimizer,
        (_, OperatorFamily::MatrixProduct) => Label::MatrixProduct,
        (_, OperatorFamily::Attention) => Label::Attention,
        (
            _,
            OperatorFamily::Norm
            | OperatorFamily::Elementwise
            | OperatorFamily::Embedding
            | OperatorFamily::Routing
            | OperatorFamily::Loss
            | OperatorFamily::Copy,
        ) => Label::MemoryBound,
        _ => Label::OtherCompute,
    }
}

/// Label of exposed communication. A wait within a pipeline message is a bubble, and so is a wait for the
/// pipeline to drain.
fn exposed_label(dimension: Dimension, share: Share, drains: bool) -> Label {
    match (dimension, share) {
        (Dimension::Pipeline, Share::Wait) => Label::Bubble(Bubble::Undivided),
        (_, Share::Wait) if drains => Label::Bubble(Bubble::Undivided),
        _ => Label::Exposed(dimension, share),
    }
}

/// Key of a label, a phase and a kernel in one number; a kernel's family follows from its name.
fn key(label: Label, phase: Phase, name: u32) -> u64 {
    u64::from(name) << 32 | (label.place() as u64) << 8 | phase as u64
}

/// Sums during the iteration over the pieces.
struct Sums<'a> {
    view: &'a View<'a>,
    windows: &'a Windows,
    /// By step: true if it is counted.
    held: Vec<bool>,
    /// Index of the step that the next piece may belong to.
    step: usize,
    steps: Vec<Parts>,
    uses: IndexMap<u64, (Use, u32), FxBuildHasher>,
    /// Uses since the last idle interval, as (index, time, start).
    run: Vec<(usize, i64, i64)>,
    /// Ends of calls of the runtime that may have waited for the device, in order.
    waits: Vec<i64>,
    /// Estimated wait time, in nanoseconds.
    estimated: i64,
}

impl Sums<'_> {
    /// Counts a labelled interval of a row in its steps. Returns its time within any step, in nanoseconds.
    /// Intervals must be in order.
    fn count(&mut self, label: Label, start: i64, end: i64, row: u32) -> i64 {
        let steps = &self.windows.steps;
        while steps.get(self.step).is_some_and(|step| step.end <= start) {
            self.step += 1;
        }
        let mut time = 0;
        for (at, step) in steps.iter().enumerate().skip(self.step).take_while(|(_, step)| step.start < end) {
            let part = end.min(step.end) - start.max(step.start);
            if part > 0 && self.held[at] {
                self.steps[at].add(label, part);
                time += part;
            }
        }
        if time == 0 {
            return 0;
        }
        let place = row as usize;
        let (phase, family, name) = if row == NONE {
            (Phase::Other, OperatorFamily::Other, None)
        } else {
            (self.view.phase[place], self.view.family[place], Some(self.view.gpu.names()[place]))
        };
        let key = key(label, phase, name.map_or(NONE, |name| name.0));
        let fresh =
            Use { label, phase, family, name, time: 0, count: 0, duration: 0, longest: 0, absorbed: 0 };
        let entry = self.uses.entry(key);
        let at = entry.index();
        let (sum, last) = entry.or_insert((fresh, NONE));
        sum.time += time;
        if row != NONE {
            self.run.push((at, time, start));
        }
        if row == NONE {
            sum.count += 1;
        } else if *last != row {
            let duration = self.view.gpu.ends()[place] - self.view.gpu.starts()[place];
            sum.count += 1;
            sum.duration += duration;
            sum.longest = sum.longest.max(duration);
            *last = row;
        }
        time
    }
}

impl Sums<'_> {
    /// Ends a run of device work at an idle interval (`start`) with its first part. The run is absorbed if
    /// the host was neither waiting for the device nor outside the recording when the interval began.
    fn end_run(&mut self, first: Option<&Stretch>, start: i64) {
        // The next work was launched already: the run goes on.
        if first.is_some_and(|part| part.cause == Cause::Device) {
            return;
        }
        let late = first.is_some_and(|part| {
            matches!(
                part.cause,
                Cause::LaunchBound
                    | Cause::HostWork
                    | Cause::DataLoading
                    | Cause::Compilation
                    | Cause::GarbageCollection
            ) && !self.may_wait(part.frame, start)
        });
        // The host follows the device up to its last wait.
        let waited = self.waits.partition_point(|end| *end <= start);
        let waited = waited.checked_sub(1).and_then(|at| self.waits.get(at)).copied().unwrap_or(i64::MIN);
        for (at, time, _) in self.run.drain(..).filter(|&(_, _, begin)| late && begin >= waited) {
            if let Some((_, (sum, _))) = self.uses.get_index_mut(at) {
                sum.absorbed += time;
            }
        }
    }

    /// Tests whether a call of the runtime began long before the device became idle: any of them may wait for
    /// the device, as when it loads a module.
    fn may_wait(&self, frame: u32, start: i64) -> bool {
        let call = self.view.trace.host.get(frame as usize).filter(|row| row.kind == HostKind::Runtime);
        call.is_some_and(|call| start - call.start > WAITING)
    }
}

/// Ends of long calls of the runtime, in order.
fn waits(view: &View<'_>) -> Vec<i64> {
    let host = &view.trace.host;
    let times = host.kinds().iter().zip(host.starts().iter().zip(host.ends()));
    let long = times.filter(|(kind, (start, end))| **kind == HostKind::Runtime && *end - *start > WAITING);
    let mut ends: Vec<i64> = long.map(|(_, (_, end))| *end).collect();
    ends.sort_unstable();
    ends
}

impl IdlePart {
    /// Adds a part, or extends the last one.
    fn add(parts: &mut Vec<Self>, part: Self) {
        match parts.last_mut() {
            Some(last) if last.row == part.row && last.frame == part.frame && last.end == part.start => {
                last.end = part.end;
            }
            _ => parts.push(part),
        }
    }
}

impl RankWaterfall {
    /// Waterfall of one rank; its index in the job determines the steps in which it was recorded.
    pub fn new(rank: u32, member: usize, view: &View<'_>, windows: &Windows, exchanges: &Exchanges) -> Self {
        let pieces = sweep(view, windows.whole());
        let mut sums = Sums {
            view,
            windows,
            held: windows.steps.iter().map(|step| step.holds(member)).collect(),
            step: 0,
            steps: vec![Parts::default(); windows.steps.len()],
            uses: IndexMap::default(),
            run: Vec::new(),
            waits: waits(view),
            estimated: 0,
        };
        let mut idle = Idle::new(view);
        let mut causes = causes::Sums::default();
        let mut parts: Vec<IdlePart> = Vec::new();
        let origin = windows.span().0;
        let mut by_step = ByStep {
            windows,
            sums: vec![[0; Cause::ALL.len()]; windows.steps.len()],
            long_gaps: vec![0; windows.steps.len()],
        };
        for piece in &pieces {
            match piece.role {
                Role::Compute => {
                    let at = piece.row as usize;
                    let label = compute_label(view.family[at], view.phase[at]);
                    sums.count(label, piece.start, piece.end, piece.row);
                }
                Role::Communication => {
                    let Exchange { dimension, waits_until, transfer_from, estimated, drains } =
                        exchanges.get(piece.row);
                    let within = |time: Option<i64>, else_at: i64| {
                        time.map_or(else_at, |time| time.clamp(piece.start, piece.end))
                    };
                    let waited = within(waits_until, piece.start);
                    let moves = within(transfer_from, piece.end).max(waited);
                    let stretches = [
                        (Share::Wait, piece.start, waited),
                        (Share::Undivided, waited, moves),
                        (Share::Transfer, moves, piece.end),
                    ];
                    for (share, start, end) in stretches.into_iter().filter(|(_, start, end)| end > start) {
                        let counted =
                            sums.count(exposed_label(dimension, share, drains), start, end, piece.row);
                        if estimated && share == Share::Wait {
                            sums.estimated += counted;
                        }
                    }
                }
                Role::Copy => {
                    sums.count(Label::Copy, piece.start, piece.end, piece.row);
                }
                Role::None => {
                    let mut start = piece.start;
                    let mut by_host = 0;
                    let stretches = idle.stretches(view, *piece);
                    sums.end_run(stretches.first().filter(|_| !view.from_host), piece.start);
                    for part in stretches {
                        let counted = sums.count(part.label, start, part.end, NONE);
                        if counted > 0 {
                            let row = causes.count(&idle, &part, counted);
                            if part.label.is_host_idle() && part.label != Label::Unexplained {
                                let (start, end) = (start - origin, part.end - origin);
                                IdlePart::add(&mut parts, IdlePart { start, end, row, frame: part.frame });
                            }
                            by_step.count(part.cause, start, part.end);
                            if part.label.is_host_idle() && part.cause != Cause::NotRecorded {
                                by_host += counted;
                            }
                        }
                        start = part.end;
                    }
                    by_step.count_gap(by_host, piece.end);
                }
            }
        }
        let Sums { steps, uses, estimated, held, .. } = sums;
        let of_held = || windows.steps.iter().zip(&held).filter(|(_, held)| **held).map(|(step, _)| step);
        let first = of_held().next().map_or(0, |step| step.start);
        let span = (first, of_held().next_back().map_or(first, |step| step.end));
        let mut total = Parts::default();
        for step in &steps {
            total.merge(step);
        }
        Self {
            rank,
            steps,
            total,
            totals: totals(view, &pieces, windows.common),
            uses: uses.into_values().map(|(sum, _)| sum).collect(),
            kernels: kernels(view, span),
            causes: causes.done(),
            idle: parts,
            step_causes: by_step.sums,
            step_long_gaps: by_step.long_gaps,
            estimated_wait: estimated,
            transfers: transfers(view, windows, &held, exchanges),
            missing: held.iter().enumerate().filter(|(_, held)| !**held).map(|(at, _)| at).collect(),
        }
    }
}

/// Transfers by dimension within the counted steps (`held`), from the entry of the last rank on.
fn transfers(
    view: &View<'_>,
    windows: &Windows,
    held: &[bool],
    exchanges: &Exchanges,
) -> BTreeMap<Dimension, i64> {
    let mut sums = BTreeMap::new();
    let times = view.gpu.starts().iter().zip(view.gpu.ends());
    for (row, (role, (&start, &end))) in (0..).zip(view.role.iter().zip(times)) {
        if *role != Role::Communication {
            continue;
        }
        let exchange = exchanges.get(row);
        let from = exchange.waits_until.map_or(start, |arrival| arrival.clamp(start, end));
        let first = windows.steps.partition_point(|step| step.end <= from);
        let steps = windows.steps.iter().zip(held).skip(first);
        let within = steps.take_while(|(step, _)| step.start < end).filter(|(_, held)| **held);
        let time: i64 = within.map(|(step, _)| (end.min(step.end) - from.max(step.start)).max(0)).sum();
        *sums.entry(exchange.dimension).or_default() += time;
    }
    sums
}

/// Totals of the common window, regardless of steps.
fn totals(view: &View<'_>, pieces: &[Piece], window: (i64, i64)) -> Totals {
    let of = |role| {
        let within =
            pieces.iter().filter(|p| p.role == role).map(|p| p.end.min(window.1) - p.start.max(window.0));
        within.filter(|time| *time > 0).sum::<i64>()
    };
    let mut communication = 0;
    let mut until = window.0;
    for ((role, &start), &end) in view.role.iter().zip(view.gpu.starts()).zip(view.gpu.ends()) {
        if *role == Role::Communication {
            let (start, end) = (start.max(until), end.min(window.1));
            if start < end {
                communication += end - start;
                until = end;
            }
        }
    }
    let exposed = of(Role::Communication);
    Totals {
        window: window.1 - window.0,
        compute: of(Role::Compute),
        communication,
        overlap: communication - exposed,
        exposed,
        copies: of(Role::Copy),
        idle: of(Role::None),
    }
}

/// Kernels that began within a time range, by name and phase.
fn kernels(view: &View<'_>, span: (i64, i64)) -> Vec<KernelUse> {
    let mut uses: IndexMap<u64, KernelUse, FxBuildHasher> = IndexMap::default();
    let starts = view.gpu.starts();
    let from = starts.partition_point(|start| *start < span.0);
    let to = starts.partition_point(|start| *start < span.1);
    for (at, &start) in starts.iter().enumerate().take(to).skip(from) {
        let role = view.role[at];
        if role == Role::None {
            continue;
        }
        let (name, phase) = (view.gpu.names()[at], view.phase[at]);
        let family = view.family[at];
        let fresh = KernelUse { name, phase, family, role, count: 0, duration: 0, longest: 0 };
        let sum = uses.entry(key(Label::OtherCompute, phase, name.0)).or_insert(fresh);
        let duration = view.gpu.ends()[at] - start;
        sum.count += 1;
        sum.duration += duration;
        sum.longest = sum.longest.max(duration);
    }
    uses.into_values().collect()
}
