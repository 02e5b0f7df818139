//! Lower bounds of a step's time, from device times of layers alone.
//!
//! Responsible for: bounds that hold for everything that hangs below a choice: nothing recomputed less, nothing hidden better. Refuses
//! estimates: what is not certain is left out.

use super::shapes::Shape;
use railwright_calculator::prepared::{DeviceTime, Setting};
use railwright_spec::model::Model;
use railwright_spec::plan::{Recompute, Schedule};

/// What rounding may add to a sum of some thousand terms, many times over.
const ROUNDING: f64 = 1.0 - 1e-9;

/// Device times of layers, summed from the first layer on, so that any run of layers is a difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    /// Forward and backward with exposed communication.
    whole: Vec<f64>,
    /// Compute alone.
    compute: Vec<f64>,
    embedding: DeviceTime,
    /// All heads, with the layers of multi-token prediction.
    head: DeviceTime,
    transfer: f64,
}

/// What is added to every bound of a step's passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    /// Fixed seconds.
    pub fixed: f64,
    /// Jitter's factor.
    pub factor: f64,
}

impl Prefix {
    pub(super) fn new(model: &Model, setting: &Setting) -> Self {
        let kinds: Vec<DeviceTime> = (0..model.layer_kinds.len()).map(|kind| setting.layer(kind)).collect();
        let mut prefix =
            Self { embedding: setting.embedding(), transfer: setting.transfer().get(), ..Self::default() };
        let (mut whole, mut compute) = (0.0, 0.0);
        prefix.whole.push(whole);
        prefix.compute.push(compute);
        for &kind in &model.layers {
            let time = &kinds[kind];
            compute += time.compute().get();
            whole += (time.compute() + time.exposed()).get();
            prefix.whole.push(whole);
            prefix.compute.push(compute);
        }
        let mut head = DeviceTime::default();
        head.add(&setting.head(), 1.0);
        if let Some(mtp) = &model.multi_token_prediction {
            head.add(&setting.head(), mtp.depth as f64);
            head.add(&kinds[mtp.layer_kind], mtp.depth as f64);
        }
        prefix.head = head;
        prefix
    }

    /// Recompute of layers, summed likewise.
    pub(super) fn recompute(model: &Model, setting: &Setting, policy: &Recompute) -> Vec<f64> {
        let kinds: Vec<f64> =
            (0..model.layer_kinds.len()).map(|kind| setting.recompute(model, kind, policy).get()).collect();
        let mut sum = 0.0;
        std::iter::once(0.0)
            .chain(model.layers.iter().map(|&kind| {
                sum += kinds[kind];
                sum
            }))
            .collect()
    }

    /// The passes of a step take at least this long, with the first `covered` layers of every chunk recomputed at the times in
    /// `recompute`.
    ///
    /// A stage is busy for `m` micro batches of its chunks. Where both gradients come in one pass, it cannot start before the first
    /// micro batch has passed the stages before it, and the last gradient passes them again after it:
    /// `max over s of m x sum of own chunks + sum over c < s of (chunk c + 2 transfers)`. Where weight gradients are split off, steps
    /// follow each other at the busiest stage's pace at best. DualPipe may hide communication, and runs each chunk for half of the
    /// micro batches.
    pub(super) fn passes(
        &self,
        shape: &Shape,
        stages: u64,
        micro_batches: u64,
        recompute: Option<&[f64]>,
        covered: u64,
    ) -> f64 {
        let m = micro_batches as f64;
        let dual = shape.schedule == Schedule::DualPipe;
        let sums = if dual { &self.compute } else { &self.whole };
        let last = shape.layers.len() - 1;
        let chunk = |index: usize| {
            let (start, end) = (shape.starts[index], shape.starts[index + 1]);
            let mut time = sums[end] - sums[start];
            if let Some(recompute) = recompute {
                let until = usize::try_from(covered).map_or(end, |n| end.min(start.saturating_add(n)));
                time += recompute[until] - recompute[start];
            }
            let ends =
                |part: &DeviceTime| part.compute().get() + if dual { 0.0 } else { part.exposed().get() };
            if index == 0 {
                time += ends(&self.embedding);
            }
            if index == last {
                time += ends(&self.head);
            }
            time
        };
        let p = stages as usize;
        let mut most = 0.0_f64;
        match shape.schedule {
            Schedule::Gpipe | Schedule::OneForwardOneBackward => {
                let mut before = 0.0;
                for stage in 0..p {
                    let first = chunk(stage);
                    let rest: f64 = (stage + p..=last).step_by(p).map(chunk).sum();
                    most = most.max(m * (first + rest) + before);
                    before += first + 2.0 * self.transfer;
                }
            }
            Schedule::ZbH1 | Schedule::ZbH2 => {
                for stage in 0..p {
                    most = most.max(m * chunk(stage));
                }
            }
            Schedule::ZbV => {
                for stage in 0..p {
                    most = most.max(m * (chunk(stage) + chunk(2 * p - 1 - stage)));
                }
            }
            Schedule::DualPipe => {
                for stage in 0..p / 2 {
                    most = most.max(0.5 * m * (chunk(stage) + chunk(p - 1 - stage)));
                }
            }
        }
        most
    }
}

impl Beside {
    /// The step's bound from that of its passes.
    pub(super) fn step(&self, passes: f64) -> f64 {
        (passes + self.fixed) * self.factor * ROUNDING
    }
}
