//! Steps of an inference server by mode.
//!
//! Responsible for: the rows of the report, with times of each mode separately: a mean over prefill and
//! decode describes neither. Excludes advice.

use super::{Marked, Mode, Server, device_steps, host_steps};
use crate::trace::NONE;
use crate::view::{Role, View};
use crate::waterfall::{Group, Waterfall};
use crate::windows::{CutBy, Windows};
use serde::Serialize;

/// Report of an inference server's trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Serving {
    /// The server, from its annotations.
    pub server: Server,
    /// Recorded kinds of steps.
    pub modes: Vec<ModeRow>,
}

/// All steps of one mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeRow {
    /// Mode of the steps.
    pub mode: Mode,
    /// Number of steps.
    pub steps: usize,
    /// Mean duration in nanoseconds: from a step's first kernel to that of the next step.
    pub mean_ns: f64,
    /// Lower median of the durations, in nanoseconds.
    pub median_ns: i64,
    /// Longest duration, in nanoseconds.
    pub longest_ns: i64,
    /// Mean requests in prefill per step; `None` if not recorded.
    pub context_requests: Option<f64>,
    /// Mean prompt tokens per step; `None` if not recorded.
    pub context_tokens: Option<f64>,
    /// Mean requests in decode per step; `None` if not recorded.
    pub generation_requests: Option<f64>,
    /// Mean tokens computed per step for requests in decode; `None` if not recorded.
    pub generation_tokens: Option<f64>,
    /// Computed tokens per second of these steps: prompt tokens and those of decode. `None` if an annotation
    /// lacks them.
    pub tokens_per_s: Option<f64>,
    /// Mean time per step and rank by line of the first page, in the order of [`Group::ALL`], in
    /// nanoseconds.
    pub groups_ns: Vec<f64>,
    /// Share of kernel time launched by graphs (`cudaGraphLaunch`, `hipGraphLaunch`; 0 to 1).
    pub graph_share: f64,
}

/// Report of a trace whose steps were cut by annotations of an inference server.
pub(crate) fn serving(views: &[View<'_>], windows: &Windows, waterfall: &Waterfall) -> Option<Serving> {
    if windows.cut_by != CutBy::InferenceSteps {
        return None;
    }
    let marked = annotated(views.get(reference(views)?)?);
    let graphs = by_graphs(views, windows);
    let mut modes: Vec<ModeRow> = Vec::new();
    for mode in Mode::ALL {
        let of_mode: Vec<(usize, &Marked)> = (windows.steps.iter().enumerate())
            .filter_map(|(at, step)| Some((at, marked.get(usize::try_from(step.number?).ok()?)?)))
            .filter(|(_, step)| step.mark.mode == mode)
            .collect();
        if of_mode.is_empty() {
            continue;
        }
        let count = of_mode.len() as f64;
        let mean = |of: fn(&Marked) -> Option<u64>| {
            let sum: Option<u64> = of_mode.iter().map(|(_, step)| of(step)).sum();
            sum.map(|sum| sum as f64 / count)
        };
        let mut durations: Vec<i64> = of_mode.iter().map(|(at, _)| windows.steps[*at].duration()).collect();
        durations.sort_unstable();
        let mean_ns = durations.iter().map(|d| *d as f64).sum::<f64>() / count;
        let context_tokens = mean(|step| step.mark.context_tokens);
        let generation_tokens = mean(|step| step.mark.generation_tokens);
        let tokens = match mode {
            Mode::Prefill => context_tokens,
            Mode::Decode => generation_tokens,
            _ => context_tokens.zip(generation_tokens).map(|(context, generation)| context + generation),
        };
        let groups = Group::ALL.map(|group| {
            let of_step = |at: &usize| {
                let there = waterfall.ranks.iter().filter(|rank| !rank.missing.contains(at)).count();
                let parts = waterfall.steps.get(*at).map_or(0, |parts| parts.group(group));
                parts as f64 / there.max(1) as f64
            };
            of_mode.iter().map(|(at, _)| of_step(at)).sum::<f64>() / count
        });
        let (graph, all) = of_mode.iter().fold((0, 0), |(graph, all), (at, _)| {
            let of = graphs.get(*at).copied().unwrap_or_default();
            (graph + of.0, all + of.1)
        });
        modes.push(ModeRow {
            mode,
            steps: of_mode.len(),
            mean_ns,
            median_ns: durations[(durations.len() - 1) / 2],
            longest_ns: durations[durations.len() - 1],
            context_requests: mean(|step| step.mark.context_requests),
            context_tokens,
            generation_requests: mean(|step| step.mark.generation_requests),
            generation_tokens,
            tokens_per_s: tokens.filter(|_| mean_ns > 0.0).map(|tokens| tokens / mean_ns * 1e9),
            groups_ns: groups.to_vec(),
            graph_share: graph as f64 / (all as f64).max(1.0),
        });
    }
    Some(Serving { server: marked.first()?.mark.server, modes })
}

/// Index of the rank whose steps define the numbers of windows: the one with most annotations, the first of
/// equal ones.
pub(crate) fn reference(views: &[View<'_>]) -> Option<usize> {
    let counts = views.iter().map(|view| annotated(view).len()).enumerate().filter(|(_, count)| *count > 0);
    counts.max_by_key(|(at, count)| (*count, std::cmp::Reverse(*at))).map(|(at, _)| at)
}

/// Steps of a rank by its host's annotations, otherwise by its device's.
fn annotated(view: &View<'_>) -> Vec<Marked> {
    let host = host_steps(view.trace);
    if host.is_empty() { device_steps(view.trace) } else { host }
}

/// By step: time of kernels launched by graphs, and of all kernels, in nanoseconds.
fn by_graphs(views: &[View<'_>], windows: &Windows) -> Vec<(i64, i64)> {
    let mut sums = vec![(0, 0); windows.steps.len()];
    for view in views {
        let is_graph = |launch: u32| {
            let name = view.trace.host.names().get(launch as usize);
            name.is_some_and(|name| view.trace.names.get(*name).contains("GraphLaunch"))
        };
        for (at, &start) in view.gpu.starts().iter().enumerate() {
            if !matches!(view.role[at], Role::Compute | Role::Communication) {
                continue;
            }
            let step = windows.steps.partition_point(|step| step.start <= start);
            let Some(sum) = step.checked_sub(1).and_then(|step| sums.get_mut(step)) else { continue };
            let time = view.gpu.ends()[at] - start;
            sum.1 += time;
            if view.launch[at] != NONE && is_graph(view.launch[at]) {
                sum.0 += time;
            }
        }
    }
    sums
}
