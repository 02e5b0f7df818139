//! Link models of collectives inside a domain, and their sustained share within runs.
//!
//! Responsible for: the three constants of each model by relative least squares without negative ones, and
//! the one sustained rate of a run. With too few sizes, the catalogue's model is scaled. Upper bounds contain
//! waits, so they never slow a collective down.

use super::compared::{Line, Observation, line};
use super::figures::{from, median, rounded, significant, spread, uncertainty};
use super::predictor::{Predictor, is_local, regime};
use crate::collectives::{Collective, bus_factor};
use railwright_spec::calibration::{
    Calibration, CollectiveLaw, CollectiveRate, CollectiveSample, Evidence, Regime, Samples,
};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Minimum number of sizes for a separate model. The next constant is the minimum ratio of the largest to the
/// smallest.
pub(super) const SIZES: usize = 4;
pub(super) const REACH: f64 = 64.0;
/// Minimum bandwidth share of the time of the largest size: below it the log determines latencies only.
pub(super) const ON_THE_WIRE: f64 = 0.3;
/// Rounds of reweighting that reduce the weight of outliers.
const ROUNDS: usize = 8;

/// Measurements by operation and number of ranks.
type Groups<'s> = BTreeMap<(Collective, u64), Vec<&'s CollectiveSample>>;

/// Collectives inside one domain, or those that cross domains. Without a scale-up link, a node counts as a
/// domain.
pub(super) fn by_place<'s>(
    cluster: &Cluster,
    samples: &'s [Samples],
    inside: bool,
    alone: bool,
) -> Groups<'s> {
    let mut groups = Groups::new();
    for sample in samples.iter().flat_map(|s| &s.collectives) {
        if sample.alone == alone
            && is_local(cluster, sample) == inside
            && !sample.times.is_empty()
            && sample.bytes > 0.0
        {
            groups.entry((sample.operation, sample.ranks)).or_default().push(sample);
        }
    }
    groups
}

/// Fits the models of isolated collectives.
pub(super) fn fit(
    before: &Predictor<'_>,
    samples: &[Samples],
    calibration: &mut Calibration,
    remarks: &mut Vec<String>,
) {
    for ((operation, ranks), group) in by_place(before.cluster, samples, true, true) {
        // A single rank has no communication; it is priced as two.
        let factor = bus_factor(operation, ranks.max(2) as f64);
        let points: Vec<(f64, f64)> = group.iter().map(|s| (s.bytes, median(&s.times))).collect();
        let sizes = distinct(&points);
        let from_bytes = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
        let to_bytes = points.iter().map(|p| p.0).fold(0.0, f64::max);
        let fitted =
            (sizes >= SIZES && to_bytes >= REACH * from_bytes).then(|| law(&points, factor)).flatten();
        let text =
            fitted.filter(|law| factor * to_bytes * law[1] >= ON_THE_WIRE * value(law, to_bytes, factor));
        let name = operation.name();
        if fitted.is_some() && text.is_none() {
            remarks.push(format!(
                "{name} x{ranks}: sizes up to {} determine only the latency, so the catalogue's bandwidth is kept; measure larger sizes",
                human::bytes_decimal(Bytes::new(to_bytes))
            ));
        }
        let [base, per_wire, ramp] = match (text, fitted) {
            (Some(law), _) => law,
            (None, Some(_)) => at_its_base(before, &group, factor),
            (None, None) => scaled(before, &group, factor),
        };
        let law = CollectiveLaw {
            operation,
            ranks,
            regime: Regime::Burst,
            base_us: significant(base * 1e6),
            bandwidth_gb: significant(1e-9 / per_wire),
            ramp_ns: significant(ramp * 1e9),
            from_bytes,
            to_bytes,
            evidence: Evidence {
                from: from(samples, |s| {
                    s.collectives.iter().any(|c| c.alone && c.operation == operation && c.ranks == ranks)
                }),
                samples: group.iter().map(|s| s.times.len() as u64).sum(),
                uncertainty: uncertainty(
                    points.iter().map(|(bytes, time)| time / value(&[base, per_wire, ramp], *bytes, factor)),
                ),
                ..Evidence::default()
            },
        };
        if law.is_sound() {
            calibration.collectives.push(law);
        } else {
            remarks.push(format!(
                "{name} x{ranks}: no link model fits these times ({:.3e} us, {:.3e} GB/s); ignored",
                law.base_us, law.bandwidth_gb
            ));
        }
    }
}

fn distinct(points: &[(f64, f64)]) -> usize {
    let mut sizes: Vec<u64> = points.iter().map(|p| p.0 as u64).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.len()
}

