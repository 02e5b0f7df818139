//! Steps before the steady state.
//!
//! Responsible for: the leading steps that take far longer than later ones (warm-up, compilation), or that
//! are annotated as warm-up, so that means exclude them. Keeps slow steps in the middle of a recording: they
//! recur in a long run, so its mean includes them.

use super::{CutBy, StepWindow, Windows};
use crate::RankTrace;
use crate::causes;
use crate::occupancy::Intervals;
use crate::trace::HostKind;
use railwright_spec::human;
use railwright_spec::lower_median;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;

/// Minimum excess over the median of a step before the steady state, as a share of the median; with [`KNOWN`]
/// or more later steps, whose scatter is known better, a smaller one.
const LONGER: f64 = 0.5;
const LONGER_THAN_MANY: f64 = 0.1;
const KNOWN: usize = 4;
/// Minimum excess in median absolute deviations of the later steps. For normal noise that is 5 * 0.6745 = 3.4
/// standard deviations (Hampel's identifier).
const DEVIATIONS: f64 = 5.0;
/// Minimum number of later steps for a known scatter.
const REST: usize = 3;
/// With fewer, minimum ratio of a leading step to the longest later one: no scatter of repeated work is that
/// wide.
const APART: f64 = 20.0;
/// Minimum number of steps for a cost per day: fewer do not show what a usual step is.
const FEWEST_FOR_A_DAY: usize = 3;
/// Minimum share of a step covered by warm-up annotations.
const ANNOTATED: f64 = 0.5;

/// Lower median of durations; 0 without any.
fn median(durations: &[f64]) -> f64 {
    lower_median(&mut durations.to_vec())
}

/// Number of leading steps before the steady state: at most half of them.
fn leading(durations: &[f64]) -> usize {
    let most = (durations.len() / 2).min(durations.len().saturating_sub(REST));
    let far = far(durations);
    (far > most)
        .then_some(far)
        .or_else(|| may_be_apart(durations, most).rev().find(|&count| is_apart(durations, count)))
        .unwrap_or(0)
}

/// Number of leading steps that are many times as long as all others; at most half of them.
fn far(durations: &[f64]) -> usize {
    // Longest duration from each step on.
    let mut longest = 0.0_f64;
    let mut rests: Vec<f64> = durations
        .iter()
        .rev()
        .map(|duration| {
            longest = longest.max(*duration);
            longest
        })
        .collect();
    rests.reverse();
    let mut shortest = f64::INFINITY;
    let steps = (1..).zip(durations).zip(rests.iter().skip(1)).take(durations.len() / 2);
    let far = steps.filter(|((_, duration), rest)| {
        shortest = shortest.min(**duration);
        shortest > APART * **rest
    });
    far.last().map_or(0, |((count, _), _)| count)
}

/// Tests whether this number of leading steps is separate from all others.
fn is_apart(durations: &[f64], count: usize) -> bool {
    let (before, rest) = durations.split_at(count);
    let usual = median(rest);
    let deviations: Vec<f64> = rest.iter().map(|duration| (duration - usual).abs()).collect();
    let longer = if rest.len() < KNOWN { LONGER } else { LONGER_THAN_MANY };
    let limit = usual + (DEVIATIONS * median(&deviations)).max(longer * usual);
    // The variation between later steps is not warm-up.
    let scatter = rest.iter().copied().fold(0.0, f64::max) - usual;
    before.iter().all(|duration| *duration > limit && *duration - usual > 2.0 * scatter)
}

/// Candidate numbers of leading steps, at most `most`: only few, so steps are rarely sorted.
///
/// The longest of the second half, M, bounds the median of any rest from above, as that half is at least half
/// of the rest. The excess of steps apart over the median is more than twice that of the longest of the rest,
/// R: shortest - M > 2 (R - M). From one such number to the next lower one the excess over M doubles. So
/// there are at most as many as an integer has bits.
fn may_be_apart(durations: &[f64], most: usize) -> impl DoubleEndedIterator<Item = usize> + use<> {
    let (before, rest) = durations.split_at(most);
    let bound = rest.iter().copied().fold(0.0, f64::max);
    let mut longest = bound;
    let mut of_rest: Vec<f64> = vec![bound];
    of_rest.extend(before.iter().rev().map(|duration| {
        longest = longest.max(*duration);
        longest
    }));
    let mut shortest = f64::INFINITY;
    let counts = (1..).zip(before).zip(of_rest.into_iter().rev().skip(1));
    let found: Vec<usize> = counts
        .filter_map(|((count, duration), longest)| {
            shortest = shortest.min(*duration);
            (shortest - bound > 2.0 * (longest - bound)).then_some(count)
        })
        .collect();
    found.into_iter()
}

