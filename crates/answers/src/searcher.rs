//! Runs the tuner's searches: workers, progress, cancellation.
//!
//! Responsible for: running the pieces of searches in parallel and merging their results in one order, so
//! that results do not depend on the number of threads. The tuner makes the choices.

use crate::Refused;
use crate::batch::by_batch;
use crate::names::dimension;
use crate::pricing::{ClosedForm, Pricing};
use crate::setting::Setting;
use crate::watch::{Stage, Watch};
use crate::workers::{MOST_THREADS, Workers};
use railwright_calculator::costing::Machine;
use railwright_calculator::estimate::{Estimate, EstimateOptions, estimate_on};
use railwright_calculator::memory::SURE_TO_FIT;
use railwright_calculator::prepared::Buffers;
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_tuner::search::{
    Candidate, Degrees, Incumbent, Options, Outcome, Results, Runners, Search, Space, Worker,
};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Search effort.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effort {
    /// Restrictions of dimensions to values, as in `tp=2..8`.
    pub space: Vec<String>,
    /// Required probability that a layout fits, 0 to below 1; `None`: the default.
    pub fit_probability: Option<f64>,
    /// True to include features that the framework version does not support.
    pub unlimited: bool,
    /// Number of threads; `None`: number of cores. It does not affect results.
    pub threads: Option<usize>,
}

/// Plan settings with a global batch. The number of replicas follows from the number of devices.
pub(crate) fn with_batch(specified: &PlanSpec, sequences: u64) -> PlanSpec {
    PlanSpec {
        global_batch: Some(sequences),
        batch_tokens: None,
        micro_batches: None,
        data_parallel: None,
        ..specified.clone()
    }
}

/// Result of a search for one best plan.
pub enum Found {
    /// Estimate of the best plan.
    Best(Box<Estimate>),
    /// Nothing fits into memory; contains the missing amount as text.
    TooLarge(String),
    /// Nothing is possible; contains the reason as text.
    Nothing(String),
    /// The network of these devices cannot be built.
    Unbuilt(Problem),
    /// Stopped by the user before a result.
    Stopped,
}

/// Results of a search.
pub struct SearchResults {
    /// The results.
    pub results: Results,
    /// True if every piece was searched.
    pub is_complete: bool,
}

/// Runs searches in sequence until the user stops it.
pub struct Searcher<'a> {
    effort: Effort,
    pricing: &'a dyn Pricing,
    workers: Workers,
    watch: &'a dyn Watch,
    evaluated: AtomicU64,
    /// Buffers of finished workers, with their compiled schedules.
    idle: Mutex<Vec<Buffers>>,
}

/// Maximum number of units of the progress bar of simulations.
const MOST_SIMULATED: usize = 50;

impl railwright_tuner::codesign::Workers for Searcher<'_> {
    fn count(&self) -> usize {
        self.workers.count()
    }

    fn map<T: Sync, U: Send>(&self, items: &[T], make: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
        self.workers.map(items, make)
    }
}

impl<'a> Searcher<'a> {
    /// Checks the effort.
    pub fn new(effort: Effort, watch: &'a dyn Watch) -> Result<Self, Problem> {
        let threads = effort.threads.unwrap_or(0);
        if effort.threads.is_some_and(|n| n == 0 || n > MOST_THREADS) {
            let problem = Problem::new(format!("expected 1 to {MOST_THREADS} threads, found {threads}"));
            return Err(problem.in_file("--threads"));
        }
        if let Some(p) = effort.fit_probability.filter(|p| !(0.0..1.0).contains(p)) {
            let problem =
                Problem::new(format!("expected a probability from 0 to below 1, found {}", human::exact(p)));
            return Err(problem.in_file("--fit-probability").hint(format!("omit it to use {SURE_TO_FIT}")));
        }
        Ok(Self {
            effort,
            pricing: &ClosedForm,
            workers: Workers::new(threads)?,
            watch,
            evaluated: AtomicU64::new(0),
            idle: Mutex::default(),
        })
    }

    /// Sets the pricing of candidates, such as by flows on a topology.
    #[must_use]
    pub fn priced(self, pricing: &'a dyn Pricing) -> Self {
        Self { pricing, ..self }
    }

    /// Best results of a search, best first. Simulated searches are priced by flows, in parallel on all
    /// threads.
    pub fn runners(&self, search: &Search<'_>, results: &Results, wanted: usize) -> Result<Runners, Problem> {
        let most = results.best.entries().len().min(MOST_SIMULATED) as u64;
        let bar = self.watch.begin(Stage::Simulating, most);
        let runners = search.runners(results, wanted, |entries| {
            if self.is_stopped() {
                return None;
            }
            let priced: Vec<Result<Candidate, Problem>> =
                self.workers.map(entries, |entry| Candidate::new(search, &entry.strategy));
            bar.advance(entries.len() as u64, None);
            Some(priced.into_iter().collect())
        });
        bar.finish();
        runners
    }

