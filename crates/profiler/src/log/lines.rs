//! Report lines in order.
//!
//! Responsible for: turning lines into [`Report`]s with their timers, memory and straggler lines, for all
//! frameworks, and detecting restarts. A line costs one search for a few markers; only numbers are kept. Does
//! not analyse.

use super::deepspeed::{DeepSpeed, TimesFrom};
use super::frameworks::{self, MAXTEXT, NANOTRON, NEMO};
use super::numbers::{after, count_after, leading, median};
use super::planned::Planned;
use super::report::{Framework, Report, Timer};
use super::trainer::{self, Trainer};
use railwright_spec::Portable as _;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A line of Megatron's straggler detector: the fastest and slowest rank of one measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Straggler {
    /// Iteration of the previous report.
    pub iteration: Option<u64>,
    /// Name of the measure in the log (`Rtt`, `Pwr`, `Tmp`, `Etpt`, ...).
    pub measure: String,
    /// The lowest value and its rank.
    pub lowest: (f64, u32),
    /// The highest value and its rank.
    pub highest: (f64, u32),
}

/// Content of a training log.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingLog {
    /// Number of lines read.
    pub lines: u64,
    /// The reports in their order.
    pub reports: Vec<Report>,
    /// Lines of straggler detectors.
    pub stragglers: Vec<Straggler>,
    /// Peak allocated bytes, if logged.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B")))]
    pub allocated: Option<f64>,
    /// Peak of the reserved bytes.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B")))]
    pub reserved: Option<f64>,
    /// Text before the second report, for readers of printed arguments: at most 4 MiB.
    #[serde(skip)]
    pub head: String,
    /// Numbers of lines that look like reports but contain no valid time.
    pub unreadable: Vec<u64>,
    /// True if arguments were dumped after the last report: the next report begins a start.
    is_new: bool,
    /// True while the timers of the last report are being listed.
    timers: bool,
    #[serde(skip)]
    deepspeed: DeepSpeed,
    #[serde(skip)]
    trainer: Trainer,
    /// Evaluations and checkpoints.
    #[serde(skip)]
    pub(super) planned: Planned,
    /// Framework that wrote the reports.
    pub framework: Option<Framework>,
    times_from: TimesFrom,
    /// Excludes reports until their average is known.
    fresh: bool,
    start: u32,
}

/// Maximum number of kept bytes of the head.
const HEAD: usize = 4 << 20;
/// Maximum number of timers per report; more are noise.
const TIMERS: usize = 256;
/// Bytes per mebibyte, which logs print as MB.
const MEBIBYTE: f64 = 1_048_576.0;

impl TrainingLog {
    /// Reads a whole log.
    pub fn read(text: &str) -> Self {
        let mut log = Self { is_new: true, ..Self::default() };
        if trainer::is_state(text.as_bytes())
            && let Some((reports, times_from)) = trainer::of_state(text)
        {
            log.lines = text.lines().count() as u64;
            log.place(reports, times_from, Framework::Trainer);
            return log;
        }
        text.lines().for_each(|line| log.line(line));
        if log.reports.is_empty() {
            log.take(None);
        }
        let is_timed = log.reports.iter().any(|report| report.seconds.is_finite());
        if !is_timed && let Some((reports, times_from)) = log.trainer.reports() {
            // DeepSpeed's samples per second under a Trainer become times with a known batch, so they are
            // kept if the Trainer has no times.
            if log.reports.is_empty() || times_from != TimesFrom::Nothing {
                log.place(reports, times_from, Framework::Trainer);
            }
        }
        log
    }

    /// Replaces the reports by complete ones with their weights.
    fn place(&mut self, reports: Vec<Report>, times_from: TimesFrom, framework: Framework) {
        (self.reports, self.start, self.is_new, self.fresh) = (Vec::new(), 0, true, false);
        for report in reports {
            let weight = report.weight;
            let count = self.reports.len();
            self.add(Some(report));
            if let Some(last) = self.reports.last_mut().filter(|last| weight > 0 && last.weight != weight) {
                last.weight = weight;
            }
            if self.reports.len() > count {
                self.fresh = false;
            }
        }
        self.times_from = times_from;
        self.framework = Some(framework);
    }

    /// Uses the reports of DeepSpeed's engine if no framework around it has its own.
    fn take(&mut self, batch: Option<u64>) {
        let (reports, times_from) = self.deepspeed.reports(batch);
        if reports.is_empty() {
            return;
        }
        (self.reports, self.start, self.is_new, self.fresh) = (Vec::new(), 0, true, false);
        for report in reports {
            self.add(Some(report));
        }
        self.times_from = times_from;
        self.framework = Some(Framework::Deepspeed);
        raise(&mut self.allocated, self.deepspeed.allocated);
    }

