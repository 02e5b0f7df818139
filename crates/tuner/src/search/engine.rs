//! A search: a model, a cluster, a space, and options.
//!
//! Responsible for: set-up, division into pieces, and conversion of their results to an outcome. The front
//! end runs pieces concurrently.

use super::candidate::{self, Candidate, Miss};
use super::entry::{Entry, Score};
use super::families::{Families, Tie};
use super::incumbent::Incumbent;
use super::options::{Objective, Options};
use super::pieces::{self, Degrees};
use super::results::{self, Counters, Front, Results, ShortList};
use super::shapes::Shapes;
use super::space::Space;
use super::task::{Search, Worker};
use super::walk;
use crate::simplicity::UnusualFeatures;
use railwright_calculator::costing::Machine;
use railwright_calculator::memory::{Peak, SoftwareCatalogue, probability_of_fitting};
use railwright_calculator::prepared::Buffers;
use railwright_calculator::software;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Segment;
use railwright_spec::problem::Problem;
use serde::Serialize;
use std::sync::Arc;

/// Minimum number of candidates for slow pricing, if fast pricing found that many, and the batch size.
const RUNNERS: usize = 50;
const RUNNERS_AT_ONCE: usize = 10;

/// Candidates of a fast machine, priced by a slow one.
#[derive(Clone, Debug, PartialEq)]
pub struct Runners {
    /// Best first.
    pub candidates: Vec<Candidate>,
    /// Number of priced candidates.
    pub priced: usize,
    /// True if the requested ones are proven to be the best of the whole space.
    pub is_proven: bool,
    /// True if it was stopped early.
    pub is_stopped: bool,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Objective of the search.
    pub objective: Objective,
    /// The best layouts, best first.
    pub candidates: Vec<Candidate>,
    /// Candidates on the Pareto front of time and headroom, fastest first; empty unless requested.
    pub front: Vec<Candidate>,
    /// Strategies closest to fitting, if none fits.
    pub nearest_misses: Vec<Miss>,
    /// Numbers of strategies by outcome.
    pub counters: Counters,
    /// Defaults.
    pub chosen: Vec<String>,
}

