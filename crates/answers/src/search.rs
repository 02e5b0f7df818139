//! Search of the best strategies for a model on one or several clusters.

mod batches;
pub(crate) mod map;
mod measure;
pub(crate) mod nothing;
mod own;
mod remarks;
mod rows;
mod shown;
pub(crate) mod why_not;

use crate::pricing::Pricing;
use crate::question::Question;
use crate::resolve::usual_server;
use crate::searcher::{Effort, SearchResults, Searcher};
use crate::setting::Setting;
use crate::size::priced;
use crate::watch::Watch;
use crate::{Refused, batch};
use batches::{batches, plan_of};
pub use measure::Measure;
use railwright_calculator::memory::Fit;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::search::{Candidate, Counters, Objective, Options, Runners, Search, by_family};
use railwright_tuner::why_not::WhyNot;
use remarks::{expressed_by, impossible, not_expressed, own_writer, title, torn, unique};
use rows::{candidates, one, positions, shown};
use serde::Serialize;
pub use shown::{Impossible, Shown};

/// Result of a search.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Searched {
    /// Search in one line.
    pub title: String,
    /// Objective to minimize.
    pub objective: Objective,
    /// The two objectives of a Pareto front, if requested.
    pub pareto: Option<(Objective, Objective)>,
    /// Required probability of fitting, 0 to below 1.
    pub fit_probability: f64,
    /// Number of strategies by outcome.
    pub counters: Counters,
    /// True if the whole space was searched.
    #[serde(rename = "complete")]
    pub is_complete: bool,
    /// Layouts, best first.
    #[serde(rename = "candidates")]
    pub shown: Vec<Shown>,
    /// Layout of the specified launch file, in each setting where it is possible.
    pub own: Vec<Shown>,
    /// Free and fixed settings of the launch file, as text; `None` without one.
    pub freed: Option<String>,
    /// Number of layouts found, shown or not; for a Pareto front, its length.
    pub found: usize,
    /// Fastest layout, if rows are families and it is not the first; else `None`.
    pub fastest: Option<Shown>,
    /// True if each row is the simplest member of a family of tied layouts.
    #[serde(rename = "by_family")]
    pub is_by_family: bool,
    /// True if several clusters or numbers of devices were compared.
    #[serde(skip)]
    pub several_settings: bool,
    /// Settings that cannot be searched.
    pub impossible: Vec<Impossible>,
    /// Closest layouts and remedies, if nothing fits; else `None`.
    #[serde(rename = "nothing_fits")]
    pub nothing: Option<nothing::Nothing>,
    /// Results for the layouts of `--why-not`.
    pub why_not: Vec<why_not::Answer>,
    /// Best layout of each pair of tensor- and pipeline-parallel size, or the missing memory if none fits;
    /// empty unless requested.
    pub map: Vec<map::Cell>,
    /// Keys of the best plan without a Megatron-LM flag.
    #[serde(rename = "not_expressed_in_megatron")]
    pub not_expressed: Vec<String>,
    /// The writer of the priced framework if that is not Megatron-LM, and the settings of the best plan that
    /// its files lack.
    #[serde(skip)]
    pub own_writer: Option<(&'static str, Vec<String>)>,
    /// Other frameworks whose launch files express the whole best layout, by the names of their writers;
    /// empty if Megatron-LM's does.
    #[serde(skip)]
    pub expressed_by: Vec<&'static str>,
    /// Layouts of the ranking whose measured step time would narrow all intervals most.
    pub measure_next: Vec<Measure>,
    /// Defaults of unspecified settings.
    pub chosen: Vec<String>,
    /// Warnings about the question.
    pub doubts: Vec<String>,
}

/// Options of a search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Objective to minimize.
    pub objective: Objective,
    /// The two objectives of a Pareto front; `None` for a ranking.
    pub pareto: Option<(Objective, Objective)>,
    /// Maximum number of shown layouts.
    pub top: usize,
    /// True to show all layouts by time, not one per family.
    pub all: bool,
    /// True to include the best layout of each pair of tensor- and pipeline-parallel size.
    pub map: bool,
    /// Layouts to locate in the ranking.
    pub why_not: Vec<why_not::Named>,
    /// Search effort.
    pub effort: Effort,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            objective: Objective::Time,
            pareto: None,
            top: 10,
            all: false,
            map: false,
            why_not: Vec::new(),
            effort: Effort::default(),
        }
    }
}

/// Upper limit of shown layouts.
pub const MOST_SHOWN: usize = 1000;

