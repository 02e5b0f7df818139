//! `search`: the best strategies for a model on one or several clusters, ranked.

mod nothing;
mod own;
mod report;
mod why_not;

use super::batch;
use super::best::{Ran, Searcher};
use super::open_run::{self, Asked, Freedom, Setting};
use super::tune::keys;
use crate::args::{self, Goal};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::printer::Printer;
use railwright_calculator::estimate::EstimateOptions;
use railwright_calculator::memory::Fit;
use railwright_spec::human;
use railwright_spec::plan::{Layout, Plan, PlanSpec};
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::ranking::{self, Ranked};
use railwright_tuner::search::{
    Candidate, Counters, Objective, Options, Runners, Search, by_family, front, mark_ties,
};
use railwright_tuner::why_not::WhyNot;
use std::path::Path;

/// A ranked candidate and the ways to ask for it again.
pub(crate) struct Shown {
    pub(crate) ranked: Ranked,
    /// Index of its setting.
    pub(crate) setting: usize,
    /// Its cluster as it was named.
    pub(crate) cluster: String,
    /// Its layout as flags.
    pub(crate) layout: String,
    /// The same without what all have in common, and long lists told shortly.
    pub(crate) short_layout: String,
    /// The command that estimates it.
    pub(crate) command: String,
    /// Its run file.
    pub(crate) run_file: String,
}

/// A combination of cluster and devices on which nothing can be searched.
pub(crate) struct Impossible {
    pub(crate) cluster: String,
    pub(crate) devices: u64,
    pub(crate) reason: String,
}

/// What a search came to.
pub(crate) struct Answered {
    pub(crate) title: String,
    pub(crate) objective: Goal,
    pub(crate) pareto: Option<(Goal, Goal)>,
    pub(crate) fit_probability: f64,
    pub(crate) counters: Counters,
    pub(crate) is_complete: bool,
    pub(crate) shown: Vec<Shown>,
    /// The layout of the launch file that was named, in each setting where it is possible.
    pub(crate) own: Vec<Shown>,
    /// What is free and what is kept of the launch file, in words.
    pub(crate) freed: Option<String>,
    /// Layouts that were found, shown or not; of a front, its length.
    pub(crate) found: usize,
    /// The fastest layout, where rows are families and it is not the first.
    pub(crate) fastest: Option<Shown>,
    /// Whether each row is the simplest tie of a family of layouts.
    pub(crate) is_by_family: bool,
    pub(crate) several_settings: bool,
    pub(crate) impossible: Vec<Impossible>,
    pub(crate) nothing: Option<nothing::Nothing>,
    pub(crate) why_not: Vec<why_not::Answer>,
    /// Keys of the best plan that Megatron's launch file cannot say.
    pub(crate) not_expressed: Vec<String>,
    pub(crate) chosen: Vec<String>,
    /// What is doubtful about the question.
    pub(crate) doubts: Vec<String>,
}

/// The most layouts that are shown.
const MOST_SHOWN: usize = 1000;
/// Winners that are timed again.
const RETIMED: usize = 3;

