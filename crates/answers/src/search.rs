//! The best strategies for a model on one or several clusters, ranked.

mod batches;
pub(crate) mod map;
mod measure;
pub(crate) mod nothing;
mod own;
mod remarks;
mod rows;
pub(crate) mod why_not;

use crate::Refused;
use crate::batch;
use crate::pricing::Pricing;
use crate::published::Published;
use crate::question::Question;
use crate::resolve::usual_server;
use crate::searcher::{Effort, Ran, Searcher};
use crate::setting::Setting;
use crate::watch::Watch;
use batches::{batches, plan_of};
pub use measure::Measure;
use railwright_calculator::memory::Fit;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::ranking::Ranked;
use railwright_tuner::search::{Candidate, Counters, Objective, Options, Runners, Search, by_family};
use railwright_tuner::why_not::WhyNot;
use remarks::{expressed_by, impossible, not_expressed, title, torn, unique};
use rows::{candidates, one, positions, shown};
use serde::Serialize;

/// A ranked candidate and the ways to ask for it again.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// The candidate in its place.
    pub ranked: Ranked,
    /// Index of its setting.
    pub setting: usize,
    /// Its cluster as it was named.
    pub cluster: String,
    /// Its layout as flags.
    pub layout: String,
    /// The same without common settings, and with shortened lists.
    #[serde(skip)]
    pub short_layout: String,
    /// The command that estimates it.
    pub command: String,
    /// Its run file.
    pub run_file: String,
}

/// A combination of cluster and devices on which nothing can be searched.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Impossible {
    /// Its name.
    pub cluster: String,
    /// Number of devices.
    pub devices: u64,
    /// Reason.
    pub reason: String,
}

/// What a search came to.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Searched {
    /// Search in one line.
    pub title: String,
    /// Objective to minimize.
    pub objective: Objective,
    /// The two objectives of a Pareto front, if requested.
    pub pareto: Option<(Objective, Objective)>,
    /// Minimum probability of fitting.
    pub fit_probability: f64,
    /// Strategies by what became of them.
    pub counters: Counters,
    /// Whether everything was searched.
    #[serde(rename = "complete")]
    pub is_complete: bool,
    /// Layouts, best first.
    #[serde(rename = "candidates")]
    pub shown: Vec<Shown>,
    /// The layout of the launch file that was named, in each setting where it is possible.
    pub own: Vec<Shown>,
    /// Free and kept settings of the launch file, in words.
    pub freed: Option<String>,
    /// Layouts that were found, shown or not; of a front, its length.
    pub found: usize,
    /// The fastest layout, where rows are families and it is not the first.
    pub fastest: Option<Shown>,
    /// Whether each row is the simplest tie of a family of layouts.
    #[serde(rename = "by_family")]
    pub is_by_family: bool,
    /// Whether several clusters or numbers of devices were compared.
    #[serde(skip)]
    pub several_settings: bool,
    /// Settings on which nothing can be searched.
    pub impossible: Vec<Impossible>,
    /// Layouts that would fit, if nothing fits.
    #[serde(rename = "nothing_fits")]
    pub nothing: Option<nothing::Nothing>,
    /// Answers about layouts that were named.
    pub why_not: Vec<why_not::Answer>,
    /// The best layout of each tensor and pipeline degree, or the memory missing if none fits; empty unless
    /// requested.
    pub map: Vec<map::Cell>,
    /// Keys of the best plan without a Megatron-LM flag.
    #[serde(rename = "not_expressed_in_megatron")]
    pub not_expressed: Vec<String>,
    /// Other frameworks whose launch files express all of the best layout, by the names of their writers; empty where Megatron-LM's does.
    #[serde(skip)]
    pub expressed_by: Vec<&'static str>,
    /// Layouts of the ranking whose measured step time would narrow all intervals most.
    pub measure_next: Vec<Measure>,
    /// Defaults of unspecified settings.
    pub chosen: Vec<String>,
    /// Warnings about the question.
    pub doubts: Vec<String>,
}

/// What is wanted of a search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Objective to minimize.
    pub objective: Objective,
    /// The two objectives of a front; none for a ranking.
    pub pareto: Option<(Objective, Objective)>,
    /// Layouts that are shown.
    pub top: usize,
    /// Whether all layouts are shown by time, not one per family.
    pub all: bool,
    /// Whether the best layout of each tensor and pipeline degree is wanted.
    pub map: bool,
    /// Layouts with a requested rank.
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

/// The most layouts that are shown.
pub const MOST_SHOWN: usize = 1000;

/// Searches every setting of a question, and ranks what it found.
pub fn search(
    asked: &dyn Question,
    wanted: &SearchOptions,
    pricing: &dyn Pricing,
    watch: &dyn Watch,
) -> Result<Searched, Refused> {
    check(wanted)?;
    let pareto = wanted.pareto;
    let searcher = Searcher::new(wanted.effort.clone(), watch)?.priced(pricing);
    let mut chosen = Vec::new();
    let length = asked.specified().sequence_length;
    let published = Published::of(asked);
    let asked: &dyn Question = published.as_ref().map_or(asked, |published| published as &dyn Question);
    let training = published.as_ref().map(|published| published.training);
    if let Some(training) = training.filter(|_| length.is_none()) {
        chosen.push(format!("sequences of {} tokens", human::whole(training.sequence_length)));
    }
    for setting in asked.settings() {
        if let Some(words) = usual_server(&setting.spec.cluster, &setting.run.cluster)
            && !chosen.contains(&words)
        {
            chosen.push(words);
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
    // What is slow to price is not ordered by simplicity as it is searched.
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
            match batch::by_batch(&searcher, setting, &plan, search.space.base.global_batch) {
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
    let own = own::rows(asked, &searches, &indices, &all, options.objective)?;
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
    /// How the layout that is first fits; where nothing does, how the closest one would.
    pub fn fit(&self) -> Fit {
        if let Some(first) = self.shown.first() {
            // With a lower required probability, the first layout may be at risk.
            return match Fit::of(first.ranked.candidate.probability_of_fitting) {
                Fit::Fits => Fit::Fits,
                _ => Fit::AtRisk,
            };
        }
        let misses = self.nothing.iter().flat_map(|nothing| &nothing.misses);
        match misses.map(|missed| Fit::of(missed.miss.probability_of_fitting)).min() {
            Some(Fit::DoesNotFit) | None => Fit::DoesNotFit,
            Some(_) => Fit::AtRisk,
        }
    }

    /// Whether a part of the work was stopped before it had an answer.
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

/// Whether each row is to be a family of layouts: for what is ranked by time or by its cost.
fn is_by_family(wanted: &SearchOptions) -> bool {
    !wanted.all && wanted.pareto.is_none() && matches!(wanted.objective, Objective::Time | Objective::Dollars)
}

/// The fastest of all searches.
fn fastest(
    searches: &[Search<'_>],
    indices: &[usize],
    ran: &[Ran],
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
    ran: &[Ran],
    wanted: usize,
) -> Result<Vec<Option<Runners>>, Problem> {
    let of = |(search, ran): (&Search<'_>, &Ran)| {
        search.is_simulated().then(|| searcher.runners(search, &ran.results, wanted)).transpose()
    };
    searches.iter().zip(ran).map(of).collect()
}

/// What was simulated, in words.
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
            "no other layout can be better, because the closed form without contention is a lower bound"
        } else {
            "others may be better: the lower bound (closed form without contention) does not exclude them"
        };
        let one =
            format!("{remark}: the best {layouts} layouts in closed form, re-ranked by simulation; {how}");
        if !words.contains(&one) {
            words.push(one);
        }
    }
    words
}
