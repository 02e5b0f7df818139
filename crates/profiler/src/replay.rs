//! Replay: a step from the durations of its own passes, and its duration if some of them were different.
//!
//! Responsible for: durations, transfers and delays of passes; the time of a step under any other durations;
//! normal pass durations. The method is the what-if analysis of "Understanding Stragglers in Large Model
//! Training Using What-if Analysis" (Lin et al., 2025), with two additions. Unrecorded messages are fitted
//! ([`Gaps`]), and a cost is the difference of two replays of the same step. Does not move passes
//! between ranks or change their order.
//!
//! Cost of a replay: linear in the passes of the step, without allocation once its buffers have grown.

mod dependency;
mod gaps;
mod graph;
mod links;
mod normal;
mod subset;
mod what_if;

pub use gaps::{Gaps, StageClock, align_stages};
pub(crate) use gaps::{lower_median, median};
pub use normal::{Ideal, Normal, Spread};
pub use subset::Subset;
pub use what_if::{Share, Slowdown, WhatIf};

use crate::passes::{Pass, PassKind, Passes};
use dependency::{Dependency, lag};
use graph::{StepGraph, Times};
use railwright_spec::problem::Problem;
use std::ops::Range;

/// Treatment of recorded delays before passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delays {
    /// Delays before a pass (mostly of its host) are kept, and a receive follows its recorded predecessor: a
    /// replay reproduces the recorded times.
    Kept,
    /// Passes begin as early as possible. If the host's own order was recorded ([`Passes::host_order`]), they
    /// begin after their rank's time between passes.
    Dropped,
}

/// Steps of a job, prepared for replay.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    passes: &'a [Pass],
    graphs: Vec<StepGraph>,
    /// By pass: duration of compute as recorded; of communication, from the latest start to its own end, in
    /// nanoseconds.
    durations: Vec<i64>,
    delays: Vec<i64>,
    /// By pass: the rank's own work within the delay, in nanoseconds, if known.
    own: Vec<i64>,
    gaps: Gaps,
    normal: Normal,
    median_step: i64,
    warm_up: Option<usize>,
}

/// One step of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedStep {
    /// Step.
    pub step: u32,
    /// Duration in nanoseconds.
    pub measured: i64,
    /// Duration of its replay in nanoseconds: without delays, but with the time after its last pass.
    pub replayed: i64,
}

impl ReplayedStep {
    /// Replay error as a share of the measured step.
    pub fn error(&self) -> f64 {
        (self.replayed - self.measured) as f64 / (self.measured as f64).max(1.0)
    }
}

impl<'a> Replay<'a> {
    /// Prepares passes, which must be in their order ([`Passes::sort`]).
    ///
    /// # Errors
    ///
    /// If there is no compute among them, or times or places exceed any job.
    pub fn new(passes: &'a Passes) -> Result<Self, Problem> {
        passes.check()?;
        if !passes.passes.iter().any(|p| p.kind.is_compute()) {
            return Err(Problem::new("no forward or backward pass to replay").in_file(&passes.label));
        }
        let shape = passes.shape.widened(&passes.passes);
        let mut graphs = Vec::new();
        let mut first = 0;
        for of_step in passes.passes.chunk_by(|a, b| a.step == b.step) {
            let step = of_step[0].step;
            let duration = passes.steps.iter().filter(|s| s.step == step).map(|s| s.duration).max();
            graphs.push(StepGraph::new(of_step, first, &shape, passes.host_order, duration));
            first += of_step.len();
        }
        let (host_order, warm_up) = (passes.host_order, passes.warm_up);
        let passes = &passes.passes[..];
        let mut replay = Self {
            own: Vec::new(),
            durations: passes.iter().map(Pass::duration).collect(),
            delays: vec![0; passes.len()],
            gaps: Gaps::default(),
            normal: Normal::default(),
            median_step: median(&mut graphs.iter().map(|g| g.measured).collect::<Vec<_>>()),
            passes,
            graphs,
            warm_up,
        };
        replay.transfers(host_order);
        replay.gaps = Gaps::fit(passes, &replay.graphs);
        replay.find_delays();
        if host_order {
            replay.own = replay.delays.iter().map(|&delay| delay.max(0)).collect();
        }
        replay.normal = Normal::of(passes, &replay.durations);
        Ok(replay)
    }

