//! The part of a rank's excess over its peers that is not jitter.
//!
//! Responsible for: separating a slow rank from random variation. Where ranks wait for each other after every
//! interval, a job without variation on one rank is always faster, although that rank is like the others. Its
//! differences from its peers then have both signs. A slow rank has more positive ones than chance gives, a
//! paused one has few that are far too long. Does not decide: see the verdict.

use super::peers::Stretches;
use super::stretch::Stretch;
use railwright_spec::median;

/// Maximum deviation of jitter, in robust standard deviations: a longer interval is a pause.
const JUMP: f64 = 5.0;

/// Minimum sum of the other differences, in standard deviations of that sum. Chance gives a larger one for 1
/// of 30,000 ranks.
const SHIFT: f64 = 4.0;

/// Standard deviation of a normal distribution per median absolute deviation.
const PER_DEVIATION: f64 = 1.4826;

/// Maximum size of a column whose median depends on one interval.
const SMALL: usize = 16;

/// Difference of one interval from its peers, and the time that their durations have in common; both in
/// nanoseconds.
type Difference = (f64, f64);

/// Excess of one member over its peers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Beyond {
    /// What is not jitter, in nanoseconds of all steps.
    pub evident: i64,
    /// Its pauses: excess beyond jitter of each interval that is far too long, in nanoseconds.
    pub pauses: Vec<i64>,
}

/// By member: excess over its peers that is not jitter.
pub(super) fn beyond(stretches: &Stretches) -> Vec<Beyond> {
    let differences: Vec<Vec<Difference>> =
        (0..stretches.lists.len()).map(|member| of_member(stretches, member)).collect();
    let scales: Vec<f64> = differences.iter().map(|list| scale(list)).collect();
    let mut usual: Vec<f64> = scales.iter().copied().filter(|scale| *scale > 0.0).collect();
    let usual = if usual.is_empty() { 0.0 } else { median(&mut usual) };
    let of_member = |(list, own): (&Vec<Difference>, f64)| Beyond {
        evident: evident(list, own.max(usual)),
        pauses: list
            .iter()
            .map(|difference| jump(*difference, own.max(usual)) as i64)
            .filter(|pause| *pause > 0)
            .collect(),
    };
    differences.iter().zip(scales).map(of_member).collect()
}

/// Excess of an interval beyond jitter, in nanoseconds.
fn jump((difference, usual): Difference, scale: f64) -> f64 {
    (difference - JUMP * (scale * usual.sqrt())).max(0.0)
}

/// Differences of a member's intervals from the median of the others, without its own.
fn of_member(stretches: &Stretches, member: usize) -> Vec<Difference> {
    let difference = |stretch: &Stretch| {
        let column = stretches.columns.get(stretch.column? as usize)?;
        let usual = if column.len() > SMALL {
            stretch.usual as f64
        } else {
            let mut others: Vec<f64> =
                stretches.others(stretch, SMALL).map(|other| other.own as f64).collect();
            if others.is_empty() {
                return None;
            }
            median(&mut others)
        };
        Some((stretch.own as f64 - usual, usual.max(1.0)))
    };
    stretches.lists.get(member).into_iter().flatten().filter_map(difference).collect()
}

/// Jitter of an interval per root of its duration: durations are sums of kernels that vary independently.
fn scale(list: &[Difference]) -> f64 {
    let mut ratios: Vec<f64> = list.iter().map(|(difference, usual)| difference / usual.sqrt()).collect();
    if ratios.is_empty() {
        return 0.0;
    }
    let middle = median(&mut ratios);
    let mut off: Vec<f64> = ratios.iter().map(|ratio| (ratio - middle).abs()).collect();
    PER_DEVIATION * median(&mut off)
}

/// Sum of pauses, and of the other differences if they are too many of one sign.
fn evident(list: &[Difference], scale: f64) -> i64 {
    let (mut jumps, mut sum, mut variance, mut squares) = (0.0, 0.0, 0.0, 0.0_f64);
    for &(difference, usual) in list {
        let deviation = scale * usual.sqrt();
        jumps += jump((difference, usual), scale);
        let usual = difference.clamp(-JUMP * deviation, JUMP * deviation);
        sum += usual;
        squares += usual * usual;
        variance += deviation * deviation;
    }
    // A fault in a part of the intervals widens their scatter, but not beyond the differences themselves.
    if sum <= SHIFT * variance.min(squares).sqrt() {
        sum = 0.0;
    }
    (jumps + sum) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Kind, StragglerReport, Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// Durations of 100 us that vary by 4 us in a fixed order.
    fn list(shift: f64) -> Vec<Difference> {
        (0..80_u32).map(|at| (f64::from(at * 37 % 81) * 100.0 - 4_000.0 + shift, 100_000.0)).collect()
    }

    #[test]
    fn differences_of_both_signs_are_jitter() {
        let jitter = list(0.0);
        assert_eq!(evident(&jitter, scale(&jitter)), 0);
        let slow = list(2_000.0);
        assert!((evident(&slow, scale(&slow)) - 160_000).abs() < 10_000, "{}", evident(&slow, scale(&slow)));
        let mut paused = list(0.0);
        paused[7].0 = 5_000_000.0;
        let found = evident(&paused, scale(&paused));
        assert!((found - 5_000_000).abs() < 50_000, "{found}");
    }

    fn report(plan: &Synthetic) -> StragglerReport {
        straggler_report(&mut plan.job(), &JoinOptions::default())
    }

    /// Few ranks that wait for each other after every layer.
    #[test]
    fn kernels_that_vary_make_no_rank_of_a_small_job_a_straggler() {
        for (tensor, data) in [(2, 1), (1, 2), (2, 2), (4, 1)] {
            for jitter in [20, 60, 120] {
                let plan = Synthetic { tensor, data, jitter, layers: 12, ..Synthetic::default() };
                let quiet = report(&plan);
                assert_eq!(quiet.verdict, Verdict::None, "{tensor} {data} {jitter}: {:?}", quiet.culprits);
                let slow = report(&Synthetic { slow_chip: vec![(1, 1.1)], ..plan });
                let [named] = slow.culprits.as_slice() else { panic!("{jitter}: {:?}", slow.culprits) };
                assert_eq!((named.kind, named.ranks.as_slice()), (Kind::Rank, &[1_u32][..]));
            }
        }
    }
}