/// Time of a rank's warm-up annotations.
fn annotated(trace: &RankTrace) -> Intervals {
    let is_warm_up = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["warmup", "warm_up", "warm-up"].iter().any(|word| name.contains(word))
    };
    let host = &trace.host;
    let kinds = host.kinds().iter().enumerate().filter(|(_, kind)| **kind == HostKind::Annotation);
    let mut known: Vec<Option<bool>> = vec![None; trace.names.len()];
    let rows = kinds.filter_map(|(at, _)| {
        let name = *host.names().get(at)?;
        let named = *known.get_mut(name.0 as usize)?.get_or_insert_with(|| is_warm_up(trace.names.get(name)));
        named.then_some((*host.starts().get(at)?, *host.ends().get(at)?))
    });
    Intervals::union(rows.collect())
}

/// Number of leading steps that a rank annotates as warm-up; 0 if all steps are.
fn warm_up_of(steps: &[StepWindow], annotated: &Intervals) -> usize {
    let covered = |step: &StepWindow| {
        annotated.within(step.start, step.end) as f64 > ANNOTATED * step.duration() as f64
    };
    let count = steps.iter().take_while(|step| covered(step)).count();
    // A name that recurs in later steps has another meaning, such as a schedule's warm-up in every step.
    let comes_back = steps.get(count).is_none_or(|next| annotated.within(next.start, i64::MAX) > 0);
    if comes_back { 0 } else { count }
}

/// Minimum excess of a first step over all later ones, as a share of the longest of them, if most of it is
/// one-off work.
const LONGER_BY_ONE_OFF: f64 = 0.5;
/// Minimum share of that excess in one-off work.
const ONE_OFF: f64 = 0.5;

/// Tests whether a rank's first step is longer than all later ones because of one-off work: allocation,
/// compilation, loading of modules. Two later steps do not show a scatter, but the calls of the host show the
/// reason.
fn begins_with_one_off(steps: &[StepWindow], one_off: impl FnOnce() -> Intervals) -> bool {
    let Some((first, rest)) = steps.split_first().filter(|(_, rest)| rest.len() > 1) else { return false };
    let longest = rest.iter().map(StepWindow::duration).max().unwrap_or(0);
    let excess = (first.duration() - longest) as f64;
    if excess <= LONGER_BY_ONE_OFF * longest as f64 {
        return false;
    }
    let one_off = one_off();
    let within = |step: &StepWindow| one_off.within(step.start, step.end);
    let usual = rest.iter().map(within).max().unwrap_or(0);
    (within(first) - usual) as f64 > ONE_OFF * excess
}

/// Maximum duration of repetitions of one step, in medians.
const REPEATS: f64 = 20.0;

impl Windows {
    /// Tests whether steps are similar enough for a mean.
    pub fn repeat(&self) -> bool {
        // Steps of prefill and of decode differ; they are compared by mode.
        if self.is_inference() {
            return true;
        }
        let durations: Vec<f64> = self.steps.iter().map(|step| step.duration() as f64).collect();
        let most = REPEATS * median(&durations).max(1.0);
        durations.iter().all(|duration| *duration <= most)
    }

    /// Tests whether these steps are enough for a cost per day: three or more repetitions of one
    /// step.
    pub fn recur(&self) -> bool {
        self.steps.len() >= FEWEST_FOR_A_DAY && self.cut_by != CutBy::Nothing && self.repeat()
    }

    /// Ratio of the longest step to the median.
    pub(crate) fn longest(&self) -> f64 {
        let durations: Vec<f64> = self.steps.iter().map(|step| step.duration() as f64).collect();
        durations.iter().copied().fold(0.0, f64::max) / median(&durations).max(1.0)
    }