    /// transfer = end - latest start of the members. With `host_order` a send takes no longer than its
    /// receive: the time at which a host notices the send is irrelevant.
    fn transfers(&mut self, host_order: bool) {
        for graph in &self.graphs {
            for unit in graph.units().filter(|unit| unit.len() > 1) {
                let at = |&m: &u32| graph.first + m as usize;
                let latest = unit.iter().map(|m| self.passes[at(m)].start).max().unwrap_or(0);
                for m in unit {
                    self.durations[at(m)] = (self.passes[at(m)].end - latest).max(0);
                }
                let receives = |m: &&u32| {
                    matches!(self.passes[at(m)].kind, PassKind::ReceiveForward | PassKind::ReceiveBackward)
                };
                if let Some(receive) = unit.iter().find(receives).filter(|_| host_order) {
                    let transfer = self.durations[at(receive)];
                    for m in unit {
                        self.durations[at(m)] = self.durations[at(m)].min(transfer);
                    }
                }
            }
        }
    }

    /// delay = start - latest end of its dependencies
    fn find_delays(&mut self) {
        let mut ends = Vec::new();
        for graph in &self.graphs {
            let of_step = &self.passes[graph.first..graph.first + graph.len()];
            ends.clear();
            ends.extend(of_step.iter().map(|p| p.end));
            for (at, pass) in of_step.iter().enumerate() {
                self.delays[graph.first + at] =
                    pass.start - graph.ready(at, true, self.gaps.lags(), &ends, graph.origin);
            }
        }
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.graphs.len()
    }

