//! Comparison of two profiles.
//!
//! Responsible for: differences of the whole recording, of the waterfall, of families by phase and of single
//! kernels, largest first, and conditions on them for automatic checks. Does not explain: removed and added
//! kernels are listed separately.

mod condition;
mod steps;

pub use condition::{Condition, Verdict};
pub use steps::steps;

use crate::profile::{KernelRow, Report};
use railwright_step::Phase;
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of listed kernels.
const KERNELS: usize = 40;

/// A common metric, by default per rank and step, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Subject.
    pub name: String,
    /// Value of the first.
    pub first: f64,
    /// Value of the second.
    pub second: f64,
    /// Second value minus the first.
    pub change: f64,
    /// Change relative to the first; `None` if the first is zero.
    pub relative: Option<f64>,
}

impl Difference {
    /// Difference of two values.
    pub fn new(name: impl Into<String>, first: f64, second: f64) -> Self {
        let change = second - first;
        let relative = (first != 0.0).then(|| change / first);
        Self { name: name.into(), first, second, change, relative }
    }
}

/// A kernel on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelDifference {
    /// Its time.
    #[serde(flatten)]
    pub time: Difference,
    /// Part of the step.
    pub phase: Phase,
    /// Kind of operator.
    pub family: railwright_step::OperatorFamily,
    /// Calls per step and rank in the first.
    pub first_count: f64,
    /// Calls per step and rank in the second.
    pub second_count: f64,
}

/// One operator of a side, of the model or of a device, by its own name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Name.
    pub name: String,
    /// Its time on the mean rank, in nanoseconds.
    #[serde(rename = "time_ns")]
    pub time: f64,
    /// Calls on the mean rank.
    pub calls: f64,
}

/// Operators of one family and phase, or communication of one dimension, on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperatorDifference {
    /// Their time on both sides.
    #[serde(flatten)]
    pub time: Difference,
    /// The first side's operators, the longest first.
    pub first_operators: Vec<Named>,
    /// The second side's operators, the longest first.
    pub second_operators: Vec<Named>,
}

/// Comparison of two profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Step time.
    #[serde(rename = "step_time_ns")]
    pub step_time: Difference,
    /// Totals of the common windows on the mean rank, not per step.
    pub recorded: Vec<Difference>,
    /// Labels of the waterfall, the largest change first.
    pub labels: Vec<Difference>,
    /// Families of operators by phase, the largest change first.
    pub families: Vec<Difference>,
    /// Kernels, the largest change first.
    pub kernels: Vec<KernelDifference>,
    /// A prediction and a measurement by operator, largest change first; two measurements have
    /// [`Self::kernels`] instead.
    pub operators: Vec<OperatorDifference>,
    /// Figures by name in conditions.
    pub figures: Vec<Difference>,
    /// Warnings about the comparison.
    pub warnings: Vec<railwright_spec::problem::Warning>,
}

/// Compares two profiles.
pub fn compare(first: &Report, second: &Report) -> Comparison {
    let recorded = [
        ("window", first.recorded.window, second.recorded.window),
        ("compute", first.recorded.compute, second.recorded.compute),
        ("communication", first.recorded.communication, second.recorded.communication),
        ("overlap of both", first.recorded.overlap, second.recorded.overlap),
        ("exposed communication", first.recorded.exposed, second.recorded.exposed),
        ("memory copies", first.recorded.copies, second.recorded.copies),
        ("idle", first.recorded.idle, second.recorded.idle),
    ];
    let step_time = Difference::new("step time", first.step_time, second.step_time);
    Comparison {
        recorded: recorded.map(|(name, a, b)| Difference::new(name, a, b)).to_vec(),
        labels: joined(parts(first), parts(second)),
        families: joined(families(first), families(second)),
        kernels: kernels(first, second),
        operators: Vec::new(),
        figures: figures(first, second),
        warnings: doubts(first, second),
        step_time,
    }
}

fn parts(report: &Report) -> Vec<(String, f64)> {
    let line = |line: &crate::profile::Line| {
        if line.parts.is_empty() { vec![line.part.clone()] } else { line.parts.clone() }
    };
    report.lines.iter().flat_map(line).map(|part| (part.name, part.mean)).collect()
}

fn families(report: &Report) -> Vec<(String, f64)> {
    report
        .kernels
        .iter()
        .map(|row| (format!("{}, {}", row.family.name().replace('_', " "), row.phase.name()), row.per_step))
        .collect()
}

/// Differences by name, the largest first.
fn joined(first: Vec<(String, f64)>, second: Vec<(String, f64)>) -> Vec<Difference> {
    let mut times: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (name, time) in first {
        times.entry(name).or_default().0 += time;
    }
    for (name, time) in second {
        times.entry(name).or_default().1 += time;
    }
    let mut rows: Vec<Difference> =
        times.into_iter().map(|(name, (a, b))| Difference::new(name, a, b)).collect();
    rows.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()).then_with(|| a.name.cmp(&b.name)));
    rows
}