/// Searches every setting of a question and ranks the results.
pub fn search(
    asked: &dyn Question,
    wanted: &SearchOptions,
    pricing: &dyn Pricing,
    watch: &dyn Watch,
) -> Result<Searched, Refused> {
    check(wanted)?;
    let pareto = wanted.pareto;
    let objectives = pareto.map_or([wanted.objective; 2], |(first, second)| [first, second]);
    if objectives.contains(&Objective::Dollars) {
        priced(asked, if pareto.is_some() { "--pareto" } else { "--objective" })?;
    }
    let searcher = Searcher::new(wanted.effort.clone(), watch)?.priced(pricing);
    let mut chosen = Vec::new();
    let length = asked.specified().sequence_length;
    let training = asked.published();
    if let Some(training) = training.filter(|_| length.is_none()) {
        chosen.push(format!("sequences of {} tokens", human::whole(training.sequence_length)));
    }
    for setting in asked.settings() {
        for words in usual_server(&setting.spec.cluster, &setting.run.cluster) {
            if !chosen.contains(&words) {
                chosen.push(words);
            }
        }
    }
    let batches = batches(asked, training, &mut chosen);
    let options = options(wanted);
    let mut searches: Vec<(usize, Search<'_>)> = Vec::new();
    let mut problems = Vec::new();
    for (index, setting) in asked.settings().iter().enumerate() {
        match searcher.prepare(setting, &plan_of(setting, batches[index]), options) {
            Ok(search) => searches.push((index, search)),
            Err(found) => problems.push((index, found)),
        }
    }
    if searches.is_empty() {
        let all =
            problems.into_iter().flat_map(|(_, found)| found).map(|problem| asked.in_words_of_asker(problem));
        return Err(Refused(unique(all)));
    }
    let (indices, searches): (Vec<usize>, Vec<Search<'_>>) = searches.into_iter().unzip();
    // Simulated candidates are not searched in order of simplicity, so they have no families.
    let is_by_family = is_by_family(wanted) && !searches.iter().any(Search::is_simulated);
    let ran =
        if is_by_family { searcher.run_for_families(&searches, wanted.top) } else { searcher.run(&searches) };
    let mut counters = Counters::default();
    for ran in &ran {
        counters.add(&ran.results.counters);
    }
    let mut is_complete = ran.iter().all(|ran| ran.is_complete);
    let simulated = simulated(&searcher, &searches, &ran, wanted.top)?;
    is_complete &= simulated.iter().flatten().all(|runners| !runners.is_stopped);
    chosen.extend(chosen_reasons(&searcher, asked.settings(), &indices, &simulated));
    let mut all = candidates(&searches, &indices, &ran, simulated, &options, pareto, &mut chosen);
    let fastest = if is_by_family { fastest(&searches, &indices, &ran, options.objective) } else { None };
    if let Some((_, fastest)) = &fastest {
        all = by_family(all, options.objective, fastest, |index| *index);
        all.truncate(wanted.top);
    }
    if all.is_empty() && is_complete && counters.enumerated == 0 {
        let found = indices.iter().zip(&searches).flat_map(|(&index, search)| {
            let setting = &asked.settings()[index];
            let plan = plan_of(setting, batches[index]);
            let has_layout = |batch| searcher.has_layout(setting, &plan, batch);
            match batch::by_batch(setting, search.space.base.global_batch, has_layout) {
                Some(problem) => vec![problem],
                None => nothing::contradictions(setting, &plan, &wanted.effort.space),
            }
        });
        return Err(Refused(unique(found.map(|problem| asked.in_words_of_asker(problem)))));
    }
    let is_simulated = searches.iter().any(Search::is_simulated);
    let shown = shown(asked, &all, positions(all.len(), wanted.top, pareto.is_some()), is_simulated)?;
    let fastest = match fastest.zip(all.first()) {
        Some(((index, fastest), (_, first))) if fastest.plan != first.plan => {
            Some(one(asked, &[(index, first.clone()), (index, fastest)], 1)?)
        }
        _ => None,
    };
    let reference = fastest.as_ref().map(|fastest| &fastest.ranked.candidate);
    let own = own::rows(asked, &searches, &indices, &all, options.objective, reference)?;
    let mut doubts: Vec<String> = asked.settings().iter().filter_map(Setting::doubt).collect();
    doubts.extend(torn(asked, &shown));
    let nothing = if all.is_empty() && is_complete {
        Some(nothing::Nothing::find(asked, &searcher, &searches, &indices, &ran, &batches))
    } else {
        None
    };
    let best = all.first().map(|(index, candidate)| (*index, candidate));
    let why_not = wanted
        .why_not
        .iter()
        .map(|named| named.answer(asked, &searcher, &batches, &options, best))
        .collect::<Result<Vec<_>, Refused>>()?;
    let map = if wanted.map { map::cells(asked, &searcher, &searches, &indices)? } else { Vec::new() };
    let best_run = best.map(|(index, candidate)| Run {
        plan: candidate.plan.clone(),
        ..asked.settings()[index].run.clone()
    });
    let not_expressed = best_run.as_ref().map_or_else(Vec::new, not_expressed);
    let answer = Searched {
        title: title(asked, &searches),
        objective: wanted.objective,
        pareto,
        fit_probability: searcher.fit_probability(),
        counters,
        is_complete,
        found: all.len(),
        fastest,
        is_by_family,
        several_settings: asked.settings().len() > 1,
        impossible: impossible(asked, problems),
        nothing,
        own_writer: best_run.as_ref().and_then(own_writer),
        expressed_by: best_run
            .filter(|_| !not_expressed.is_empty())
            .as_ref()
            .map_or_else(Vec::new, expressed_by),
        not_expressed,
        why_not,
        map,
        measure_next: if is_simulated { Vec::new() } else { measure::next(asked, &shown)? },
        chosen,
        doubts,
        shown,
        own,
        freed: own::freed(asked),
    };
    Ok(answer)
}

impl Searched {
    /// Fit of the first layout; if nothing fits, that of the closest one.
    pub fn fit(&self) -> Fit {
        let first = self.shown.first().map(|first| first.ranked.candidate.probability_of_fitting);
        let misses = self.nothing.iter().flat_map(|nothing| &nothing.misses);
        Fit::of_choice(first, misses.map(|missed| missed.miss.probability_of_fitting))
    }

    /// True if a part of the work was stopped without a result.
    pub fn is_interrupted(&self) -> bool {
        let unanswered = self.why_not.iter().any(|answer| answer.verdict == WhyNot::Unanswered);
        let unsearched = self.map.iter().any(|cell| matches!(cell.outcome, map::Outcome::Unsearched));
        !self.is_complete
            || unanswered
            || unsearched
            || self.nothing.as_ref().is_some_and(|nothing| !nothing.is_complete)
    }
}

fn check(wanted: &SearchOptions) -> Result<(), Problem> {
    if !(1..=MOST_SHOWN).contains(&wanted.top) {
        let problem = Problem::new(format!("expected 1 to {MOST_SHOWN} layouts, found {}", wanted.top));
        return Err(problem.in_file("--top"));
    }
    match wanted.pareto {
        Some((first, second)) if first == second => {
            Err(Problem::new("a Pareto front needs two different objectives").in_file("--pareto"))
        }
        _ => Ok(()),
    }
}

fn options(wanted: &SearchOptions) -> Options {
    let objective = wanted.pareto.map_or(wanted.objective, |(first, _)| first);
    let memory = |objective: Objective| objective == Objective::Headroom;
    Options {
        objective,
        keep: if is_by_family(wanted) { 1 } else { wanted.top },
        front: wanted.pareto.is_some_and(|(first, second)| memory(first) || memory(second)),
        ..Options::default()
    }
}

/// True if each row is a family of layouts: for rankings by time or by its cost.
fn is_by_family(wanted: &SearchOptions) -> bool {
    !wanted.all && wanted.pareto.is_none() && matches!(wanted.objective, Objective::Time | Objective::Dollars)
}

/// Fastest layout of all searches, with the index of its setting.
fn fastest(
    searches: &[Search<'_>],
    indices: &[usize],
    ran: &[SearchResults],
    objective: Objective,
) -> Option<(usize, Candidate)> {
    let each = searches.iter().zip(indices).zip(ran);
    each.filter_map(|((search, &index), ran)| Some((index, search.fastest(&ran.results)?)))
        .min_by(|(_, a), (_, b)| a.score(objective).total_cmp(&b.score(objective)))
}

/// Fastest layout with simulated collectives, per search; `None` without simulation.
fn simulated(
    searcher: &Searcher<'_>,
    searches: &[Search<'_>],
    ran: &[SearchResults],
    wanted: usize,
) -> Result<Vec<Option<Runners>>, Problem> {
    let of = |(search, ran): (&Search<'_>, &SearchResults)| {
        search.is_simulated().then(|| searcher.runners(search, &ran.results, wanted)).transpose()
    };
    searches.iter().zip(ran).map(of).collect()
}

/// Remarks about the simulated settings, as text.
fn chosen_reasons(
    searcher: &Searcher<'_>,
    settings: &[Setting],
    indices: &[usize],
    simulated: &[Option<Runners>],
) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (runners, &index) in simulated.iter().zip(indices) {
        let (Some(runners), Some(remark)) = (runners, searcher.network_remark(&settings[index])) else {
            continue;
        };
        let layouts = human::whole(runners.priced as u64);
        let how = if runners.is_proven {
            "no other layout can be faster, because the closed form without contention is a lower bound"
        } else {
            "other layouts may be faster: the lower bound (closed form without contention) does not exclude them"
        };
        let one = format!(
            "{remark}: the best {layouts} layouts in closed form were ranked again by simulation; {how}"
        );
        if !words.contains(&one) {
            words.push(one);
        }
    }
    words
}