/// Searches. The answer is no when nothing fits.
pub(crate) fn run(arguments: &args::Search, printer: &Printer) -> Result<Outcome, Failure> {
    let pareto = pareto(arguments)?;
    if !(1..=MOST_SHOWN).contains(&arguments.top) {
        let problem = Problem::new(format!("expected 1 to {MOST_SHOWN} layouts, found {}", arguments.top));
        return Err(problem.in_file("--top").into());
    }
    let questions = arguments
        .why_not
        .iter()
        .map(|text| why_not::Question::parse(text))
        .collect::<Result<Vec<_>, Problem>>()?;
    let freedom = Freedom { keep: keys(&arguments.keep, "--keep")?, free: keys(&arguments.free, "--free")? };
    let asked = open_run::ask_freed(&arguments.run, freedom)?;
    arguments.save.as_deref().map(writable).transpose()?;
    open_run::tell_launch(&arguments.run, printer)?;
    let searcher = Searcher::new(&arguments.effort, printer)?.priced(&arguments.pricing);
    let mut chosen = Vec::new();
    let batches = batches(&asked, &mut chosen);
    let options = options(arguments, pareto);
    let mut searches: Vec<(usize, Search<'_>)> = Vec::new();
    let mut problems = Vec::new();
    for (index, setting) in asked.settings.iter().enumerate() {
        match searcher.prepare(setting, &said(setting, batches[index]), options) {
            Ok(search) => searches.push((index, search)),
            Err(found) => problems.push((index, found)),
        }
    }
    if searches.is_empty() {
        let all = problems.into_iter().flat_map(|(_, found)| found).map(|problem| asked.told(problem));
        return Err(Failure::Input(unique(all)));
    }
    let (indices, searches): (Vec<usize>, Vec<Search<'_>>) = searches.into_iter().unzip();
    // What is slow to price is not ordered by simplicity as it is searched.
    let is_by_family = is_by_family(arguments) && !searches.iter().any(Search::is_simulated);
    let ran = if is_by_family {
        searcher.run_for_families(&searches, arguments.top)
    } else {
        searcher.run(&searches)
    };
    let mut counters = Counters::default();
    for ran in &ran {
        counters.add(&ran.results.counters);
    }
    let mut is_complete = ran.iter().all(|ran| ran.is_complete);
    let simulated = simulated(&searcher, &searches, &ran, arguments.top)?;
    is_complete &= simulated.iter().flatten().all(|runners| !runners.is_stopped);
    chosen.extend(told(&searcher, &asked.settings, &indices, &simulated));
    let mut all = candidates(&searches, &indices, &ran, simulated, &options, pareto, &mut chosen);
    let fastest = if is_by_family { fastest(&searches, &indices, &ran, options.objective) } else { None };
    if let Some((_, fastest)) = &fastest {
        all = by_family(all, options.objective, fastest, |index| *index);
        all.truncate(arguments.top);
    }
    if all.is_empty() && is_complete && counters.enumerated == 0 {
        let found = indices.iter().zip(&searches).flat_map(|(&index, search)| {
            let setting = &asked.settings[index];
            let plan = said(setting, batches[index]);
            match batch::by_batch(&searcher, setting, &plan, search.space.base.global_batch) {
                Some(problem) => vec![problem],
                None => nothing::contradictions(setting, &plan, &arguments.effort.space),
            }
        });
        return Err(Failure::Input(unique(found.map(|problem| asked.told(problem)))));
    }
    let speed = searcher.speed(&counters);
    let is_simulated = searches.iter().any(Search::is_simulated);
    let mut shown = shown(&asked, &all, positions(all.len(), arguments.top, pareto.is_some()), is_simulated)?;
    let mut fastest = match fastest.zip(all.first()) {
        Some(((index, fastest), (_, first))) if fastest.plan != first.plan => {
            Some(one(&asked, &[(index, first.clone()), (index, fastest)], 1)?)
        }
        _ => None,
    };
    let mut own = own::rows(&asked, &searches, &indices, &all, options.objective)?;
    for shown in shown.iter_mut().chain(&mut fastest).chain(&mut own) {
        shown.command.push_str(&arguments.pricing.flags());
    }
    let mut doubts: Vec<String> = asked.settings.iter().filter_map(Setting::doubt).collect();
    doubts.extend(torn(&asked, &shown));
    let nothing = if all.is_empty() && is_complete {
        Some(nothing::Nothing::find(&asked, &searcher, &searches, &indices, &ran, &batches, printer))
    } else {
        None
    };
    let best = all.first().map(|(index, candidate)| (*index, candidate));
    let why_not = questions
        .iter()
        .map(|question| question.answer(&asked, &searcher, &batches, &options, best))
        .collect::<Result<Vec<_>, Failure>>()?;
    let answer = Answered {
        title: title(&asked, &searches),
        objective: arguments.objective,
        pareto,
        fit_probability: searcher.fit_probability(),
        counters,
        is_complete,
        found: all.len(),
        fastest,
        is_by_family,
        several_settings: asked.settings.len() > 1,
        impossible: impossible(&asked, problems),
        nothing,
        not_expressed: best.map_or_else(Vec::new, |(index, candidate)| {
            not_expressed(&asked.settings[index], &candidate.plan)
        }),
        why_not,
        chosen,
        doubts,
        shown,
        own,
        freed: own::freed(&asked),
    };
    printer.answer(&answer, &arguments.output)?;
    printer.note(&speed);
    if let Some(path) = &arguments.save {
        save(path, &answer, printer)?;
    }
    let unanswered = answer.why_not.iter().any(|answer| answer.verdict == WhyNot::Unanswered);
    let stopped = answer.nothing.as_ref().is_some_and(|nothing| nothing.is_stopped);
    Ok(if !answer.is_complete || unanswered || stopped { Outcome::Interrupted } else { outcome(&answer) })
}

/// Whether what is first fits; where nothing does, whether what is closest is at risk.
fn outcome(answer: &Answered) -> Outcome {
    if let Some(first) = answer.shown.first() {
        return match Fit::of(first.ranked.candidate.probability_of_fitting) {
            // With a lower probability asked for, the first may still be at risk.
            Fit::Fits => Outcome::Yes,
            _ => Outcome::AtRisk,
        };
    }
    let misses = answer.nothing.iter().flat_map(|nothing| &nothing.misses);
    match misses.map(|(miss, _)| Fit::of(miss.probability_of_fitting)).min() {
        Some(Fit::DoesNotFit) | None => Outcome::No,
        Some(_) => Outcome::AtRisk,
    }
}

fn options(arguments: &args::Search, pareto: Option<(Goal, Goal)>) -> Options {
    let objective = pareto.map_or(arguments.objective, |(first, _)| first);
    let memory = |goal: Goal| goal == Goal::Memory;
    Options {
        objective: objective.into(),
        keep: if is_by_family(arguments) { 1 } else { arguments.top },
        front: pareto.is_some_and(|(first, second)| memory(first) || memory(second)),
        ..Options::default()
    }
}

/// Whether each row is to be a family of layouts: for what is ranked by time or by its cost.
fn is_by_family(arguments: &args::Search) -> bool {
    !arguments.all && arguments.pareto.is_empty() && matches!(arguments.objective, Goal::Time | Goal::Cost)
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

impl From<Goal> for Objective {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Time => Self::Time,
            Goal::Cost => Self::Dollars,
            Goal::Gpus => Self::Devices,
            Goal::Memory => Self::Headroom,
        }
    }
}

fn pareto(arguments: &args::Search) -> Result<Option<(Goal, Goal)>, Problem> {
    match arguments.pareto.as_slice() {
        [] => Ok(None),
        [first, second] if first != second => Ok(Some((*first, *second))),
        [_, _] => Err(Problem::new("a front has two different objectives").in_file("--pareto")),
        other => Err(Problem::new(format!("a front has two objectives, found {}", other.len()))
            .in_file("--pareto")
            .hint("write --pareto time,memory")),
    }
}

/// The batch of each setting; `None` where it was said. One for all where cluster sizes divide it alike.
fn batches(asked: &Asked<'_>, chosen: &mut Vec<String>) -> Vec<Option<u64>> {
    let said = asked.said();
    let devices: Vec<u64> = asked.settings.iter().map(|setting| setting.run.cluster.devices).collect();
    let largest = devices.iter().copied().max().unwrap_or(1);
    let length = open_run::sequence_length(asked);
    let all = |batch| vec![batch; devices.len()];
    if said.global_batch.is_some() || said.micro_batches.is_some() {
        return all(None);
    }
    if let Some(tokens) = said.batch_tokens {
        let batch = open_run::divisible_batch(tokens.0, length, largest);
        chosen.push(format!("global batch {} for {} tokens", human::whole(batch), human::count(tokens.0)));
        return all(Some(batch));
    }
    let usual = open_run::usual_batch(length, largest);
    if let Some(batch) = open_run::divided_batch(usual, &devices) {
        let for_all = if devices.iter().all(|n| *n == largest) { "" } else { " for all" };
        chosen.push(format!("global batch {}{for_all}", human::whole(batch)));
        return all(Some(batch));
    }
    let own = devices.iter().map(|&n| open_run::divided_batch(usual, &[n]));
    let own: Vec<u64> = own.map(|batch| batch.unwrap_or(usual)).collect();
    let mut told: Vec<String> = own
        .iter()
        .zip(&devices)
        .map(|(batch, n)| format!("global batch {} on {} GPUs", human::whole(*batch), human::whole(*n)))
        .collect();
    told.dedup();
    chosen.push(format!(
        "{}, because no one batch near {} divides among all",
        told.join(", "),
        human::whole(usual)
    ));
    own.into_iter().map(Some).collect()
}

fn said(setting: &Setting, batch: Option<u64>) -> PlanSpec {
    let plan = setting.spec.plan.clone();
    let batch_tokens = if batch.is_some() { None } else { plan.batch_tokens };
    PlanSpec { global_batch: batch.or(plan.global_batch), batch_tokens, ..plan }
}

/// Layouts shown of which some groups lie across two scale-up domains.
fn torn(asked: &Asked<'_>, shown: &[Shown]) -> Option<String> {
    let domain =
        |shown: &Shown| shown.ranked.candidate.plan.domain(&asked.settings[shown.setting].run.cluster);
    let is_torn =
        |shown: &&Shown| Layout::new(&shown.ranked.candidate.plan, domain(shown)).torn().next().is_some();
    let ranks: Vec<String> =
        shown.iter().filter(is_torn).map(|shown| shown.ranked.rank.to_string()).collect();
    let first = shown.iter().find(is_torn)?;
    let plan = &first.ranked.candidate.plan;
    let (name, group) = Layout::new(plan, domain(first)).torn().next()?;
    let whole = Layout::segment(plan, domain(first)).map_or_else(String::new, |size| {
        format!(
            "; `--segment {size}` keeps them whole and leaves {} of each domain idle",
            domain(first) - size
        )
    });
    Some(format!(
        "groups of {} span two scale-up domains of {}: {name}-parallel groups of {} ranks in the first{whole}",
        if let [only] = ranks.as_slice() {
            format!("layout {only}")
        } else {
            format!("layouts {}", ranks.join(", "))
        },
        domain(first),
        group.ranks
    ))
}

/// Who is ahead when collectives are simulated, search by search; nobody where they are not.
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
fn told(
    searcher: &Searcher<'_>,
    settings: &[Setting],
    indices: &[usize],
    simulated: &[Option<Runners>],
) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (runners, &index) in simulated.iter().zip(indices) {
        let (Some(runners), Some(said)) = (runners, searcher.said(&settings[index])) else { continue };
        let layouts = human::whole(runners.priced as u64);
        let how = if runners.is_proven {
            "no other layout can be better, since the closed form without contention bounds them"
        } else {
            "others may be better: the closed form without contention does not rule them out"
        };
        let one = format!("{said}: {layouts} layouts ranked by that, the best in closed form; {how}");
        if !words.contains(&one) {
            words.push(one);
        }
    }
    words
}

