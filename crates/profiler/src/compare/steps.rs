//! Comparison of two steps: a prediction and a measurement.
//!
//! Responsible for: the same result as for two profiles, derived from [`Step`]s: labels by their breakdown,
//! families by phase, figures for conditions, and operators by family of each side. Does not pair single
//! operators: models and devices have different names for them.

use super::{Comparison, Difference, Named, OperatorDifference, joined};
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_step::breakdown::{Breakdown, Label, breakdown};
use railwright_step::{Activity, Origin, Span, Step, Time};
use std::collections::BTreeMap;

/// Compares two steps.
pub fn steps(first: &Step, second: &Step) -> Comparison {
    let (a, b) = (breakdown(first), breakdown(second));
    let both = |name: &str, of: &dyn Fn(&Breakdown) -> f64| Difference::new(name, of(&a), of(&b));
    let sum = |breakdown: &Breakdown, fits: fn(&Label) -> bool| {
        breakdown
            .mean
            .iter()
            .filter(|(label, _)| fits(label))
            .map(|(_, time)| nanoseconds(*time))
            .sum::<f64>()
    };
    let step_time = both("step_time", &|b| nanoseconds(b.duration));
    let families_of_both = joined(families(first), families(second));
    Comparison {
        operators: operators(first, second, &families_of_both),
        recorded: Vec::new(),
        labels: joined(labels(&a), labels(&b)),
        families: families_of_both,
        kernels: Vec::new(),
        figures: vec![
            step_time.clone(),
            both("compute", &|b| sum(b, |label| matches!(label, Label::Compute(_)))),
            both("exposed_communication", &|b| sum(b, |label| matches!(label, Label::Exposed(_)))),
            both("waiting", &|b| sum(b, |label| matches!(label, Label::Waiting))),
            both("copies", &|b| sum(b, |label| matches!(label, Label::Copy))),
            both("bubble", &|b| sum(b, |label| matches!(label, Label::Bubble))),
            both("host", &|b| sum(b, |label| matches!(label, Label::Host))),
            both("idle", &|b| sum(b, |label| matches!(label, Label::Idle | Label::Bubble))),
        ],
        warnings: doubts(first, second),
        step_time: Difference::new("step time", step_time.first, step_time.second),
    }
}

fn nanoseconds(time: Time) -> f64 {
    time.0 as f64 * 1e-3
}

fn labels(breakdown: &Breakdown) -> Vec<(String, f64)> {
    breakdown.mean.iter().map(|(label, time)| (label.name().replace('_', " "), nanoseconds(*time))).collect()
}

/// Category of a span: its family and phase, or its dimension. `None` for host activity and waits.
fn what(span: &Span) -> Option<String> {
    let what = match span.activity {
        Activity::Compute => format!("{}, {}", span.operator.name(), span.phase.name()),
        Activity::Communication(dimension) => format!("{} communication", dimension.name()),
        Activity::Copy => "copies".to_owned(),
        Activity::Host | Activity::Wait => return None,
    };
    Some(what.replace('_', " "))
}

fn spans(step: &Step) -> impl Iterator<Item = Span> + '_ {
    step.ranks.iter().flat_map(|rank| &rank.streams).flat_map(|stream| stream.spans.iter())
}

/// Compute and communication time by family, phase and dimension, on the mean rank, in nanoseconds.
fn families(step: &Step) -> Vec<(String, f64)> {
    let ranks = step.ranks.len().max(1) as f64;
    spans(step).filter_map(|span| Some((what(&span)?, nanoseconds(span.duration()) / ranks))).collect()
}

/// Maximum number of listed operators per side.
const MOST_LISTED: usize = 5;

/// Operators of every family on each side, the longest first.
fn operators(first: &Step, second: &Step, families: &[Difference]) -> Vec<OperatorDifference> {
    let named = |step: &Step| {
        let ranks = step.ranks.len().max(1) as f64;
        let mut all: BTreeMap<String, BTreeMap<u32, Named>> = BTreeMap::new();
        for span in spans(step) {
            let Some(what) = what(&span) else { continue };
            let fresh = || Named { name: step.names.get(span.name).to_owned(), time: 0.0, calls: 0.0 };
            let sum = all.entry(what).or_default().entry(span.name.0).or_insert_with(fresh);
            sum.time += nanoseconds(span.duration()) / ranks;
            sum.calls += 1.0 / ranks;
        }
        all
    };
    let (mut a, mut b) = (named(first), named(second));
    let longest = |side: &mut BTreeMap<String, BTreeMap<u32, Named>>, family: &str| {
        let mut all: Vec<Named> = side.remove(family).unwrap_or_default().into_values().collect();
        all.sort_by(|x, y| y.time.total_cmp(&x.time).then_with(|| x.name.cmp(&y.name)));
        all.truncate(MOST_LISTED);
        all
    };
    families
        .iter()
        .map(|time| OperatorDifference {
            time: time.clone(),
            first_operators: longest(&mut a, &time.name),
            second_operators: longest(&mut b, &time.name),
        })
        .collect()
}

fn doubts(first: &Step, second: &Step) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let measured = [first, second].into_iter().find(|step| step.origin == Origin::Measured);
    let modelled = [first, second].into_iter().find(|step| step.origin == Origin::Modelled);
    if let (Some(measured), Some(modelled)) = (measured, modelled)
        && measured.stages() != modelled.stages()
    {
        let message = format!(
            "the trace shows {} and the run has {}: specify the layout if the traces do not record groups",
            human::several(u64::from(measured.stages()), "pipeline stage"),
            modelled.stages()
        );
        warnings.push(Warning::new("runs-not-alike", message));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::quantity::{Rank, Stage};
    use railwright_step::{Dimension, OperatorFamily, Phase, Span, StreamKind};

    fn step(compute: i64, communication: i64) -> Step {
        let mut step = Step::new("a step");
        let rank = step.add_rank(Rank(0), Stage(0));
        let name = step.names.intern("x");
        let span = |start, length, activity| Span {
            start: Time::from_nanos(start),
            end: Time::from_nanos(start + length),
            activity,
            phase: Phase::Forward,
            operator: OperatorFamily::MatrixProduct,
            name,
            ..Span::default()
        };
        step.push(rank, StreamKind::Compute, span(0, compute, Activity::Compute));
        let stream = StreamKind::Communication(Dimension::Tensor, 0);
        step.push(rank, stream, span(compute, communication, Activity::Communication(Dimension::Tensor)));
        step
    }

    #[test]
    fn steps_meet_by_label_and_family() {
        let compared = steps(&step(100, 20), &step(130, 10));
        assert_eq!((compared.step_time.first, compared.step_time.second), (120.0, 140.0));
        let rows: Vec<(&str, f64)> =
            compared.labels.iter().map(|row| (row.name.as_str(), row.change)).collect();
        assert_eq!(rows, [("forward", 30.0), ("exposed tensor communication", -10.0)]);
        let rows: Vec<(&str, f64)> =
            compared.families.iter().map(|row| (row.name.as_str(), row.change)).collect();
        assert_eq!(rows, [("matrix product, forward", 30.0), ("tensor communication", -10.0)]);
        let products = &compared.operators[0];
        assert_eq!(
            (products.time.name.as_str(), products.first_operators.len()),
            ("matrix product, forward", 1)
        );
        let of_second = &products.second_operators[0];
        assert_eq!((of_second.name.as_str(), of_second.time, of_second.calls), ("x", 130.0, 1.0));
        let condition = super::super::Condition::parse("compute>+25%").unwrap();
        assert!(condition.check(&compared).unwrap().met);
    }
}
