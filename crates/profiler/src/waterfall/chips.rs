//! Chips that are slower than others.
//!
//! Responsible for: comparing the same kernels, run equally often, between ranks, and separating a rank's
//! excess from its compute. Does not compare ranks with different work: a kernel that one rank runs more
//! often than another is no evidence.

use super::{Label, Parts, RankWaterfall};
use crate::Names;
use crate::view::Role;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Minimum number of ranks: with fewer, an outlier cannot be distinguished from the median.
const FEWEST: usize = 3;

/// Minimum relative excess of a slower rank over the median rank: clocks of healthy chips differ by about as
/// much.
const TOLERANCE: f64 = 0.01;

/// Minimum share of a rank's compute in comparable kernels.
const COVERAGE: f64 = 0.5;

/// One kernel on one rank.
struct Sample {
    /// Index into the ranks.
    rank: usize,
    count: u64,
    duration: i64,
}

/// Separates the cost of slower chips from the compute of ranks. Returns the slower ranks with their factors.
/// `names` are the ranks' in their order.
pub(super) fn take_out(ranks: &mut [RankWaterfall], names: &[&Names]) -> Vec<(u32, f64)> {
    if ranks.len() < FEWEST {
        return Vec::new();
    }
    let mut kernels: IndexMap<(&str, u8), Vec<Sample>, FxBuildHasher> = IndexMap::default();
    for (at, (rank, names)) in ranks.iter().zip(names).enumerate() {
        for kernel in rank.kernels.iter().filter(|kernel| kernel.role == Role::Compute) {
            let sample = Sample { rank: at, count: kernel.count, duration: kernel.duration };
            kernels.entry((names.get(kernel.name), kernel.phase as u8)).or_default().push(sample);
        }
    }
    // By rank: time of its comparable kernels, and the median rank's time for them, in nanoseconds.
    let mut own = vec![0_i64; ranks.len()];
    let mut median = vec![0_i64; ranks.len()];
    for samples in kernels.values_mut() {
        samples.sort_by_key(|sample| (sample.count, sample.duration));
        for alike in samples.chunk_by(|a, b| a.count == b.count).filter(|alike| alike.len() >= FEWEST) {
            let middle = alike[alike.len() / 2].duration;
            for sample in alike {
                own[sample.rank] += sample.duration;
                median[sample.rank] += middle;
            }
        }
    }
    let mut slower = Vec::new();
    for (at, rank) in ranks.iter_mut().enumerate() {
        let all: i64 = rank.kernels.iter().filter(|k| k.role == Role::Compute).map(|k| k.duration).sum();
        let (own, median) = (own[at] as f64, median[at] as f64);
        if median <= 0.0 || own < COVERAGE * all as f64 || own <= median * (1.0 + TOLERANCE) {
            continue;
        }
        let factor = own / median;
        slower.push((rank.rank, factor));
        // Every kernel would take 1/factor of its time on the median chip.
        rank.total = Parts::default();
        for step in &mut rank.steps {
            for (label, time) in step.clone().iter().filter(|(label, _)| label.is_compute()) {
                step.shift(label, Label::SlowerChip, (time as f64 * (1.0 - 1.0 / factor)).floor() as i64);
            }
            rank.total.merge(step);
        }
    }
    slower
}

#[cfg(test)]
mod tests {
    use super::super::KernelUse;
    use super::*;
    use railwright_step::{OperatorFamily, Phase};

    /// Ranks that run two kernels ten times each, with these total times.
    fn ranks(times: &[(i64, i64)], names: &mut Names) -> Vec<RankWaterfall> {
        let ids = [names.intern("gemm"), names.intern("norm")];
        let make = |(rank, &(gemm, norm)): (usize, &(i64, i64))| {
            let kernel = |name, duration| KernelUse {
                name,
                phase: Phase::Forward,
                family: OperatorFamily::Other,
                role: Role::Compute,
                count: 10,
                duration,
                longest: duration,
            };
            let mut step = Parts::default();
            step.add(Label::MatrixProduct, gemm);
            step.add(Label::MemoryBound, norm);
            let kernels = vec![kernel(ids[0], gemm), kernel(ids[1], norm)];
            RankWaterfall {
                rank: rank as u32,
                total: step.clone(),
                steps: vec![step],
                kernels,
                ..RankWaterfall::default()
            }
        };
        times.iter().enumerate().map(make).collect()
    }

    #[test]
    fn the_slow_chip_is_found_and_its_excess_taken_out() {
        let mut names = Names::default();
        let mut ranks = ranks(&[(1000, 500), (1002, 499), (1100, 550), (999, 501)], &mut names);
        let found = take_out(&mut ranks, &[&names; 4]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, 2);
        assert!((found[0].1 - 1650.0 / 1503.0).abs() < 1e-9, "{found:?}");
        let slow = &ranks[2].total;
        assert_eq!(slow.total(), 1650);
        assert!((140..=147).contains(&slow.get(Label::SlowerChip)), "{slow:?}");
        assert_eq!(ranks[1].total.get(Label::SlowerChip), 0);
    }

    #[test]
    fn two_ranks_have_no_middle() {
        let mut names = Names::default();
        let mut ranks = ranks(&[(1000, 500), (2000, 900)], &mut names);
        assert!(take_out(&mut ranks, &[&names; 2]).is_empty());
    }
}
