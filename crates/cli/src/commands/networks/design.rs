//! `network design`: networks and strategies together.
//!
//! Responsible for: the given axes, and the result as a table or a chart. Does not compute prices: see the
//! tuner and network crates.

#[cfg(test)]
pub(crate) mod stopped;
#[cfg(test)]
pub(crate) mod tests;

use crate::args::OpenRun;
use crate::args::design::Design;
use crate::exit::{Failure, Outcome};
use crate::input::networks::prices;
use crate::input::{self, CONFIG_LIMIT, Disk, open_run};
use crate::printer::{Printer, check_format};
use crate::run::USUAL_CLUSTER;
use railwright_answers::{NetworkQuestion, Priced, Searcher, priced};
use railwright_commands::Work as _;
use railwright_reports::network::design::Answered;
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::usual_preset;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use std::path::Path;

const BAR: &str = "simulating {bar:30} {percent}%, {eta} left";

/// Designs networks. The outcome is `No` if the model fits on none.
pub(crate) fn run(arguments: &Design, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.output.as_deref();
    let is_picture =
        arguments.svg || path.is_some_and(|path| Path::new(path).extension().is_some_and(|e| e == "svg"));
    if !is_picture {
        check_format(&arguments.output)?;
    }
    let (open, usual) = on_usual_machine(&arguments.run)?;
    let asked = open_run::ask(&open)?;
    open_run::report_launch(&open, printer)?;
    let [setting] = asked.settings.as_slice() else {
        let several = asked.settings.len();
        let problem = Problem::new(format!("{several} clusters or cluster sizes, but only one is allowed"));
        return Err(problem.in_file("--cluster").hint("pass one cluster and one device count").into());
    };
    let watched = printer.watched();
    let searcher = Searcher::new(arguments.effort.wanted(), &watched)?;
    let turn = |done: usize, all: usize| watched.label(format!("network {} of {all}: ", done + 1));
    let question = axes_of(arguments)?;
    let mut priced = priced(&question, (&asked, setting), usual, (&searcher, &turn), &Disk)?;
    let watching = printer.watching(BAR, "simulating");
    let judged = priced.judge(setting, false, &searcher, &|done, all| watching.advance(done, all));
    watching.finish();
    priced.is_complete &= judged.is_continue();
    priced.conclude();
    let next = priced.next(&question, (&asked, setting));
    let Priced { codesign, chosen, is_complete, device_price, .. } = priced;
    let is_no = codesign.rows.iter().all(|row| row.step_time.is_none());
    printer.warnings(&codesign.warnings);
    let answer = Answered {
        title: title(&setting.run),
        codesign,
        shows_all: arguments.all,
        chosen,
        is_complete,
        device_price,
        years: arguments.years,
        next,
    };
    if is_picture {
        printer.data(&railwright_reports::network::design::picture(&answer), path)?;
    } else {
        printer.answer(&answer, &arguments.output)?;
    }
    Ok(match (is_complete, is_no) {
        (false, _) => Outcome::Interrupted,
        (true, true) => Outcome::No,
        (true, false) => Outcome::Yes,
    })
}

/// The axes of the networks, with prices of files.
fn axes_of(arguments: &Design) -> Result<NetworkQuestion, Problem> {
    Ok(NetworkQuestion {
        domains: arguments.domains.clone(),
        topologies: arguments.topologies.clone(),
        oversubscriptions: arguments.oversubscriptions.clone(),
        speeds: arguments.speeds.clone(),
        keys: arguments.keys.clone(),
        prices: prices(&arguments.prices)?,
        scale_up_price: arguments.scale_up_price.clone(),
        budget: arguments.budget.clone(),
        years: arguments.years,
    })
}

/// The run with a machine, and the defaults chosen.
fn on_usual_machine(run: &OpenRun) -> Result<(OpenRun, Option<String>), Problem> {
    let mut run = run.clone();
    let sets_cluster = |path: &str| {
        path.starts_with("cluster.") && !["cluster.devices", "cluster.calibration"].contains(&path)
    };
    let has_machine = !run.cluster.is_empty()
        || run.run.is_some()
        || crate::run::convention::has_cluster()
        || run.flags.settings.iter().any(|(_, path, _)| sets_cluster(path))
        || run.set.iter().any(|text| sets_cluster(text.split('=').next().unwrap_or_default().trim()));
    if has_machine {
        return Ok((run, None));
    }
    let set = run.set.iter().filter_map(|text| text.split_once('='));
    let flags = run.flags.settings.iter().map(|(_, path, value)| (path.as_str(), value.as_str()));
    let all = set.map(|(key, value)| (key.trim(), value.trim())).chain(flags);
    let calibration =
        all.filter(|(path, _)| *path == "cluster.calibration").map(|(_, value)| value.to_owned()).next_back();
    let (machine, why) = match calibration {
        // A calibration applies to one accelerator only.
        Some(file) => {
            let file = file.trim_matches('"');
            let accelerator = Calibration::parse(&input::read(file, CONFIG_LIMIT)?, file)?.accelerator;
            (of_accelerator(&accelerator), ", from the calibration")
        }
        None => (USUAL_CLUSTER.to_owned(), ""),
    };
    run.cluster.push(machine.clone());
    Ok((run, Some(format!("cluster {machine}{why}"))))
}

/// The usual system of an accelerator; the accelerator itself without a preset.
fn of_accelerator(accelerator: &str) -> String {
    usual_preset(accelerator).unwrap_or(accelerator).to_owned()
}

fn title(run: &Run) -> String {
    format!("{} on {}", run.model.name, run.cluster.devices_by_kind())
}
