//! Reports of DeepSpeed's own engine, without a framework around it: samples per second, skipped updates, and
//! the timers of its wall-clock breakdown.
//!
//! Responsible for: lines of `timer.py` and `logging.py` of any version to reports, and the batch that the
//! log prints. A rate gives no time without the batch. Excludes the average since the start, which the oldest
//! versions print.
//!
//! `CurrSamplesPerSec` is `train_batch_size` over the time of the last step, from its first forward pass to
//! the end of its update (DeepSpeed's `ThroughputTimer`). Hence `step time = train_batch_size /
//! CurrSamplesPerSec`. The breakdown's `fwd` (older: `forward`), `bwd` and `step` are sums over the
//! micro-steps of one step, sequential on the host's clock. Hence `step time = fwd + bwd + step`. Both
//! exclude time between two steps, such as loading of data.

use super::numbers::{after, count_after, leading};
use super::report::{Report, Timer};
use serde::Serialize;
use std::collections::BTreeMap;

/// Source of the times of a log's reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimesFrom {
    /// The log prints them.
    #[default]
    Reports,
    /// Batch over DeepSpeed's samples per second, of single steps.
    SamplesPerSecond,
    /// Sums of DeepSpeed's timers of forward pass, backward pass and update.
    Timers,
    /// Tokens of a step over tokens per second and device, if the log has no clock.
    TokensPerSecond,
    /// Whole seconds of a progress bar between two reports.
    ProgressBar,
    /// One mean over the whole run, with its start, evaluation and checkpoints.
    WholeRun,
    /// No time: there are samples per second without a known batch, or no times at all.
    Nothing,
}

/// Maximum number of kept reports.
const MOST: usize = 1 << 22;

/// Content of DeepSpeed's lines, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DeepSpeed {
    /// Sequences of a step, as printed by the log.
    batch: Option<u64>,
    /// Reports of samples per second.
    rates: Vec<Report>,
    /// Reports with a sum of timers as their time.
    sums: Vec<Report>,
    /// Peak of the allocated bytes.
    pub(super) allocated: Option<f64>,
    /// Step of the last line with a number, and whether it is lower than the previous one.
    step: u64,
    began_again: bool,
    /// Updates skipped so far, and those already reported.
    skipped: u64,
    reported: u64,
    /// Timers of micro-steps since the last step.
    micro: BTreeMap<String, Timer>,
}

impl DeepSpeed {
    /// Reads a line, the `number`-th of the log.
    pub(super) fn line(&mut self, line: &str, number: u64, stamp: impl Fn(&str) -> Option<String>) {
        if line.contains("SamplesPerSec=") {
            self.rate(line, number, stamp(line));
        } else if line.contains("time (ms) |") {
            self.timers(line, number, stamp(line));
        } else if line.contains("skipped=") && line.contains("step=") && line.contains("lr=") {
            self.named(count_after(line, "step="));
            self.skipped = count_after(line, "skipped=").unwrap_or(self.skipped);
        } else if self.batch.is_none() {
            self.batch = batch(line);
        }
    }

    fn rate(&mut self, line: &str, number: u64, at: Option<String>) {
        // `epoch=0/micro_step=20/global_step=10, ...`, and before version 0.8 `0/10, ...`.
        let step = count_after(line, "global_step=").or_else(|| {
            let place = line.get(..line.find("SamplesPerSec=")?)?;
            count_after(place.get(place.rfind('/')?..)?, "/")
        });
        let Some(step) = step else { return };
        self.named(Some(step));
        if let Some(gigabytes) = after(line, "MaxMemAllocated=").filter(|gb| *gb >= 0.0) {
            let bytes = gigabytes * 1_073_741_824.0;
            self.allocated = Some(self.allocated.map_or(bytes, |most| most.max(bytes)));
        }
        let report = Report {
            iteration: step,
            line: number,
            at,
            seconds: f64::NAN,
            samples_per_second: after(line, "CurrSamplesPerSec=").filter(|rate| *rate > 0.0),
            skipped: self.newly_skipped(),
            ..Report::default()
        };
        if self.rates.len() < MOST {
            self.rates.push(report);
        }
    }

    fn named(&mut self, step: Option<u64>) {
        let Some(step) = step else { return };
        self.began_again |= step < self.step;
        self.step = step;
    }