    /// Sets a device's tokens per step, if the log has tokens per second and no clock: `seconds = tokens /
    /// (tokens per second)`.
    pub fn take_tokens(&mut self, per_device: f64) {
        for report in self.reports.iter_mut().filter(|report| !report.seconds.is_finite()) {
            let seconds = report.tokens_per_second.map(|rate| per_device / rate);
            if let Some(seconds) = seconds.filter(|s| *s > 0.0 && *s < 1e6) {
                report.seconds = seconds;
                self.times_from = TimesFrom::TokensPerSecond;
            }
        }
    }

    /// Sets the sequences per step, if times depend on it.
    pub fn take_batch(&mut self, batch: u64) {
        if self.framework == Some(Framework::Deepspeed) && self.times_from != TimesFrom::Reports {
            self.take(Some(batch));
        }
    }

    /// Source of the times in the reports.
    pub fn times_from(&self) -> TimesFrom {
        self.times_from
    }

    /// Maximum rounding error of a step time in the log, in seconds: a progress bar's whole seconds over the
    /// steps of a report, or half of the last digit.
    pub fn rounding(&self) -> f64 {
        let timed = self.reports.iter().filter(|report| report.seconds.is_finite());
        let half_of_third = |seconds: f64| 0.5 * 10_f64.portable_powf(seconds.portable_log10().floor() - 2.0);
        let each: Vec<f64> = match (self.times_from, self.framework) {
            (TimesFrom::ProgressBar, _) => timed.map(|report| 0.5 / report.weight.max(1) as f64).collect(),
            (TimesFrom::Reports, Some(Framework::Nanotron | Framework::Nemo)) => {
                timed.map(|report| half_of_third(report.seconds)).collect()
            }
            (TimesFrom::Reports, Some(Framework::Maxtext)) => return 0.000_5,
            _ => return 0.0,
        };
        median(&each).unwrap_or_default()
    }

    /// Reads one more line. Progress bars overwrite themselves: text between carriage returns is a line of
    /// its own.
    pub fn line(&mut self, line: &str) {
        self.lines += 1;
        if self.reports.len() < 2 && self.head.len() + line.len() < HEAD {
            self.head.push_str(line);
            self.head.push('\n');
        }
        for piece in line.split('\r') {
            self.piece(&plain(piece));
        }
    }

    fn piece(&mut self, line: &str) {
        if line.contains("- arguments -") && line.contains("-----------") {
            self.is_new = true;
        }
        if line.contains("memory (MB)") {
            raise(&mut self.allocated, after(line, "max allocated:").map(|mb| mb * MEBIBYTE));
            raise(&mut self.reserved, after(line, "max reserved:").map(|mb| mb * MEBIBYTE));
        }
        self.deepspeed.line(line, self.lines, stamp);
        self.trainer.line(line, self.lines);
        let begun = self.reports.len();
        if line.contains(MEGATRON) {
            for piece in pieces(line) {
                let report = megatron(piece);
                self.add(report.map(|r| Report { at: r.at.or_else(|| stamp(line)), ..r }));
            }
            self.written_by(Framework::Megatron, begun);
        } else if line.contains("steps: ") && line.contains("iter time (s):") {
            self.add(deepspeed(line));
            self.written_by(Framework::Deepspeed, begun);
        } else if line.contains(NANOTRON) {
            self.of_line(frameworks::nanotron(line), Framework::Nanotron, line);
        } else if line.contains(NEMO) {
            self.of_line(frameworks::nemo(line), Framework::Nemo, line);
        } else if line.contains(MAXTEXT) && line.contains("seconds:") {
            self.of_line(frameworks::maxtext(line), Framework::Maxtext, line);
        } else if line.contains("tps:") && line.contains("step:") {
            self.torchtitan(line);
            self.written_by(Framework::Torchtitan, begun);
        } else if line.contains("Rtt/Rnk") || line.contains("Etpt/Rnk") || line.contains("Pwr/Rnk") {
            self.straggler(line);
        } else {
            self.planned.line(line, self.lines);
            self.timer(line);
        }
        if self.reports.len() > begun {
            self.timers = false;
        }
    }

    /// Sets the framework if there are more reports than `begun`.
    fn written_by(&mut self, framework: Framework, begun: usize) {
        if self.reports.len() > begun {
            self.framework = self.framework.or(Some(framework));
        }
    }

    fn of_line(&mut self, report: Option<Report>, framework: Framework, line: &str) {
        let begun = self.reports.len();
        self.add(report.map(|report| Report { at: stamp(line), ..report }));
        self.written_by(framework, begun);
    }

