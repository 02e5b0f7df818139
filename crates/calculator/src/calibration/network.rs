//! Network between domains: the NIC share that collectives reach, and latencies relative to the catalogue.
//!
//! Responsible for: three numbers, by coordinate descent on the calculator's own models. Excludes
//! measurements inside one domain.

use super::collectives::by_place;
use super::figures::{from, median, rounded, uncertainty};
use super::predictor::{group, is_local};
use crate::collectives::{Collective, Fabric, ring_share};
use railwright_spec::Portable as _;
use railwright_spec::calibration::{Calibration, CollectiveSample, Evidence, NetworkLaw, Samples};
use railwright_spec::cluster::Cluster;
use railwright_spec::quantity::Bytes;
use std::sync::Arc;

/// Rounds over the three numbers, and steps of each search.
const ROUNDS: usize = 4;
const STEPS: usize = 32;
/// Search range of NIC shares and latency factors. Shares above 1 are NICs faster than in the cluster.
const SHARES: (f64, f64) = (0.02, 4.0);
const LATENCIES: (f64, f64) = (0.05, 20.0);

/// Fits the network, if any measured collective crossed it.
pub(super) fn fit(bare: &Cluster, samples: &[Samples], calibration: &mut Calibration) {
    let groups = by_place(bare, samples, false, true);
    let all: Vec<&CollectiveSample> = groups.values().flatten().copied().collect();
    if all.is_empty() {
        return;
    }
    let spreads = |s: &&CollectiveSample| s.operation == Collective::AllToAll;
    let start = [ring_share(&bare.network.kind), 0.8, 1.0];
    let error = |constants: [f64; 3]| error(bare, calibration, constants, &all);
    let mut best = start;
    let has = [all.iter().any(|s| !spreads(s)), all.iter().any(spreads), true];
    for _ in 0..ROUNDS {
        for place in (0..3).filter(|place| has[*place]) {
            let range = if place == 2 { LATENCIES } else { SHARES };
            best[place] = lowest(range, best[place], |x| {
                let mut tried = best;
                tried[place] = x;
                error(tried)
            });
        }
    }
    let sizes = || all.iter().map(|s| s.bytes);
    let ranks = || all.iter().map(|s| s.ranks);
    let domains = || all.iter().map(|s| group(bare, s).domains());
    let fitted = with(bare, calibration, best);
    let fabric = Fabric::new(&fitted);
    let off = all.iter().map(|s| median(&s.times) / predicted(&fabric, &fitted, s).max(1e-12));
    let law = NetworkLaw {
        ring_share: rounded(best[0]),
        spread_share: rounded(best[1]),
        latency: rounded(best[2]),
        from_ranks: ranks().min().unwrap_or(0),
        to_ranks: ranks().max().unwrap_or(0),
        from_domains: domains().min().unwrap_or(0),
        to_domains: domains().max().unwrap_or(0),
        from_bytes: sizes().fold(f64::INFINITY, f64::min),
        to_bytes: sizes().fold(0.0, f64::max),
        evidence: Evidence {
            from: from(samples, |s| s.collectives.iter().any(|c| c.alone && !is_local(bare, c))),
            samples: all.iter().map(|s| s.times.len() as u64).sum(),
            spread: 0.0,
            uncertainty: uncertainty(off),
            error_before: rounded(weighted(bare, &all)),
            error_after: rounded(weighted(&fitted, &all)),
        },
    };
    calibration.network = Some(law);
}

fn with(bare: &Cluster, calibration: &Calibration, [ring_share, spread_share, latency]: [f64; 3]) -> Cluster {
    let network = NetworkLaw {
        ring_share,
        spread_share,
        latency,
        from_ranks: 0,
        to_ranks: 0,
        from_domains: 0,
        to_domains: 0,
        from_bytes: 0.0,
        to_bytes: 0.0,
        evidence: Evidence::default(),
    };
    let link = bare.scale_up.link.clone();
    let tried = Calibration { network: Some(network), link, ..calibration.clone() };
    Cluster { calibration: Some(Arc::new(tried)), ..bare.clone() }
}

fn predicted(fabric: &Fabric, cluster: &Cluster, sample: &CollectiveSample) -> f64 {
    fabric.time(sample.operation, Bytes::new(sample.bytes), &group(cluster, sample), 1.0).time.get()
}

/// The mean of |ln(predicted / measured)|.
fn error(
    bare: &Cluster,
    calibration: &Calibration,
    constants: [f64; 3],
    samples: &[&CollectiveSample],
) -> f64 {
    let cluster = with(bare, calibration, constants);
    let fabric = Fabric::new(&cluster);
    samples
        .iter()
        .map(|s| (predicted(&fabric, &cluster, s) / median(&s.times)).portable_ln().abs())
        .sum::<f64>()
}

/// The mean absolute error weighted by time.
fn weighted(cluster: &Cluster, samples: &[&CollectiveSample]) -> f64 {
    let fabric = Fabric::new(cluster);
    let measured: f64 = samples.iter().map(|s| median(&s.times)).sum();
    let off: f64 = samples.iter().map(|s| (predicted(&fabric, cluster, s) - median(&s.times)).abs()).sum();
    off / measured.max(1e-12)
}

/// Maximum ratio of a new error to the current one for a change: constants that measurements do not determine
/// keep their value.
const WORTH: f64 = 0.99;

/// Argument of the minimum in a range, searched in the logarithm: a coarse grid, then golden sections around
/// its best point.
fn lowest((low, high): (f64, f64), start: f64, value: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let grid = |at: usize| {
        (low.portable_ln() + (high / low).portable_ln() * at as f64 / STEPS as f64).portable_exp()
    };
    let best = (0..=STEPS).min_by(|a, b| value(grid(*a)).total_cmp(&value(grid(*b)))).unwrap_or(0);
    let (mut from, mut to) =
        (grid(best.saturating_sub(1)).portable_ln(), grid((best + 1).min(STEPS)).portable_ln());
    for _ in 0..STEPS {
        let (left, right) = (to - GOLDEN * (to - from), from + GOLDEN * (to - from));
        if value(left.portable_exp()) <= value(right.portable_exp()) {
            to = right;
        } else {
            from = left;
        }
    }
    let found = f64::midpoint(from, to).portable_exp();
    if value(found) < WORTH * value(start) { found } else { start }
}
