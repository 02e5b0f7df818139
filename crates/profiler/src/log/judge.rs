//! Analysis of a training log.
//!
//! Responsible for: the typical step, MFU over time, slow steps with their cost and period, jumps of the
//! level, drift, restarts and the repeated work. Uses medians: one checkpoint must not change the result.
//! Reports that average over several iterations are weighted with their number, and a slow step within one
//! shows only as its share.

use super::deepspeed::TimesFrom;
use super::lines::TrainingLog;
use super::numbers::median;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// Run settings that are not in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// Model FLOP of one sequence, over all devices.
    pub flop_per_sequence: Option<f64>,
    /// Number of devices.
    pub devices: Option<f64>,
    /// Peak FLOP/s of one device.
    pub peak: Option<f64>,
}

impl Known {
    /// Model TFLOP/s of one device for a step of `batch` sequences in `seconds`: `flop_per_sequence · batch /
    /// seconds / devices`.
    pub(super) fn tflops(&self, batch: Option<u64>, seconds: f64) -> Option<f64> {
        let devices = self.devices.filter(|devices| *devices > 0.0)?;
        Some(self.flop_per_sequence? * batch? as f64 / seconds / devices / 1e12)
    }
}

/// A slow report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowStep {
    /// The iteration of the report.
    pub iteration: u64,
    /// The line in the log.
    pub line: u64,
    /// Seconds per iteration.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub seconds: f64,
    /// Seconds lost beyond the typical step, over all iterations of the report.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub lost: f64,
}

/// Periodic slow steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pause {
    /// Iterations between two of them.
    pub period: u64,
    /// Number of entries.
    pub count: u64,
    /// Median cost of one, in seconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub lost: f64,
    /// True if the log has an evaluation in most of them, and hardly any elsewhere.
    pub evaluation: bool,
    /// The same for checkpoints.
    pub checkpoint: bool,
}

impl Pause {
    /// The pause in words, with its causes if the log has them.
    pub fn words(&self) -> String {
        let lost = human::seconds(Seconds::new(self.lost));
        let causes = match self.causes() {
            "" => String::new(),
            causes => format!(": {causes}"),
        };
        format!("{lost} lost every {} iterations ({} times){causes}", self.period, self.count)
    }

    /// Its causes, for a sentence; empty if unknown.
    pub const fn causes(&self) -> &'static str {
        match (self.evaluation, self.checkpoint) {
            (true, true) => "evaluation and checkpoint",
            (true, false) => "evaluation",
            (false, true) => "checkpoint",
            (false, false) => "",
        }
    }
}

/// A range of iterations at one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Segment {
    /// The first iteration.
    pub from: u64,
    /// The last iteration.
    pub to: u64,
    /// Seconds of a typical iteration.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub seconds: f64,
    /// Sequences per step, if logged.
    pub batch: Option<u64>,
    /// MFU (0 to 1); `None` if unknown.
    pub mfu: Option<f64>,
    /// Model TFLOP/s of one device; `None` if unknown.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "TFLOP/s")))]
    pub tflops: Option<f64>,
}

/// A restart of the run within the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Restart {
    /// The line of its first report.
    pub line: u64,
    /// The last iteration before it.
    pub before: u64,
    /// Its first iteration.
    pub from: u64,
    /// Number of repeated iterations.
    pub repeated: u64,
    /// Time of these iterations before the restart, in seconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub lost: f64,
}

/// Log summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Number of reports.
    pub reports: u64,
    /// Number of iterations that they cover.
    pub iterations: u64,
    /// Number of starts.
    pub starts: u32,
    /// Number of excluded warm-up iterations.
    pub warm_up: u64,
    /// Typical step time at the last batch size, in seconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub step_time: f64,
    /// Half of the interquartile range of the steps, relative to the typical one.
    pub noise: f64,
    /// Ranges of iterations at one level.
    pub segments: Vec<Segment>,
    /// Relative change of the step time over the last segment, by a robust line; `None` with too few
    /// reports.
    pub drift: Option<f64>,
    /// Slow steps, the largest cost first.
    pub slow: Vec<SlowStep>,
    /// Cost of all slow steps as a share of the whole time (0 to 1).
    pub slow_share: f64,
    /// A period of the slow steps, if any.
    pub pause: Option<Pause>,
    /// New starts.
    pub restarts: Vec<Restart>,
    /// Number of iterations with a skipped update.
    pub skipped: u64,
    /// Number of iterations whose loss is not a number.
    pub not_a_number: u64,
    /// Step time by the log's own timers: name, median of the slowest rank and median of the fastest rank,
    /// in seconds.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub timers: Vec<(String, f64, f64)>,
    /// Peak of the reserved bytes.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B")))]
    pub reserved: Option<f64>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Threshold of a slow step above the typical one, in multiples of the noise; at least 5%.
