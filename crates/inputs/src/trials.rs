//! Runs of the file and of its variants, from their logs.
//!
//! Responsible for: the layout of a log, from its arguments or from its given variant, and its measured step.
//! Rejects logs of other jobs, because their level does not apply.

use crate::run::{self, Sources};
use crate::{Caller, Refused, claims, is_file, steps};
use railwright_profiler::noise::median;
use railwright_spec::human;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::search::{Candidate, Search};
use std::path::Path;

/// One run.
pub struct Trial {
    /// The log.
    pub log: String,
    /// The plan.
    pub plan: Plan,
    /// Median step time in seconds.
    pub seconds: f64,
    /// Seconds that the calculator predicts for it.
    pub predicted: f64,
}

/// The runs of the logs.
pub fn read(
    words: &[String],
    arguments: &Sources,
    own: &Run,
    search: &Search<'_>,
    printer: &dyn Caller,
) -> Result<Vec<Trial>, Refused> {
    let mut trials = Vec::new();
    for word in words {
        let (file, log) = match word.split_once('=') {
            Some((file, log)) => (Some(file), log),
            None => (None, word.as_str()),
        };
        let run = of(file.unwrap_or(log), log, arguments)?;
        belongs(&run, own, log)?;
        let steps = steps::of_log(log, Some(&run), printer)?;
        let differing = claims::against(&steps.log, &run, log);
        if !differing.is_empty() {
            let what =
                file.map_or("another run", |_| "a layout other than that of the file to which it is mapped");
            return Err(Problem::new(format!("this log belongs to {what}: {}", differing.join(", ")))
                .in_file(log)
                .hint("map each log to the file of its run: `--measured variants/train-1.sh=LOG`")
                .into());
        }
        let times = steps.seconds;
        let candidate = Candidate::of_plan(search, run.plan.clone())?;
        trials.push(Trial {
            log: log.to_owned(),
            plan: run.plan,
            seconds: median(&times),
            predicted: candidate.step_time.get(),
        });
    }
    Ok(trials)
}

/// The run of a file, on the cluster of the one that is tuned.
fn of(file: &str, log: &str, arguments: &Sources) -> Result<Run, Refused> {
    let typed = Sources {
        launch: Some(file.to_owned()),
        run: None,
        // A model passed with the tuned file is also that of the variant.
        model: arguments.model.clone().filter(|_| arguments.launch.is_some()),
        ..arguments.clone()
    };
    run::resolve(&typed).map(|resolved| resolved.run).map_err(|Refused(problems)| {
        let ending = Path::new(file).extension().is_some_and(|e| e == "log" || e == "out" || e == "txt");
        let is_log = file == log && ending && is_file(file);
        let hint = "pass its variant, as in `--measured train-1.sh=train-1.log`";
        let messages = problems.into_iter().map(|problem| if is_log { problem.hint(hint) } else { problem });
        Refused(messages.collect())
    })
}

/// Returns an error for a run of another job.
fn belongs(run: &Run, own: &Run, log: &str) -> Result<(), Problem> {
    let figures = |run: &Run| {
        [
            ("parameters", run.model.parameters().total),
            ("GPUs", run.cluster.devices),
            ("sequences per step", run.plan.global_batch),
            ("tokens per sequence", run.plan.sequence_length),
        ]
    };
    let other = figures(run).into_iter().zip(figures(own)).find(|((_, a), (_, b))| a != b);
    match other {
        None => Ok(()),
        Some(((what, found), (_, wanted))) => Err(Problem::new(format!(
            "this log belongs to another job: {} {what}, but the tuned file has {}",
            human::whole(found),
            human::whole(wanted)
        ))
        .in_file(log)
        .hint("omit it from --measured")),
    }
}