impl<'a> Search<'a> {
    /// Prepares a search. Fails if the space is empty, with the reason.
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
                "no allowed combination of parallel sizes uses exactly {} devices ({refused} combinations tried)",
                cluster.devices
            ))
            .at_key("plan.tensor_parallel")
            .hint("allow more values of a parallel size, as in `--space tp=1..8`"));
        }
        Ok(Self {
            model,
            cluster,
            space,
            options,
            machine: Machine::new(cluster),
            pricing: None,
            software,
            memory,
            pieces,
            refused,
            families: None,
            least: Vec::new(),
            layers: Arc::default(),
        })
    }

    /// Orders the pieces by [`Search::promise`], most promising first. Early results prune later pieces, so
    /// the order affects only the time, not the result.
    pub fn order(&mut self, promises: &[f64]) {
        let mut keyed: Vec<(f64, Degrees)> =
            promises.iter().copied().zip(self.pieces.iter().copied()).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.pieces = keyed.into_iter().map(|(_, degrees)| degrees).collect();
    }

    /// Promise of a piece: a lower bound on the time of its strategies with the smallest micro-batch, in
    /// seconds.
    pub fn promise(&self, index: usize, worker: &mut Worker) -> f64 {
        self.pieces.get(index).map_or(f64::INFINITY, |degrees| walk::promise(self, *degrees, worker))
    }

    /// The search with ordered pieces.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        let mut worker = self.worker();
        let promises: Vec<f64> =
            (0..self.pieces.len()).map(|index| self.promise(index, &mut worker)).collect();
        self.order(&promises);
        self
    }

    /// The search with simulated times of candidates. The closed form is a lower bound on them, and its order
    /// selects the candidates to simulate ([`Search::runners`]).
    #[must_use]
    pub fn simulated(mut self, quick: Machine, pricing: Machine) -> Self {
        self.machine = quick;
        self.layers = Arc::default();
        self.pricing = Some(pricing);
        // More candidates than displayed, since the slow machine may reverse their order.
        self.options.keep = self.options.keep.max(RUNNERS);
        self
    }

    /// The search restricted to whole scale-up domains, as connected by a topology.
    #[must_use]
    pub fn on_whole_domains(mut self) -> Self {
        self.space.segments = Some(vec![Segment::Whole]);
        self
    }

    /// The search for rows of families in the same space, after the fastest time is known: `results` are
    /// those of this search, run to its end. `None` if nothing fits, and for objectives other than time.
    pub fn for_families(&self, results: &Results, rows: usize) -> Option<Self> {
        let fastest = results.best.entries().first().filter(|_| self.score() == Score::Time)?;
        let mut search = self.clone();
        let tie = Tie::with(fastest.time, &self.space.base.software);
        search.families = Some((tie, rows));
        // Most pieces are ruled out without pricing them again.
        let mut least = results.least.clone();
        least.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        search.pieces = least.iter().map(|(degrees, _)| *degrees).collect();
        search.least = least.into_iter().map(|(_, least)| least).collect();
        search.options.keep = 1;
        search.options.front = false;
        Some(search)
    }

    /// Removes pieces without a strategy up to a time, in seconds, by a lower bound on the time of each
    /// piece's strategies. The other pieces give the same results up to that time as all pieces.
    pub fn only_within(&mut self, limit: f64, least: impl Fn(&Degrees) -> f64) {
        // Division may round an exact tie to less than itself.
        self.pieces.retain(|degrees| least(degrees) <= limit * (1.0 + 1e-9));
        self.least = Vec::new();
    }

    /// The tensor and pipeline sizes of all pieces, ascending.
    pub fn cells(&self) -> Vec<(u64, u64)> {
        let mut cells: Vec<(u64, u64)> = self.pieces.iter().map(|one| (one.tensor, one.pipeline)).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The search for the fastest layout with only these tensor and pipeline sizes. If nothing fits, its near
    /// misses are the closest.
    #[must_use]
    pub fn for_cell(&self, tensor: u64, pipeline: u64) -> Self {
        let mut search = self.clone();
        search.pieces.retain(|one| (one.tensor, one.pipeline) == (tensor, pipeline));
        search.options = Options { objective: Objective::Time, keep: 1, front: false, ..self.options };
        (search.families, search.least, search.refused) = (None, Vec::new(), 0);
        search
    }

    /// Tests whether candidates are simulated.
    pub fn is_simulated(&self) -> bool {
        self.pricing.is_some()
    }

    pub(super) fn pricing(&self) -> &Machine {
        self.pricing.as_ref().unwrap_or(&self.machine)
    }

    /// Prices runners in their order, in batches by `price` (which may use threads), until `wanted` of them
    /// are proven to be the best: no other strategy has a lower bound below their times. `None` from
    /// `price` stops it.
    pub fn runners(
        &self,
        results: &Results,
        wanted: usize,
        mut price: impl FnMut(&[Entry]) -> Option<Result<Vec<Candidate>, Problem>>,
    ) -> Result<Runners, Problem> {
        let entries = results.best.entries();
        let mut runners = Runners { candidates: Vec::new(), priced: 0, is_proven: true, is_stopped: false };
        for some in entries.chunks(RUNNERS_AT_ONCE) {
            if runners.have(wanted, some.first(), self.score()) {
                return Ok(runners);
            }
            if runners.priced >= RUNNERS.max(wanted) {
                break;
            }
            let Some(priced) = price(some) else {
                return Ok(Runners { is_proven: false, is_stopped: true, ..runners });
            };
            runners.candidates.extend(priced?);
            runners.priced += some.len();
            candidate::sort(&mut runners.candidates, self.options.objective);
        }
        // A list that is not full is complete; outside a full one nothing is better than its last entry.
        let last = entries.last().filter(|_| entries.len() >= self.options.keep);
        let left = entries.get(runners.priced).or(last);
        runners.is_proven = runners.have(wanted, left, self.score());
        Ok(runners)
    }

    /// The outcome of a search with individually priced candidates.
    pub fn outcome_of(&self, results: &Results, mut candidates: Vec<Candidate>) -> Outcome {
        if self.families.is_none() {
            candidate::mark_ties(&mut candidates, self.options.objective);
        }
        let front = results.front.entries();
        let front: Vec<Candidate> =
            front.iter().filter_map(|e| Candidate::new(self, &e.strategy).ok()).collect();
        let nearest_misses = if candidates.is_empty() {
            results.misses.entries().iter().map(|e| Miss::new(self, &e.strategy)).collect()
        } else {
            Vec::new()
        };
        Outcome {
            objective: self.options.objective,
            candidates,
            front,
            nearest_misses,
            counters: results.counters,
            chosen: self.space.chosen.clone(),
        }
    }

    /// The pieces, the most promising first. They are independent: any order and any thread.
    pub fn pieces(&self) -> &[Degrees] {
        &self.pieces
    }

    /// Buffers for a thread.
    pub fn worker(&self) -> Worker {
        Worker {
            plan: self.space.base.clone(),
            buffers: Buffers::default(),
            scratch: Vec::new(),
            timed: None,
            best: self.list(),
            front: Front::default(),
            misses: results::near_misses(),
            families: self.no_families(),
            shaped: Shapes::default(),
            products: Arc::default(),
        }
    }

    /// An empty list for the requested layouts.
    fn list(&self) -> ShortList {
        ShortList::new(self.score(), self.options.keep).with_details(self.options.every_detail)
    }

    fn no_families(&self) -> Option<Families> {
        self.families.map(|(tie, rows)| Families::new(tie, rows))
    }

    /// Sort key of the lists.
    pub fn score(&self) -> Score {
        if self.options.objective == Objective::Headroom { Score::Memory } else { Score::Time }
    }

    /// Results that contain only the number of combinations rejected at the start.
    pub fn results(&self) -> Results {
        let mut results = Results { best: self.list(), ..Results::new(self.score(), self.options.keep) };
        results.counters.invalid = self.refused;
        results.families = self.no_families();
        results
    }

    /// Searches one piece.
    pub fn run_piece(&self, index: usize, worker: &mut Worker, incumbent: &Incumbent) -> Results {
        let mut found = Results { best: self.list(), ..Results::new(self.score(), self.options.keep) };
        found.pieces = 1;
        found.families = self.no_families();
        let least = self.least.get(index).copied().unwrap_or(0.0);
        let is_ruled_out = self
            .families
            .is_some_and(|(tie, _)| least > incumbent.cut().limit(&tie, UnusualFeatures::default()));
        if let Some(degrees) = self.pieces.get(index).filter(|_| !is_ruled_out) {
            // Workers that exchange rows prune more.
            worker.families.iter_mut().for_each(|own| incumbent.exchange(own));
            walk::piece(self, *degrees, worker, incumbent, &mut found);
            worker.families.iter_mut().for_each(|own| incumbent.exchange(own));
        }
        found
    }

    /// Runs all pieces in sequence.
    pub fn run(&self) -> Results {
        let incumbent = Incumbent::default();
        let mut worker = self.worker();
        let mut results = self.results();
        for index in 0..self.pieces.len() {
            results.merge(&self.run_piece(index, &mut worker, &incumbent));
        }
        results
    }

    /// Tests whether the stage with the largest need fits with the required probability.
    pub(super) fn fits(&self, peak: &Peak) -> bool {
        self.probability(peak) >= self.options.fit_probability
    }

    pub(super) fn probability(&self, peak: &Peak) -> f64 {
        probability_of_fitting(peak.least(), peak.available, self.memory.sigma)
    }

    /// The fastest of all, regardless of simplicity.
    pub fn fastest(&self, results: &Results) -> Option<Candidate> {
        results.best.entries().first().and_then(|e| Candidate::new(self, &e.strategy).ok())
    }

    /// The outcome, with all properties of each candidate.
    pub fn outcome(&self, results: &Results) -> Outcome {
        let rows = results.families.as_ref().map(Families::entries);
        let entries = rows.as_deref().unwrap_or_else(|| results.best.entries());
        let mut candidates: Vec<Candidate> =
            entries.iter().filter_map(|e| Candidate::new(self, &e.strategy).ok()).collect();
        let fastest = self.fastest(results);
        if let (true, Some(fastest)) = (rows.is_some(), &fastest) {
            let all = candidates.into_iter().map(|candidate| ((), candidate)).collect();
            let rows = candidate::by_family(all, self.options.objective, fastest, |()| 0);
            candidates = rows.into_iter().map(|((), candidate)| candidate).collect();
        }
        if self.is_simulated() {
            candidate::sort(&mut candidates, self.options.objective);
        }
        self.outcome_of(results, candidates)
    }
}

impl Runners {
    /// Tests whether the first candidates are at least as good as the bound of all others.
    fn have(&self, wanted: usize, next: Option<&Entry>, score: Score) -> bool {
        let Some(next) = next else { return true };
        let Some(last) = self.candidates.get(wanted.saturating_sub(1)) else { return false };
        score == Score::Time && last.expected_time.get() <= next.time * (1.0 + 1e-12)
    }
}

impl Outcome {
    /// Merges several searches: other cluster sizes, other clusters.
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