const NOISES: f64 = 6.0;
/// Minimum relative difference between two levels.
const JUMP: f64 = 0.03;
/// Minimum number of reports of a level.
const SHORTEST: usize = 8;

struct Row {
    at: usize,
    seconds: f64,
    weight: f64,
    iteration: u64,
    batch: Option<u64>,
}

/// Analyses a log; `None` if it contains no iteration time.
pub fn judge(log: &TrainingLog, known: &Known) -> Option<Judged> {
    let timed: Vec<usize> =
        (0..log.reports.len()).filter(|&at| log.reports[at].seconds.is_finite()).collect();
    let starts = log.reports.last()?.start + 1;
    let warm_up = (timed.len() / starts as usize / 10).clamp(1, 5);
    let mut since = 0;
    let mut previous = None;
    let mut rows: Vec<Row> = Vec::new();
    let mut left_out = 0;
    for &at in &timed {
        let report = &log.reports[at];
        since = if previous == Some(report.start) { since + 1 } else { 0 };
        previous = Some(report.start);
        if since < warm_up && timed.len() > warm_up * starts as usize {
            left_out += report.weight;
            continue;
        }
        rows.push(Row {
            at,
            seconds: report.seconds,
            // A rate belongs to one step; the others are unknown.
            weight: if log.times_from() == TimesFrom::SamplesPerSecond {
                1.0
            } else {
                report.weight.max(1) as f64
            },
            iteration: report.iteration,
            batch: report.batch,
        });
    }
    let segments = segments(&rows);
    let last = segments.last()?.clone();
    let level = |range: &std::ops::Range<usize>| {
        median(&rows[range.clone()].iter().map(|r| r.seconds).collect::<Vec<_>>()).unwrap_or_default()
    };
    let step_time = level(&last);
    let mut away: Vec<f64> = Vec::new();
    for range in &segments {
        let level = level(range);
        away.extend(rows[range.clone()].iter().map(|r| (r.seconds - level).abs() / level));
    }
    // Noise below the rounding of the log cannot be observed.
    let noise = median(&away).unwrap_or_default().max(log.rounding() / step_time.max(f64::MIN_POSITIVE));
    let rounding = log.rounding();
    let mut slow = Vec::new();
    for range in &segments {
        let level = level(range);
        for row in &rows[range.clone()] {
            // An average over n iterations shows a slow one only as an n-th.
            let limit = (NOISES * noise).max(0.05 / row.weight.sqrt());
            let limit = limit.max(2.0 * rounding / level);
            if row.seconds > level * (1.0 + limit) {
                slow.push(SlowStep {
                    iteration: row.iteration,
                    line: log.reports[row.at].line,
                    seconds: row.seconds,
                    lost: (row.seconds - level) * row.weight,
                });
            }
        }
    }
    let lines: Vec<u64> = rows.iter().map(|row| log.reports[row.at].line).collect();
    let [evaluation, checkpoint] = log.planned.explain(slow.iter().map(|step| step.line).collect(), &lines);
    let pause = period(&slow).map(|pause| Pause { evaluation, checkpoint, ..pause });
    let whole: f64 = rows.iter().map(|r| r.seconds * r.weight).sum();
    let slow_share =
        slow.iter().map(|s| s.lost).fold(0.0, |all, lost| all + lost) / whole.max(f64::MIN_POSITIVE);
    slow.sort_by(|a, b| b.lost.total_cmp(&a.lost).then(a.iteration.cmp(&b.iteration)));
    let mut described: Vec<Segment> =
        segments.iter().map(|range| describe(log, &rows, range, level(range), known)).collect();
    let mut warnings = Vec::new();
    let highest = described.iter().filter_map(|segment| segment.mfu).fold(0.0, f64::max);
    if highest > 1.0 {
        for segment in &mut described {
            segment.mfu = segment.mfu.filter(|mfu| *mfu <= 1.0);
        }
        let message = format!(
            "the log has {highest:.2} times the peak FLOP/s: another accelerator or run, or the FLOP/s of all devices; there is no MFU"
        );
        warnings.push(Warning::new("flop-exceed-compute", message));
    } else if described.iter().all(|s| s.mfu.is_none()) {
        let message = if known.peak.is_none() {
            "MFU is unknown; set `--accelerator`"
        } else {
            "MFU is unknown, because the log contains no throughput"
        };
        warnings.push(Warning::new("trace-unknown-mfu", message));
    }
    if !log.unreadable.is_empty() {
        let message = format!(
            "{} report lines have no valid time, the first is line {}",
            log.unreadable.len(),
            log.unreadable[0]
        );
        warnings.push(Warning::new("trace-damaged", message));
    }
    Some(Judged {
        reports: log.reports.len() as u64,
        iterations: log.reports.iter().map(|r| r.weight).sum(),
        starts,
        warm_up: left_out,
        step_time,
        noise,
        drift: drift(&rows[last]),
        segments: described,
        slow,
        slow_share,
        pause,
        restarts: restarts(log),
        skipped: log.reports.iter().map(|r| r.skipped).sum(),
        not_a_number: log.reports.iter().map(|r| r.not_a_number).sum(),
        timers: timers(log, &rows),
        reserved: log.reserved,
        warnings,
    })
}

