//! Causality bounds of clocks.
//!
//! Responsible for: bounds from causality. No rank leaves a blocking collective before the last has entered,
//! and no message is received before it is sent. An offset outside these bounds is moved to their edge; an
//! unknown drift widens them with the distance from the middle of the recording. Contradicting bounds cause a
//! warning.

use super::RankClock;

/// The largest and the second largest value of a list, by member: gives the maximum over all others in one
/// step.
#[derive(Clone, Copy)]
struct Two {
    best: i64,
    who: u32,
    next: i64,
}

impl Two {
    fn of(values: impl Iterator<Item = (u32, i64)>) -> Self {
        let none = Self { best: i64::MIN, who: u32::MAX, next: i64::MIN };
        values.fold(none, |two, (who, value)| {
            if value > two.best {
                Self { best: value, who, next: two.best }
            } else {
                Self { next: two.next.max(value), ..two }
            }
        })
    }

    fn without(self, who: u32) -> i64 {
        if who == self.who { self.next } else { self.best }
    }
}

/// Computes the bounds of every clock from the other clocks and moves it into them; twice, because they
/// depend on each other.
pub(super) fn bounds(points: &[Point], clocks: &mut [RankClock]) {
    for _ in 0..2 {
        for clock in clocks.iter_mut() {
            (clock.least, clock.greatest) = (None, None);
        }
        for point in points {
            // Positions on the common time, so that a bound is the remaining shift of a clock.
            let place = |&(member, start, end): &(u32, i64, i64)| {
                let clock = &clocks[member as usize];
                (member, clock.common(start), clock.common(end))
            };
            let parts: Vec<(u32, i64, i64)> = point.parts.iter().map(place).collect();
            let latest_start = Two::of(parts.iter().map(|&(member, start, _)| (member, start)));
            // Negated, so that the earliest end is the largest.
            let earliest_end = Two::of(parts.iter().map(|&(member, _, end)| (member, -end)));
            for &(member, start, end) in &parts {
                let binds_end = point.receiver.is_none_or(|receiver| receiver == member);
                let binds_start = point.receiver.is_none_or(|receiver| receiver != member);
                let clock = &mut clocks[member as usize];
                // An unknown drift widens the bound with the distance from the middle.
                let away = end.saturating_sub(clock.about.saturating_sub(clock.offset)).unsigned_abs();
                let blur = (clock.drift_error_ppm * 1e-6 * away as f64).round() as i64;
                let entered = latest_start.without(member);
                if binds_end && entered > i64::MIN {
                    // end - move >= the latest start of the others.
                    let most = clock.offset.saturating_add(end.saturating_sub(entered)).saturating_add(blur);
                    clock.greatest = Some(clock.greatest.map_or(most, |known| known.min(most)));
                }
                let left = earliest_end.without(member);
                if binds_start && left > i64::MIN {
                    // start - move <= the earliest end of the others.
                    let least = clock.offset.saturating_add(start.saturating_add(left)).saturating_sub(blur);
                    clock.least = Some(clock.least.map_or(least, |known| known.max(least)));
                }
            }
        }
        for clock in clocks.iter_mut() {
            if clock.rank == clock.against {
                continue;
            }
            let (least, greatest) = (clock.least.unwrap_or(i64::MIN), clock.greatest.unwrap_or(i64::MAX));
            if least <= greatest {
                clock.offset = clock.offset.clamp(least, greatest);
            }
        }
    }
}

/// A common end: the end times of one collective by rank.
pub(super) struct Point {
    /// (member, start, end) by their own clocks, in nanoseconds.
    pub parts: Vec<(u32, i64, i64)>,
    /// True if no rank can leave before all have entered.
    pub blocking: bool,
    /// Receiver of a message: its end is the only bound.
    pub receiver: Option<u32>,
}

impl Point {
    /// Duration of the shortest part in nanoseconds: the upper bound on the distance between ends.
    pub(super) fn within(&self) -> i64 {
        self.parts.iter().map(|(_, start, end)| end - start).min().unwrap_or(0)
    }
}
