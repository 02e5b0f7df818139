//! Replay: a step again from the durations of its own passes, and what it would take if some of them were different.
//!
//! Responsible for: durations, transfers and delays of passes; the time of a step under any other durations; what is normal for a pass. The method is
//! the what-if analysis of "Understanding Stragglers in Large Model Training Using What-if Analysis" (Lin et al., 2025), with two additions: messages
//! that nobody recorded are fitted ([`Gaps`]), and a cost is the difference of two replays of the same step. Refuses to move passes between ranks
//! or to change their order.
//!
//! Cost of a replay: linear in the passes of the step, without allocation once its buffers have grown.

mod gaps;
mod graph;
mod links;
mod normal;
mod what_if;

pub use gaps::{Gaps, StageClock, align_stages};
pub use normal::{Ideal, Normal, Spread};
pub use what_if::{Share, Slowdown, Subset, WhatIf};

use crate::passes::{Pass, Passes};
use graph::{StepGraph, Times, lag};
use railwright_spec::problem::Problem;

/// Whether passes begin as late as they were recorded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delays {
    /// Whatever a pass began later than it could (its host, mostly) stays with it: a replay gives back the recorded times.
    Kept,
    /// Passes begin when they can.
    Dropped,
}

/// A job's steps, ready to be replayed.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    passes: &'a [Pass],
    graphs: Vec<StepGraph>,
    /// Of arithmetic, as recorded; of communication, from the latest start to the own end.
    durations: Vec<i64>,
    delays: Vec<i64>,
    gaps: Gaps,
    normal: Normal,
}

/// One step of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedStep {
    /// Which step.
    pub step: u32,
    /// What it took, in nanoseconds.
    pub measured: i64,
    /// What its replay takes, without delays but with what passed after its last pass.
    pub replayed: i64,
}

impl ReplayedStep {
    /// How far the replay is off, as a share of the measured step.
    pub fn error(&self) -> f64 {
        (self.replayed - self.measured) as f64 / (self.measured as f64).max(1.0)
    }
}

impl<'a> Replay<'a> {
    /// Prepares passes, which must be in their order ([`Passes::sort`]).
    ///
    /// # Errors
    ///
    /// When there is no arithmetic among them.
    pub fn new(passes: &'a Passes) -> Result<Self, Problem> {
        if !passes.passes.iter().any(|p| p.kind.is_compute()) {
            return Err(Problem::new("there is no forward or backward pass to replay").in_file(&passes.label));
        }
        let shape = passes.shape.widened(&passes.passes);
        let mut graphs = Vec::new();
        let mut first = 0;
        for of_step in passes.passes.chunk_by(|a, b| a.step == b.step) {
            let step = of_step[0].step;
            let said = passes.steps.iter().filter(|s| s.step == step).map(|s| s.duration).max();
            graphs.push(StepGraph::new(of_step, first, &shape, said));
            first += of_step.len();
        }
        let passes = &passes.passes[..];
        let mut replay = Self {
            durations: passes.iter().map(Pass::duration).collect(),
            delays: vec![0; passes.len()],
            gaps: Gaps::default(),
            normal: Normal::default(),
            passes,
            graphs,
        };
        replay.transfers();
        replay.gaps = Gaps::fit(passes, &replay.graphs);
        replay.find_delays();
        replay.normal = Normal::of(passes, &replay.durations);
        Ok(replay)
    }

    /// transfer = end - latest start of those who meet
    fn transfers(&mut self) {
        for graph in &self.graphs {
            for unit in graph.units().filter(|unit| unit.len() > 1) {
                let at = |&m: &u32| graph.first + m as usize;
                let latest = unit.iter().map(|m| self.passes[at(m)].start).max().unwrap_or(0);
                for m in unit {
                    self.durations[at(m)] = (self.passes[at(m)].end - latest).max(0);
                }
            }
        }
    }

    /// delay = start - latest end of what it waited for
    fn find_delays(&mut self) {
        let mut ends = Vec::new();
        for graph in &self.graphs {
            let of_step = &self.passes[graph.first..graph.first + graph.len()];
            ends.clear();
            ends.extend(of_step.iter().map(|p| p.end));
            for (at, pass) in of_step.iter().enumerate() {
                self.delays[graph.first + at] =
                    pass.start - graph.ready(at, self.gaps.lags(), &ends, graph.origin);
            }
        }
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.graphs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.graphs.is_empty()
    }

    /// The numbers of the steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = u32> {
        self.graphs.iter().map(|g| g.step)
    }

    /// What was fitted between passes.
    pub fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// What is normal for a pass.
    pub fn normal(&self) -> &Normal {
        &self.normal
    }

    /// All passes.
    pub fn passes(&self) -> &'a [Pass] {
        self.passes
    }

    /// How many dependencies were left out because they went in a circle, which only damaged recordings do.
    pub fn circular(&self) -> u64 {
        self.graphs.iter().map(|g| u64::from(g.circular)).sum()
    }

    /// Duration of a pass by its place in all passes: of a communication, its transfer.
    pub fn duration(&self, at: usize) -> i64 {
        self.durations[at]
    }

    /// What a step takes, in nanoseconds, when a pass (by its place in all passes) takes what `duration` says.
    pub fn time(
        &self,
        step: usize,
        delays: Delays,
        duration: impl Fn(usize) -> i64,
        runner: &mut Runner,
    ) -> i64 {
        let Some(graph) = self.graphs.get(step) else { return 0 };
        let range = graph.first..graph.first + graph.len();
        runner.durations.clear();
        runner.durations.extend(range.clone().map(duration));
        let delays = (delays == Delays::Kept).then(|| &self.delays[range]);
        graph.run(&runner.durations, delays, self.gaps.lags(), &mut runner.times) + graph.outside
    }

    /// The same between other stages: with `lags` from pass to pass and without what passed after the last pass.
    fn shape_time(
        &self,
        step: usize,
        lagging: bool,
        duration: impl Fn(usize) -> i64,
        runner: &mut Runner,
    ) -> i64 {
        let Some(graph) = self.graphs.get(step) else { return 0 };
        let range = graph.first..graph.first + graph.len();
        runner.durations.clear();
        runner.durations.extend(range.map(duration));
        let none = [0; lag::COUNT];
        let lags = if lagging { self.gaps.lags() } else { &none };
        graph.run(&runner.durations, None, lags, &mut runner.times)
    }

    /// All steps with what their replay takes.
    pub fn replayed(&self) -> Vec<ReplayedStep> {
        let mut runner = Runner::default();
        let of_step = |at: usize| ReplayedStep {
            step: self.graphs[at].step,
            measured: self.graphs[at].measured,
            replayed: self.time(at, Delays::Dropped, |p| self.durations[p], &mut runner),
        };
        (0..self.len()).map(of_step).collect()
    }

    /// What the excess of some passes over what is normal for their own rank cost each step, in nanoseconds: the replay as recorded less the
    /// replay without the excess; 0 where slack absorbed it.
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

    /// What the excess of chosen passes cost a step (by its place).
    pub fn cost(&self, step: usize, chosen: impl Fn(usize) -> bool, runner: &mut Runner) -> i64 {
        let recorded = self.time(step, Delays::Kept, |p| self.durations[p], runner);
        let without = |p: usize| {
            let own = self.durations[p];
            if chosen(p) { own.min(self.normal.of_pass(&self.passes[p]).median) } else { own }
        };
        recorded - self.time(step, Delays::Kept, without, runner)
    }
}

/// Buffers for replays, to be used again and again.
#[derive(Clone, Debug, Default)]
pub struct Runner {
    durations: Vec<i64>,
    times: Times,
}