/// Splits at changes of the batch and at jumps of the level. A range is split where the medians of both sides
/// differ most. The difference must exceed [`JUMP`] and the noise of the range.
fn segments(rows: &[Row]) -> Vec<std::ops::Range<usize>> {
    let mut cuts = vec![0];
    cuts.extend((1..rows.len()).filter(|&at| rows[at].batch != rows[at - 1].batch));
    cuts.push(rows.len());
    let mut found = Vec::new();
    for pair in cuts.windows(2) {
        split(rows, pair[0]..pair[1], &mut found);
    }
    found.retain(|range: &std::ops::Range<usize>| !range.is_empty());
    found
}

fn split(rows: &[Row], range: std::ops::Range<usize>, found: &mut Vec<std::ops::Range<usize>>) {
    let seconds: Vec<f64> = rows[range.clone()].iter().map(|r| r.seconds).collect();
    let best = best_cut(&seconds);
    match best {
        Some(cut) => {
            split(rows, range.start..range.start + cut, found);
            split(rows, range.start + cut..range.end, found);
        }
        None => found.push(range),
    }
}

/// Position at which the absolute deviations from the medians of both sides are least; `None` unless both
/// levels differ enough.
fn best_cut(seconds: &[f64]) -> Option<usize> {
    if seconds.len() < 2 * SHORTEST {
        return None;
    }
    // Signs relative to the median: the largest excursion of their random walk is at a change of level.
    // Outliers count once.
    let middle = median(seconds)?;
    let mut walk = 0.0;
    let (mut best, mut stray) = (0, 0.0);
    for (at, &value) in seconds.iter().enumerate() {
        walk += if value > middle {
            1.0
        } else if value < middle {
            -1.0
        } else {
            0.0
        };
        let cut = at + 1;
        if cut >= SHORTEST && seconds.len() - cut >= SHORTEST && f64::abs(walk) > stray {
            (best, stray) = (cut, f64::abs(walk));
        }
    }
    // Without a change, the walk exceeds 1.63 roots in one of a hundred cases (Kolmogorov's distribution).
    if stray < 1.63 * (seconds.len() as f64).sqrt() {
        return None;
    }
    let (a, b) = (median(&seconds[..best])?, median(&seconds[best..])?);
    let spread = |values: &[f64], level: f64| {
        median(&values.iter().map(|v| (v - level).abs()).collect::<Vec<_>>()).unwrap_or_default()
    };
    let noise = spread(&seconds[..best], a).max(spread(&seconds[best..], b));
    ((a - b).abs() > (JUMP * a.min(b)).max(2.0 * noise)).then_some(best)
}

