//! Delays beyond the named ones.
//!
//! Responsible for: the step time that further evident delays cost, of ranks and of stages that are somewhat
//! longer than the others; and the reason against "no straggler" because of such a stage. They are no
//! verdict: no rank or stage is an exception.

use super::measured::Measured;
use super::mending::{Delay, Mending};
use super::stages::SlowStage;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Minimum saving of a stage that excludes the verdict "no straggler", as a share of the step.
const NOTABLE: f64 = 0.02;

/// Delays that are not named.
pub(super) struct Rest {
    /// Further saving without them, in nanoseconds per step.
    pub saving: f64,
    /// Reasons against the verdict "no straggler".
    pub doubts: Vec<String>,
}

impl Measured<'_> {
    /// Delays beyond the removed ones: evident delays of other ranks, and of the stages `near` to slow ones.
    /// Those of at most `least` nanoseconds of all steps do not count.
    pub(super) fn rest(&self, removed: &[Delay], near: &[SlowStage], least: i64) -> Rest {
        let stages: Vec<SlowStage> = self.mending.stages.iter().chain(near).cloned().collect();
        let mending = Mending { stages: &stages, ..*self.mending };
        let span = mending.span(removed);
        let mut doubts = Vec::new();
        let mut all = removed.to_vec();
        for (at, stage) in stages.iter().enumerate().skip(self.mending.stages.len()) {
            let mut with = removed.to_vec();
            with.push(Delay::Stage(at));
            let saving = (span - mending.span(&with)) as f64 / self.count;
            if saving * self.count <= least as f64 || self.share(saving) <= NOTABLE {
                continue;
            }
            all.push(Delay::Stage(at));
            doubts.push(format!(
                "stage {} computes {:.2} times as long as the median stage, which costs {} per step: by design, as with a head, or because of \
                 more work or slow chips",
                stage.stage,
                1.0 / stage.usual(),
                human::seconds(Seconds::new(saving * 1e-9))
            ));
        }
        // Stages that are equally long hide each other.
        let longer: Vec<Delay> =
            (0..stages.len()).map(Delay::Stage).filter(|delay| !removed.contains(delay)).collect();
        if doubts.is_empty() && longer.len() > 1 {
            let with: Vec<Delay> = removed.iter().chain(&longer).copied().collect();
            let saving = (span - mending.span(&with)) as f64 / self.count;
            if saving * self.count > least as f64 && self.share(saving) > NOTABLE {
                let of = |delay: &Delay| match *delay {
                    Delay::Stage(at) => stages.get(at).map(|stage| stage.stage.to_string()),
                    _ => None,
                };
                let numbers: Vec<String> = longer.iter().filter_map(of).collect();
                doubts.push(format!(
                    "stages {} compute longer than the others and hide each other, which costs {} per step: slow chips of their nodes, or more \
                     work; compare clocks and power of their devices",
                    numbers.join(", "),
                    human::seconds(Seconds::new(saving * 1e-9))
                ));
                all.extend(longer);
            }
        }
        let evident = self.mending.evident.iter().enumerate().filter(|(_, evident)| **evident > least);
        all.extend(evident.map(|(member, _)| Delay::Member(member)).filter(|delay| !removed.contains(delay)));
        let saving = ((span - mending.span(&all)) as f64 / self.count).max(0.0);
        Rest { saving: if saving * self.count > least as f64 { saving } else { 0.0 }, doubts }
    }
}
