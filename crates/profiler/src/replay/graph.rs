//! The dependency graph of one step.
//!
//! Responsible for: dependencies between the passes of a step, the ranks of each communication, and an order
//! in which one sweep computes the longest path. Does not model schedules: the recorded order of a rank's
//! passes is the schedule.
//!
//! Streams of a rank are its compute, one for each direction of messages, and its data-parallel
//! communication. Passes after the last compute (reductions, clipping, the update) run in their recorded
//! order.

use super::dependency::{Dependency, lag};
use super::links::{Links, link};
use crate::passes::{Pass, PassShape};

/// Graph of one step. Passes are identified by their index in the step.
#[derive(Clone, Debug)]
pub(super) struct StepGraph {
    pub step: u32,
    /// Index of the step's first pass among all passes.
    pub first: usize,
    /// Start of the step, in nanoseconds.
    pub origin: i64,
    /// Duration in nanoseconds.
    pub measured: i64,
    /// Time of the step after the end of its last pass, in nanoseconds.
    pub outside: i64,
    /// Passes in topological order; the members of a communication are adjacent.
    order: Vec<u32>,
    /// Ends of the communications (or single passes) in `order`.
    unit_ends: Vec<u32>,
    dependency_ends: Vec<u32>,
    dependencies: Vec<Dependency>,
    /// Number of dependencies dropped because of cycles.
    pub circular: u32,
}

/// Reused buffers of replays.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub starts: Vec<i64>,
    pub ends: Vec<i64>,
}

impl StepGraph {
    /// Creates the graph of a step's passes, which are in order of rank and start. With `host_order`, ranks
    /// ran passes and messages in the order of their program.
    pub(super) fn new(
        passes: &[Pass],
        first: usize,
        shape: &PassShape,
        host_order: bool,
        measured: Option<i64>,
    ) -> Self {
        let origin = passes.iter().map(|p| p.start).min().unwrap_or(0);
        let last = passes.iter().map(|p| p.end).max().unwrap_or(0);
        let measured = measured.unwrap_or(last - origin).max(last - origin);
        let Links { mut edges, groups } = link(passes, shape, host_order);
        edges.sort_unstable_by_key(|&(to, d)| (to, d.from, d.lag));
        edges.dedup();
        let mut graph = Self {
            step: passes.first().map_or(0, |p| p.step),
            first,
            origin,
            measured,
            outside: measured - (last - origin),
            order: Vec::with_capacity(passes.len()),
            unit_ends: Vec::new(),
            dependency_ends: Vec::with_capacity(passes.len()),
            dependencies: Vec::with_capacity(edges.len()),
            circular: 0,
        };
        let places = graph.arrange(passes, &edges, groups);
        // An edge from a later pass of the order is dropped.
        let mut edges = edges.into_iter().peekable();
        for to in 0..passes.len() as u32 {
            while let Some((_, dependency)) = edges.next_if(|&(t, _)| t == to) {
                if places[dependency.from as usize] < places[to as usize] {
                    graph.dependencies.push(dependency);
                } else {
                    graph.circular += 1;
                }
            }
            graph.dependency_ends.push(graph.dependencies.len() as u32);
        }
        graph
    }