    /// True if the user stopped the work.
    pub fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    /// Required probability of fitting, 0 to below 1.
    pub fn fit_probability(&self) -> f64 {
        self.effort.fit_probability.unwrap_or(SURE_TO_FIT)
    }

    /// Prepares the search of a setting for a plan. Problems of fixed settings are reported before the
    /// search.
    pub fn prepare<'s>(
        &self,
        setting: &'s Setting,
        specified: &PlanSpec,
        options: Options,
    ) -> Result<Search<'s>, Vec<Problem>> {
        self.prepare_but(setting, specified, options, &[])
    }

    /// Prepares the search without the restrictions of some dimensions.
    pub fn prepare_but<'s>(
        &self,
        setting: &'s Setting,
        specified: &PlanSpec,
        options: Options,
        freed: &[&str],
    ) -> Result<Search<'s>, Vec<Problem>> {
        let mut search = self.prepare_unordered(setting, specified, options, freed)?;
        self.order(&mut search);
        Ok(search)
    }

    /// Prepares the search over parallel sizes whose lower
    /// bound of the step time does not exceed a time, in seconds.
    pub fn prepare_within<'s>(
        &self,
        setting: &'s Setting,
        specified: &PlanSpec,
        options: Options,
        (limit, least): (f64, &dyn Fn(&Degrees) -> f64),
    ) -> Result<Search<'s>, Vec<Problem>> {
        let mut search = self.prepare_unordered(setting, specified, options, &[])?;
        search.only_within(limit, least);
        self.order(&mut search);
        Ok(search)
    }

    fn prepare_unordered<'s>(
        &self,
        setting: &'s Setting,
        specified: &PlanSpec,
        options: Options,
        freed: &[&str],
    ) -> Result<Search<'s>, Vec<Problem>> {
        let run = &setting.run;
        let one = |problem: Problem| vec![setting.spec.placed(problem)];
        pins(setting, specified)?;
        let space = self.space(setting, specified, freed)?;
        let options = Options {
            fit_probability: self.fit_probability(),
            price_per_device_hour: run.cost.price_per_device_hour,
            ..options
        };
        let search = Search::new(&run.model, &run.cluster, space, options).map_err(|problem| {
            // Without fixed settings, the restrictions are the cause.
            let is_narrowed = !self.effort.space.is_empty();
            let place = if is_narrowed { Some(Box::default()) } else { problem.place.clone() };
            let problem = Problem { place, ..problem };
            one(if is_narrowed { problem.in_file("--space") } else { problem })
        })?;
        Ok(match self.pricing.machines(&run.cluster).map_err(one)? {
            Some(((quick, simulated), _)) => search.on_whole_domains().simulated(quick, simulated),
            None => search,
        })
    }

    /// Orders the pieces of a search by their bounds, on all threads.
    fn order(&self, search: &mut Search<'_>) {
        let pieces = search.pieces().len();
        let bar = self.watch.begin(Stage::Ordering, pieces as u64);
        let next = AtomicUsize::new(0);
        let promises: Vec<AtomicU64> = (0..pieces).map(|_| AtomicU64::new(f64::INFINITY.to_bits())).collect();
        self.workers.each(|| {
            let mut worker = search.worker();
            while !self.is_stopped() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(promise) = promises.get(index) else { break };
                promise.store(search.promise(index, &mut worker).to_bits(), Ordering::Relaxed);
                bar.advance(1, None);
            }
        });
        bar.finish();
        let promises: Vec<f64> =
            promises.iter().map(|bits| f64::from_bits(bits.load(Ordering::Relaxed))).collect();
        search.order(&promises);
    }

    /// Description of simulated pricing; `None` in closed form.
    pub fn network_remark(&self, setting: &Setting) -> Option<String> {
        self.pricing.machines(&setting.run.cluster).ok()?.map(|(_, remark)| remark)
    }

    /// Space of a setting with the requested restrictions, except those of some dimensions.
    pub fn space(
        &self,
        setting: &Setting,
        specified: &PlanSpec,
        freed: &[&str],
    ) -> Result<Space, Vec<Problem>> {
        let run = &setting.run;
        let one = |problem: Problem| vec![setting.spec.placed(problem)];
        let space = match setting.spec.front_end() {
            _ if self.effort.unlimited => Space::unlimited(specified, &run.model, &run.cluster),
            Some(front) => Space::through(front, specified, &run.model, &run.cluster),
            None => Space::new(specified, &run.model, &run.cluster),
        };
        let mut space = space.map_err(one)?;
        for restriction in &self.effort.space {
            let (key, values) = dimension(restriction).map_err(|problem| vec![problem])?;
            if freed.contains(&key.as_str()) {
                continue;
            }
            space.restrict(&key, values).map_err(|problem| {
                vec![Problem { place: None, ..problem }.in_file("--space").at_key(&key)]
            })?;
        }
        Ok(space)
    }

    /// Searches all pieces of all searches.
    pub fn run(&self, searches: &[Search<'_>]) -> Vec<SearchResults> {
        self.run_below(searches, &[])
    }

    /// Searches for the rows of families: first the fastest layout, then its ties in the order of simplicity.
    /// Searches with an objective other than time are unchanged.
    pub fn run_for_families(&self, searches: &[Search<'_>], rows: usize) -> Vec<SearchResults> {
        let mut ran = self.run(searches);
        let again: Vec<(usize, Search<'_>)> = searches
            .iter()
            .zip(&ran)
            .enumerate()
            .filter_map(|(index, (search, ran))| Some((index, search.for_families(&ran.results, rows)?)))
            .collect();
        let (indices, again): (Vec<usize>, Vec<Search<'_>>) = again.into_iter().unzip();
        for (index, more) in indices.into_iter().zip(self.run(&again)) {
            let ran = &mut ran[index];
            ran.results.counters.timed += more.results.counters.timed;
            ran.is_complete &= more.is_complete;
            // A search that is stopped in between has only the fastest layouts.
            if more.is_complete {
                ran.results.families = more.results.families;
            }
        }
        ran
    }

    /// The outcome with the first row of `search`, and whether the whole space was searched: for every
    /// command that takes one layout. Simulated candidates have no families, so the fastest is first.
    pub(crate) fn first_row(&self, search: &Search<'_>) -> Result<Option<(Outcome, bool)>, Problem> {
        let one = std::slice::from_ref(search);
        let ran = if search.is_simulated() { self.run(one) } else { self.run_for_families(one, 1) };
        let Some(SearchResults { results, is_complete }) = ran.into_iter().next() else { return Ok(None) };
        let outcome = if search.is_simulated() {
            search.outcome_of(&results, self.runners(search, &results, 1)?.candidates)
        } else {
            search.outcome(&results)
        };
        Ok(Some((outcome, is_complete)))
    }

    /// Searches all pieces of all searches, each with a known score of a layout at least as good.
    pub fn run_below(&self, searches: &[Search<'_>], known: &[f64]) -> Vec<SearchResults> {
        let pieces: Vec<(usize, usize)> = searches
            .iter()
            .enumerate()
            .flat_map(|(index, search)| (0..search.pieces().len()).map(move |piece| (index, piece)))
            .collect();
        let incumbents: Vec<Incumbent> = searches.iter().map(|_| Incumbent::default()).collect();
        incumbents.iter().zip(known).for_each(|(incumbent, score)| incumbent.lower(*score));
        let bar = self.watch.begin(Stage::Searching, pieces.len() as u64);
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<(usize, usize, Results)>> = Mutex::new(Vec::with_capacity(pieces.len()));
        // A queue in the order of the pieces' bounds: early results prune later pieces.
        self.workers.each(|| {
            let mut workers: Vec<_> = searches.iter().map(|_| None).collect();
            while !self.is_stopped() {
                let Some(&(index, piece)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                let search = &searches[index];
                let worker = workers[index].get_or_insert_with(|| {
                    let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    search.worker().reusing(idle.unwrap_or_default())
                });
                let results = search.run_piece(piece, worker, &incumbents[index]);
                let evaluated = results.counters.timed;
                let total = self.evaluated.fetch_add(evaluated, Ordering::Relaxed) + evaluated;
                if let Some(best) = results.best.entries().first() {
                    bar.found(Seconds::new(best.time));
                }
                bar.advance(1, Some(total));
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.push((index, piece, results));
            }
            let buffers = workers.into_iter().flatten().map(Worker::into_buffers);
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(buffers);
        });
        bar.finish();
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(index, piece, _)| (*index, *piece));
        let mut ran: Vec<SearchResults> =
            searches.iter().map(|s| SearchResults { results: s.results(), is_complete: false }).collect();
        let mut done = vec![0; searches.len()];
        for (index, _, results) in &found {
            ran[*index].results.merge(results);
            done[*index] += 1;
        }
        for ((ran, done), search) in ran.iter_mut().zip(done).zip(searches) {
            ran.is_complete = done == search.pieces().len();
        }
        ran
    }

    /// Tests whether any layout is possible with another batch.
    pub(crate) fn has_layout(&self, setting: &Setting, specified: &PlanSpec, batch: u64) -> bool {
        let plan = PlanSpec { global_batch: Some(batch), batch_tokens: None, ..specified.clone() };
        let options = Options { keep: 1, ..Options::default() };
        self.prepare(setting, &plan, options).is_ok_and(|search| self.has_any(&search))
    }

    /// True if a search has any strategy.
    pub fn has_any(&self, search: &Search<'_>) -> bool {
        let (mut worker, incumbent) = (search.worker(), Incumbent::default());
        (0..search.pieces().len())
            .take_while(|_| !self.is_stopped())
            .any(|piece| search.run_piece(piece, &mut worker, &incumbent).counters.enumerated > 0)
    }

    /// Reports the number of remedies to try.
    pub(crate) fn remedies(&self, most: usize, enough: usize) {
        self.watch.remedies(most, enough);
    }

    /// Best plan of a setting for a number of sequences per step.
    pub fn best(&self, setting: &Setting, sequences: u64) -> Result<Found, Refused> {
        if self.is_stopped() {
            return Ok(Found::Stopped);
        }
        let run = &setting.run;
        let specified = with_batch(&setting.spec.plan, sequences);
        let search = match self.prepare(setting, &specified, Options { keep: 1, ..Options::default() }) {
            Ok(search) => search,
            Err(problems) => {
                if let Err(problem) = self.pricing.machines(&run.cluster) {
                    return Ok(Found::Unbuilt(problem));
                }
                let first = problems.into_iter().next();
                return Ok(Found::Nothing(first.map_or_else(String::new, |problem| problem.message)));
            }
        };
        let Some((outcome, is_complete)) = self.first_row(&search)? else { return Ok(Found::Stopped) };
        if let Some(best) = outcome.candidates.first() {
            let options = EstimateOptions::of(run);
            let machine = match self.pricing.machines(&run.cluster)? {
                Some(((_, simulated), _)) => simulated,
                None => Machine::new(&run.cluster),
            };
            let estimate = estimate_on(&machine, &run.model, &run.cluster, &best.plan, &options)?;
            return Ok(Found::Best(Box::new(estimate)));
        }
        if !is_complete {
            return Ok(Found::Stopped);
        }
        if let Some(miss) = outcome.nearest_misses.first() {
            let lacking = human::bytes(miss.missing);
            return Ok(Found::TooLarge(format!(
                "nothing fits; the closest layout needs {lacking} more memory"
            )));
        }
        let has_layout = |batch| self.has_layout(setting, &specified, batch);
        Ok(Found::Nothing(match by_batch(setting, sequences, has_layout) {
            Some(problem) => match problem.hint {
                Some(hint) => format!("{}; {hint}", problem.message),
                None => problem.message,
            },
            None => "no layout divides the devices and the batch".to_owned(),
        }))
    }
}

/// Checks for fixed settings that contradict each other or the number of devices.
fn pins(setting: &Setting, specified: &PlanSpec) -> Result<(), Vec<Problem>> {
    let run = &setting.run;
    let placed = |problem: Problem| vec![setting.spec.placed(problem)];
    let degrees = PlanSpec {
        tensor_parallel: specified.tensor_parallel,
        pipeline_parallel: specified.pipeline_parallel,
        context_parallel: specified.context_parallel,
        // An open parallel size counts as 1 here: larger ones do not divide better.
        ..PlanSpec { expert_parallel: Some(specified.expert_parallel.unwrap_or(1)), ..PlanSpec::default() }
    };
    degrees.resolve(&run.model, &run.cluster).map_err(placed)?;
    let Some(data) = specified.data_parallel else { return Ok(()) };
    let pinned =
        [specified.tensor_parallel, specified.pipeline_parallel, specified.context_parallel, Some(data)];
    let ranks = pinned.iter().flatten().try_fold(1_u64, |product, n| product.checked_mul(*n));
    let devices = run.cluster.devices;
    let is_closed = pinned.iter().all(Option::is_some);
    let is_possible =
        ranks.is_some_and(|n| n > 0 && if is_closed { n == devices } else { devices.is_multiple_of(n) });
    if is_possible {
        return Ok(());
    }
    let ranks = ranks.map_or_else(|| "too many".to_owned(), human::whole);
    let message = format!(
        "the product of the parallel sizes, {ranks} ranks, does not divide {} devices",
        human::whole(devices)
    );
    Err(placed(
        Problem::new(message).at_key("plan.data_parallel").hint("omit it: it follows from the others"),
    ))
}
