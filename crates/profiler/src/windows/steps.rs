//! The steps of a job, as values.

use railwright_spec::human;
use railwright_spec::problem::{Problem, Warning};
use serde::Serialize;
use std::str::FromStr;

/// Source of step boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CutBy {
    /// The annotated steps of an inference server.
    InferenceSteps,
    /// First device work launched within a host `ProfilerStep`.
    Launches,
    /// The device's copy of `ProfilerStep`.
    DeviceAnnotations,
    /// `ProfilerStep` of the host.
    HostAnnotations,
    /// Runs of a compiled program (XLA).
    Modules,
    /// The end of the optimizer's device work.
    Optimizer,
    /// Repetition of device activity.
    Repetition,
    /// A collective of all ranks that recurs at equal distances.
    Collectives,
    /// Nothing: the whole recording is one window.
    Nothing,
}

/// Name of the only window if no steps were found.
pub const WHOLE: &str = "the whole recording";

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepWindow {
    /// Number in the recorder's numbering; `None` for steps without annotations.
    pub number: Option<u64>,
    /// Start time.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// End time.
    #[serde(rename = "end_ns")]
    pub end: i64,
    /// Ranks that were not recorded in it, by their index in the job, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<usize>,
}

impl StepWindow {
    /// Duration in nanoseconds.
    pub fn duration(&self) -> i64 {
        self.end - self.start
    }

    /// Tests whether a rank was recorded in it, by its index in the job.
    pub fn holds(&self, member: usize) -> bool {
        self.without.binary_search(&member).is_err()
    }
}

/// Consecutive steps by number, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRange {
    /// Number of the first step; `None` for the first recorded one.
    pub first: Option<u64>,
    /// Number of the last step; `None` for the last recorded one.
    pub last: Option<u64>,
}

impl StepRange {
    fn contains(&self, step: u64) -> bool {
        self.first.is_none_or(|first| first <= step) && self.last.is_none_or(|last| step <= last)
    }
}

impl FromStr for StepRange {
    type Err = Problem;

    /// Reads `10..12`, `10..` or `..12`.
    fn from_str(text: &str) -> Result<Self, Problem> {
        let end = |end: &str| if end.is_empty() { Ok(None) } else { end.parse().map(Some) };
        let parts = text.split_once("..").map(|(first, last)| (end(first.trim()), end(last.trim())));
        match parts {
            Some((Ok(first), Ok(last)))
                if first.is_none_or(|first| last.is_none_or(|last| first <= last)) =>
            {
                Ok(Self { first, last })
            }
            _ => Err(Problem::new(format!("`{text}` is not a range of steps"))
                .in_file("--steps")
                .hint("use the numbers of the first and the last step, as in `10..12`, `10..` or `..12`")),
        }
    }
}

impl std::fmt::Display for StepRange {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = |end: Option<u64>| end.map_or_else(String::new, |step| step.to_string());
        write!(out, "{}..{}", end(self.first), end(self.last))
    }
}

