//! `network failures`: effect and cost of failed parts, by class, for several designs; states with several
//! failed parts.

use crate::fit::warn_of_fit;
use crate::front::{Ended, Front};
use crate::relation::needs;
use railwright_answers::placed_in_flags;
use railwright_inputs as input;
use railwright_inputs::networks::{RATES_LIMIT, design, on_network, on_run};
use railwright_network::failures::expected::{EXPOSED_SHARE, INTERRUPTION_HOURS, Job, expectation_with};
use railwright_network::failures::rates::Rates;
use railwright_network::failures::sample::{Draw, MOST_FAILED, MOST_SAMPLES, sample_watched};
use railwright_network::failures::state::{Part, States};
use railwright_network::failures::{Class, classes, parts, slowdown};
use railwright_network::topology::Design;
use railwright_reports::network::failures::{Answered, Failing};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_tuner::codesign::FailedParts;
use std::cell::RefCell;

/// Default number of sampled states.
const SAMPLES: u64 = 10_000;
const BAR: &str = "drawing {bar:30} {pos} of {len} states, {eta} left";
const OF_RUN: &str = "simulating {bar:30} {percent}%, {eta} left";

/// Networks with failed parts, and a job on them.
#[derive(Clone, Debug)]
pub struct Failures {
    /// Topologies or design files.
    pub designs: Vec<String>,
    /// Settings of a design: the flag, the key, the value.
    pub settings: Vec<(String, &'static str, String)>,
    /// Exposed network time as a share of the step.
    pub exposed_share: Option<f64>,
    /// The same for scale-up domains.
    pub exposed_domain_share: Option<f64>,
    /// A run file instead of shares.
    pub run: Option<String>,
    /// Settings of the run as `key=value`.
    pub set: Vec<String>,
    /// Hours lost per interruption.
    pub interruption_hours: Option<f64>,
    /// Treatment of the traffic of a device without network.
    pub recovery: String,
    /// Tables of failure rates.
    pub rates: Vec<String>,
    /// Failed parts.
    pub fail: Vec<String>,
    /// Number of failure states to sample.
    pub samples: Option<u64>,
    /// Random seed for sampling.
    pub sample_seed: u64,
}

/// Effect of failures.
pub struct FailuresAnswer {
    /// The report.
    pub answered: Answered,
    /// True if all designs were evaluated.
    pub is_complete: bool,
    /// True if named failures end the job.
    pub is_cut: bool,
}

/// Reports the effect of failures.
///
/// # Errors
///
/// Designs, parts, tables or a run that do not exist.
pub fn failures(request: &Failures, front: &dyn Front) -> Result<FailuresAnswer, Ended> {
    needs(("--set", !request.set.is_empty()), ("--run", request.run.is_some()))?;
    let mut job = job(request)?;
    let mut rates = Rates::catalogue()?;
    for path in &request.rates {
        let label = if path == "-" { "standard input" } else { path };
        rates.overlay(&input::read(path, RATES_LIMIT)?, label)?;
    }
    if let Some(n) = request.samples.filter(|n| *n == 0 || *n > MOST_SAMPLES) {
        let message = format!("expected 1 to {} states, found {n}", human::whole(MOST_SAMPLES));
        return Err(Problem::new(message).in_file("--samples").into());
    }
    let read = request.run.as_deref().map(|path| on_run::read(path, &request.set)).transpose()?;
    let run = read.map(|(run, _)| run);
    run.iter().try_for_each(|run| warn_of_fit(run, front).map(drop))?;
    let mut words: Vec<Option<&str>> = request.designs.iter().map(|word| Some(word.trim())).collect();
    words.extend(request.designs.is_empty().then_some(None));
    let mut list = Vec::new();
    let (bar, work) = if run.is_some() { (OF_RUN, "simulating") } else { (BAR, "drawing states") };
    let watching = front.work(bar, work);
    for word in words {
        if watching.is_stopped() && !list.is_empty() {
            break;
        }
        let mut sheet = design(word, &request.settings)?;
        if let Some(run) = &run {
            on_run::fill(&mut sheet, run);
        }
        let design = sheet.spec.resolve().and_then(|design| design.require_graph().map(|()| design));
        let design = design.map_err(|problem| placed_in_flags(&sheet, problem))?;
        if let Some(run) = &run {
            on_run::check(&sheet, &design, run)?;
        }
        let mut watch = |done: usize, all: usize| watching.advance(done, all);
        let simulated = run.as_ref().and_then(|run| FailedParts::new(&design, run, job.recovery, &mut watch));
        if let Some(run) = run.as_ref().filter(|_| list.is_empty()) {
            let step = simulated.as_ref().map(FailedParts::whole);
            job.exposed_share = on_run::exposed_share(&design, run, step)
                .map_err(|problem| placed_in_flags(&sheet, problem))?;
        }
        let simulated = RefCell::new(simulated);
        // Reason why a step could not be estimated, as opposed to a step that cannot finish.
        let broken = RefCell::new(None);
        let refused = || broken.take().map_or(Ok(()), |problem| Err(placed_in_flags(&sheet, problem)));
        let slower = |kept: f64| match &run {
            Some(run) => on_run::slower(&design, run, kept).unwrap_or_else(|problem| {
                broken.borrow_mut().get_or_insert(problem);
                None
            }),
            None => slowdown(kept, job.exposed_share),
        };
        let of_class = |class: &Class| simulated.borrow_mut().as_mut()?.of_class(class);
        let expectation = expectation_with(&design, &rates, &job, &slower, &of_class)?;
        refused()?;
        let failed = failed(request, &design)?;
        let named = if failed.named.is_empty() {
            None
        } else {
            let state = States::new(&design)?.state(&failed.named);
            let domain = slowdown(state.kept_domain, job.exposed_domain_share);
            let network = slower(state.kept(job.recovery)).filter(|_| state.is_connected);
            let network = network.map(|bound| {
                simulated.borrow_mut().as_mut().and_then(|one| one.factor(&failed.named)).unwrap_or(bound)
            });
            let factor = network.zip(domain).map(|(network, domain)| network + domain - 1.0);
            Some((failed.named, state, factor))
        };
        let draw = match (failed.any.is_empty(), request.samples) {
            (false, _) => Some(Draw::Together(failed.any)),
            (true, Some(_)) if named.is_none() => Some(Draw::Moments),
            _ => None,
        };
        let sampled = match draw {
            Some(draw) => {
                let samples = request.samples.unwrap_or(SAMPLES);
                let how = (&slower as &dyn Fn(f64) -> Option<f64>, job.recovery);
                let all = samples as usize;
                Some(sample_watched(
                    &design,
                    &rates,
                    &draw,
                    (samples, request.sample_seed),
                    how,
                    &mut |drawn| watching.advance(drawn as usize, all),
                )?)
            }
            None => None,
        };
        refused()?;
        list.push(Failing { design, expectation, sampled, named });
    }
    watching.finish();
    let is_cut =
        list.iter().any(|failing| failing.named.as_ref().is_some_and(|(_, _, factor)| factor.is_none()));
    let share_given = request.exposed_share.is_some();
    let answered = Answered { list, job, run: request.run.clone(), share_given };
    Ok(FailuresAnswer { answered, is_complete: !watching.is_stopped(), is_cut })
}

fn job(request: &Failures) -> Result<Job, Problem> {
    let share = |flag: &str, given: Option<f64>| match given.unwrap_or(EXPOSED_SHARE) {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        share => Err(Problem::new(format!("{share} is not a share from 0 to 1"))
            .in_file(flag)
            .hint("use a share of the step, such as 0.2")),
    };
    let exposed_share = share("--exposed-share", request.exposed_share)?;
    let exposed_domain_share = share("--exposed-domain-share", request.exposed_domain_share)?;
    let interruption_hours = request.interruption_hours.unwrap_or(INTERRUPTION_HOURS);
    if !(0.0..=1e4).contains(&interruption_hours) {
        let problem = Problem::new(format!("{interruption_hours} is not a number of hours from 0 to 10,000"));
        return Err(problem.in_file("--interruption-hours"));
    }
    let recovery = on_network::recovery(&request.recovery)?;
    Ok(Job { exposed_share, exposed_domain_share, interruption_hours, recovery })
}

/// Parts of `--fail`: named parts, and numbers of any others.
struct Failed {
    named: Vec<Part>,
    any: Vec<(String, u64)>,
}

fn failed(request: &Failures, design: &Design) -> Result<Failed, Problem> {
    let mut failed = Failed { named: Vec::new(), any: Vec::new() };
    let parts = parts(&classes(design));
    for text in &request.fail {
        let refused = |problem: Problem| problem.in_file("--fail");
        let shown = human::shorten(text);
        let Some((name, number)) = text.rsplit_once(['#', ':', '=']) else {
            return Err(refused(Problem::new(format!("`{shown}` is not a part")))
                .hint("use `leaf#3` for one part, `leaf=2` for any two"));
        };
        let plain = |name: &str| name.trim().to_lowercase().replace([' ', '_'], "-");
        let Some(&(part, all)) = parts.iter().find(|(part, _)| plain(part) == plain(name)) else {
            let known: Vec<String> = parts.iter().map(|(part, _)| plain(part)).collect();
            let list = format!("a {} has {}", design.name, known.join(", "));
            let hint = did_you_mean(&plain(name), known.iter().map(String::as_str), &list);
            return Err(refused(Problem::new(format!(
                "a {} has no `{}`",
                design.name,
                human::shorten(name)
            )))
            .hint(hint));
        };
        let Ok(number) = number.trim().parse::<u64>() else {
            return Err(refused(Problem::new(format!("`{shown}` has no whole number after the part"))));
        };
        let count = human::whole(all);
        if text.contains('=') {
            if number > all.min(MOST_FAILED) {
                let message =
                    format!("{number} failed parts exceed the {count} parts of the network ({part})");
                let most = human::whole(all.min(MOST_FAILED));
                return Err(refused(Problem::new(message)).hint(format!("use at most {most}")));
            }
            failed.any.push((part.to_owned(), number));
        } else {
            if number >= all {
                let message =
                    format!("{part} {number} does not exist: the {} has {count} in total", design.name);
                return Err(refused(Problem::new(message)).hint("numbers start at 0"));
            }
            failed.named.push(Part { class: part, number });
        }
    }
    if !failed.named.is_empty() && !failed.any.is_empty() {
        return Err(Problem::new("listed parts (`#`) and sampled parts (`=`) are mixed")
            .in_file("--fail")
            .hint("use `#` with a number for all parts, or `=` with a count"));
    }
    Ok(failed)
}
