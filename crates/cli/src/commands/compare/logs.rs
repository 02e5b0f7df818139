//! A training log compared with the prediction of its run, or with another log.
//!
//! Responsible for: the step of each side with its uncertainty, the change between them, and its significance. Does not explain a change: a
//! log has no breakdown of the step time.

use super::kind::Kind;
use super::{modelled, verdict_of, verdicts};
use crate::args;
use crate::commands::{claims, profiled, steps};
use crate::exit::{Failure, Outcome};
use crate::input::remote::without_query;
use crate::printer::document::{Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use crate::run::{Resolved, launch};
use railwright_calculator::estimate::estimate_run;
use railwright_profiler::compare::{Condition, Difference, Verdict};
use railwright_profiler::log::{Framework, TimesFrom};
use railwright_profiler::noise::{self, Shift};
use railwright_spec::human;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::Seconds;
use railwright_spec::run::{Run, Section as _};
use serde::Serialize;

/// One side.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
enum Side {
    /// Steps of a log.
    Measured {
        file: String,
        framework: Option<Framework>,
        times_from: TimesFrom,
        /// Sequences per step; `None` if the log has no batch.
        batch: Option<u64>,
        /// Reports after warm-up.
        reports: usize,
        /// Seconds of the median step.
        #[cfg_attr(test, schemars(extend("x-unit" = "s")))]
        step_time: f64,
        /// Bounds of the median at 95% confidence, rounding of the log included; `None` for too few reports.
        #[cfg_attr(test, schemars(extend("x-unit" = "s")))]
        interval: Option<(f64, f64)>,
        /// Range of the middle 80% of the reports.
        #[cfg_attr(test, schemars(extend("x-unit" = "s")))]
        spread: (f64, f64),
        #[serde(skip)]
        seconds: Vec<f64>,
        #[serde(skip)]
        rounding: f64,
    },
    /// A prediction.
    Predicted {
        file: String,
        #[cfg_attr(test, schemars(extend("x-unit" = "s")))]
        step_time: f64,
        /// Bounds of an expected measurement, and their coverage of runs (0 to 1).
        #[cfg_attr(test, schemars(extend("x-unit" = "s")))]
        interval: (f64, f64),
        coverage: f64,
    },
}

impl Side {
    fn step_time(&self) -> f64 {
        match self {
            Self::Measured { step_time, .. } | Self::Predicted { step_time, .. } => *step_time,
        }
    }

    /// Step time with its interval, if known.
    fn bounds(&self) -> (f64, f64) {
        match self {
            Self::Measured { step_time, interval, rounding, .. } => {
                interval.unwrap_or((step_time - rounding, step_time + rounding))
            }
            Self::Predicted { interval, .. } => *interval,
        }
    }

    fn file(&self) -> &str {
        match self {
            Self::Measured { file, .. } | Self::Predicted { file, .. } => file,
        }
    }
}

/// Two sides and the change between them.
pub(crate) struct Logged {
    sides: [Side; 2],
    /// The shift of two logs.
    shift: Option<Shift>,
    /// The change from A to B as a share of A, with its bounds. For two logs, the shift of their steps.
    change: (f64, Option<(f64, f64)>),
    verdicts: Vec<Verdict>,
    warnings: Vec<Warning>,
}

/// Compares two sides, at least one of them a log. Without a second side the log's own run is predicted.
pub(super) fn run(
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

/// The steps of a log, and a warning if the log prints other settings than its run has.
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

impl Logged {
    fn of(sides: [Side; 2], conditions: &[Condition], warnings: Vec<Warning>) -> Result<Self, Problem> {
        let [first, second] = &sides;
        let shift = match (first, second) {
            (
                Side::Measured { seconds: a, rounding: by_a, .. },
                Side::Measured { seconds: b, rounding: by_b, .. },
            ) => noise::shift(a, b).map(|shift| shift.widened(by_a + by_b)),
            _ => None,
        };
        let change = if let Some(shift) = &shift {
            let median = shift.first.median;
            (shift.relative(), shift.interval.map(|(low, high)| (low / median, high / median)))
        } else {
            let ((a_low, a_high), (b_low, b_high)) = (first.bounds(), second.bounds());
            let interval = (b_low / a_high - 1.0, b_high / a_low - 1.0);
            (second.step_time() / first.step_time() - 1.0, Some(interval))
        };
        let figure = Difference::new("step_time", first.step_time() * 1e9, second.step_time() * 1e9);
        let mut answer = Self { shift, change, verdicts: Vec::new(), warnings, sides };
        let significant = answer.significant();
        let verdict = |condition: &Condition| {
            Ok(condition.check_figures(std::slice::from_ref(&figure))?.held_against(significant))
        };
        answer.verdicts = conditions.iter().map(verdict).collect::<Result<Vec<_>, Problem>>()?;
        Ok(answer)
    }

    /// True if the interval of the change excludes zero; `None` if unknown.
    fn significant(&self) -> Option<bool> {
        self.change.1.map(|(low, high)| low > 0.0 || high < 0.0)
    }

    /// The change in words.
    fn verdict_of(&self) -> (String, Tone) {
        if let Some(shift) = &self.shift {
            return verdict_of(shift);
        }
        let percent = |share: f64| format!("{:+.1}%", share * 100.0);
        let Some((low, high)) = self.change.1 else { return Default::default() };
        let is_unknown = |side: &Side| matches!(side, Side::Measured { interval: None, .. });
        let of = if self.sides.iter().any(is_unknown) {
            "; the log has too few steps to estimate its noise"
        } else {
            ", including the noise of the log"
        };
        let interval = format!("difference {} to {}{of}", percent(low), percent(high));
        if self.significant() == Some(true) {
            (format!("outside the 90% interval of the prediction: {interval}"), Tone::Doubtful)
        } else {
            (format!("within the 90% interval of the prediction: {interval}"), Tone::Plain)
        }
    }
}

/// A side in the table.
fn row(name: &str, side: &Side) -> Vec<Cell> {
    let seconds = |time: f64| human::seconds(Seconds::new(time));
    let between = |(low, high): (f64, f64)| format!("{} to {}", seconds(low), seconds(high));
    let (what, interval, spread, reports) = match side {
        Side::Measured { interval, spread, reports, framework, .. } => (
            format!("measured, {}", framework.map_or("a log", Framework::name)),
            interval
                .map_or_else(|| "unknown".to_owned(), |bounds| format!("{} (median, 95%)", between(bounds))),
            between(*spread),
            Cell::whole(*reports as u64),
        ),
        Side::Predicted { interval, coverage, .. } => (
            "predicted".to_owned(),
            format!("{} ({} of runs)", between(*interval), human::percent(*coverage)),
            String::new(),
            Cell::default(),
        ),
    };
    vec![
        name.into(),
        what.into(),
        Cell::new(seconds(side.step_time()), Tone::Strong),
        interval.into(),
        spread.into(),
        reports,
    ]
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LoggedFields<'a> {
    titles: [&'a str; 2],
    sides: &'a [Side; 2],
    /// Relative change of the step time.
    change: f64,
    /// Its interval.
    interval: Option<(f64, f64)>,
    /// True if the change is larger than the noise; `None` if unknown.
    significant: Option<bool>,
    #[serde(rename = "shift_s")]
    shift: Option<&'a Shift>,
    verdicts: &'a [Verdict],
    warnings: &'a [Warning],
}

impl Answer for Logged {
    const KIND: &'static str = "compare";

    type Json<'a> = LoggedFields<'a>;

    fn json(&self) -> LoggedFields<'_> {
        let [first, second] = &self.sides;
        LoggedFields {
            titles: [first.file(), second.file()],
            sides: &self.sides,
            change: self.change.0,
            interval: self.change.1,
            significant: self.significant(),
            shift: self.shift.as_ref(),
            verdicts: &self.verdicts,
            warnings: &self.warnings,
        }
    }

    fn document(&self, _: Terminal) -> Document {
        let [first, second] = &self.sides;
        let mut document = Document::default();
        document.pairs(vec![("A", Cell::from(first.file())), ("B", Cell::from(second.file()))]);
        let seconds = |side: &Side| human::seconds(Seconds::new(side.step_time()));
        document.spans(vec![
            Cell::new(format!("step time {} (was {})", seconds(second), seconds(first)), Tone::Strong),
            format!(": {:+.1}%", self.change.0 * 100.0).into(),
        ]);
        let (words, tone) = self.verdict_of();
        document.paragraph(Cell::new(words, tone));
        verdicts(&mut document, &self.verdicts);
        document.heading("steps");
        let columns = vec![
            Column::words(""),
            Column::words("side"),
            Column::numbers("step time"),
            Column::words("interval"),
            Column::words("middle 80% of reports").expendable(1),
            Column::numbers("reports").expendable(2),
        ];
        let rows = vec![row("A", first), row("B", second)];
        document.table(Table { columns, rows });
        for side in &self.sides {
            if let Side::Measured { file, times_from: TimesFrom::WholeRun, .. } = side {
                let message = format!(
                    "{file}: the only time is the mean of the whole run, including its start, evaluation and \
                     checkpoints; the spread is unknown"
                );
                document.paragraph(Cell::new(message, Tone::Doubtful));
            }
        }
        document
    }
}
