//! Rates of products and attention by work.
//!
//! Responsible for: joining measurements of about the same work into points. Refuses batched products between activations, whose law the
//! calibration does not touch.

use super::{
    Case, Line, Observation, Voice, from, line, median, pass_of, regime, rounded, significant, spread,
};
use crate::operators::{Cost, Pass};
use railwright_spec::calibration::{Calibration, Evidence, Operators, Rate, Regime, Samples};
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

/// Work of one point lies within this factor.
const BIN: f64 = 4.0;

/// Everything measured of one kind of operators in one regime, with the law's time.
type Groups = BTreeMap<(Operators, Regime), Vec<(Observation, f64)>>;

/// Observations by kind; the second number is the bare law's time.
fn groups(before: &Voice<'_>, after: &Voice<'_>, case: &Case<'_>, samples: &[Samples]) -> Groups {
    let mut groups = Groups::new();
    for source in samples {
        let alone = source.alone;
        for sample in source.products.iter().filter(|s| s.batch == 1 && !s.times.is_empty()) {
            let rates = [before, after].map(|voice| voice.product_rate(sample.format));
            let key = (Operators::Products(sample.format), regime(alone));
            let laws = [before, after].map(|voice| voice.product(sample));
            groups.entry(key).or_default().push(observed(laws, rates, alone, &sample.times));
        }
        for sample in source.attention.iter().filter(|s| !s.times.is_empty()) {
            let pass = pass_of(sample);
            let operators = match pass {
                Pass::Forward => Operators::AttentionForward,
                _ => Operators::AttentionBackward,
            };
            let laws = [before, after].map(|voice| voice.attention(sample, case.is_causal));
            let rates = [before, after].map(|voice| voice.attention_rate(pass));
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

/// One measurement beside its law before and after, with the bare law's time; what was measured alone keeps the law's whole rate.
fn observed([law, with]: [Cost; 2], rates: [f64; 2], alone: bool, times: &[Seconds]) -> (Observation, f64) {
    let [before, after] = rates.map(|rate| if alone { 1.0 } else { rate });
    let observation = Observation {
        work: law.flop.get(),
        count: times.len() as f64,
        measured: median(times),
        spread: spread(times),
        before: law.time.get() / before,
        after: with.time.get() / after,
    };
    (observation, law.time.get())
}

/// Fits every kind that was measured.
pub(super) fn fit(
    before: &Voice<'_>,
    case: &Case<'_>,
    samples: &[Samples],
    calibration: &mut Calibration,
    remarks: &mut Vec<String>,
) {
    for ((operators, regime), observations) in groups(before, before, case, samples) {
        let points = points(&observations);
        if points.is_empty() {
            continue;
        }
        let has = |s: &Samples| {
            super::regime(s.alone) == regime
                && match operators {
                    Operators::Products(format) => s.products.iter().any(|p| p.format == format),
                    _ => !s.attention.is_empty(),
                }
        };
        let evidence = Evidence {
            from: from(samples, has),
            samples: observations.iter().map(|(o, _)| o.count).sum::<f64>() as u64,
            ..Evidence::default()
        };
        calibration.rates.push(Rate { operators, regime, points, evidence });
    }
    let batched: usize =
        samples.iter().flat_map(|s| &s.products).filter(|p| p.batch > 1).map(|p| p.times.len()).sum();
    if batched > 0 {
        remarks.push(format!(
            "{batched} batched products between activations are left out: they have kernels of their own, which no law of the calculator is calibrated for"
        ));
    }
    if samples.iter().any(|s| !s.attention.is_empty()) {
        let mask = if case.is_causal { "causal" } else { "not causal" };
        remarks.push(format!("attention is taken to be {mask}: its shapes do not say it"));
    }
}

/// One point for each stretch of work: rate = sum of the law's times over sum of measured times, so that the sum of what was measured comes
/// out right; work in the middle of the time.
fn points(observations: &[(Observation, f64)]) -> Vec<(f64, f64)> {
    #[derive(Default)]
    struct Bin {
        measured: f64,
        law: f64,
        log_work: f64,
    }
    let mut bins: BTreeMap<i64, Bin> = BTreeMap::new();
    for (o, law) in observations.iter().filter(|(o, law)| o.measured > 0.0 && o.work > 0.0 && *law > 0.0) {
        let bin = bins.entry((o.work.ln() / BIN.ln()).floor() as i64).or_default();
        let time = o.count * o.measured;
        bin.measured += time;
        bin.law += o.count * law;
        bin.log_work += time * o.work.ln();
    }
    bins.values()
        .map(|bin| (significant((bin.log_work / bin.measured).exp()), rounded(bin.law / bin.measured)))
        .filter(|(_, rate)| (1e-4..=1e3).contains(rate))
        .collect()
}

/// Every kind against its measurements.
pub(super) fn lines(
    before: &Voice<'_>,
    after: &Voice<'_>,
    case: &Case<'_>,
    samples: &[Samples],
) -> Vec<Line> {
    groups(before, after, case, samples)
        .into_iter()
        .filter_map(|((operators, regime), observations)| {
            let observations: Vec<Observation> = observations.into_iter().map(|(o, _)| o).collect();
            line(operators.name(), regime, &observations)
        })
        .collect()
}
