//! Step boundaries of one rank, by each available method.
//!
//! Responsible for: the moments on one rank's device. The last moment is the end of the last step. Does not
//! choose between the methods.

use super::CutBy;
use super::marked::host_steps;
use super::number::step_number;
use crate::captures::captures;
use crate::trace::{GpuKind, NONE};
use crate::view::{Role, View};
use crate::{NameId, serving};
use std::collections::BTreeMap;

/// Start of a step; the last one of a list is the end of the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    /// Number of the step that begins.
    pub(super) number: Option<u64>,
    /// Time in nanoseconds.
    pub(super) time: i64,
}

/// Share of a host's only step. With less device work, the device does not show where it begins and ends;
/// with less time before its work, that time may be the latency of a launch.
pub(super) const LITTLE: f64 = 0.1;

/// A method to cut one rank's steps.
type Way = fn(&View<'_>) -> Vec<Boundary>;

/// The methods, best first.
pub(super) const METHODS: [(CutBy, Way); 6] = [
    (CutBy::InferenceSteps, inference),
    (CutBy::Launches, launches),
    (CutBy::DeviceAnnotations, device_annotations),
    (CutBy::HostAnnotations, host_annotations),
    (CutBy::Modules, modules),
    (CutBy::Optimizer, optimizer),
];

/// Steps of an inference server, numbered in their order: by kernels launched within its annotations, by the
/// device's copies of them, or by the annotations themselves.
fn inference(view: &View<'_>) -> Vec<Boundary> {
    let numbered = |steps: &[serving::Marked]| -> Vec<(u64, i64, i64)> {
        (0..).zip(steps).map(|(number, step)| (number, step.start, step.end)).collect()
    };
    let host = numbered(&serving::host_steps(view.trace));
    let launched = launched_within(view, &host);
    if !launched.is_empty() {
        return launched;
    }
    let device = numbered(&serving::device_steps(view.trace));
    let steps = if device.is_empty() { host } else { device };
    let mut boundaries: Vec<Boundary> =
        steps.iter().map(|step| Boundary { number: Some(step.0), time: step.1 }).collect();
    close(&mut boundaries, steps.last().map(|step| step.2));
    boundaries
}

/// The first work of the main stream launched in each host step, and the end of the last step's last
/// activity. Copies of a step's input precede its kernels.
fn launches(view: &View<'_>) -> Vec<Boundary> {
    launched_within(view, &host_steps(view.trace))
}

/// The same for given host steps: number, start, end, in order.
fn launched_within(view: &View<'_>, steps: &[(u64, i64, i64)]) -> Vec<Boundary> {
    if steps.is_empty() || view.from_host {
        return Vec::new();
    }
    let main = main_stream(view);
    let host = view.trace.host.starts();
    let mut first: Vec<Option<i64>> = vec![None; steps.len()];
    let mut last: Option<i64> = None;
    for (at, &launch) in view.launch.iter().enumerate() {
        if launch == NONE || view.role[at] == Role::None {
            continue;
        }
        let Some(&called) = host.get(launch as usize) else { continue };
        // The step that contains the call.
        let step = steps.partition_point(|step| step.1 <= called);
        if step == 0 || (step == steps.len() && called > steps[step - 1].2) {
            continue;
        }
        if matches!(view.role[at], Role::Compute | Role::Copy) && view.gpu.streams()[at] == main {
            let start = view.gpu.starts()[at];
            let cell = &mut first[step - 1];
            *cell = Some(cell.map_or(start, |known| known.min(start)));
        }
        if step == steps.len() {
            let end = view.gpu.ends()[at];
            last = Some(last.map_or(end, |known| known.max(end)));
        }
    }
    let mut boundaries: Vec<Boundary> = steps
        .iter()
        .zip(first)
        .filter_map(|(step, time)| Some(Boundary { number: Some(step.0), time: time? }))
        .collect();
    close(&mut boundaries, last);
    // A single step has no successor for comparison. The few kernels around the capture of a graph are no
    // step of the device.
    if let ([first, end], [step]) = (boundaries.as_slice(), steps)
        && (end.time - first.time) as f64 <= LITTLE * (step.2 - step.1) as f64
        && captures(view.trace).iter().any(|capture| capture.0 >= step.1 && capture.1 <= step.2)
    {
        return Vec::new();
    }
    boundaries
}

/// The stream with most compute.
fn main_stream(view: &View<'_>) -> u32 {
    let mut streams: BTreeMap<u32, i64> = BTreeMap::new();
    for (at, &stream) in view.gpu.streams().iter().enumerate() {
        if view.role[at] == Role::Compute {
            *streams.entry(stream).or_default() += view.gpu.ends()[at] - view.gpu.starts()[at];
        }
    }
    streams.iter().max_by_key(|(stream, time)| (**time, u32::MAX - **stream)).map_or(0, |(stream, _)| *stream)
}

/// Adds the end of the last step.
fn close(boundaries: &mut Vec<Boundary>, end: Option<i64>) {
    if let (Some(end), Some(last)) = (end, boundaries.last().map(|boundary| boundary.time))
        && end > last
    {
        boundaries.push(Boundary { number: None, time: end });
    }
}

/// The device's copies of `ProfilerStep`, each of which begins with the first kernel of its step.
fn device_annotations(view: &View<'_>) -> Vec<Boundary> {
    let mut first: BTreeMap<u64, (usize, i64)> = BTreeMap::new();
    let mut end = None;
    for row in view.gpu.iter().filter(|row| row.kind == GpuKind::Annotation) {
        if let Some(number) = step_number(view.trace.names.get(row.name)) {
            // One per stream; the first counts.
            let place = first.len();
            let (_, time) = first.entry(number).or_insert((place, row.start));
            *time = row.start.min(*time);
            end = end.max(Some(row.end));
        }
    }
    let mut met: Vec<(i64, usize, u64)> =
        first.into_iter().map(|(number, (place, time))| (time, place, number)).collect();
    met.sort_unstable();
    let mut boundaries: Vec<Boundary> =
        met.into_iter().map(|(time, _, number)| Boundary { number: Some(number), time }).collect();
    close(&mut boundaries, end);
    boundaries
}

/// Steps from host annotations.
fn host_annotations(view: &View<'_>) -> Vec<Boundary> {
    let steps = host_steps(view.trace);
    let mut boundaries: Vec<Boundary> =
        steps.iter().map(|step| Boundary { number: Some(step.0), time: step.1 }).collect();
    close(&mut boundaries, steps.last().map(|step| step.2));
    boundaries
}

/// Runs of the compiled program with most of the work, if a compiler marks them: XLA compiles a training step
/// into one module. Modules measured during compilation contain few kernels each.
fn modules(view: &View<'_>) -> Vec<Boundary> {
    let is_module = |name: &str| name.contains("XlaModule:#hlo_module=");
    let mut runs: BTreeMap<NameId, Vec<(i64, i64)>> = BTreeMap::new();
    for row in view.gpu.iter().filter(|row| row.kind == GpuKind::Annotation) {
        if is_module(view.trace.names.get(row.name)) {
            runs.entry(row.name).or_default().push((row.start, row.end));
        }
    }
    let starts = view.gpu.starts();
    let holds = |runs: &[(i64, i64)]| -> usize {
        let within = |&(start, end): &(i64, i64)| {
            let from = starts.partition_point(|time| *time < start);
            let to = starts.partition_point(|time| *time < end);
            to.saturating_sub(from)
        };
        runs.iter().map(within).sum()
    };
    let repeated = runs.values().filter(|runs| runs.len() > 1);
    let Some(step) = repeated.max_by_key(|runs| (holds(runs), runs.len())) else { return Vec::new() };
    let mut boundaries: Vec<Boundary> =
        step.iter().map(|run| Boundary { number: None, time: run.0 }).collect();
    close(&mut boundaries, step.iter().map(|run| run.1).max());
    boundaries
}

/// Ends of the optimizer's work: a step begins at the end of the previous update. Work before the first
/// update is a step only if the recording began with it, which is unknown. It is therefore excluded, and two
/// updates make one step.
fn optimizer(view: &View<'_>) -> Vec<Boundary> {
    let mut boundaries: Vec<Boundary> = Vec::new();
    let mut update: Option<i64> = None;
    for (at, phase) in view.phase.iter().enumerate() {
        if view.role[at] != Role::Compute {
            continue;
        }
        if *phase == railwright_step::Phase::Optimizer {
            update = update.max(Some(view.gpu.ends()[at]));
        } else if *phase == railwright_step::Phase::Backward
            && let Some(time) = update.take()
        {
            boundaries.push(Boundary { number: None, time });
        }
    }
    if let Some(time) = update {
        boundaries.push(Boundary { number: None, time });
    }
    boundaries
}