/// Everything that was found, best first, or the front; ties marked.
fn candidates(
    searches: &[Search<'_>],
    indices: &[usize],
    ran: &[Ran],
    simulated: Vec<Option<Runners>>,
    options: &Options,
    pareto: Option<(Goal, Goal)>,
    chosen: &mut Vec<String>,
) -> Vec<(usize, Candidate)> {
    let mut all: Vec<(usize, Candidate)> = Vec::new();
    for (((search, &index), ran), runners) in searches.iter().zip(indices).zip(ran).zip(simulated) {
        let outcome = match runners {
            Some(runners) => search.outcome_of(&ran.results, runners.candidates),
            None => search.outcome(&ran.results),
        };
        all.extend(outcome.candidates.into_iter().map(|candidate| (index, candidate)));
        all.extend(outcome.front.into_iter().map(|candidate| (index, candidate)));
        for words in outcome.chosen {
            if !chosen.contains(&words) {
                chosen.push(words);
            }
        }
    }
    let objective = options.objective;
    all.sort_by(|(i, a), (j, b)| {
        let by = |objective| a.score(objective).total_cmp(&b.score(objective));
        by(objective).then(by(Objective::Time)).then(a.devices.cmp(&b.devices)).then(i.cmp(j))
    });
    if let Some((first, second)) = pareto {
        let plain: Vec<Candidate> = all.iter().map(|(_, candidate)| candidate.clone()).collect();
        let chosen = front(&plain, first.into(), second.into());
        return chosen
            .into_iter()
            .filter_map(|one| {
                let index = all.iter().find(|(_, other)| *other == one)?.0;
                Some((index, one))
            })
            .collect();
    }
    let mut plain: Vec<Candidate> = all.iter().map(|(_, candidate)| candidate.clone()).collect();
    mark_ties(&mut plain, objective);
    all.into_iter().map(|(index, _)| index).zip(plain).collect()
}

/// The places of the rows that are shown: the first, or spread along a front with both of its ends.
fn positions(found: usize, top: usize, is_front: bool) -> Vec<usize> {
    let shown = found.min(top);
    if is_front && shown > 1 {
        (0..shown).map(|index| index * (found - 1) / (shown - 1)).collect()
    } else {
        (0..shown).collect()
    }
}

fn shown(
    asked: &Asked<'_>,
    all: &[(usize, Candidate)],
    positions: Vec<usize>,
    is_simulated: bool,
) -> Result<Vec<Shown>, Failure> {
    let mut list = Vec::new();
    for position in positions {
        let mut shown = one(asked, all, position)?;
        let candidate = &shown.ranked.candidate;
        // The timeline that times again is in closed form.
        if !is_simulated && (position == 0 || (position < RETIMED && candidate.tied_with_best)) {
            let run = &asked.settings[shown.setting].run;
            shown.ranked.retimed =
                ranking::retime(&run.model, &run.cluster, &candidate.plan, candidate.step_time).ok();
        }
        list.push(shown);
    }
    Ok(list)
}

fn one(asked: &Asked<'_>, all: &[(usize, Candidate)], position: usize) -> Result<Shown, Failure> {
    let (index, candidate) = &all[position];
    let setting = &asked.settings[*index];
    let run = &setting.run;
    let options = EstimateOptions { training: run.training, cost: run.cost };
    let ranked = ranking::rank(position + 1, candidate, &all[0].1, &run.model, &run.cluster, &options)?;
    Ok(Shown {
        ranked,
        setting: *index,
        cluster: setting.word.clone(),
        layout: setting.layout(&candidate.plan),
        short_layout: setting.short_layout(&candidate.plan),
        command: asked.command(setting, &candidate.plan)?,
        run_file: setting.file(&candidate.plan).to_toml(),
    })
}

fn impossible(asked: &Asked<'_>, problems: Vec<(usize, Vec<Problem>)>) -> Vec<Impossible> {
    let told = |(index, found): (usize, Vec<Problem>)| {
        let setting = &asked.settings[index];
        let first = found.into_iter().next().map(|problem| asked.told(problem));
        Impossible {
            cluster: setting.word.clone(),
            devices: setting.run.cluster.devices,
            reason: first.map_or_else(String::new, |problem| problem.message),
        }
    };
    problems.into_iter().map(told).collect()
}

fn title(asked: &Asked<'_>, searches: &[Search<'_>]) -> String {
    let Some(first) = asked.settings.first() else { return String::new() };
    let mut on: Vec<String> = Vec::new();
    for setting in &asked.settings {
        let cluster = &setting.run.cluster;
        on.push(format!("{} x {}", human::whole(cluster.devices), cluster.accelerator.name));
    }
    on.dedup();
    if on.len() > 4 {
        let more = on.len() - 3;
        on.truncate(3);
        on.push(format!("{more} more"));
    }
    let batch = searches.first().map_or_else(String::new, |search| {
        let base = &search.space.base;
        format!(
            "; {} sequences of {} tokens per step",
            human::whole(base.global_batch),
            human::whole(base.sequence_length)
        )
    });
    format!("{} on {}{batch}", crate::run::describe(&first.run.model), on.join(" or "))
}