    /// Tests whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.graphs.is_empty()
    }

    /// The numbers of the steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = u32> {
        self.graphs.iter().map(|g| g.step)
    }

    /// Fitted gaps between passes.
    pub fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// Normal durations of passes.
    pub fn normal(&self) -> &Normal {
        &self.normal
    }

    /// All passes.
    pub fn passes(&self) -> &'a [Pass] {
        self.passes
    }

    /// Number of dependencies dropped because of cycles, which only damaged recordings have.
    pub fn circular(&self) -> u64 {
        self.graphs.iter().map(|g| u64::from(g.circular)).sum()
    }

    /// Duration of a pass by its index among all passes, in nanoseconds; of a communication, its transfer.
    pub fn duration(&self, at: usize) -> i64 {
        self.durations[at]
    }

    /// The graph of a step with its range among all passes, whose durations the runner then has.
    fn prepared(
        &self,
        step: usize,
        duration: impl Fn(usize) -> i64,
        runner: &mut Runner,
    ) -> Option<(&StepGraph, Range<usize>)> {
        let graph = self.graphs.get(step)?;
        let range = graph.first..graph.first + graph.len();
        runner.durations.clear();
        runner.durations.extend(range.clone().map(duration));
        Some((graph, range))
    }

    /// Duration of a step in nanoseconds, with pass durations (by index among all passes) from `duration`.
    pub fn time(
        &self,
        step: usize,
        delays: Delays,
        duration: impl Fn(usize) -> i64,
        runner: &mut Runner,
    ) -> i64 {
        let Some((graph, range)) = self.prepared(step, duration, runner) else { return 0 };
        let delays = match delays {
            Delays::Kept => Some(&self.delays[range]),
            Delays::Dropped => self.own.get(range),
        };
        graph.run(&runner.durations, delays, self.gaps.lags(), &mut runner.times) + graph.outside
    }

    /// Duration of a step's order of passes in nanoseconds, with or without the gaps between passes. Excludes
    /// delays and the time after the last pass. The runner then has the times of all passes.
    pub(crate) fn compute_time(
        &self,
        step: usize,
        gaps: bool,
        duration: impl Fn(usize) -> i64,
        runner: &mut Runner,
    ) -> i64 {
        let Some((graph, _)) = self.prepared(step, duration, runner) else { return 0 };
        let none = [0; lag::COUNT];
        let lags = if gaps { self.gaps.lags() } else { &none };
        graph.run(&runner.durations, None, lags, &mut runner.times)
    }

    /// Time from a step's beginning to the end of its order of passes, in nanoseconds. Includes the ranks'
    /// time between passes; `None` if unknown.
    pub(crate) fn host_time(
        &self,
        step: usize,
        duration: impl Fn(usize) -> i64,
        runner: &mut Runner,
    ) -> Option<i64> {
        let graph = self.graphs.get(step)?;
        let range = graph.first..graph.first + graph.len();
        let between = |at: usize| {
            let kind = self.passes[at].kind;
            let own = self.own.get(at).copied()?;
            Some(if kind.is_compute() || kind.is_message() { own } else { 0 })
        };
        let own: Vec<i64> = range.clone().map(between).collect::<Option<_>>()?;
        runner.durations.clear();
        runner.durations.extend(range.map(duration));
        Some(graph.run(&runner.durations, Some(&own), self.gaps.lags(), &mut runner.times))
    }

    /// The passes of a step (by its index), its start and its duration in nanoseconds.
    pub fn step_passes(&self, step: usize) -> (&'a [Pass], i64, i64) {
        let Some(graph) = self.graphs.get(step) else { return (&[], 0, 0) };
        (&self.passes[graph.first..graph.first + graph.len()], graph.origin, graph.measured)
    }

    /// Indices of the passes of some steps, which are given by index.
    fn places(&self, steps: &[usize]) -> impl Iterator<Item = usize> {
        steps.iter().filter_map(|&s| self.graphs.get(s)).flat_map(|g| g.first..g.first + g.len())
    }

    /// Indices of the steps without warm-up: all, except those of [`Passes::warm_up`], otherwise the first
    /// one if it took more than one and a half medians.
    pub fn settled(&self) -> Vec<usize> {
        let starts =
            || self.len() > 3 && self.graphs.first().is_some_and(|g| g.measured > self.median_step * 3 / 2);
        let first = self.warm_up.unwrap_or_else(|| usize::from(starts()));
        (first.min(self.len().saturating_sub(1))..self.len()).collect()
    }

    /// Index of a step's first pass among all passes.
    pub(crate) fn first_of(&self, step: usize) -> usize {
        self.graphs.get(step).map_or(0, |g| g.first)
    }

    /// Median duration of a step, in nanoseconds.
    pub(crate) fn median_step(&self) -> i64 {
        self.median_step
    }

    /// By pass of a step: the latest pass in its communication, or itself.
    pub(crate) fn latest_of_meetings(&self, step: usize) -> Vec<u32> {
        let Some(graph) = self.graphs.get(step) else { return Vec::new() };
        let mut latest: Vec<u32> = (0..graph.len() as u32).collect();
        for unit in graph.units().filter(|unit| unit.len() > 1) {
            let start = |m: &u32| self.passes[graph.first + *m as usize].start;
            if let Some(&last) = unit.iter().max_by_key(|m| (start(m), std::cmp::Reverse(**m))) {
                for &member in unit {
                    latest[member as usize] = last;
                }
            }
        }
        latest
    }

    /// The last dependency of a pass (by their positions in the step), and the gap between them in
    /// nanoseconds.
    pub(crate) fn binding(&self, step: usize, at: usize) -> Option<(usize, i64)> {
        let graph = self.graphs.get(step)?;
        let end = |d: &Dependency| {
            self.passes[graph.first + d.from as usize].end + self.gaps.lags()[d.lag as usize]
        };
        let binding = graph.dependencies(at).iter().max_by_key(|d| end(d))?;
        Some((binding.from as usize, self.gaps.lags()[binding.lag as usize]))
    }

    /// All steps with the duration of their replay.
    pub fn replayed(&self) -> Vec<ReplayedStep> {
        let mut runner = Runner::default();
        let of_step = |at: usize| ReplayedStep {
            step: self.graphs[at].step,
            measured: self.graphs[at].measured,
            replayed: self.time(at, Delays::Dropped, |p| self.durations[p], &mut runner),
        };
        (0..self.len()).map(of_step).collect()
    }

    /// Cost by step of the excess of some passes over the normal duration of their own rank, in nanoseconds.
    /// It is the replay as recorded minus the replay without the excess; 0 if slack absorbed it.
    pub fn cost_of_excess(&self, subset: &Subset) -> Vec<(u32, i64)> {
        let mut runner = Runner::default();
        let cost = |at: usize| {
            let step = self.graphs[at].step;
            if !subset.steps.is_empty() && !subset.steps.contains(&step) {
                return (step, 0);
            }
            (step, self.cost(at, |p| subset.holds(&self.passes[p]), &mut runner))
        };
        (0..self.len()).map(cost).collect()
    }

    /// Cost of the excess of selected passes in a step (by its index), in nanoseconds.
    pub fn cost(&self, step: usize, chosen: impl Fn(usize) -> bool, runner: &mut Runner) -> i64 {
        let recorded = self.time(step, Delays::Kept, |p| self.durations[p], runner);
        let without = |p: usize| {
            let own = self.durations[p];
            if chosen(p) { own.min(self.normal.of_pass(&self.passes[p]).median) } else { own }
        };
        recorded - self.time(step, Delays::Kept, without, runner)
    }
}

/// Reused buffers of replays.
#[derive(Clone, Debug, Default)]
pub struct Runner {
    durations: Vec<i64>,
    times: Times,
}

impl Runner {
    /// Start and end of a pass (by its position in the step) in the last replay, in nanoseconds.
    pub(crate) fn times_of(&self, at: usize) -> (i64, i64) {
        let end = self.times.ends.get(at).copied().unwrap_or(0);
        (self.times.starts.get(at).copied().unwrap_or(end), end)
    }
}