/// Constants of `t = base + f b per_wire + ramp sqrt(b)`, none negative and the second above zero, with the
/// smallest relative errors. Outliers get less weight (iteratively, 1 / max(2%, |error|)).
pub(super) fn law(points: &[(f64, f64)], factor: f64) -> Option<[f64; 3]> {
    let mut weights = vec![1.0; points.len()];
    let mut best = None;
    for _ in 0..ROUNDS {
        let found = least(points, factor, &weights)?;
        for (weight, (bytes, time)) in weights.iter_mut().zip(points) {
            let error = (value(&found, *bytes, factor) - time) / time;
            *weight = 1.0 / error.abs().max(0.02);
        }
        best = Some(found);
    }
    best
}

pub(super) fn value([base, per_wire, ramp]: &[f64; 3], bytes: f64, factor: f64) -> f64 {
    base + factor * bytes * per_wire + ramp * bytes.sqrt()
}

/// Best fit over all choices of non-zero constants: with three constants, four choices have a bandwidth.
fn least(points: &[(f64, f64)], factor: f64, weights: &[f64]) -> Option<[f64; 3]> {
    let mut best: Option<(f64, [f64; 3])> = None;
    for free in [[true, true, true], [true, true, false], [false, true, true], [false, true, false]] {
        let Some(constants) = solve(points, factor, weights, free) else { continue };
        if constants.iter().any(|c| *c < 0.0) || constants[1] <= 0.0 {
            continue;
        }
        let error: f64 = points
            .iter()
            .zip(weights)
            .map(|((bytes, time), weight)| {
                weight * ((value(&constants, *bytes, factor) - time) / time).powi(2)
            })
            .sum();
        if best.is_none_or(|(least, _)| error < least) {
            best = Some((error, constants));
        }
    }
    best.map(|(_, constants)| constants)
}

/// Solves the normal equations of the relative errors for the free constants, by elimination with pivots.
fn solve(points: &[(f64, f64)], factor: f64, weights: &[f64], free: [bool; 3]) -> Option<[f64; 3]> {
    let places: Vec<usize> = (0..3).filter(|at| free[*at]).collect();
    let n = places.len();
    let mut matrix = vec![vec![0.0; n + 1]; n];
    // Columns of similar magnitude preserve digits in the elimination.
    let most = points.iter().map(|p| p.0).fold(1.0, f64::max);
    let scale = [1e-6, 1e-3 / (factor * most), 1e-3 / most.sqrt()];
    for ((bytes, time), weight) in points.iter().zip(weights) {
        let row = [1.0, factor * bytes, bytes.sqrt()];
        for (i, &a) in places.iter().enumerate() {
            for (j, &b) in places.iter().enumerate() {
                matrix[i][j] += weight * row[a] * scale[a] * row[b] * scale[b] / (time * time);
            }
            matrix[i][n] += weight * row[a] * scale[a] / time;
        }
    }
    for i in 0..n {
        let pivot = (i..n).max_by(|a, b| matrix[*a][i].abs().total_cmp(&matrix[*b][i].abs()))?;
        matrix.swap(i, pivot);
        if matrix[i][i].abs() < 1e-300 {
            return None;
        }
        for below in 0..n {
            if below != i {
                let times = matrix[below][i] / matrix[i][i];
                let row = matrix[i].clone();
                for (cell, above) in matrix[below].iter_mut().zip(&row).skip(i) {
                    *cell -= times * above;
                }
            }
        }
    }
    let mut constants = [0.0; 3];
    for (i, &place) in places.iter().enumerate() {
        constants[place] = matrix[i][n] / matrix[i][i] * scale[place];
    }
    constants.iter().all(|c| c.is_finite()).then_some(constants)
}

/// The three constants of the catalogue's model.
pub(super) fn catalogued(before: &Predictor<'_>, first: &CollectiveSample, factor: f64) -> [f64; 3] {
    let at = |bytes: f64| before.collective(&CollectiveSample { bytes, ..first.clone() });
    // Sizes over all magnitudes determine the three constants of the underlying model.
    let points: Vec<(f64, f64)> = [1.0, 1e4, 1e6, 1e8, 1e10].map(|bytes| (bytes, at(bytes))).to_vec();
    law(&points, factor).unwrap_or([1e-5, 1e-11, 0.0])
}

/// The catalogue's model with the measured base.
fn at_its_base(before: &Predictor<'_>, group: &[&CollectiveSample], factor: f64) -> [f64; 3] {
    let Some(first) = group.first() else { return [0.0, 1e-12, 0.0] };
    let [_, per_wire, ramp] = catalogued(before, first, factor);
    let rest = |s: &&CollectiveSample| {
        Seconds::new(median(&s.times) - value(&[0.0, per_wire, ramp], s.bytes, factor))
    };
    [median(&group.iter().map(rest).collect::<Vec<_>>()).max(0.0), per_wire, ramp]
}

/// The catalogue's model scaled to the measured rate, equally for all sizes.
fn scaled(before: &Predictor<'_>, group: &[&CollectiveSample], factor: f64) -> [f64; 3] {
    let measured: f64 = group.iter().map(|s| median(&s.times)).sum();
    let predicted: f64 = group.iter().map(|s| before.collective(s)).sum();
    let pace = measured / predicted.max(1e-12);
    let Some(first) = group.first() else { return [0.0, 1e-12, 0.0] };
    catalogued(before, first, factor).map(|constant| constant * pace)
}

