//! Low-rank adapters of frozen weights: the GEMMs of `A` and `B`, forward and backward.
//!
//! Responsible for: their memory traffic and FLOPs on one rank. Excludes their tensor-parallel communication
//! (`tokens x rank` elements per adapter, and outputs of `B` at a row-parallel weight) and dropout before
//! them.

use super::{Kernel, Operation, experts};
use crate::costing::Costing;
use crate::work::Family;
use railwright_spec::model::{Cut, FeedForward, Layer, Module};
use railwright_spec::plan::Adapter;
use railwright_spec::quantity::{Bytes, Flop};
use railwright_step::Phase;

/// Widths of an adapter on one rank, and the number of adapters on it.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Input width of `A`.
    columns: f64,
    /// Output width of `A` on this rank, and input width of `B`.
    ranks: [f64; 2],
    /// Output width of `B`.
    rows: f64,
    /// Number of equal adapters on this rank: those of its experts.
    copies: f64,
}

impl Shape {
    fn new(adapter: &Adapter, costing: &Costing<'_>) -> Self {
        let plan = costing.plan;
        let is_routed = adapter.a.is_routed();
        let degree = if is_routed { plan.expert_tensor_parallel } else { plan.tensor_parallel } as f64;
        let rank = adapter.a.rows as f64;
        let (columns, own) = match adapter.a.cut {
            Cut::Row => (adapter.a.columns as f64 / degree, rank),
            Cut::Replicated => (adapter.a.columns as f64, rank),
            _ => (adapter.a.columns as f64, rank / degree),
        };
        let rows = match adapter.b.cut {
            Cut::Heads(parts) => adapter.b.rows as f64 / degree.min(parts.max(1) as f64),
            Cut::Replicated => adapter.b.rows as f64,
            _ => adapter.b.rows as f64 / degree,
        };
        let copies =
            if is_routed { (adapter.a.copies as f64 / plan.expert_parallel as f64).max(1.0) } else { 1.0 };
        Self { columns, ranks: [own, rank], rows, copies }
    }

    /// Number of elements of both matrices.
    fn parameters(&self) -> f64 {
        self.copies * (self.ranks[0] * self.columns + self.ranks[1] * self.rows)
    }

    /// Arithmetic of one pass over `tokens`: `2 tokens (in x rank + rank x out)`.
    fn flop(&self, tokens: f64) -> f64 {
        2.0 * tokens * (self.columns * self.ranks[0] + self.ranks[1] * self.rows)
    }
}

/// Visits the adapters of a layer. None if the weights are trained.
///
/// With `in`, `r` and `out` the widths on the rank and `p` the generation's passes of element-wise kernels,
/// each token moves in elements:
///
/// * forward `in + 2 r + out` (`A` reads the input, `B` reads what `A` wrote) and `3 p out` (scaled and added
///   to the frozen output),
/// * gradients of inputs `out + 2 r + in` (the same backwards) and `3 p in` (added to the frozen product's),
/// * gradients of weights `out + in + 2 r`.
///
/// If the software keeps adapters in fp32, the first two also cast `in` elements to fp32 and back (PEFT's
/// `autocast_adapter_dtype` under autocast: 6 bytes each).
///
/// Each pass reads both matrices once, and reads and writes their gradients. A pass takes the time of its
/// traffic, or of its arithmetic at the peak if a high rank makes that longer. (PEFT's `lora.Linear.forward`
/// and Megatron-Bridge's `LoRALinear.forward` have these kernels.)
pub(super) fn visit(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Operation<'_>)) {
    let Some(lora) = costing.plan.adapters() else { return };
    let passes = costing.software.elementwise_passes;
    for adapter in lora.adapters(layer) {
        let shape = Shape::new(&adapter, costing);
        let tokens = match &layer.feed_forward {
            FeedForward::MixtureOfExperts(moe) if adapter.a.is_routed() => experts::held(costing, moe),
            _ => costing.tokens_at(adapter.a.positions()),
        };
        let (columns, rows) = (shape.columns, shape.rows);
        let both = columns + rows + shape.ranks[0] + shape.ranks[1];
        let flop = Flop::new(shape.flop(tokens));
        let casts = tokens * columns * costing.software.adapter_cast_bytes;
        let mut one = |phase, elements: f64, matrices: f64, launches| {
            let elements = tokens * elements + matrices * shape.parameters();
            let casts = if phase == Phase::BackwardWeight { 0.0 } else { casts };
            let bytes = Bytes::new(elements * costing.activation_bytes + casts);
            let kernel = Kernel::Roofline { bytes, flop };
            visit(Operation::new(family(adapter.a.module), phase, kernel, launches).named("adapter"));
        };
        one(Phase::Forward, both + 3.0 * passes * rows, 1.0, 4.0);
        one(Phase::BackwardInput, both + 3.0 * passes * columns, 1.0, 4.0);
        one(Phase::BackwardWeight, both, 2.0, 2.0);
    }
}

const fn family(module: Module) -> Family {
    match module {
        Module::AttentionOutput => Family::AttentionOutput,
        Module::Mlp | Module::SharedExpert => Family::Mlp,
        Module::Experts => Family::Experts,
        _ => Family::AttentionInput,
    }
}