/// The steps of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Windows {
    /// Method by which they were cut.
    pub cut_by: CutBy,
    /// From the last rank's first activity to the first rank's last one: the time in which all ranks were
    /// recorded.
    pub common: (i64, i64),
    /// Consecutive steps that most ranks recorded; empty only if nothing was recorded.
    pub steps: Vec<StepWindow>,
    /// Leading steps excluded as warm-up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warm_up: Vec<StepWindow>,
    /// True if they begin at the end of a collective of all ranks, because the ranks' own moments were too
    /// far apart.
    pub at_collective: bool,
    /// Largest difference between step starts of ranks, after alignment, in nanoseconds.
    #[serde(rename = "spread_ns")]
    pub spread: i64,
    /// Part of the last step after the end of the recording, in nanoseconds, so that its duration is that of
    /// the whole step.
    #[serde(rename = "added_ns")]
    pub added: i64,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl Windows {
    /// From the start of the first step to the end of the last.
    pub fn span(&self) -> (i64, i64) {
        let start = self.steps.first().map_or(self.common.0, |step| step.start);
        (start, self.steps.last().map_or(start, |step| step.end))
    }

    /// The windows with a single step; `None` if there is no step with this number (or, without numbers, with
    /// this index).
    pub fn only(&self, step: u64) -> Option<Self> {
        let by_number = self.steps.iter().find(|window| window.number == Some(step));
        let by_place = || {
            let numbered = self.steps.iter().any(|window| window.number.is_some());
            if numbered { None } else { self.steps.get(step as usize) }
        };
        let window = by_number.or_else(by_place)?;
        let added = if Some(window) == self.steps.last() { self.added } else { 0 };
        Some(Self { steps: vec![window.clone()], added, ..self.clone() })
    }

    /// The windows with the steps of a range. Steps without numbers get their index as number, so that they
    /// are named as among all steps.
    ///
    /// # Errors
    ///
    /// If the range contains no step.
    pub fn within(&self, range: StepRange) -> Result<Self, Problem> {
        let numbered = self.steps.iter().any(|window| window.number.is_some());
        let steps: Vec<StepWindow> = (self.steps.iter().enumerate())
            .map(|(at, window)| match window.number {
                None if !numbered => StepWindow { number: Some(at as u64), ..window.clone() },
                _ => window.clone(),
            })
            .filter(|window| window.number.is_some_and(|number| range.contains(number)))
            .collect();
        if steps.is_empty() {
            let problem = Problem::new(format!("there are no steps {range}")).in_file("--steps");
            return Err(problem.hint(self.known()));
        }
        let end = |all: &[StepWindow]| all.last().map(|window| window.end);
        let added = if end(&steps) == end(&self.steps) { self.added } else { 0 };
        Ok(Self { steps, added, ..self.clone() })
    }

    /// Hint with the numbers of the steps.
    pub(crate) fn known(&self) -> String {
        let mut names: Vec<String> = (0..self.steps.len().min(16)).map(|at| self.name(at)).collect();
        if self.steps.len() > names.len() {
            names.push(format!("... ({} in all)", self.steps.len()));
        }
        format!("use one of the recorded steps: {}", names.join(", "))
    }

    /// The steps as recorded: the last one ends with the recording.
    #[must_use]
    pub(crate) fn recorded(&self) -> Self {
        let mut recorded = Self { added: 0, ..self.clone() };
        if let Some(last) = recorded.steps.last_mut() {
            last.end -= self.added;
        }
        recorded
    }

    /// Tests whether the last step ends with the recording rather than at the start of a next one.
    pub(crate) fn is_open(&self) -> bool {
        self.at_collective || self.cut_by == CutBy::Launches
    }

    /// The mean step, in nanoseconds; 0 without steps.
    pub fn mean_step(&self) -> f64 {
        let all: i64 = self.steps.iter().map(StepWindow::duration).sum();
        all as f64 / self.steps.len().max(1) as f64
    }

    /// The median step, in nanoseconds; the lower one of two, 0 without steps.
    pub fn median_step(&self) -> f64 {
        let mut durations: Vec<f64> = self.steps.iter().map(|step| step.duration() as f64).collect();
        if durations.is_empty() { 0.0 } else { railwright_spec::lower_median(&mut durations) }
    }

    /// The steps for a sentence, such as `steps 10-12`, or `the whole recording` if no steps were found.
    pub fn covered(&self) -> String {
        if self.cut_by == CutBy::Nothing {
            return WHOLE.to_owned();
        }
        let at = |at: usize, step: &StepWindow| step.number.unwrap_or(at as u64);
        let numbers: Vec<u64> =
            self.steps.iter().enumerate().map(|(n, step)| at(n + self.warm_up.len(), step)).collect();
        human::steps(&numbers)
    }

    /// From the start to the end of the common window and all steps.
    pub fn whole(&self) -> (i64, i64) {
        let (start, end) = self.span();
        (start.min(self.common.0), end.max(self.common.1))
    }

    /// Tests whether these are steps of an inference server: of prefill, of decode, of both.
    pub fn is_inference(&self) -> bool {
        self.cut_by == CutBy::InferenceSteps
    }

    /// Name of a step: its number, or without one its index among all steps, warm-up included.
    pub fn name(&self, at: usize) -> String {
        self.steps
            .get(at)
            .and_then(|step| step.number)
            .map_or_else(|| (at + self.warm_up.len()).to_string(), |number| number.to_string())
    }
}

#[cfg(test)]
impl Windows {
    /// Steps of these durations in nanoseconds, one after the other from 0.
    pub(crate) fn of_durations(durations: &[i64], cut_by: CutBy) -> Self {
        let mut at = 0;
        let step = |&duration: &i64| {
            at += duration;
            StepWindow { number: None, start: at - duration, end: at, without: Vec::new() }
        };
        Self {
            cut_by,
            common: (0, 0),
            steps: durations.iter().map(step).collect(),
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            added: 0,
            warnings: Vec::new(),
        }
    }
}
