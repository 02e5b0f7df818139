//! Sustained link models of collectives within runs: one per operation and number of ranks.
//!
//! Responsible for: merged sizes with several transfers each, and a model from them if their range suffices,
//! otherwise the known model at their rate. Excludes upper bounds (transfers that include waits for untraced
//! ranks), groups that cross domains, and few transfers: these share one rate.

use super::collectives::{ON_THE_WIRE, REACH, SIZES, by_place, catalogued, law, value};
use super::figures::{from, median, significant, uncertainty};
use super::left_out::{LeftOut, Trial};
use super::predictor::{Predictor, like};
use crate::collectives::bus_factor;
use railwright_spec::calibration::{
    Calibration, CollectiveLaw, CollectiveSample, Evidence, FEW, Regime, Samples,
};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::sync::Arc;

/// Minimum number of transfers per size.
const EACH: usize = 3;
/// Sizes within this factor are merged.
const BIN: f64 = 1.25;

/// Fits sustained rates of collectives, given the burst models.
pub(super) fn fit(
    bare: &Cluster,
    software: &str,
    samples: &[Samples],
    calibration: &mut Calibration,
    remarks: &mut Vec<String>,
) -> Result<(), Problem> {
    let with = Cluster { calibration: Some(Arc::new(calibration.clone())), ..bare.clone() };
    let predictor = Predictor::new(&with, software)?;
    // Sustained share of bandwidth, if the sizes of the run do not determine it.
    let kept = Predictor::new(bare, software)?.software.collective_rate;
    for ((operation, ranks), group) in by_place(bare, samples, true, false) {
        let sizes = joined(&group);
        let transfers: usize = group.iter().filter(|s| !s.is_bound).map(|s| s.times.len()).sum();
        let taken: usize = sizes.iter().map(|size| size.times.len()).sum();
        if transfers == 0 {
            continue;
        }
        let name = format!("{} x{ranks}", operation.name());
        let Some((first, true)) = sizes.first().map(|first| (first, taken as u64 >= FEW)) else {
            remarks.push(format!(
                "{name}: {transfers} transfers in the run are too few for a separate link model, which requires {FEW} transfers with {EACH} of each size; all such collectives share one rate"
            ));
            continue;
        };
        // A single rank has no communication; it is priced as two.
        let factor = bus_factor(operation, ranks.max(2) as f64);
        let points: Vec<(f64, f64)> = sizes.iter().map(|size| (size.bytes, median(&size.times))).collect();
        let to_bytes = points.iter().map(|p| p.0).fold(0.0, f64::max);
        let range = (points.len() >= SIZES && to_bytes >= REACH * first.bytes)
            .then(|| law(&points, factor))
            .flatten()
            .filter(|law| factor * to_bytes * law[1] >= ON_THE_WIRE * value(law, to_bytes, factor));
        let known = catalogued(&predictor, &like(operation, ranks, 1.0), factor);
        let judged =
            range.and_then(|_| left_out(&sizes, factor, |others| paced(known, kept, others, factor)));
        if let Some(judged) = judged.filter(|judged| !judged.is_better()) {
            remarks.push(format!(
                "{name}: the default link model is scaled to the measured rate. Leave-one-out error over {} sizes: {} with a separate model, {} with the scaled default",
                judged.shapes,
                human::percent(judged.fitted),
                human::percent(judged.shipped)
            ));
        }
        let constants = range
            .filter(|_| judged.is_some_and(|judged| judged.is_better()))
            .unwrap_or_else(|| paced(known, kept, &sizes, factor));
        let uncertainty = uncertainty(
            sizes
                .iter()
                .flat_map(|size| size.times.iter().map(|t| t.get() / value(&constants, size.bytes, factor))),
        );
        let [base, per_wire, ramp] = constants;
        let law = CollectiveLaw {
            operation,
            ranks,
            regime: Regime::Sustained,
            base_us: significant(base * 1e6),
            bandwidth_gb: significant(1e-9 / per_wire),
            ramp_ns: significant(ramp * 1e9),
            from_bytes: first.bytes,
            to_bytes,
            evidence: Evidence {
                from: from(samples, |s| {
                    s.collectives
                        .iter()
                        .any(|c| !c.alone && !c.is_bound && (c.operation, c.ranks) == (operation, ranks))
                }),
                samples: taken as u64,
                uncertainty,
                ..Evidence::default()
            },
        };
        if law.is_sound() {
            calibration.collectives.push(law);
        } else {
            remarks.push(format!("{name}: no link model fits these transfers of the run; ignored"));
        }
    }
    Ok(())
}

