//! A search: a model, a cluster, a space, and what is wanted of it.
//!
//! Responsible for: setting up, cutting into pieces, and turning what the pieces found into an answer. Refuses to run pieces side by
//! side: the front end does that.

use super::candidate::{self, Candidate, Miss};
use super::incumbent::Incumbent;
use super::pieces::{self, Degrees};
use super::results::{Counters, Front, Results, Score, ShortList};
use super::space::Space;
use super::walk;
use railwright_calculator::costing::Machine;
use railwright_calculator::memory::{MemorySoftware, SoftwareCatalogue, probability_of_fitting};
use railwright_calculator::prepared::Buffers;
use railwright_calculator::schedule::ChunkCost;
use railwright_calculator::software::{self, Software};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Dollars};
use serde::Serialize;

/// What is to be as small, or as large, as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Time of a step.
    Time,
    /// Dollars for a number of tokens.
    Dollars,
    /// Devices.
    Devices,
    /// Memory that is left, as large as possible.
    Headroom,
}

/// What is wanted of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// What is to be best.
    pub objective: Objective,
    /// How many layouts are wanted.
    pub keep: usize,
    /// Least probability of fitting.
    pub fit_probability: f64,
    /// Whether the front of time and memory is wanted, for a front in which headroom plays a part. It takes longer: strategies that are
    /// slow and small cannot be left out.
    pub front: bool,
    /// Price of a device-hour; `None` takes the accelerator's typical one.
    pub price_per_device_hour: Option<Dollars>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            objective: Objective::Time,
            keep: 10,
            fit_probability: 0.9,
            front: false,
            price_per_device_hour: None,
        }
    }
}

/// One model, one cluster, one space.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// What is trained.
    pub model: &'a Model,
    /// On what.
    pub cluster: &'a Cluster,
    /// Among which strategies.
    pub space: Space,
    /// What for.
    pub options: Options,
    pub(super) machine: Machine,
    pub(super) software: &'static Software,
    pub(super) memory: &'static MemorySoftware,
    pieces: Vec<Degrees>,
    refused: u64,
}

/// Buffers of one thread.
#[derive(Debug)]
pub struct Worker {
    pub(super) plan: Plan,
    pub(super) buffers: Buffers,
    pub(super) scratch: Vec<ChunkCost>,
    /// The best that the thread has found in all its pieces, to bound the rest.
    pub(super) best: ShortList,
    pub(super) front: Front,
}

/// What a search comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// What was to be best.
    pub objective: Objective,
    /// The best layouts, best first.
    pub candidates: Vec<Candidate>,
    /// Candidates that none beats in both time and headroom, fastest first; empty unless asked for.
    pub front: Vec<Candidate>,
    /// Where nothing fits: what comes closest.
    pub nearest_misses: Vec<Miss>,
    /// What became of all strategies.
    pub counters: Counters,
    /// What was chosen because nobody said it.
    pub chosen: Vec<String>,
}

impl<'a> Search<'a> {
    /// Prepares a search. Fails when the space is empty, with the reason.
    pub fn new(
        model: &'a Model,
        cluster: &'a Cluster,
        space: Space,
        options: Options,
    ) -> Result<Self, Problem> {
        let software = software::by_id(&space.base.software)?;
        let memory = SoftwareCatalogue::shared()?.get(&space.base.software);
        let (pieces, refused) = pieces::all(&space, model, cluster);
        if pieces.is_empty() {
            return Err(Problem::new(format!(
                "no combination of the degrees allowed makes up {} devices ({refused} tried)",
                cluster.devices
            ))
            .at_key("plan.tensor_parallel")
            .hint("tensor x context x pipeline x data is the number of devices: allow more values of one of them"));
        }
        let mut search = Self {
            model,
            cluster,
            space,
            options,
            machine: Machine::new(cluster),
            software,
            memory,
            pieces,
            refused,
        };
        walk::sort(&mut search);
        Ok(search)
    }