fn kernels(first: &Report, second: &Report) -> Vec<KernelDifference> {
    let samples = |report: &Report| report.samples.max(1) as f64;
    let mut rows: BTreeMap<(&str, Phase), [Option<&KernelRow>; 2]> = BTreeMap::new();
    for (side, report) in [first, second].into_iter().enumerate() {
        for row in &report.kernels {
            rows.entry((&row.name, row.phase)).or_default()[side] = Some(row);
        }
    }
    let mut differences: Vec<KernelDifference> = rows
        .into_iter()
        .filter_map(|((name, phase), sides)| {
            let time = |side: usize| sides[side].map_or(0.0, |row| row.per_step);
            let count =
                |side: usize, report| sides[side].map_or(0.0, |row| row.count as f64 / samples(report));
            Some(KernelDifference {
                time: Difference::new(name, time(0), time(1)),
                phase,
                family: sides[0].or(sides[1])?.family,
                first_count: count(0, first),
                second_count: count(1, second),
            })
        })
        .collect();
    let key = |row: &KernelDifference| row.time.change.abs();
    differences.sort_by(|a, b| {
        key(b).total_cmp(&key(a)).then_with(|| (&a.time.name, a.phase).cmp(&(&b.time.name, b.phase)))
    });
    differences.truncate(KERNELS);
    differences
}

/// Figures available to conditions.
fn figures(first: &Report, second: &Report) -> Vec<Difference> {
    use crate::waterfall::Group;
    let group = |report: &Report, group: Group| {
        report.lines.iter().find(|line| line.group == group).map_or(0.0, |line| line.part.mean)
    };
    let both = |name: &str, of: &dyn Fn(&Report) -> f64| Difference::new(name, of(first), of(second));
    let waiting = |report: &Report| {
        report.hardware.iter().find(|part| part.name == "other ranks").map_or(0.0, |part| part.mean)
    };
    let mut figures = vec![
        both("step_time", &|r| r.step_time),
        both("window", &|r| r.recorded.window),
        both("compute", &|r| group(r, Group::Ideal) + group(r, Group::Compute)),
        both("exposed_communication", &|r| group(r, Group::Communication)),
        both("communication", &|r| r.recorded.communication / r.steps.len().max(1) as f64),
        both("waiting", &waiting),
        both("copies", &|r| group(r, Group::Copy)),
        both("bubble", &|r| group(r, Group::Bubble)),
        both("host", &|r| group(r, Group::Host)),
        both("idle", &|r| r.recorded.idle / r.steps.len().max(1) as f64),
    ];
    if let (Some(a), Some(b)) = (first.utilisation, second.utilisation) {
        figures.push(Difference::new("mfu", a, b));
    }
    figures
}

fn doubts(first: &Report, second: &Report) -> Vec<railwright_spec::problem::Warning> {
    let mut warnings = Vec::new();
    let mut differ = |what: &str, a: String, b: String| {
        if a != b {
            let message = format!("{what} differ: {a} and {b}");
            warnings.push(railwright_spec::problem::Warning::new("runs-not-alike", message));
        }
    };
    let device = |report: &Report| report.device.clone().unwrap_or_else(|| "unknown".to_owned());
    differ("devices", device(first), device(second));
    let size = |report: &Report| {
        let least = if report.world_size_known || report.missing == 0 { "" } else { "at least " };
        format!("{least}{}", report.world_size)
    };
    differ("sizes of the jobs", size(first), size(second));
    differ("numbers of recorded ranks", first.ranks.to_string(), second.ranks.to_string());
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_step::OperatorFamily;

    fn report(step_time: f64, kernels: &[(&str, u64, i64)]) -> Report {
        let row = |&(name, count, duration): &(&str, u64, i64)| KernelRow {
            name: name.to_owned(),
            phase: Phase::Forward,
            family: OperatorFamily::MatrixProduct,
            count,
            duration,
            mean: 0,
            longest: 0,
            per_step: duration as f64,
        };
        Report {
            ranks: 1,
            world_size: 1,
            step_time,
            kernels: kernels.iter().map(row).collect(),
            ..Report::default()
        }
    }

    #[test]
    fn differences_are_ranked_and_what_is_on_one_side_is_reported() {
        let first = report(100.0, &[("same", 2, 40), ("gone", 1, 30), ("slower", 4, 10)]);
        let second = report(110.0, &[("same", 2, 40), ("slower", 4, 25), ("new", 3, 28)]);
        let compared = compare(&first, &second);
        let names: Vec<(&str, f64)> =
            compared.kernels.iter().map(|row| (row.time.name.as_str(), row.time.change)).collect();
        assert_eq!(names, [("gone", -30.0), ("new", 28.0), ("slower", 15.0), ("same", 0.0)]);
        assert_eq!(compared.kernels[1].time.relative, None);
        assert_eq!((compared.kernels[1].first_count, compared.kernels[1].second_count), (0.0, 3.0));
        assert_eq!(compared.families.len(), 1);
        assert!((compared.families[0].change - 13.0).abs() < 1e-9);
        assert!((compared.step_time.relative.unwrap() - 0.1).abs() < 1e-12);
        assert!(compared.warnings.is_empty());
    }
}