/// Leave-one-out error over sizes of a separate model, and of the scaled default (`paced`).
fn left_out(sizes: &[Size], factor: f64, paced: impl Fn(&[Size]) -> [f64; 3]) -> Option<LeftOut> {
    let judge = |at: usize| {
        let others: Vec<Size> = sizes
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, size)| size.clone())
            .collect();
        let points: Vec<(f64, f64)> = others.iter().map(|size| (size.bytes, median(&size.times))).collect();
        let (size, count) = (&sizes[at], sizes[at].times.len() as f64);
        let shipped = value(&paced(&others), size.bytes, factor);
        // Sizes that no link model fits are as good as the default.
        let fitted = law(&points, factor).map_or(shipped, |law| value(&law, size.bytes, factor));
        Trial { measured: count * median(&size.times), shipped: count * shipped, fitted: count * fitted }
    };
    LeftOut::of(sizes.len(), &(0..sizes.len()).map(judge).collect::<Vec<Trial>>())
}

/// Merged sizes with all their transfers.
#[derive(Clone, Debug)]
struct Size {
    bytes: f64,
    times: Vec<Seconds>,
}

/// Sizes in ascending bytes. Those within [`BIN`] are merged at their mean; each has at least [`EACH`]
/// transfers.
fn joined(group: &[&CollectiveSample]) -> Vec<Size> {
    let mut known: Vec<&CollectiveSample> = group.iter().copied().filter(|s| !s.is_bound).collect();
    known.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let mut sizes: Vec<(f64, f64, Size)> = Vec::new();
    for sample in known {
        let count = sample.times.len() as f64;
        match sizes.last_mut() {
            Some((from, sum, size)) if sample.bytes <= *from * BIN => {
                *sum += sample.bytes * count;
                size.times.extend_from_slice(&sample.times);
            }
            _ => sizes.push((
                sample.bytes,
                sample.bytes * count,
                Size { bytes: sample.bytes, times: sample.times.clone() },
            )),
        }
    }
    let mean = |(_, sum, size): (f64, f64, Size)| Size { bytes: sum / size.times.len() as f64, ..size };
    sizes.into_iter().map(mean).filter(|size| size.times.len() >= EACH).collect()
}

/// The default model scaled to the measured rate, by the median of all transfers. Transfers dominated by
/// latency determine only its base: the bandwidth is then the sustained share of this generation.
fn paced(known: [f64; 3], kept: f64, sizes: &[Size], factor: f64) -> [f64; 3] {
    let middle = |of: &dyn Fn(f64, f64) -> f64| {
        let all = sizes.iter().flat_map(|size| size.times.iter().map(|time| of(size.bytes, time.get())));
        median(&all.map(Seconds::new).collect::<Vec<_>>())
    };
    let largest = sizes.iter().map(|size| size.bytes).fold(0.0, f64::max);
    let on_the_wire = factor * largest * known[1];
    if on_the_wire >= ON_THE_WIRE * value(&known, largest, factor) {
        let pace = middle(&|bytes, time| time / value(&known, bytes, factor));
        return known.map(|constant| constant * pace);
    }
    let [_, per_wire, ramp] = known.map(|constant| constant / kept);
    let base = middle(&|bytes, time| time - value(&[0.0, per_wire, ramp], bytes, factor));
    [base.max(0.0), per_wire, ramp]
}

#[cfg(test)]
mod tests {
    use super::super::tests::case;
    use super::super::{fit, judge};
    use super::*;
    use crate::collectives::Collective;
    use railwright_spec::cluster::by_name;

    /// Transfers of a run: the given number of `time(bytes)`, every seventh three times as long.
    fn run(
        operation: Collective,
        sizes: &[f64],
        often: usize,
        time: impl Fn(f64) -> f64,
    ) -> Vec<CollectiveSample> {
        let one = |&bytes: &f64| CollectiveSample {
            times: (0..often)
                .map(|at| Seconds::new(time(bytes) * if at % 7 == 3 { 3.0 } else { 1.0 }))
                .collect(),
            ..like(operation, 8, bytes)
        };
        sizes.iter().map(one).collect()
    }

    fn of(collectives: Vec<CollectiveSample>) -> Samples {
        Samples { from: "ranks".into(), collectives, ..Samples::default() }
    }

