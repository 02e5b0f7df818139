//! Reports of the Trainer of Hugging Face: dictionaries with the loss, a progress bar, and one summary at the
//! end.
//!
//! Responsible for: its console output and `trainer_state.json` to reports. Derives no times from the
//! learning rate's schedule or from epochs: without a progress bar only the summary has a time.
//!
//! Sources of the format: transformers `trainer.py` and `trainer_utils.speed_metrics` (`train_runtime` of the
//! whole call in seconds; `train_steps_per_second` = steps / `train_runtime`, three decimals); version 5
//! prints every value as a string.

use super::deepspeed::TimesFrom;
use super::numbers::{after, leading};
use super::progress::Bar;
use super::report::Report;
use serde_json::Value;

/// Minimum length of a range in seconds: a progress bar counts whole seconds, so rounding stays below 5%.
const STRETCH: u64 = 20;
/// Maximum number of ranges of a long run: longer ranges round less.
const STRETCHES: u64 = 40;
/// Maximum number of kept reports.
const MOST: usize = 1 << 22;

/// Lines of a Trainer, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Trainer {
    bar: Option<Bar>,
    /// A report for each dictionary with a loss, with the progress bar before it.
    lines: Vec<(Report, Option<Bar>)>,
    summary: Option<Summary>,
    /// Sequences per step and steps of the run, as printed before the first step.
    batch: Option<u64>,
    steps: Option<u64>,
}

/// The last dictionary of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Summary {
    runtime: f64,
    steps_per_second: Option<f64>,
    loss: Option<f64>,
    line: u64,
}

impl Trainer {
    /// Reads a line, the `number`-th of the log.
    pub(super) fn line(&mut self, line: &str, number: u64) {
        if let Some(bar) = Bar::of(line) {
            self.bar = Some(bar);
        }
        if let Some(rest) =
            line.split_once("Total train batch size").and_then(|(_, rest)| rest.split_once('='))
        {
            self.batch = leading(rest.1).filter(|n| *n >= 1.0 && *n < 1e9).map(|n| n as u64);
        } else if let Some(steps) = after(line, "Total optimization steps =") {
            self.steps = (1.0..1e15).contains(&steps).then_some(steps as u64);
        } else if is_report(line) && self.lines.len() < MOST {
            let report = Report {
                iteration: self.lines.len() as u64 + 1,
                line: number,
                seconds: f64::NAN,
                loss: value(line, "loss"),
                gradient_norm: value(line, "grad_norm"),
                learning_rate: value(line, "learning_rate"),
                ..Report::default()
            };
            self.lines.push((report, self.bar));
        } else if let Some(runtime) = value(line, "train_runtime").filter(|s| *s > 0.0) {
            self.summary = Some(Summary {
                runtime,
                steps_per_second: value(line, "train_steps_per_second"),
                loss: value(line, "train_loss"),
                line: number,
            });
        }
    }

    /// Reports after reading the whole log, and the source of their times; `None` without lines of a Trainer.
    pub(super) fn reports(&self) -> Option<(Vec<Report>, TimesFrom)> {
        if self.lines.is_empty() && self.summary.is_none() {
            return None;
        }
        let timed = self.stretches();
        if timed.len() > 1 {
            return Some((timed, TimesFrom::ProgressBar));
        }
        if let Some(whole) = self.whole() {
            return Some((vec![whole], TimesFrom::WholeRun));
        }
        let lines = self.lines.iter().map(|(report, _)| Report { batch: self.batch, ..report.clone() });
        Some((lines.collect(), TimesFrom::Nothing))
    }

    /// Ranges of at least [`STRETCH`] seconds, at most [`STRETCHES`], between two reports, by the progress
    /// bar of training.
    fn stretches(&self) -> Vec<Report> {
        // Evaluation has its own bars; that of training has the most steps.
        let total = self.lines.iter().filter_map(|(_, bar)| bar.map(|bar| bar.total)).max();
        let of_training = |bar: &Option<Bar>| bar.filter(|bar| Some(bar.total) == total);
        let longest = self.lines.iter().filter_map(|(_, bar)| of_training(bar)).map(|bar| bar.elapsed).max();
        let shortest = (longest.unwrap_or_default() / STRETCHES).max(STRETCH);
        let mut out: Vec<Report> = Vec::new();
        let mut last: Option<Bar> = None;
        for (report, bar) in &self.lines {
            let Some(bar) = of_training(bar) else { continue };
            match last {
                Some(before) if bar.done > before.done && bar.elapsed >= before.elapsed => {
                    let (steps, passed) = (bar.done - before.done, bar.elapsed - before.elapsed);
                    if passed < shortest {
                        continue;
                    }
                    let seconds = passed as f64 / steps as f64;
                    out.push(Report {
                        iteration: bar.done,
                        weight: steps,
                        seconds,
                        batch: self.batch,
                        ..report.clone()
                    });
                }
                Some(before) if bar == before => continue,
                _ => {}
            }
            last = Some(bar);
        }
        out
    }