/// Sustained rate of collectives within the run: one rate, by the sums of times.
///
/// A transfer with untraced ranks includes waits: its time is an upper bound, t <= took, so that the rate is
/// at least law / took. If there are only bounds, they can show that collectives are faster than in the
/// generation, and are fitted. They cannot show that collectives are slower, and the generation's rate is
/// kept.
pub(super) fn fit_rate(
    bare: &Cluster,
    software: &str,
    samples: &[Samples],
    calibration: &mut Calibration,
    remarks: &mut Vec<String>,
) -> Result<(), Problem> {
    calibration.link.clone_from(&bare.scale_up.link);
    let with = Cluster { calibration: Some(Arc::new(calibration.clone())), ..bare.clone() };
    let predictor = Predictor::new(&with, software)?;
    let in_run = || samples.iter().flat_map(|s| &s.collectives).filter(|s| !s.alone && !s.times.is_empty());
    let is_bound = in_run().all(|s| s.is_bound);
    let run: Vec<(f64, Observation)> = in_run()
        .filter(|s| s.is_bound == is_bound)
        .map(|s| {
            let predicted = predictor.collective(s);
            let observation = Observation {
                work: s.bytes,
                count: s.times.len() as f64,
                measured: median(&s.times),
                spread: 0.0,
                before: predicted / predictor.software.collective_rate,
                after: predicted,
                is_bound,
            };
            (predicted, observation)
        })
        .filter(|(predicted, o)| *predicted > 0.0 && o.measured > 0.0)
        .collect();
    let sum =
        |of: &dyn Fn(&(f64, Observation)) -> f64| run.iter().map(|one| one.1.count * of(one)).sum::<f64>();
    let (law, measured) = (sum(&|one| one.0), sum(&|one| one.1.measured));
    if measured <= 0.0 {
        return Ok(());
    }
    // The time-weighted median minimizes the sum of absolute errors.
    let mut slowness: Vec<(f64, f64)> =
        run.iter().map(|(predicted, o)| (o.measured / predicted, o.count * predicted)).collect();
    slowness.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    let middle = slowness.iter().find(|(_, weight)| {
        below += weight;
        below >= 0.5 * law
    });
    let rate = middle.map_or(1.0, |(slow, _)| 1.0 / slow).clamp(1e-3, 1e2);
    if is_bound && rate <= predictor.software.collective_rate {
        remarks.push(format!(
            "collectives in the run: the default rate is kept. Not all ranks of their groups were traced, so their {} are upper bounds that include waits; the predicted {} are below these bounds",
            human::seconds(Seconds::new(measured)),
            human::seconds(Seconds::new(sum(&|one| one.1.before)))
        ));
        return Ok(());
    }
    calibration.collective_rate = Some(CollectiveRate {
        rate: rounded(rate),
        evidence: Evidence {
            from: from(samples, |s| s.collectives.iter().any(|c| !c.alone && c.is_bound == is_bound)),
            samples: run.iter().map(|(_, o)| o.count as u64).sum(),
            spread: 0.0,
            uncertainty: uncertainty(
                run.iter()
                    .flat_map(|(predicted, o)| std::iter::repeat_n(o.measured / predicted, o.count as usize)),
            ),
            error_before: rounded(sum(&|one| one.1.off(one.1.before)) / measured),
            error_after: rounded(sum(&|one| one.1.off(one.0 / rate)) / measured),
        },
    });
    Ok(())
}

/// Compares every operation and number of ranks with its measurements.
pub(super) fn lines(before: &Predictor<'_>, after: &Predictor<'_>, samples: &[Samples]) -> Vec<Line> {
    let mut groups: BTreeMap<(Collective, u64, bool), Vec<Observation>> = BTreeMap::new();
    let all = || samples.iter().flat_map(|s| &s.collectives).filter(|s| !s.times.is_empty());
    let key = |s: &CollectiveSample| (s.operation, s.ranks, s.alone);
    let known: BTreeSet<_> = all().filter(|s| !s.is_bound).map(key).collect();
    // Bounds are ignored if transfers were measured.
    for sample in all().filter(|s| !s.is_bound || !known.contains(&key(s))) {
        let within = |predictor: &Predictor<'_>| {
            predictor.collective(sample) / if sample.alone { 1.0 } else { predictor.software.collective_rate }
        };
        groups.entry(key(sample)).or_default().push(Observation {
            work: sample.bytes,
            count: sample.times.len() as f64,
            measured: median(&sample.times),
            spread: spread(&sample.times),
            before: within(before),
            after: within(after),
            is_bound: sample.is_bound,
        });
    }
    groups
        .into_iter()
        .filter_map(|((operation, ranks, alone), observations)| {
            line(format!("{} x{ranks}", operation.name()), regime(alone), &observations)
        })
        .collect()
}