    /// Computes the order. Returns by pass the position of its unit in it.
    fn arrange(&mut self, passes: &[Pass], edges: &[(u32, Dependency)], groups: Vec<Vec<u32>>) -> Vec<u32> {
        const NOWHERE: u32 = u32::MAX;
        let mut unit_of = vec![NOWHERE; passes.len()];
        let mut units: Vec<Vec<u32>> = Vec::with_capacity(passes.len());
        let singles = (0..passes.len() as u32).map(|at| vec![at]);
        for members in groups.into_iter().chain(singles) {
            if members.iter().any(|&m| unit_of[m as usize] != NOWHERE) {
                continue;
            }
            for &member in &members {
                unit_of[member as usize] = units.len() as u32;
            }
            units.push(members);
        }
        let mut waits = vec![0_u32; units.len()];
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); units.len()];
        for &(to, from) in edges {
            waits[unit_of[to as usize] as usize] += 1;
            next[unit_of[from.from as usize] as usize].push(unit_of[to as usize]);
        }
        // In a cycle of units, the one recorded first comes first.
        let start = |unit: &[u32]| unit.iter().map(|&m| passes[m as usize].start).min().unwrap_or(0);
        let mut by_start: Vec<u32> = (0..units.len() as u32).collect();
        by_start.sort_by_key(|&u| start(&units[u as usize]));
        let mut stuck = by_start.iter();
        let mut places = vec![NOWHERE; units.len()];
        let mut ready: std::collections::VecDeque<u32> =
            by_start.iter().copied().filter(|&u| waits[u as usize] == 0).collect();
        let mut place = 0;
        while place < units.len() as u32 {
            let unit = ready.pop_front().or_else(|| stuck.next().copied());
            let Some(unit) = unit.map(|u| u as usize) else { break };
            if places[unit] != NOWHERE {
                continue;
            }
            places[unit] = place;
            place += 1;
            self.order.extend(&units[unit]);
            self.unit_ends.push(self.order.len() as u32);
            for &other in &next[unit] {
                let waits = &mut waits[other as usize];
                *waits = waits.saturating_sub(1);
                if *waits == 0 {
                    ready.push_back(other);
                }
            }
        }
        unit_of.into_iter().map(|u| places[u as usize]).collect()
    }

    /// Number of passes.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Dependencies of a pass.
    pub(super) fn dependencies(&self, at: usize) -> &[Dependency] {
        let from = at.checked_sub(1).map_or(0, |before| self.dependency_ends[before]);
        &self.dependencies[from as usize..self.dependency_ends[at] as usize]
    }

    /// Members of each communication, or single passes, in the order of replay.
    pub(super) fn units(&self) -> impl Iterator<Item = &[u32]> {
        let mut from = 0;
        self.unit_ends.iter().map(move |&end| {
            let unit = &self.order[from as usize..end as usize];
            from = end;
            unit
        })
    }

    /// Earliest start of a pass, from the ends of its dependencies. If delays are `kept`, the recorded order
    /// of receives counts, too.
    pub(super) fn ready(
        &self,
        at: usize,
        kept: bool,
        lags: &[i64; lag::COUNT],
        ends: &[i64],
        origin: i64,
    ) -> i64 {
        let dependencies = self.dependencies(at).iter().filter(|d| kept || d.lag != lag::ASKED);
        dependencies.map(|d| ends[d.from as usize] + lags[d.lag as usize]).max().unwrap_or(origin)
    }

    /// The longest path: starts and ends of all passes from the step's beginning, and the last end, in
    /// nanoseconds. `durations` are those of compute and the transfers of communications; `delays` are
    /// added to the earliest starts.
    ///
    /// start = max(end of dependency + lag) + delay; end = start + duration, in a communication max(start) +
    /// transfer.
    pub(super) fn run(
        &self,
        durations: &[i64],
        delays: Option<&[i64]>,
        lags: &[i64; lag::COUNT],
        times: &mut Times,
    ) -> i64 {
        times.starts.clear();
        times.starts.resize(self.len(), 0);
        times.ends.clear();
        times.ends.resize(self.len(), 0);
        let mut last = 0;
        for unit in self.units() {
            let mut meet = i64::MIN;
            for &at in unit {
                let at = at as usize;
                let start =
                    self.ready(at, delays.is_some(), lags, &times.ends, 0) + delays.map_or(0, |d| d[at]);
                times.starts[at] = start;
                meet = meet.max(start);
            }
            for &at in unit {
                let end = meet + durations[at as usize];
                times.ends[at as usize] = end;
                last = last.max(end);
            }
        }
        last
    }
}