    fn newly_skipped(&mut self) -> u64 {
        let new = self.skipped.saturating_sub(self.reported);
        self.reported = self.skipped;
        new
    }

    fn timers(&mut self, line: &str, number: u64, at: Option<String>) {
        // Other ranks may print theirs, too.
        if after(line, "[Rank ").is_some_and(|rank| rank != 0.0) {
            return;
        }
        let Some((_, rest)) = line.split_once("time (ms) |") else { return };
        let named: Vec<(&str, f64)> = rest
            .split('|')
            .filter_map(|part| {
                let (name, value) = part.split_once(':')?;
                Some((name.trim(), leading(value).filter(|ms| *ms >= 0.0)?))
            })
            .take(64)
            .collect();
        let get = |names: [&str; 2]| named.iter().find(|(name, _)| names.contains(name)).map(|(_, ms)| *ms);
        let whole = (get(["fwd", "forward"]), get(["bwd", "backward"]), get(["step"; 2]));
        let (Some(forward), Some(backward), Some(update)) = whole else {
            for (name, ms) in named {
                let sum = self.micro.entry(name.to_owned()).or_insert(Timer { min_ms: 0.0, max_ms: 0.0 });
                *sum = Timer { min_ms: sum.min_ms + ms, max_ms: sum.max_ms + ms };
            }
            return;
        };
        let mut timers = std::mem::take(&mut self.micro);
        // Timers that exist for the whole step, too, are redundant.
        timers.retain(|name, _| !name.ends_with("_microstep"));
        timers.extend(named.iter().map(|&(name, ms)| (name.to_owned(), Timer { min_ms: ms, max_ms: ms })));
        let seconds = (forward + backward + update) / 1e3;
        // The breakdown is printed for every step, its number only for some of them; a decreasing number is a
        // restart.
        let last = self.sums.last().map_or(0, |last| last.iteration);
        let iteration = if self.began_again { self.step.max(1) } else { (last + 1).max(self.step) };
        self.began_again = false;
        let report = Report { iteration, line: number, at, seconds, timers, ..Report::default() };
        if self.sums.len() < MOST && seconds > 0.0 && seconds < 1e6 {
            self.sums.push(report);
        }
    }

    /// Reports after reading the whole log, and the source of their times. `batch` is set by the user.
    pub(super) fn reports(&self, batch: Option<u64>) -> (Vec<Report>, TimesFrom) {
        let batch = batch.or(self.batch).filter(|batch| *batch > 0);
        if let Some(batch) = batch.filter(|_| self.rates.iter().any(|r| r.samples_per_second.is_some())) {
            let timed = self.rates.iter().map(|report| {
                let own = self.sums.iter().position(|sum| sum.line > report.line);
                let own =
                    own.and_then(|at| self.sums.get(at)).filter(|sum| sum.iteration == report.iteration);
                Report {
                    seconds: report.samples_per_second.map_or(f64::NAN, |rate| batch as f64 / rate),
                    batch: Some(batch),
                    timers: own.map(|sum| sum.timers.clone()).unwrap_or_default(),
                    ..report.clone()
                }
            });
            return (timed.collect(), TimesFrom::SamplesPerSecond);
        }
        if self.sums.is_empty() {
            return (self.rates.clone(), TimesFrom::Nothing);
        }
        let sums = self.sums.iter().map(|sum| Report { batch, ..sum.clone() });
        (sums.collect(), TimesFrom::Timers)
    }
}

/// Sequences of a step: from DeepSpeed's printed configuration (`  train_batch_size ............. 256`, or as
/// JSON), or from the Trainer of Hugging Face.
fn batch(line: &str) -> Option<u64> {
    let key = "train_batch_size";
    let rest = match line.find(key) {
        Some(at) => line[at + key.len()..].trim_start_matches(['"', '\'', ' ', '.', ':', '=']),
        None => line.split_once("Total train batch size")?.1.split_once('=')?.1,
    };
    let rest = rest.trim_start();
    rest.starts_with(|c: char| c.is_ascii_digit())
        .then(|| leading(rest))?
        .filter(|n| *n >= 1.0 && *n < 1e9)
        .map(|n| n as u64)
}

#[cfg(test)]
#[path = "deepspeed_tests.rs"]
mod tests;
