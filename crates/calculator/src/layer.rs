//! What one layer costs one rank for one micro batch: forward, both halves of backward, and recompute.
//!
//! Responsible for: turning a layer's weights and mixer into operators, and its cuts into communication. Refuses to know where
//! in the pipeline the layer stands. Start at [`LayerCost::new`].

mod adapters;
mod communication;
pub(crate) mod experts;
mod mixer;
pub(crate) mod projections;

mod recompute;

pub(crate) use communication::{context_widths, tensor_exchange, tensor_halves};

use crate::costing::Costing;
use crate::work::{Family, Work};
use railwright_spec::model::{FeedForward, Layer, Mixer, Module};
use railwright_spec::plan::Recompute;
use railwright_spec::quantity::Bytes;

/// The costs of a layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LayerCost {
    /// Forward.
    pub forward: Work,
    /// Backward: gradients of inputs.
    pub backward_input: Work,
    /// Backward: gradients of weights.
    pub backward_weight: Work,
    /// What is computed again before the backward pass.
    pub recompute: Work,
}

impl LayerCost {
    /// Prices a layer under the plan's recompute.
    pub fn new(costing: &Costing<'_>, layer: &Layer) -> Self {
        let mut cost = Self::kept(costing, layer);
        cost.recompute = recompute::of(&costing.plan.recompute, layer, &cost);
        cost
    }

    /// The same under another policy.
    #[must_use]
    pub fn recomputing(mut self, policy: &Recompute, layer: &Layer) -> Self {
        self.recompute = recompute::of(policy, layer, &self);
        self
    }

    /// Prices a layer that keeps everything.
    pub fn kept(costing: &Costing<'_>, layer: &Layer) -> Self {
        let mut cost = Self::default();
        projections::add(costing, layer, &mut cost);
        mixer::add(costing, layer, &mut cost);
        if let FeedForward::MixtureOfExperts(moe) = &layer.feed_forward {
            experts::add(costing, layer, moe, &mut cost);
        }
        adapters::add(costing, layer, &mut cost);
        elementwise(costing, layer, &mut cost);
        communication::add(costing, layer, &mut cost);
        cost
    }

    /// Adds another layer's costs, `times` over.
    pub fn add(&mut self, other: &Self, times: f64) {
        self.forward += &other.forward.scaled(times);
        self.backward_input += &other.backward_input.scaled(times);
        self.backward_weight += &other.backward_weight.scaled(times);
        self.recompute += &other.recompute.scaled(times);
    }
}

/// Element-wise kernels between the matrices, in bytes that full fusion would move, times the generation's passes.
///
/// Per token of width h and e bytes an element: a norm reads and writes `2he` forward and `3he` backward; a residual addition
/// moves `3he` each way; a dropout adds a byte of mask; rotary embedding moves `2e` per rotated query or key element.
fn elementwise(costing: &Costing<'_>, layer: &Layer, cost: &mut LayerCost) {
    let plan = costing.plan;
    let e = costing.activation_bytes;
    let h = costing.model.hidden_size as f64;
    let passes = costing.software.elementwise_passes;
    let shard = costing.sequence_shard_tokens;
    let local = costing.tokens / plan.tensor_parallel as f64;
    let stream = |bytes: f64| costing.machine.device.memory_bound(Bytes::new(bytes * passes));

    let norms = layer.norms as f64;
    if norms > 0.0 {
        cost.forward.add_compute(Family::Norm, stream(norms * 2.0 * h * e * shard), 1.0, norms);
        cost.backward_input.add_compute(Family::Norm, stream(norms * 3.0 * h * e * shard), 1.0, 2.0 * norms);
    }

    let halves = f64::from(u8::from(!matches!(layer.mixer, Mixer::None)))
        + f64::from(u8::from(!matches!(layer.feed_forward, FeedForward::None)));
    let mask = if plan.dropout { 1.0 } else { 0.0 };
    let residual = halves * (3.0 * e + mask) * h * shard;
    let rotated = rotated_width(layer) * 2.0 * e * local;
    // Narrow formats cast every input: read wide, write narrow, twice for the transposed copy that the weight gradient reads.
    let narrow = if plan.precision.compute.is_narrow() {
        projection_inputs(costing, layer)
            * (e + 2.0 * plan.precision.compute.bytes())
            * costing.software.cast_passes
            / passes
    } else {
        0.0
    };
    cost.forward.add_compute(Family::Residual, stream(residual + rotated + narrow), 1.0, 2.0 * halves);
    cost.backward_input.add_compute(Family::Residual, stream(residual + rotated + narrow), 1.0, 2.0 * halves);
}

/// Query and key elements per token that rotary embedding or a query-key norm touches.
fn rotated_width(layer: &Layer) -> f64 {
    let width = |mixer: &Mixer| match mixer {
        Mixer::Attention(a) => {
            let width = ((a.heads + a.kv_heads) * a.head_dim) as f64;
            if a.qk_norm { 2.0 * width } else { width }
        }
        // Latent attention also concatenates the rotated and plain parts of queries and keys.
        Mixer::Latent(a) => (2 * a.heads * (a.qk_nope_head_dim + a.qk_rope_head_dim)) as f64,
        _ => 0.0,
    };
    layer.mixer.each().iter().map(width).sum()
}

/// Elements per rank that enter the layer's dense matrix products in a micro batch.
fn projection_inputs(costing: &Costing<'_>, layer: &Layer) -> f64 {
    projections::products(layer, costing.plan.tensor_parallel as f64)
        .iter()
        .filter(|product| product.module != Module::Router)
        .map(|product| costing.tokens * product.columns)
        .sum()
}
