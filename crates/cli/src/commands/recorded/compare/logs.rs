//! A training log compared with the prediction of its run, or with another log.

use crate::args;
use crate::commands::recorded::compare::modelled;
use crate::commands::recorded::profiled;
use crate::exit::{Failure, Outcome};
use crate::input::kind::Kind;
use crate::input::remote::without_query;
use crate::input::{claims, steps};
use crate::printer::Printer;
use crate::run::{Resolved, launch};
use railwright_calculator::estimate::estimate_run;
use railwright_profiler::compare::Condition;
use railwright_profiler::noise;
use railwright_reports::compare::logs::{Logged, Side};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::{Run, Section as _};

/// Compares two sides, at least one of them a log. Without a second side the log's own run is predicted.
pub(crate) fn run(
    arguments: &args::Compare,
    kinds: [Option<Kind>; 2],
    conditions: &[Condition],
    printer: &Printer,
) -> Result<Outcome, Failure> {
    if let Some(place) = kinds.iter().position(|kind| *kind == Some(Kind::Traces)) {
        let path = [Some(&arguments.first), arguments.second.as_ref()][place].cloned().unwrap_or_default();
        let problem =
            Problem::new("the other side is a training log, but this file is neither a log nor a run")
                .in_file(path);
        return Err(problem
            .hint("compare traces with traces, or a log with a log, launch file or run file")
            .into());
    }
    let mut warnings = Vec::new();
    let sides = match (kinds, &arguments.second) {
        ([_, Some(Kind::Log)], Some(second)) if kinds[0] == Some(Kind::Log) => {
            let how = "this option applies to a prediction: pass one log, with `--launch FILE` for its run";
            arguments.run_settings.without_run(how)?;
            warnings.extend(of_other_runs([&arguments.first, second])?);
            let side = |path: &str| Ok::<_, Failure>(measured(path, steps::of_log(path, None, printer)?));
            [side(&arguments.first)?, side(second)?]
        }
        ([_, Some(_)], Some(second)) => {
            let is_first = kinds[0] == Some(Kind::Run);
            let (file, log) = if is_first { (&arguments.first, second) } else { (second, &arguments.first) };
            let (run, predicted) = predicted(arguments, file, &mut warnings)?;
            let measured = of_run(log, &run, &mut warnings, printer)?;
            if is_first { [predicted, measured] } else { [measured, predicted] }
        }
        _ => {
            let log = &arguments.first;
            if arguments.launch.is_none() && launch::of_path(log)?.is_none() {
                let problem =
                    Problem::new("the log does not contain the configuration of its run").in_file(log);
                return Err(problem
                    .hint(format!("pass its launch file: `railwright compare {log} --launch FILE`"))
                    .into());
            }
            let file = arguments.launch.as_ref().unwrap_or(log);
            let (run, predicted) = predicted(arguments, file, &mut warnings)?;
            let measured = of_run(log, &run, &mut warnings, printer)?;
            [predicted, measured]
        }
    };
    printer.warnings(&warnings);
    let answer = Logged::of(sides, conditions, warnings)?;
    let fails = answer.verdicts.iter().any(|verdict| verdict.met);
    printer.answer(&answer, &arguments.output)?;
    Ok(if fails { Outcome::No } else { Outcome::Yes })
}

/// The steps of a log, and a warning if the log prints settings other than those of its run.
fn of_run(path: &str, run: &Run, warnings: &mut Vec<Warning>, printer: &Printer) -> Result<Side, Failure> {
    let steps = steps::of_log(path, Some(run), printer)?;
    let differing = claims::against(&steps.log, run, path);
    if !differing.is_empty() {
        let message = format!("the log belongs to another run: {}", differing.join(", "));
        warnings.push(Warning::new("runs-not-alike", message));
    }
    Ok(measured(path, steps))
}

fn measured(path: &str, steps: steps::Steps) -> Side {
    let steps::Steps { log, seconds } = steps;
    let rounding = log.rounding();
    let interval = noise::median_interval(&seconds).map(|(low, high)| (low - rounding, high + rounding));
    Side::Measured {
        file: without_query(path).to_owned(),
        framework: log.framework,
        times_from: log.times_from(),
        batch: log.reports.iter().rev().find(|report| report.seconds.is_finite()).and_then(|r| r.batch),
        reports: seconds.len(),
        step_time: noise::median(&seconds),
        interval,
        spread: (noise::quantile(&seconds, 0.1), noise::quantile(&seconds, 0.9)),
        seconds,
        rounding,
    }
}

fn predicted(
    arguments: &args::Compare,
    file: &str,
    warnings: &mut Vec<Warning>,
) -> Result<(Run, Side), Failure> {
    let Resolved { run, warnings: found, .. } =
        profiled::resolved(file, None, modelled::run_arguments(arguments))?;
    warnings.extend(found);
    let estimate = estimate_run(&run)?;
    let interval = &estimate.step_time_interval;
    let side = Side::Predicted {
        file: without_query(file).to_owned(),
        step_time: estimate.step_time.get(),
        interval: (interval.low.get(), interval.high.get()),
        coverage: interval.coverage,
    };
    Ok((run, side))
}

/// A warning if two logs print different models, sequence lengths or batches.
fn of_other_runs(paths: [&String; 2]) -> Result<Option<Warning>, Failure> {
    let [Some(first), Some(second)] = [launch::of_path(paths[0])?, launch::of_path(paths[1])?] else {
        return Ok(None);
    };
    let model = |key: &str| (first.spec.model.get(key), second.spec.model.get(key));
    let plan = |key: &str| (first.spec.plan.get(key), second.spec.plan.get(key));
    let figures = [
        ("model.layers", model("layers")),
        ("model.hidden", model("hidden")),
        ("plan.sequence_length", plan("sequence_length")),
        ("plan.global_batch", plan("global_batch")),
    ];
    let differing: Vec<String> = figures
        .into_iter()
        .filter_map(|(key, sides)| match sides {
            (Some(a), Some(b)) if a != b => Some(format!("`{key}` {} and {}", a.to_toml(), b.to_toml())),
            _ => None,
        })
        .collect();
    Ok((!differing.is_empty()).then(|| {
        let message = format!("the logs belong to different runs: {}", differing.join(", "));
        Warning::new("runs-not-alike", message)
    }))
}