    /// The pieces, the most promising first. Each can be run by itself, in any order, on any thread.
    pub fn pieces(&self) -> &[Degrees] {
        &self.pieces
    }

    pub(super) fn set_pieces(&mut self, pieces: Vec<Degrees>) {
        self.pieces = pieces;
    }

    /// Buffers for a thread.
    pub fn worker(&self) -> Worker {
        Worker {
            plan: self.space.base.clone(),
            buffers: Buffers::default(),
            scratch: Vec::new(),
            best: ShortList::new(self.score(), self.options.keep),
            front: Front::default(),
        }
    }

    /// What lists are sorted by.
    pub fn score(&self) -> Score {
        if self.options.objective == Objective::Headroom { Score::Memory } else { Score::Time }
    }

    /// Results with nothing in them but what was refused at the outset.
    pub fn results(&self) -> Results {
        let mut results = Results::new(self.score(), self.options.keep);
        results.counters.invalid = self.refused;
        results
    }

    /// Searches one piece.
    pub fn run_piece(&self, index: usize, worker: &mut Worker, incumbent: &Incumbent) -> Results {
        let mut found = Results::new(self.score(), self.options.keep);
        found.pieces = 1;
        if let Some(degrees) = self.pieces.get(index) {
            walk::piece(self, *degrees, worker, incumbent, &mut found);
        }
        found
    }

    /// All pieces, one after another.
    pub fn run(&self) -> Results {
        let incumbent = Incumbent::default();
        let mut worker = self.worker();
        let mut results = self.results();
        for index in 0..self.pieces.len() {
            results.merge(&self.run_piece(index, &mut worker, &incumbent));
        }
        results
    }

    /// Whether a need of memory is safe enough. `least` is what the fullest device runs with.
    pub(super) fn fits(&self, least: Bytes) -> bool {
        self.probability(least) >= self.options.fit_probability
    }

    pub(super) fn probability(&self, least: Bytes) -> f64 {
        probability_of_fitting(least, self.cluster.accelerator.memory, self.memory.sigma)
    }

    /// The answer, with everything about each candidate worked out.
    pub fn outcome(&self, results: &Results) -> Outcome {
        let entries = |list: &[super::results::Entry]| {
            list.iter().filter_map(|e| Candidate::new(self, &e.strategy).ok()).collect::<Vec<_>>()
        };
        let mut candidates = entries(results.best.entries());
        candidate::mark_ties(&mut candidates, self.options.objective);
        let nearest_misses = if candidates.is_empty() {
            results.misses.entries().iter().map(|e| Miss::new(self, &e.strategy)).collect()
        } else {
            Vec::new()
        };
        Outcome {
            objective: self.options.objective,
            candidates,
            front: entries(results.front.entries()),
            nearest_misses,
            counters: results.counters,
            chosen: self.space.chosen.clone(),
        }
    }
}

impl Outcome {
    /// Several searches as one: other numbers of devices, other clusters.
    pub fn merged(outcomes: Vec<Self>, keep: usize) -> Option<Self> {
        let mut all = outcomes.into_iter();
        let mut merged = all.next()?;
        for other in all {
            merged.candidates.extend(other.candidates);
            merged.front.extend(other.front);
            merged.nearest_misses.extend(other.nearest_misses);
            merged.counters.add(&other.counters);
            for words in other.chosen {
                if !merged.chosen.contains(&words) {
                    merged.chosen.push(words);
                }
            }
        }
        candidate::sort(&mut merged.candidates, merged.objective);
        merged.candidates.truncate(keep);
        candidate::mark_ties(&mut merged.candidates, merged.objective);
        merged.front = candidate::front(&merged.front, Objective::Time, Objective::Headroom);
        if !merged.candidates.is_empty() {
            merged.nearest_misses.clear();
        }
        Some(merged)
    }
}