    fn add(&mut self, report: Option<Report>) {
        let Some(mut report) = report else {
            if self.unreadable.len() < 100 {
                self.unreadable.push(self.lines);
            }
            return;
        };
        let before = self.reports.last().map(|last| last.iteration);
        if before == Some(report.iteration) && !self.is_new {
            // A copy of the same report by another rank.
            return;
        }
        if report.line == 0 {
            report.line = self.lines;
        }
        report.weight = 1;
        match before {
            Some(before) if report.iteration > before && !self.is_new => {
                report.weight = report.iteration - before;
                if self.fresh {
                    // The first report of a start averages over as many iterations as the second.
                    let weight = report.weight;
                    if let Some(first) = self.reports.last_mut() {
                        first.weight = weight.min(first.iteration.max(1));
                    }
                }
                self.fresh = false;
            }
            before => {
                self.start += u32::from(before.is_some());
                self.fresh = true;
            }
        }
        self.is_new = false;
        report.start = self.start;
        self.reports.push(report);
    }

    fn torchtitan(&mut self, line: &str) {
        let Some(iteration) = count_after(line, "step:") else { return };
        let memory = line.find("memory:").and_then(|at| {
            let text = &line[at + "memory:".len()..];
            Some(
                leading(text)?
                    * if text.trim_start().split('(').next()?.contains("GiB") {
                        1024.0 * MEBIBYTE
                    } else {
                        1.0
                    },
            )
        });
        raise(&mut self.reserved, memory);
        // The step time is not printed: only the wall clock between two lines is available.
        let stamp = stamp(line);
        let report = Report {
            iteration,
            at: stamp.clone(),
            seconds: f64::NAN,
            tflops: after(line, "tflops:").filter(|t| *t > 0.0),
            mfu: after(line, "mfu:").map(|percent| percent / 100.0),
            tokens_per_second: after(line, "tps:"),
            loss: after(line, "loss:"),
            gradient_norm: after(line, "grad_norm:"),
            learning_rate: after(line, "lr:"),
            ..Report::default()
        };
        let is_first = self.reports.is_empty() || self.is_new;
        self.add(Some(report));
        let [.., before, last] = &mut self.reports[..] else { return };
        if is_first || last.start != before.start {
            return;
        }
        let clock = |report: &Report| report.at.as_deref().and_then(seconds_of_day);
        if let (Some(a), Some(b)) = (clock(before), clock(last)) {
            let passed = (b - a).rem_euclid(86_400.0);
            last.seconds = passed / last.weight.max(1) as f64;
            // The step's own rate is finer than time stamps in whole seconds: it scales the coarse time once
            // the first rate is known.
            if before.seconds.is_nan() {
                before.seconds = last.seconds;
            }
        }
    }

    fn straggler(&mut self, line: &str) {
        let pairs = |prefix: &str| -> BTreeMap<String, (f64, u32)> {
            line.match_indices(prefix)
                .filter_map(|(at, _)| {
                    let rest = &line[at + prefix.len()..];
                    let (measure, rest) = rest.split_once("/Rnk")?;
                    let rest = rest.trim_start_matches([':', ' ']);
                    let value = leading(rest)?;
                    let rank = leading(rest.split_once('/')?.1)?;
                    measure
                        .chars()
                        .all(char::is_alphanumeric)
                        .then(|| (measure.to_owned(), (value, rank as u32)))
                })
                .collect()
        };
        let (low, high) = (pairs("Mn"), pairs("Mx"));
        let iteration = self.reports.last().map(|r| r.iteration);
        for (measure, lowest) in low {
            if let Some(&highest) = high.get(&measure) {
                self.stragglers.push(Straggler { iteration, measure, lowest, highest });
            }
        }
    }

    /// Timers: one line of many (`time (ms) | a: 1 | b: 2`), or a headline and one line each.
    fn timer(&mut self, line: &str) {
        let Some(report) = self.reports.last_mut() else { return };
        if let Some(rest) = line.split_once("time (ms) |").map(|(_, rest)| rest) {
            for part in rest.split('|') {
                let Some((name, value)) = part.split_once(':') else { continue };
                if let Some(ms) = leading(value).filter(|_| report.timers.len() < TIMERS) {
                    report.timers.insert(name.trim().to_owned(), Timer { min_ms: ms, max_ms: ms });
                }
            }
            return;
        }
        if line.contains("time across ranks (ms)") {
            self.timers = true;
            return;
        }
        if !self.timers {
            return;
        }
        // `    forward-backward ......: (1234.5, 1300.1)`
        let parsed = line.split_once("..").and_then(|(name, rest)| {
            let name = name.trim();
            let rest = rest.trim_start_matches('.').trim_start_matches([':', ' ']);
            let (low, high) = match rest.strip_prefix('(').and_then(|pair| pair.split_once(',')) {
                Some((low, high)) => (leading(low)?, leading(high)?),
                None => (leading(rest)?, leading(rest)?),
            };
            (!name.is_empty() && !name.contains(' ')).then_some((name, Timer { min_ms: low, max_ms: high }))
        });
        match parsed {
            Some((name, timer)) if report.timers.len() < TIMERS => {
                report.timers.insert(name.to_owned(), timer);
            }
            Some(_) => {}
            None => self.timers = false,
        }
    }
}