    /// Mean of the whole run, including its start, evaluation and checkpoints.
    fn whole(&self) -> Option<Report> {
        let summary = self.summary?;
        let rate = summary.steps_per_second.filter(|rate| *rate > 0.0);
        // The rate has three decimals: a number of steps that agrees with it is exact.
        let counted = self.steps.or(self.bar.filter(|bar| bar.done == bar.total).map(|bar| bar.total));
        let counted = counted.map(|steps| steps as f64).filter(|steps| {
            *steps >= 1.0 && rate.is_none_or(|rate| (steps / summary.runtime - rate).abs() <= 0.000_6)
        });
        let steps = counted.or_else(|| Some((rate? * summary.runtime).round().max(1.0)))?;
        let seconds =
            counted.map_or_else(|| rate.map(|rate| 1.0 / rate), |steps| Some(summary.runtime / steps))?;
        (seconds > 0.0 && seconds < 1e6).then(|| Report {
            iteration: steps as u64,
            weight: steps as u64,
            line: summary.line,
            seconds,
            batch: self.batch,
            loss: summary.loss,
            ..Report::default()
        })
    }
}

/// Tests whether a line is the dictionary of a step: `{'loss': ...`, after any prefix.
fn is_report(line: &str) -> bool {
    value(line, "loss").is_some() && (line.contains("'learning_rate'") || line.contains("'epoch'"))
}

/// The number after `'name':`, with or without quotes.
fn value(line: &str, name: &str) -> Option<f64> {
    let at = line
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|&at| line[..at].ends_with('\'') && line[at + name.len()..].starts_with("':"))?;
    leading(line[at + name.len() + 2..].trim_start().trim_start_matches(['\'', '"']))
}

/// Tests by its beginning whether a text is a `trainer_state.json`.
pub(crate) fn is_state(head: &[u8]) -> bool {
    let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
    head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
        && has(b"\"log_history\"")
        && (has(b"\"epoch\"") || has(b"\"global_step\""))
}

/// JSON as written by Python, with invalid numbers removed.
fn of_python(text: &str) -> String {
    text.replace(": NaN", ": null").replace(": -Infinity", ": null").replace(": Infinity", ": null")
}

/// Reports of a `trainer_state.json`; `None` if it is not JSON.
pub(super) fn of_state(text: &str) -> Option<(Vec<Report>, TimesFrom)> {
    let state: Value = serde_json::from_str(text).or_else(|_| serde_json::from_str(&of_python(text))).ok()?;
    let history = state.get("log_history")?.as_array()?;
    let number = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_f64).filter(|n| n.is_finite());
    let step = |entry: &Value| entry.get("step").and_then(Value::as_u64).unwrap_or_default();
    // Of several calls the last one counts; its steps are those after the previous one.
    let ends: Vec<&Value> = history.iter().filter(|entry| number(entry, "train_runtime").is_some()).collect();
    let Some((last, before)) = ends.split_last() else {
        let entries = history.iter().filter(|entry| number(entry, "loss").is_some()).take(MOST);
        let reports = entries.map(|entry| Report {
            iteration: step(entry),
            line: 1,
            seconds: f64::NAN,
            loss: number(entry, "loss"),
            gradient_norm: number(entry, "grad_norm"),
            learning_rate: number(entry, "learning_rate"),
            ..Report::default()
        });
        return Some((reports.collect(), TimesFrom::Nothing));
    };
    let steps = step(last).saturating_sub(before.last().map_or(0, |entry| step(entry)));
    let rate = |key: &str| number(last, key).filter(|rate| *rate > 0.0);
    let batch = rate("train_samples_per_second").zip(rate("train_steps_per_second")).map(|(a, b)| (a, a / b));
    // Both rates are rounded: the batch is determined only if they have enough digits.
    let batch = batch.and_then(|(samples, batch)| {
        let step_rate = samples / batch;
        let doubt = batch * (0.000_5 / samples + 0.000_5 / step_rate);
        (doubt < 0.5 && (batch - batch.round()).abs() <= doubt + 1e-9).then_some(batch.round() as u64)
    });
    let runtime = number(last, "train_runtime").filter(|s| *s > 0.0)?;
    let seconds = runtime / steps.max(1) as f64;
    let report = Report {
        iteration: step(last),
        weight: steps,
        line: 1,
        seconds: if seconds < 1e6 { seconds } else { f64::NAN },
        batch,
        loss: number(last, "train_loss"),
        ..Report::default()
    };
    Some((if steps > 0 { vec![report] } else { Vec::new() }, TimesFrom::WholeRun))
}