/// Change over a range relative to its level, by the median of slopes (Theil-Sen) between its first and last
/// thirds.
fn drift(rows: &[Row]) -> Option<f64> {
    if rows.len() < 3 * SHORTEST {
        return None;
    }
    let third = rows.len() / 3;
    let step = (third / 100).max(1);
    let (first, last) = (&rows[..third], &rows[rows.len() - third..]);
    let mut slopes = Vec::new();
    for a in first.iter().step_by(step) {
        for b in last.iter().step_by(step) {
            let apart = b.iteration.saturating_sub(a.iteration) as f64;
            if apart > 0.0 {
                slopes.push((b.seconds - a.seconds) / apart);
            }
        }
    }
    let level = median(&rows.iter().map(|r| r.seconds).collect::<Vec<_>>())?;
    let span = rows.last()?.iteration.saturating_sub(rows.first()?.iteration) as f64;
    Some(median(&slopes)? * span / level)
}

/// Period of slow steps: the most frequent distance between two of them.
fn period(slow: &[SlowStep]) -> Option<Pause> {
    if slow.len() < 4 {
        return None;
    }
    let gaps: Vec<f64> =
        slow.windows(2).map(|pair| pair[1].iteration.saturating_sub(pair[0].iteration) as f64).collect();
    let period = median(&gaps)?;
    // After a missing one, the gap is a multiple of the period.
    let fits = |gap: &&f64| {
        let turns = (*gap / period).round();
        turns >= 1.0 && (*gap - turns * period).abs() <= (0.1 * period).min(1.0)
    };
    let fitting = gaps.iter().filter(fits).count();
    (period > 1.0 && fitting * 4 >= gaps.len() * 3).then(|| Pause {
        period: period.round() as u64,
        count: slow.len() as u64,
        lost: median(&slow.iter().map(|s| s.lost).collect::<Vec<_>>()).unwrap_or_default(),
        evaluation: false,
        checkpoint: false,
    })
}

fn describe(
    log: &TrainingLog,
    rows: &[Row],
    range: &std::ops::Range<usize>,
    seconds: f64,
    known: &Known,
) -> Segment {
    let of = |value: &dyn Fn(&super::Report) -> Option<f64>| {
        median(&rows[range.clone()].iter().filter_map(|r| value(&log.reports[r.at])).collect::<Vec<_>>())
    };
    let batch = rows[range.start].batch;
    let tflops = of(&|report| report.tflops).or_else(|| known.tflops(batch, seconds));
    let mfu = of(&|report| report.mfu).or_else(|| Some(tflops? * 1e12 / known.peak?));
    let iterations = &rows[range.clone()];
    Segment {
        from: iterations.first().map_or(0, |r| r.iteration),
        to: iterations.last().map_or(0, |r| r.iteration),
        seconds,
        batch,
        mfu,
        tflops,
    }
}

fn restarts(log: &TrainingLog) -> Vec<Restart> {
    let mut found = Vec::new();
    for (at, pair) in log.reports.windows(2).enumerate() {
        let (before, after) = (&pair[0], &pair[1]);
        if before.start == after.start {
            continue;
        }
        // Its first report covers `weight` iterations; the run resumed at the first of them.
        let from = (after.iteration + 1).saturating_sub(after.weight);
        let again =
            log.reports[..=at].iter().rev().take_while(|r| r.start == before.start && r.iteration >= from);
        let (mut repeated, mut lost) = (0, 0.0);
        for report in again {
            let twice = report.weight.min(report.iteration + 1 - from);
            repeated += twice;
            lost += twice as f64 * if report.seconds.is_finite() { report.seconds } else { 0.0 };
        }
        found.push(Restart { line: after.line, before: before.iteration, from, repeated, lost });
    }
    found
}

fn timers(log: &TrainingLog, rows: &[Row]) -> Vec<(String, f64, f64)> {
    let mut all: std::collections::BTreeMap<&str, (Vec<f64>, Vec<f64>)> = std::collections::BTreeMap::new();
    for row in rows {
        for (name, timer) in &log.reports[row.at].timers {
            let (high, low) = all.entry(name).or_default();
            high.push(timer.max_ms / 1e3);
            low.push(timer.min_ms / 1e3);
        }
    }
    let mut timers: Vec<_> = all
        .into_iter()
        .filter_map(|(name, (high, low))| Some((name.to_owned(), median(&high)?, median(&low)?)))
        .collect();
    timers.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    timers
}

#[cfg(test)]
mod tests;
