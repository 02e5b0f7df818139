//! Rates of GEMMs and attention by work.
//!
//! Responsible for: combining measurements of similar work into points, if these predict held-out shapes
//! better than the default. Excludes batched GEMMs between activations, which are not calibrated.

use super::case::Case;
use super::compared::{Line, Observation, line};
use super::figures::{from, median, rounded, significant, spread};
use super::left_out::{self, LeftOut, Trial};
use super::predictor::{Predictor, pass_of, regime};
use crate::operators::{Cost, Pass};
use railwright_spec::Portable as _;
use railwright_spec::calibration::{Calibration, Evidence, Operators, Rate, Regime, Samples};
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

/// Maximum ratio of the largest to the smallest work of one point.
const BIN: f64 = 4.0;

/// One measured shape.
struct Shape {
    observation: Observation,
    /// Time under the model without calibration.
    law: f64,
    /// Medians of the first and the second half of its measurements, if there are two or more.
    halves: Option<[f64; 2]>,
}

/// All measurements of one kind of operators in one regime.
type Groups = BTreeMap<(Operators, Regime), Vec<Shape>>;

/// Measured shapes by kind.
fn groups(before: &Predictor<'_>, after: &Predictor<'_>, case: &Case<'_>, samples: &[Samples]) -> Groups {
    let mut groups = Groups::new();
    for source in samples {
        let alone = source.alone;
        for sample in source.products.iter().filter(|s| s.batch == 1 && !s.times.is_empty()) {
            let rates = [before, after].map(|predictor| predictor.product_rate(sample.format));
            let key = (Operators::Products(sample.format), regime(alone));
            let laws = [before, after].map(|predictor| predictor.product(sample));
            groups.entry(key).or_default().push(observed(laws, rates, alone, &sample.times));
        }
        for sample in source.attention.iter().filter(|s| !s.times.is_empty()) {
            let pass = pass_of(sample);
            let operators = match pass {
                Pass::Forward => Operators::AttentionForward,
                _ => Operators::AttentionBackward,
            };
            let laws = [before, after].map(|predictor| predictor.attention(sample, case.is_causal));
            let rates = [before, after].map(|predictor| predictor.attention_rate(pass));
            groups.entry((operators, regime(alone))).or_default().push(observed(
                laws,
                rates,
                alone,
                &sample.times,
            ));
        }
    }
    groups
}

/// One measurement with its prediction before and after; isolated measurements keep the whole rate of the
/// model.
fn observed([law, with]: [Cost; 2], rates: [f64; 2], alone: bool, times: &[Seconds]) -> Shape {
    let [before, after] = rates.map(|rate| if alone { 1.0 } else { rate });
    let observation = Observation {
        work: law.flop.get(),
        count: times.len() as f64,
        measured: median(times),
        spread: spread(times),
        before: law.time.get() / before,
        after: with.time.get() / after,
        is_bound: false,
    };
    let (first, second) = times.split_at(times.len() / 2);
    let halves = (!first.is_empty()).then(|| [median(first), median(second)]);
    Shape { observation, law: law.time.get(), halves }
}