    #[test]
    fn each_operation_gets_its_own_law_despite_disturbed_transfers() {
        let cluster = by_name("dgx-h100", 8).expect("known");
        let gather = |b: f64| 30e-6 + 0.875 * b / 250e9;
        let scatter = |b: f64| 50e-6 + 0.875 * b / 150e9;
        let sizes = [1e5, 1e6, 1e7, 1e8, 1e9];
        let mut all = run(Collective::AllGather, &sizes, 7, gather);
        all.extend(run(Collective::ReduceScatter, &sizes, 7, scatter));
        let fitted = fit(&case(&cluster), &[of(all.clone())]).expect("fitted");
        let law = |kind| fitted.calibration.collective(kind, 8).expect("a law");
        let (gathers, scatters) = (law(Collective::AllGather), law(Collective::ReduceScatter));
        assert!((gathers.bandwidth_gb / 250.0 - 1.0).abs() < 0.02, "{gathers:?}");
        assert!((scatters.bandwidth_gb / 150.0 - 1.0).abs() < 0.02, "{scatters:?}");
        assert!((scatters.base_us / 50.0 - 1.0).abs() < 0.05, "{scatters:?}");
        assert_eq!((gathers.regime, gathers.evidence.samples), (Regime::Sustained, 35));
        // One transfer of seven is late: the median is robust.
        assert!(gathers.evidence.uncertainty < 0.02, "{gathers:?}");
        // Validated at a size outside the fit, including the fabric and the generation's rate.
        let held = judge(
            &case(&cluster),
            &fitted.calibration,
            &[of(run(Collective::ReduceScatter, &[3e7], 1, scatter))],
        )
        .expect("judged");
        assert!(held[0].error_after < 0.02 && held[0].error_before > 0.3, "{held:?}");
    }

    /// Sizes across a protocol change are not on one line: a separate model is worse than the scaled default.
    #[test]
    fn a_law_with_larger_error_on_left_out_sizes_is_rejected() {
        let cluster = by_name("dgx-h100", 8).expect("known");
        let predictor = Predictor::new(&cluster, "megatron-core-2024").expect("known");
        let known = |b: f64| predictor.collective(&like(Collective::AllGather, 8, b)) * 1.3;
        // For one of four sizes, another transfer uses the link at the same time.
        let times = |b: f64| known(b) * if (b - 1e7).abs() < 1.0 { 5.0 } else { 1.0 };
        let all = run(Collective::AllGather, &[1e5, 1e6, 1e7, 1e9], 7, times);
        let fitted = fit(&case(&cluster), &[of(all)]).expect("fitted");
        let range = fitted.remarks.iter().find(|r| r.contains("Leave-one-out error")).expect("reported");
        assert!(
            range.starts_with("all_gather x8: the default link model is scaled to the measured rate"),
            "{range}"
        );
        let law = fitted.calibration.collective(Collective::AllGather, 8).expect("a law");
        let predicted = law.base_us * 1e-6 + 0.875 * 1e9 / (law.bandwidth_gb * 1e9);
        assert!((predicted / known(1e9) - 1.0).abs() < 0.25, "{law:?} {predicted} {}", known(1e9));
    }

    /// Two devices on a node's bus: neither scale-up link nor network.
    #[test]
    fn a_bus_has_laws_of_its_own() {
        let cluster = railwright_spec::cluster::ClusterSpec {
            accelerator: Some("v100-pcie-32gb".into()),
            devices: Some(2),
            devices_per_node: Some(2),
            ..Default::default()
        };
        let cluster = cluster.resolve().expect("a pair");
        let time = |b: f64| 20e-6 + b / 8e9;
        let pair: Vec<CollectiveSample> = run(Collective::AllReduce, &[1e4, 1e5, 1e6, 1e7], 5, time)
            .into_iter()
            .map(|one| CollectiveSample { ranks: 2, ..one })
            .collect();
        let fitted = fit(&case(&cluster), &[of(pair)]).expect("fitted");
        assert!(fitted.calibration.network.is_none());
        let law = fitted.calibration.collective(Collective::AllReduce, 2).expect("a law");
        assert!((law.bandwidth_gb / 8.0 - 1.0).abs() < 0.02, "{law:?}");
        assert!(fitted.lines[0].error_after < 0.01, "{:?}", fitted.lines);
    }

    #[test]
    fn small_transfers_determine_only_the_base() {
        let cluster = by_name("dgx-h100", 8).expect("known");
        let all = run(Collective::AllReduce, &[2048.0, 8192.0], 5, |_| 60e-6);
        let fitted = fit(&case(&cluster), &[of(all)]).expect("fitted");
        let law = fitted.calibration.collective(Collective::AllReduce, 8).expect("a law");
        assert!((law.base_us / 60.0 - 1.0).abs() < 0.05, "{law:?}");
        // Ten transfers of one size have more weight than three of another.
        let mut uneven = run(Collective::AllReduce, &[8192.0], 10, |_| 60e-6);
        uneven.extend(run(Collective::AllReduce, &[2048.0], 3, |_| 40e-6));
        let fitted = fit(&case(&cluster), &[of(uneven)]).expect("fitted");
        let base = fitted.calibration.collective(Collective::AllReduce, 8).expect("a law").base_us;
        assert!((base / 60.0 - 1.0).abs() < 0.05, "{base}");
        // 480 GB/s at the generation's rate, not an eighth of it.
        assert!(law.bandwidth_gb > 300.0, "{law:?}");
    }

