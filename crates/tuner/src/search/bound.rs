//! Lower bounds on a step's time, from device times of layers alone.
//!
//! Responsible for: bounds for every strategy with a given prefix of choices, with minimum recompute and
//! maximum overlap. Excludes estimates: uncertain terms are omitted.

use super::shapes::Shape;
use railwright_calculator::prepared::{DeviceTime, Setting};
use railwright_calculator::schedule::{ChunkCost, Pipeline, lower_bound};
use railwright_spec::model::Model;
use railwright_spec::plan::Recompute;
use railwright_spec::quantity::Seconds;

/// Upper bound on the rounding of a sum of some thousand terms, with a large margin.
const ROUNDING: f64 = 1.0 - 1e-9;

/// Forward, both halves of backward (exposed communication included), and the exposed communication of the
/// three.
type Times = [f64; 4];

/// Device times of layers as prefix sums, so that the sum of any range of layers is a difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    /// Empty until [`Prefix::expand`].
    layers: Vec<Times>,
    /// Sum over all layers.
    total: Times,
    embedding: Times,
    /// Sum over all heads, including the layers of multi-token prediction.
    head: Times,
    transfer: Seconds,
}

/// Terms of a step's bound in addition to its passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepTerms {
    /// Fixed seconds.
    pub fixed: f64,
    /// Factor of jitter.
    pub factor: f64,
}

fn times(device: &DeviceTime) -> Times {
    let [forward, input, weight] = device.exposed;
    [
        (device.forward + forward).get(),
        (device.backward_input + input).get(),
        (device.backward_weight + weight).get(),
        (forward + input + weight).get(),
    ]
}

/// Times of a layer of each kind.
fn kinds(model: &Model, setting: &Setting) -> Vec<Times> {
    (0..model.layer_kinds.len()).map(|kind| times(&setting.layer(kind))).collect()
}

fn add(to: &mut Times, from: &Times) {
    for (slot, value) in to.iter_mut().zip(from) {
        *slot += value;
    }
}

impl Prefix {
    pub(super) fn new(model: &Model, setting: &Setting) -> Self {
        let kinds = kinds(model, setting);
        let mut total = Times::default();
        for &kind in &model.layers {
            add(&mut total, &kinds[kind]);
        }
        let mut head = times(&setting.head());
        if let Some(mtp) = &model.multi_token_prediction {
            for _ in 0..mtp.depth {
                add(&mut head, &times(&setting.head()));
                add(&mut head, &kinds[mtp.layer_kind]);
            }
        }
        let embedding = times(&setting.embedding());
        Self { layers: Vec::new(), total, embedding, head, transfer: setting.transfer() }
    }

    /// Calculates the sums up to each layer, for [`Prefix::passes`].
    pub(super) fn expand(&mut self, model: &Model, setting: &Setting) {
        if !self.layers.is_empty() {
            return;
        }
        let kinds = kinds(model, setting);
        let mut sum = Times::default();
        self.layers.reserve_exact(model.layers.len() + 1);
        self.layers.push(sum);
        for &kind in &model.layers {
            add(&mut sum, &kinds[kind]);
            self.layers.push(sum);
        }
    }

    /// Lower bound on the passes of a step for any assignment of layers to stages: the total work, shared
    /// equally. With `fuses`, pairs of passes may hide all exposed communication.
    pub(super) fn shared(&self, stages: u64, micro_batches: u64, fuses: bool) -> f64 {
        let mut sum = self.total;
        add(&mut sum, &self.embedding);
        add(&mut sum, &self.head);
        let [forward, input, weight, exposed] = sum;
        let work = forward + input + weight - if fuses { exposed } else { 0.0 };
        work.max(0.0) * micro_batches as f64 / stages.max(1) as f64
    }

    /// Prefix sums of the recompute of layers.
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

    /// Lower bound on the passes of a step, with the first `covered` layers of every chunk recomputed at the
    /// times in `recompute`. Needs the sums of [`Prefix::expand`]. Sharded parameters, the host and
    /// offload only add to it.
    pub(super) fn passes(
        &self,
        shape: &Shape,
        stages: u64,
        micro_batches: u64,
        recompute: Option<&[f64]>,
        covered: u64,
        scratch: &mut Vec<ChunkCost>,
    ) -> f64 {
        let last = shape.layers.len().saturating_sub(1);
        scratch.clear();
        scratch.extend(shape.starts.windows(2).enumerate().map(|(index, bounds)| {
            let (start, end) = (bounds[0], bounds[1]);
            let (before, after) = (&self.layers[start], &self.layers[end]);
            let mut sum: Times = std::array::from_fn(|i| after[i] - before[i]);
            if index == 0 {
                add(&mut sum, &self.embedding);
            }
            if index == last {
                add(&mut sum, &self.head);
            }
            let again = recompute.map_or(0.0, |recompute| {
                let until = usize::try_from(covered).map_or(end, |n| end.min(start.saturating_add(n)));
                recompute[until] - recompute[start]
            });
            let [forward, input, weight, exposed] = sum.map(|time| Seconds::new(time.max(0.0)));
            ChunkCost {
                forward,
                backward_input: input,
                backward_weight: weight,
                recompute: Seconds::new(again.max(0.0)),
                // A fused pair hides at most all communication of both.
                fused_saving: if shape.schedule.has_two_directions() { exposed * 0.5 } else { Seconds::ZERO },
            }
        }));
        let virtual_stages = (scratch.len() as u64 / stages.max(1)).max(1);
        lower_bound(&Pipeline {
            schedule: shape.schedule,
            stages,
            virtual_stages,
            micro_batches,
            chunks: scratch,
            transfer: self.transfer,
            overlap_transfer: true,
        })
        .get()
    }
}

impl StepTerms {
    /// The step's bound from that of its passes.
    pub(super) fn step(&self, passes: f64) -> f64 {
        (passes + self.fixed) * self.factor * ROUNDING
    }
}