/// Marker of Megatron's reports.
const MEGATRON: &str = "elapsed time per iteration (ms):";

/// Parts of a line with one report each: lines of two ranks may be joined.
fn pieces(line: &str) -> Vec<&str> {
    let counts =
        |at: usize| line[at + "iteration ".len()..].trim_start().starts_with(|c: char| c.is_ascii_digit());
    let mut cuts: Vec<usize> =
        line.match_indices("iteration ").map(|(at, _)| at).filter(|&at| counts(at)).collect();
    if cuts.is_empty() {
        cuts.push(0);
    }
    let ends: Vec<usize> = cuts.iter().skip(1).copied().chain([line.len()]).collect();
    cuts.into_iter()
        .zip(ends)
        .map(|(from, to)| &line[from..to])
        .filter(|piece| piece.contains(MEGATRON))
        .collect()
}

fn sound(seconds: f64) -> bool {
    seconds > 0.0 && seconds < 1e6
}

fn megatron(piece: &str) -> Option<Report> {
    let seconds = after(piece, MEGATRON)? / 1000.0;
    let rate =
        ["throughput per GPU (TFLOP/s/GPU):", "TFLOPs:"].into_iter().find_map(|mark| after(piece, mark));
    let report = Report {
        iteration: count_after(piece, "iteration ")?,
        seconds,
        tflops: rate.filter(|rate| *rate > 0.0 && *rate < 1e5),
        batch: count_after(piece, "global batch size:").filter(|n| *n > 0),
        loss: after(piece, "lm loss:"),
        gradient_norm: after(piece, "grad norm:"),
        learning_rate: after(piece, "learning rate:"),
        skipped: count_after(piece, "number of skipped iterations:").unwrap_or_default(),
        not_a_number: count_after(piece, "number of nan iterations:").unwrap_or_default(),
        ..Report::default()
    };
    sound(seconds).then_some(report)
}

fn deepspeed(line: &str) -> Option<Report> {
    let seconds = after(line, "iter time (s):")?;
    let report = Report {
        iteration: count_after(line, "steps:")?,
        seconds,
        at: stamp(line),
        loss: after(line, "loss:"),
        ..Report::default()
    };
    sound(seconds).then_some(report)
}

/// Date and time near the start of a line, with or without brackets, after any prefix.
fn stamp(line: &str) -> Option<String> {
    let head: Vec<char> = line.chars().take(120).collect();
    let is_date = |from: usize| {
        "dddd-dd-dd".chars().enumerate().all(|(at, want)| {
            head.get(from + at).is_some_and(|&c| if want == 'd' { c.is_ascii_digit() } else { c == want })
        })
    };
    let from = (0..head.len()).find(|&at| is_date(at))?;
    let time = head[from..].iter().collect::<String>();
    let end = time.char_indices().skip(11).find(|(_, c)| !c.is_ascii_digit() && !":.,".contains(*c));
    let stamp = end.map_or(&time[..], |(at, _)| &time[..at]);
    stamp.contains(':').then(|| stamp.trim_end_matches([',', '.']).to_owned())
}

/// Seconds since midnight of `2026-01-02 03:04:05,678`.
fn seconds_of_day(stamp: &str) -> Option<f64> {
    let time = stamp.split([' ', 'T']).nth(1)?;
    let mut parts = time.split(':');
    let mut next = || parts.next();
    let (hours, minutes) = (next()?.parse::<f64>().ok()?, next()?.parse::<f64>().ok()?);
    let seconds = next()?.replace(',', ".").parse::<f64>().ok()?;
    // The parser accepts `nan` and `inf` as numbers.
    Some(hours * 3600.0 + minutes * 60.0 + seconds).filter(|time| (0.0..=1e6).contains(time))
}

/// Removes colour codes from a line.
fn plain(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        rest = code.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &code[end + 1..]);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn raise(most: &mut Option<f64>, found: Option<f64>) {
    if let Some(found) = found.filter(|f| f.is_finite() && *f >= 0.0) {
        *most = Some(most.map_or(found, |most| most.max(found)));
    }
}