    #[test]
    fn few_transfers_and_bounds_have_no_law() {
        let cluster = by_name("dgx-h100", 8).expect("known");
        let time = |b: f64| 30e-6 + b / 100e9;
        let bounds: Vec<CollectiveSample> = run(Collective::AllGather, &[1e5, 1e6, 1e7, 1e8], 7, time)
            .into_iter()
            .map(|one| CollectiveSample { is_bound: true, ..one })
            .collect();
        let mut all = bounds;
        all.extend(run(Collective::AllReduce, &[1e5, 1e6, 1e7, 1e8], 1, time));
        let fitted = fit(&case(&cluster), &[of(all)]).expect("fitted");
        assert!(fitted.calibration.collectives.is_empty(), "{:?}", fitted.calibration.collectives);
        assert!(fitted.calibration.collective_rate.is_some());
        assert!(
            fitted.remarks.iter().any(|r| r.starts_with("all_reduce x8: 4 transfers")),
            "{:?}",
            fitted.remarks
        );
    }

    #[test]
    fn sizes_that_lie_close_are_one() {
        let time = |b: f64| b * 1e-9;
        let all = run(Collective::AllToAll, &[1000.0, 1100.0, 1200.0, 5000.0], 1, time);
        let sizes = joined(&all.iter().collect::<Vec<_>>());
        assert_eq!(sizes.len(), 1);
        assert!((sizes[0].bytes - 1100.0).abs() < 1e-9 && sizes[0].times.len() == 3);
    }

    /// A rank with untraced partners: all of its time may be waiting.
    #[test]
    fn bounds_can_speed_up_and_never_slow_down() {
        let cluster = by_name("dgx-h100", 8).expect("known");
        let predictor = Predictor::new(&cluster, "megatron-core-2024").expect("known");
        let shipped = predictor.software.collective_rate;
        let fitted = |factor: f64, is_bound: bool| {
            let sizes = [1e6, 1e7, 1e8];
            let predicted = |b: f64| predictor.collective(&like(Collective::ReduceScatter, 8, b)) / shipped;
            let all = run(Collective::ReduceScatter, &sizes, 1, |b| factor * predicted(b));
            let all = all.into_iter().map(|one| CollectiveSample { is_bound, ..one }).collect();
            fit(&case(&cluster), &[of(all)]).expect("an answer")
        };
        // Four times as long, with untraced ranks: the prediction may be right, so there is no error and no
        // change.
        let waits = fitted(4.0, true);
        assert!(waits.calibration.is_empty(), "{:?}", waits.calibration);
        let line = &waits.lines[0];
        assert!(line.is_bound && (line.error_before, line.error_after) == (0.0, 0.0), "{line:?}");
        assert!(
            waits.remarks.iter().any(|r| r.starts_with("collectives in the run: the default rate is kept. Not all ranks of their groups were traced, so their")),
            "{:?}",
            waits.remarks
        );
        // Half as long proves that they are faster than predicted.
        let faster = fitted(0.5, true);
        let rate = faster.calibration.collective_rate.expect("a rate").rate;
        assert!((rate / (2.0 * shipped) - 1.0).abs() < 0.01, "{rate} {shipped}");
        assert!(faster.lines[0].error_before > 0.9 && faster.lines[0].error_after < 0.02);
        // With all ranks traced, the time is not a bound: slower collectives are fitted.
        let known = fitted(4.0, false);
        let rate = known.calibration.collective_rate.expect("a rate").rate;
        assert!((rate / (0.25 * shipped) - 1.0).abs() < 0.01, "{rate} {shipped}");
        assert!(!known.lines[0].is_bound);
        // An additional bound changes nothing.
        let mut mixed = run(Collective::ReduceScatter, &[1e6, 1e7], 1, |b| {
            predictor.collective(&like(Collective::ReduceScatter, 8, b)) / shipped
        });
        mixed[1].is_bound = true;
        mixed[1].times = vec![Seconds::new(1.0)];
        let mixed = fit(&case(&cluster), &[of(mixed)]).expect("fitted");
        let rate = mixed.calibration.collective_rate.expect("a rate").rate;
        assert!((rate / shipped - 1.0).abs() < 0.01, "{rate} {shipped}");
    }
}
