//! Device counters of a rank over time, for rows next to its activities.
//!
//! Responsible for: readings of clocks, power and temperature, and rates of totals of network cards, as
//! changes since the start of a step. A counter without readings for the whole step has no row, because a gap
//! would look like 0. Readings without a time have no place.

use super::health::assigned;
use super::{Metric, Sample};
use crate::Job;
use std::collections::BTreeMap;

/// Maximum distance of a reading from the moments for which it holds, in nanoseconds: counters are read every
/// second or less often.
const REACH: i64 = 2_000_000_000;

/// Maximum distance of a reading of a total from the step: exporters are read every 15 to 60 seconds.
const AROUND: i64 = 60_000_000_000;

/// Readings that are drawn as they are: metric, name of the row, unit.
const GAUGES: [(Metric, &str, &str); 5] = [
    (Metric::SmClock, "SM clock", "MHz"),
    (Metric::MemoryClock, "memory clock", "MHz"),
    (Metric::Power, "power", "W"),
    (Metric::Temperature, "temperature", "\u{b0}C"),
    (Metric::MemoryTemperature, "memory temperature", "\u{b0}C"),
];

/// Totals whose rate is drawn, summed over the network cards of the host.
const TOTALS: [(Metric, &str, &str); 2] = [
    (Metric::BytesSent, "network cards of the host, sent", "B/s"),
    (Metric::BytesReceived, "network cards of the host, received", "B/s"),
];

/// A row: name, unit and changes, in nanoseconds since the start of the step.
pub(crate) type Changes = (&'static str, &'static str, Vec<(i64, f64)>);

/// Rows of each rank for a step from `start` to `end`, by the index of the rank in the job.
pub(crate) fn of_step(job: &Job, start: i64, end: i64) -> Vec<Vec<Changes>> {
    let near = |sample: &&Sample| {
        let margin =
            if TOTALS.iter().any(|(metric, _, _)| *metric == sample.metric) { AROUND } else { REACH };
        let is_near = |time| time >= start.saturating_sub(margin) && time <= end.saturating_add(margin);
        sample.time.is_some_and(is_near)
    };
    let samples: Vec<&Sample> = job.telemetry.iter().filter(near).collect();
    if samples.is_empty() {
        return vec![Vec::new(); job.members.len()];
    }
    let of_rank = |own: Vec<usize>| {
        let own: Vec<&Sample> = own.into_iter().filter_map(|at| samples.get(at).copied()).collect();
        let held = |metric| held(&times(&own, metric), start, end);
        let rates = |metric| rates(&own, metric, start, end);
        let gauges = GAUGES.iter().map(|&(metric, name, unit)| (name, unit, held(metric)));
        let totals = TOTALS.iter().map(|&(metric, name, unit)| (name, unit, rates(metric)));
        gauges.chain(totals).filter(|(_, _, changes)| !changes.is_empty()).collect()
    };
    assigned(job, &samples).into_iter().map(of_rank).collect()
}

/// Readings of a metric by their time; of equal times the last one.
fn times(samples: &[&Sample], metric: Metric) -> BTreeMap<i64, f64> {
    let of = samples.iter().filter(|sample| sample.metric == metric);
    of.filter_map(|sample| Some((sample.time?, sample.value))).collect()
}

/// Each reading, from the middle between it and the one before. Empty if a moment of the step is farther than
/// [`REACH`] from all readings.
fn held(readings: &BTreeMap<i64, f64>, start: i64, end: i64) -> Vec<(i64, f64)> {
    let times: Vec<i64> = readings.keys().copied().collect();
    let is_near = |(one, next): (&i64, &i64)| next.saturating_sub(*one) <= 2 * REACH;
    let covers = times.first().is_some_and(|first| first.saturating_sub(REACH) <= start)
        && times.last().is_some_and(|last| last.saturating_add(REACH) >= end)
        && times.iter().zip(times.iter().skip(1)).all(is_near);
    if !covers {
        return Vec::new();
    }
    let mut changes = Vec::new();
    let mut last = 0.0;
    for (at, (&time, &value)) in readings.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| times.get(at));
        let from = before.map_or_else(|| start.min(time), |before| before.midpoint(time));
        changes.push((from.saturating_sub(start), value - last));
        last = value;
    }
    changes
}

