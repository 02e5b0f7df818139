//! `detect`: the settings of a launch file or log, line by line.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::{self, LOG_LIMIT, launch_files};
use crate::printer::Printer;
use railwright_launch::detect;
use railwright_reports::detect::{Detected, LOG};
use railwright_spec::human;
use railwright_spec::problem::Problem;

/// Detects the kind of a file. The outcome is `No` for an unknown kind.
pub(crate) fn run(arguments: &args::launch::Detect, printer: &Printer) -> Result<Outcome, Failure> {
    // Traces are detected by their header, compressed or not, and are usually not UTF-8 text.
    let records = if arguments.file == "-" { None } else { input::jobs_found::format(&arguments.file) };
    let text = match records {
        Some(format) if format != LOG => String::new(),
        _ => match input::read(&arguments.file, LOG_LIMIT) {
            Err(_) if records.is_some() => String::new(),
            text => text?,
        },
    };
    let file = if arguments.file == "-" { "standard input".to_owned() } else { arguments.file.clone() };
    let sightings = detect(&text);
    launch_files::give(given(arguments)?);
    let launch = match launch_files::launch(&text, &arguments.file).transpose() {
        Ok(launch) => launch,
        // The steps of a log can be read without the arguments of its run.
        Err(_) if records == Some(LOG) && !text.contains("- arguments -") => None,
        Err(problems) => return Err(problems.into()),
    };
    let known = !sightings.is_empty() || records.is_some();
    let answer = Detected { file, sightings, launch, records };
    printer.answer(&answer, &arguments.output)?;
    Ok(if known { Outcome::Yes } else { Outcome::No })
}

/// Variables and arguments set for the script.
fn given(arguments: &args::launch::Detect) -> Result<launch_files::Given, Failure> {
    let given = launch_files::Given::of_words(&arguments.variables);
    if let Some(word) = given.arguments.and_then(|words| words.into_iter().next()) {
        let problem = Problem::new(format!("expected `VAR=value`, found `{}`", human::shorten(&word)));
        return Err(problem
            .hint("pass arguments of the script after `--`, as in `detect run.sh -- 7B 1`")
            .into());
    }
    let own = (!arguments.arguments.is_empty()).then(|| arguments.arguments.clone());
    Ok(launch_files::Given { variables: given.variables, arguments: own })
}