/// Fits every measured kind. Returns the held-out error of each; `None` if it cannot be validated.
pub(super) fn fit(
    before: &Predictor<'_>,
    case: &Case<'_>,
    samples: &[Samples],
    calibration: &mut Calibration,
    remarks: &mut Vec<String>,
) -> Judged {
    let mut judged = Judged::new();
    for ((operators, regime), shapes) in groups(before, before, case, samples) {
        let points = points(shapes.iter());
        if points.is_empty() {
            continue;
        }
        let left_out = left_out(operators, regime, &shapes);
        judged.insert((operators, regime), left_out);
        let name = operators.name();
        match left_out {
            Some(errors) if errors.is_better() => {}
            Some(errors) => {
                remarks.push(errors.text(&name));
                continue;
            }
            None => {
                remarks.push(left_out::alone(&name));
                continue;
            }
        }
        let has = |s: &Samples| {
            super::predictor::regime(s.alone) == regime
                && match operators {
                    Operators::Products(format) => s.products.iter().any(|p| p.format == format),
                    _ => !s.attention.is_empty(),
                }
        };
        let evidence = Evidence {
            from: from(samples, has),
            samples: shapes.iter().map(|s| s.observation.count).sum::<f64>() as u64,
            ..Evidence::default()
        };
        calibration.rates.push(Rate { operators, regime, points, evidence });
    }
    let batched: usize =
        samples.iter().flat_map(|s| &s.products).filter(|p| p.batch > 1).map(|p| p.times.len()).sum();
    if batched > 0 {
        remarks.push(format!(
            "{batched} batched GEMMs between activations are skipped: they use other kernels, which the cost \
             model does not calibrate"
        ));
    }
    if samples.iter().any(|s| !s.attention.is_empty()) {
        let mask = if case.is_causal { "causal" } else { "not causal" };
        remarks.push(format!("attention is assumed to be {mask}: not recorded in its shapes"));
    }
    judged
}

/// Held-out error of the fits of each kind.
pub(super) type Judged = BTreeMap<(Operators, Regime), Option<LeftOut>>;

/// Leave-one-shape-out error of the fits. For a single shape, each half of its measurements predicts the
/// other.
fn left_out(operators: Operators, regime: Regime, shapes: &[Shape]) -> Option<LeftOut> {
    if let [one] = shapes {
        let trial = |measured, fitted| Trial { measured, shipped: one.observation.before, fitted };
        let [first, second] = one.halves?;
        return LeftOut::of(1, &[trial(first, second), trial(second, first)]);
    }
    let judge = |(at, shape): (usize, &Shape)| {
        let others = shapes.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, shape)| shape);
        let o = &shape.observation;
        let points = points(others);
        let fitted = if points.is_empty() {
            o.before
        } else {
            let evidence = Evidence::default();
            shape.law / Rate { operators, regime, points, evidence }.at(o.work)
        };
        Trial { measured: o.count * o.measured, shipped: o.count * o.before, fitted: o.count * fitted }
    };
    let trials: Vec<Trial> = shapes.iter().enumerate().map(judge).collect();
    LeftOut::of(shapes.len(), &trials)
}

/// One point per range of work: rate = sum of the model's times over sum of measured times, so that the sum
/// of measured times is exact. The point's work is the middle of the time.
fn points<'s>(shapes: impl Iterator<Item = &'s Shape>) -> Vec<(f64, f64)> {
    #[derive(Default)]
    struct Bin {
        measured: f64,
        law: f64,
        log_work: f64,
    }
    let mut bins: BTreeMap<i64, Bin> = BTreeMap::new();
    for Shape { observation: o, law, .. } in shapes {
        if !(o.measured > 0.0 && o.work > 0.0 && *law > 0.0) {
            continue;
        }
        let bin = bins.entry((o.work.portable_ln() / BIN.portable_ln()).floor() as i64).or_default();
        let time = o.count * o.measured;
        bin.measured += time;
        bin.law += o.count * law;
        bin.log_work += time * o.work.portable_ln();
    }
    bins.values()
        .map(|bin| {
            (significant((bin.log_work / bin.measured).portable_exp()), rounded(bin.law / bin.measured))
        })
        .filter(|(_, rate)| (1e-4..=1e3).contains(rate))
        .collect()
}

/// Compares every kind with its measurements.
pub(super) fn lines(
    before: &Predictor<'_>,
    after: &Predictor<'_>,
    case: &Case<'_>,
    samples: &[Samples],
) -> Vec<Line> {
    groups(before, after, case, samples)
        .into_iter()
        .filter_map(|((operators, regime), shapes)| {
            let observations: Vec<Observation> = shapes.into_iter().map(|shape| shape.observation).collect();
            line(operators.name(), regime, &observations)
        })
        .collect()
}
