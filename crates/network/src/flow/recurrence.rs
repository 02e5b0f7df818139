//! Skips laps that are copies of one another.
//!
//! Responsible for: recognizing that a repeating program (a ring, a chain of micro-batches) has returned to
//! the state of an earlier lap; skipping all remaining laps. Equal states have the same active messages at
//! the same time before their next event. A deterministic system in the same state repeats itself. Requires
//! equal, not merely similar, states.

use super::run::Run;
use super::traffic::{ProgramProgress, Traffic};

/// Distances in time that are closer than this share of a lap are equal.
const EQUAL: f64 = 1e-9;
/// Laps that are looked at one by one before looking is made rarer.
const PATIENCE: u64 = 32;

/// Record of an earlier lap, and the schedule of comparisons.
#[derive(Debug, Default)]
pub(super) struct Recurrence {
    earlier: Option<Picture>,
    /// Number of the next lap to compare.
    next: u64,
    looked: u64,
}

/// A simulation at the start of a lap.
#[derive(Debug)]
struct Picture {
    lap: ProgramProgress,
    time: f64,
    flows: u64,
    carried: Vec<f64>,
    state: Vec<u64>,
    /// Active messages, sorted: tag within the lap, and seconds to the next event.
    under_way: Vec<(u64, f64)>,
}

impl Recurrence {
    /// Tests whether a lap began with the state of an earlier one; if so, skips the remaining laps.
    pub(super) fn look(&mut self, run: &mut Run, traffic: &mut impl Traffic) {
        let Some(lap) = traffic.lap() else { return };
        if lap.number < self.next || lap.left == 0 {
            return;
        }
        self.looked += 1;
        // A long transient must not cost a comparison in every lap.
        self.next = lap.number + 1 + self.looked / PATIENCE;
        let now = picture(run, traffic, lap);
        if let Some(before) = &self.earlier
            && is_same(before, &now)
        {
            let laps = now.lap.number - before.lap.number;
            let times = now.lap.left / laps;
            if times > 0 {
                let carried: Vec<f64> =
                    now.carried.iter().zip(&before.carried).map(|(b, a)| (b - a) * times as f64).collect();
                let time = (now.time - before.time) * times as f64;
                let flows = (now.flows - before.flows) * times;
                run.forward(time, flows, &carried, |tag| traffic.renamed(tag, laps * times));
                traffic.skip(laps * times);
                self.earlier = None;
                self.next = u64::MAX;
                return;
            }
        }
        self.earlier = Some(now);
    }
}

fn picture(run: &Run, traffic: &impl Traffic, lap: ProgramProgress) -> Picture {
    let (time, flows) = run.progress();
    let mut state = Vec::new();
    traffic.state(&mut state);
    let mut under_way = Vec::new();
    run.under_way(|tag, wait| under_way.push((traffic.relative(tag), wait)));
    under_way.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Picture { lap, time, flows, carried: run.carried().to_vec(), state, under_way }
}

fn is_same(a: &Picture, b: &Picture) -> bool {
    let tolerance = EQUAL * (b.time - a.time);
    a.lap.number < b.lap.number
        && b.time > a.time
        && a.state == b.state
        && a.under_way.len() == b.under_way.len()
        && a.under_way.iter().zip(&b.under_way).all(|(x, y)| x.0 == y.0 && (x.1 - y.1).abs() <= tolerance)
}