    /// Moves steps before the steady state to `warm_up`: the same ones for every analysis.
    pub(crate) fn settle<'a>(&mut self, traces: impl Iterator<Item = &'a RankTrace>) {
        if self.is_inference() {
            return;
        }
        let durations: Vec<f64> = self.steps.iter().map(|step| step.duration() as f64).collect();
        let (mut marked, mut one_off) = (0, false);
        for trace in traces {
            marked = marked.max(warm_up_of(&self.steps, &annotated(trace)));
            one_off = one_off || begins_with_one_off(&self.steps, || causes::one_off(trace));
        }
        let count = marked + leading(durations.get(marked..).unwrap_or_default());
        let count = count.max(usize::from(one_off));
        if count == 0 {
            return;
        }
        let time = |nanoseconds: f64| human::seconds(Seconds::new(nanoseconds * 1e-9));
        let rest = median(durations.get(count..).unwrap_or_default());
        let names: Vec<String> = (0..count).map(|at| self.name(at)).collect();
        let taken: f64 = durations.iter().take(count).sum();
        self.warnings.push(Warning::new(
            "steps-before-steady-state",
            format!(
                "step{} {} took {} (median of the others: {}): excluded from the means as warm-up (one-off cost \
                {})",
                if count == 1 { "" } else { "s" },
                names.join(", "),
                time(taken),
                time(rest),
                time(taken - rest * count as f64)
            ),
        ));
        self.warm_up = self.steps.drain(..count).collect::<Vec<StepWindow>>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn leading_steps_far_above_the_others_are_before_the_steady_state() {
        for (durations, expected) in [
            (&[900.0, 100.0, 101.0, 99.0, 100.0][..], 1),
            (&[900.0, 400.0, 101.0, 99.0, 100.0], 2),
            // A step in the middle is not warm-up.
            (&[100.0, 101.0, 900.0, 100.0], 0),
            // Nor is a first step within the variation of the others.
            (&[160.0, 100.0, 155.0, 90.0, 120.0], 0),
            (&[140.0, 100.0, 100.0, 100.0], 0),
            (&[140.0, 100.0, 101.0, 99.0, 100.0], 1),
            (&[140.0, 100.0, 130.0, 90.0, 110.0], 0),
            (&[106.0, 100.0, 101.0, 99.0, 100.0], 0),
            // Two steps show no scatter, so a step is apart only at a ratio that no scatter has.
            (&[900.0, 100.0], 0),
            (&[900.0, 101.0, 100.0], 0),
            (&[2100.0, 100.0], 1),
            (&[2100.0, 100.0, 101.0], 1),
            (&[2100.0, 2100.0, 100.0], 0),
            (&[], 0),
        ] {
            assert_eq!(leading(durations), expected, "{durations:?}");
        }
    }

    #[test]
    fn annotated_warm_up_is_before_the_steady_state() {
        let step = |start, end| StepWindow { number: None, start, end, without: Vec::new() };
        let steps = [step(0, 100), step(100, 200), step(200, 300)];
        let warm_up_of = |steps: &[StepWindow], annotated: &[(i64, i64)]| {
            super::warm_up_of(steps, &Intervals::union(annotated.to_vec()))
        };
        assert_eq!(warm_up_of(&steps, &[(10, 90)]), 1);
        assert_eq!(warm_up_of(&steps, &[(0, 80), (90, 180)]), 2);
        // Some steps must remain, and annotated steps in the middle are not the start.
        assert_eq!(warm_up_of(&steps, &[(0, 300)]), 0);
        assert_eq!(warm_up_of(&steps, &[(110, 190)]), 0);
        assert_eq!(warm_up_of(&steps, &[(0, 40)]), 0);
    }

    #[test]
    fn a_first_step_of_one_off_work_is_before_the_steady_state() {
        let step = |start, end| StepWindow { number: None, start, end, without: Vec::new() };
        let steps = [step(0, 360), step(360, 510), step(510, 665)];
        let begins = |steps: &[StepWindow], one_off: &[(i64, i64)]| {
            begins_with_one_off(steps, || Intervals::union(one_off.to_vec()))
        };
        assert!(begins(&steps, &[(20, 200)]));
        // The same work in every step recurs, and less of it does not explain the length.
        assert!(!begins(&steps, &[(20, 200), (360, 500)]));
        assert!(!begins(&steps, &[(20, 60)]));
        assert!(!begins(&steps[..2], &[(20, 200)]));
    }

    /// Tests whether each of this number of leading steps is many times as long as all others.
    fn is_far(durations: &[f64], count: usize) -> bool {
        let (before, rest) = durations.split_at(count);
        let longest = rest.iter().copied().fold(0.0, f64::max);
        before.iter().all(|duration| *duration > APART * longest)
    }

    proptest! {
        #[test]
        fn few_numbers_of_steps_are_looked_at_and_none_is_missed(
            raw in prop::collection::vec(prop_oneof![1_u32..200, 1_u32..1_000_000], 0..40), order in 0_u32..3,
        ) {
            let mut durations: Vec<f64> = raw.iter().map(|duration| f64::from(*duration)).collect();
            match order {
                0 => {}
                1 => durations.sort_by(|a, b| b.total_cmp(a)),
                _ => durations.iter_mut().rev().enumerate().for_each(|(at, duration)| *duration = (*duration * 1.5_f64.powi(at as i32)).round()),
            }
            let most = (durations.len() / 2).min(durations.len().saturating_sub(REST));
            let is_leading = |&count: &usize| {
                if count > most { is_far(&durations, count) } else { is_apart(&durations, count) }
            };
            let all = (1..=durations.len() / 2).rev().find(is_leading).unwrap_or(0);
            prop_assert_eq!(leading(&durations), all);
            let far_by_all = (1..=durations.len() / 2).rev().find(|&count| is_far(&durations, count)).unwrap_or(0);
            prop_assert_eq!(far(&durations), far_by_all);
            prop_assert!(may_be_apart(&durations, most).count() <= 64);
        }
    }

    /// With medians of all steps for every step, 50,000 steps took a minute.
    #[test]
    fn many_steps_take_time_by_their_number() {
        for durations in [vec![100.0; 400_000], (0..400_000).map(|at| f64::from(1_000_000 - at)).collect()] {
            let most = durations.len() / 2;
            assert!(may_be_apart(&durations, most).count() <= 64);
            assert_eq!(leading(&durations), 0);
        }
    }
}
