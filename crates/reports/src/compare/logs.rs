//! A training log compared with the prediction of its run, or with another log.
//!
//! Responsible for: the step of each side with its uncertainty, the change between them, and its
//! significance. Does not explain a change: a log has no breakdown of the step time.

use crate::compare::{verdict_of, verdicts};
use railwright_profiler::compare::{Condition, Difference, Verdict};
use railwright_profiler::log::{Framework, TimesFrom};
use railwright_profiler::noise::{self, Shift};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// One side.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Side {
    /// Steps of a log.
    Measured {
        /// Path.
        file: String,
        /// Framework of the log.
        framework: Option<Framework>,
        /// Source of the step times.
        times_from: TimesFrom,
        /// Sequences per step; `None` if the log has no batch.
        batch: Option<u64>,
        /// Reports after warm-up.
        reports: usize,
        /// Median step time in seconds.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
        step_time: f64,
        /// Bounds of the median at 95% confidence, rounding of the log included; `None` for too few reports.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
        interval: Option<(f64, f64)>,
        /// Range of the middle 80% of the reports.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
        spread: (f64, f64),
        /// Step times in seconds.
        #[serde(skip)]
        seconds: Vec<f64>,
        /// Rounding of the step times in seconds.
        #[serde(skip)]
        rounding: f64,
    },
    /// A prediction.
    Predicted {
        /// Path.
        file: String,
        /// Predicted step time in seconds.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
        step_time: f64,
        /// Bounds of an expected measurement, and their coverage of runs (0 to 1).
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
        interval: (f64, f64),
        /// Probability of the interval.
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
pub struct Logged {
    sides: [Side; 2],
    /// The shift of two logs.
    shift: Option<Shift>,
    /// The change from A to B as a share of A, with its bounds. For two logs, the shift of their steps.
    change: (f64, Option<(f64, f64)>),
    /// Exceeded limits.
    pub verdicts: Vec<Verdict>,
    warnings: Vec<Warning>,
}

impl Logged {
    /// Compares two sides.
    pub fn of(sides: [Side; 2], conditions: &[Condition], warnings: Vec<Warning>) -> Result<Self, Problem> {
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
            Ok(condition.check_figures(std::slice::from_ref(&figure))?.with_significance(significant))
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

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoggedFields<'a> {
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
        let seconds = |side: &Side| human::seconds(Seconds::new(side.step_time()));
        document.spans(vec![
            Cell::new(format!("step time {} (A), {} (B)", seconds(first), seconds(second)), Tone::Strong),
            format!(": {:+.1}%", self.change.0 * 100.0).into(),
        ]);
        document.pairs(vec![("A", Cell::from(first.file())), ("B", Cell::from(second.file()))]);
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