/// Growth of totals between two readings over their distance in time, summed over cards, in units per second.
/// Cards whose readings do not enclose the step, or whose total began again, are left out.
fn rates(samples: &[&Sample], metric: Metric, start: i64, end: i64) -> Vec<(i64, f64)> {
    let mut cards: BTreeMap<&str, BTreeMap<i64, f64>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.metric == metric) {
        if let Some(time) = sample.time {
            cards.entry(&sample.device).or_default().insert(time, sample.value);
        }
    }
    let encloses = |readings: &&BTreeMap<i64, f64>| {
        let ends = readings.keys().next().zip(readings.keys().next_back());
        ends.is_some_and(|(first, last)| *first <= start && *last >= end)
    };
    let mut changes = Vec::new();
    for readings in cards.values().filter(encloses) {
        let pairs = || readings.iter().zip(readings.iter().skip(1));
        if pairs().any(|((_, before), (_, after))| after < before) {
            continue;
        }
        for ((&from, before), (&to, after)) in pairs().filter(|((_, _), (to, _))| **to > start) {
            let rate = (after - before) * 1e9 / to.saturating_sub(from) as f64;
            changes.push((from.saturating_sub(start), rate));
            changes.push((to.saturating_sub(start), -rate));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Synthetic;

    const SECOND: i64 = 1_000_000_000;

    fn sample(device: &str, time: i64, metric: Metric, value: f64) -> Sample {
        Sample { host: None, device: device.to_owned(), time: Some(time), metric, value }
    }

    /// A job of one host, whose devices are their ranks, with these samples.
    fn job(samples: Vec<Sample>) -> Job {
        let mut job = Synthetic::default().job();
        for member in &mut job.members {
            member.trace.identity.host = None;
            member.trace.identity.device = Some(member.rank);
        }
        job.telemetry = samples;
        job
    }

    #[test]
    fn a_reading_holds_to_the_middle_between_it_and_the_next() {
        let of_0 = |at: i64, value: f64| sample("0", at, Metric::SmClock, value);
        let power = sample("1", 2 * SECOND, Metric::Power, 700.0);
        let job = job(vec![of_0(2 * SECOND, 1_980.0), of_0(3 * SECOND, 1_200.0), power]);
        let rows = of_step(&job, SECOND, 3 * SECOND);
        let half = SECOND / 2;
        // From the start of the step, which is less than two seconds before the first reading.
        assert_eq!(rows[0], [("SM clock", "MHz", vec![(0, 1_980.0), (SECOND + half, -780.0)])]);
        assert_eq!(rows[1], [("power", "W", vec![(0, 700.0)])]);
    }

    #[test]
    fn the_rate_of_a_total_is_its_growth_over_time() {
        let sent = |card: &str, at: i64, value: f64| sample(card, at, Metric::BytesSent, value);
        // 50 GB in a second is 50 GB/s; the second card began again, and the third was not read after the
        // step.
        let job = job(vec![
            sent("mlx5_0/1", 0, 1e9),
            sent("mlx5_0/1", SECOND, 51e9),
            sent("mlx5_1/1", 0, 9e9),
            sent("mlx5_1/1", SECOND, 1e9),
            sent("mlx5_2/1", 0, 9e9),
        ]);
        let rows = of_step(&job, SECOND / 4, SECOND / 2);
        let quarter = SECOND / 4;
        let wanted = vec![(-quarter, 50e9), (3 * quarter, -50e9)];
        assert_eq!(rows[0], [("network cards of the host, sent", "B/s", wanted)]);
        assert_eq!(rows[0], rows[1], "all ranks of the host have its cards");
    }

    #[test]
    fn a_gap_without_a_reading_and_a_reading_without_a_time_have_no_row() {
        let of_0 = |at: i64| sample("0", at, Metric::SmClock, 1_980.0);
        let mut untimed = of_0(0);
        untimed.time = None;
        for samples in [vec![untimed], vec![of_0(60 * SECOND)], vec![of_0(0), of_0(9 * SECOND)]] {
            assert!(of_step(&job(samples), 0, 9 * SECOND).iter().all(Vec::is_empty));
        }
    }
}