/// Problems without repetitions.
fn unique(problems: impl Iterator<Item = Problem>) -> Vec<Problem> {
    let mut list: Vec<Problem> = Vec::new();
    for problem in problems {
        if !list.contains(&problem) {
            list.push(problem);
        }
    }
    if list.is_empty() {
        list.push(
            Problem::new("the space is empty: no strategy in it is possible")
                .hint("allow more values with --space, or pin less"),
        );
    }
    list
}

/// A missing folder is told before the search, not after it.
fn writable(path: &str) -> Result<(), Problem> {
    crate::input::access::to_write(path)?;
    let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Problem::new("cannot write: the folder does not exist")
            .in_file("--save")
            .hint(format!("make `{}` first", folder.display()))),
        _ if Path::new(path).is_dir() => {
            Err(Problem::new("cannot write: it is a folder").in_file("--save").hint("name a file in it"))
        }
        _ => Ok(()),
    }
}

/// What Megatron's launch file cannot say of a plan.
fn not_expressed(setting: &Setting, plan: &Plan) -> Vec<String> {
    let Ok(writer) = crate::run::launch::writer("megatron") else { return Vec::new() };
    let run = Run { plan: plan.clone(), ..setting.run.clone() };
    let written = writer.write(&run);
    let keys = written.inexpressible().map(|lost| lost.key.clone());
    keys.filter(|key| key.starts_with("plan.") || key == "model").collect()
}

/// Writes the best as a run file.
fn save(path: &str, answer: &Answered, printer: &Printer) -> Result<(), Failure> {
    let Some(best) = answer.shown.first() else {
        printer.note(&format!("nothing was found, so `{path}` was not written"));
        return Ok(());
    };
    let text = format!("# {}\n# {}\n\n{}", answer.title, best.command, best.run_file);
    input::write(path, &text)?;
    printer.note(&format!("wrote `{path}`; `railwright estimate --run {path}` reports it"));
    Ok(())
}
impl Goal {
    /// For people.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Time => "step time",
            Self::Cost => "cost per token",
            Self::Gpus => "number of devices",
            Self::Memory => "memory per device",
        }
    }
}
