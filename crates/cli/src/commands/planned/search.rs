//! `search`: the best strategies for a model on one or several clusters, ranked.

use crate::args::{self, Goal};
use crate::clock::Moment;
use crate::exit::{Failure, Outcome, of_fit};
use crate::input;
use crate::input::open_run::{self, Freedom};
use crate::printer::{Printer, check_format};
use railwright_answers::{MOST_SHOWN, Named, SearchOptions, search};
use railwright_commands::tuned_keys;
use railwright_reports::search::Answered;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_tuner::search::{Counters, Objective};
use std::path::Path;

/// Searches layouts. The outcome is `No` if nothing fits.
pub(crate) fn run(arguments: &args::Search, printer: &Printer) -> Result<Outcome, Failure> {
    check_format(&arguments.output)?;
    let pareto = pareto(arguments)?;
    if !(1..=MOST_SHOWN).contains(&arguments.top) {
        let problem = Problem::new(format!("expected 1 to {MOST_SHOWN} layouts, found {}", arguments.top));
        return Err(problem.in_file("--top").into());
    }
    let why_not =
        arguments.why_not.iter().map(|text| Named::parse(text)).collect::<Result<Vec<_>, Problem>>()?;
    let freedom = Freedom {
        keep: tuned_keys(&arguments.keep, "--keep")?,
        free: tuned_keys(&arguments.free, "--free")?,
    };
    let mut asked = open_run::ask_freed(&arguments.run, freedom)?;
    asked.require_devices()?;
    let fitted = asked.fit_devices();
    arguments.save.as_deref().map(writable).transpose()?;
    open_run::report_launch(&arguments.run, printer)?;
    let wanted = SearchOptions {
        objective: arguments.objective.into(),
        pareto,
        top: arguments.top,
        all: arguments.all,
        map: arguments.map,
        why_not,
        effort: arguments.effort.wanted(),
    };
    let begin = Moment::now();
    let mut answer = search(&asked, &wanted, &arguments.pricing.wanted(), &printer.watched())?;
    let speed = speed(begin, &answer.counters);
    answer.chosen.splice(0..0, fitted);
    let flags = arguments.pricing.flags();
    for shown in answer.shown.iter_mut().chain(&mut answer.fastest).chain(&mut answer.own) {
        shown.command.push_str(&flags);
    }
    let answer = Answered(answer);
    printer.answer(&answer, &arguments.output)?;
    printer.note(&speed);
    if let Some(path) = &arguments.save {
        save(path, &answer, printer)?;
    }
    Ok(if answer.is_interrupted() { Outcome::Interrupted } else { of_fit(answer.fit()) })
}

/// Search statistics in words; for the report only, since they differ between runs.
fn speed(begin: Moment, counters: &Counters) -> String {
    let seconds = begin.elapsed().as_secs_f64().max(1e-6);
    let rest = [
        (counters.bounded_away, "pruned"),
        (counters.dominated, "equivalent"),
        (counters.did_not_fit + counters.did_not_fit_as_group, "out of memory"),
    ];
    let rest: Vec<String> = rest
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} {why}", human::count(count as f64)))
        .collect();
    let rest = if rest.is_empty() { String::new() } else { format!("; not evaluated: {}", rest.join(", ")) };
    format!(
        "{} of {} layouts evaluated in {seconds:.2} s{rest}",
        human::count(counters.timed as f64),
        human::count(counters.enumerated as f64),
    )
}

fn pareto(arguments: &args::Search) -> Result<Option<(Objective, Objective)>, Problem> {
    match arguments.pareto.as_slice() {
        [] => Ok(None),
        [first, second] if first != second => Ok(Some((Goal::into(*first), Goal::into(*second)))),
        [_, _] => Err(Problem::new("a Pareto front needs two different objectives").in_file("--pareto")),
        other => Err(Problem::new(format!("a Pareto front has two objectives, found {}", other.len()))
            .in_file("--pareto")
            .hint("use --pareto time,memory")),
    }
}

/// A missing folder is reported before the search.
fn writable(path: &str) -> Result<(), Problem> {
    crate::input::access::to_write(path)?;
    let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Problem::new("cannot write: the folder does not exist")
            .in_file("--save")
            .hint(format!("make `{}` first", folder.display()))),
        _ if Path::new(path).is_dir() => {
            Err(Problem::new("cannot write: it is a folder").in_file("--save").hint("pass a file in it"))
        }
        _ => Ok(()),
    }
}

/// Writes the best as a run file.
fn save(path: &str, answer: &Answered, printer: &Printer) -> Result<(), Failure> {
    let Some(best) = answer.shown.first() else {
        printer.note(&format!("no layout was found, so `{path}` was not written"));
        return Ok(());
    };
    let text = format!("# {}\n# {}\n\n{}", answer.title, best.command, best.run_file);
    input::write(path, &text)?;
    printer.note(&format!("wrote `{path}`; `railwright estimate --run {path}` estimates it"));
    Ok(())
}
