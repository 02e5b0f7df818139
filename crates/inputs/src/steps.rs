//! The steps that a training log reports, as times to compare.
//!
//! Responsible for: reading one log, without warm-up and other batch sizes. Does not average, because
//! comparisons need the spread.

use crate::jobs::Wanted;
use crate::{Caller, traces};
use railwright_profiler::job::Family;
use railwright_profiler::log::{Framework, Report, TimesFrom, TrainingLog};
use railwright_profiler::readers::{Keep, Recording};
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;

/// One log.
const WANTED: Wanted = Wanted::one("log", &[&[Family::Log]]);

/// A log and its steady steps.
pub struct Steps {
    /// The log.
    pub log: TrainingLog,
    /// Seconds, one for each report after warm-up.
    pub seconds: Vec<f64>,
}

/// The steps of a log. `run` is the run of the log, if known: logs without a clock need its tokens or its
/// batch for a time.
pub fn of_log(path: &str, run: Option<&Run>, printer: &dyn Caller) -> Result<Steps, Problem> {
    let mut log = read(path, printer)?;
    if let Some(run) = run {
        let plan = &run.plan;
        log.take_batch(plan.global_batch);
        let tokens = plan.global_batch as f64 * plan.sequence_length as f64;
        log.take_tokens(tokens / run.cluster.devices.max(1) as f64);
    }
    let seconds = steady(&log);
    if seconds.is_empty() {
        let problem = Problem::new("the log reports no step times after warm-up").in_file(path);
        return Err(problem.hint(match (log.framework, run) {
            (Some(Framework::Trainer), _) => {
                "the dictionaries of a Trainer contain no times: keep its progress bar in the log, or pass \
                 the `trainer_state.json` of the finished run"
            }
            (_, None) if log.reports.len() > 2 => {
                "it has rates but no timestamps, and step times require the run: pass its launch file"
            }
            _ => "log at least three steps",
        }));
    }
    Ok(Steps { log, seconds })
}

/// A training log.
fn read(path: &str, printer: &dyn Caller) -> Result<TrainingLog, Problem> {
    let loaded = traces::load(&[path.to_owned()], WANTED, Keep::default(), printer)?;
    let log = loaded.recordings.into_iter().find_map(|recording| match recording {
        Recording::Log(log) => Some(*log),
        _ => None,
    });
    log.ok_or_else(|| Problem::new("not a training log").in_file(path))
}

/// Reports of the last batch size without the first of each start, which are warm-up. All reports, if the log
/// has only means over the whole run.
fn steady(log: &TrainingLog) -> Vec<f64> {
    let timed: Vec<&Report> = log.reports.iter().filter(|report| report.seconds.is_finite()).collect();
    if log.times_from() == TimesFrom::WholeRun {
        return timed.iter().map(|report| report.seconds).collect();
    }
    let starts = timed.last().map_or(1, |report| report.start as usize + 1);
    let warm_up = (timed.len() / starts / 10).clamp(1, 5);
    let batch = timed.last().and_then(|report| report.batch);
    let mut out = Vec::new();
    let (mut start, mut seen) = (None, 0);
    for report in timed {
        if start != Some(report.start) {
            (start, seen) = (Some(report.start), 0);
        }
        seen += 1;
        if seen > warm_up && report.batch == batch {
            out.push(report.seconds);
        }
    }
    out
}
