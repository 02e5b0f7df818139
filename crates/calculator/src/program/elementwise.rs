//! Element-wise kernels between a layer's matrices: norms, residual additions, rotary embedding, casts.

use super::{Kernel, Operation, products};
use crate::costing::Costing;
use crate::local::local_parameters;
use crate::work::Family;
use railwright_spec::model::{FeedForward, Layer, Mixer, Module, Norm};
use railwright_spec::quantity::Bytes;
use railwright_step::Phase;

/// Element-wise kernels between the matrices, in bytes that full fusion would move, times the generation's
/// passes.
///
/// Per token of width h and e bytes an element: a norm reads and writes `2he` forward and `3he` backward; a
/// residual addition moves `3he` each way; a dropout adds a byte of mask; rotary embedding moves `2e` per
/// rotated query or key element, and so does a query-key norm. Norms and rotary embedding that are composed
/// of many operators move their measured traffic instead.
pub(super) fn visit(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Operation<'_>)) {
    let plan = costing.plan;
    let e = costing.activation_bytes;
    let h = costing.model.hidden_size as f64;
    let passes = costing.software.elementwise_passes;
    let shard = costing.sequence_shard_tokens;
    let local = costing.tokens / plan.tensor_parallel as f64;
    let mut stream = |family, phase, bytes: f64, launches| {
        let kernel = Kernel::Stream { bytes: Bytes::new(bytes * passes), derived: None };
        visit(Operation::new(family, phase, kernel, launches));
    };

    let norms = layer.norms as f64;
    let normed = norms * h * shard;
    let queries = query_norm_width(layer) * local;
    // LayerNorm is one kernel in every framework.
    let software = costing.software;
    let held = if costing.casts_whole_weights() { None } else { software.uncast_norm_bytes };
    let composed = held
        .or(software.norm_bytes)
        .filter(|_| layer.norm == Norm::RmsNorm)
        .map(|bytes| bytes.map(|each| each / passes));
    if norms > 0.0 {
        let [forward, backward] = composed.map_or([2.0 * e * normed, 3.0 * e * normed], |bytes| {
            bytes.map(|each| each * (normed + queries))
        });
        stream(Family::Norm, Phase::Forward, forward, norms);
        stream(Family::Norm, Phase::BackwardInput, backward, 2.0 * norms);
    }

    let halves = f64::from(u8::from(!matches!(layer.mixer, Mixer::None)))
        + f64::from(u8::from(!matches!(layer.feed_forward, FeedForward::None)));
    let mask = if plan.dropout { 1.0 } else { 0.0 };
    let residual = halves * (3.0 * e + mask) * h * shard;
    let rotated = rotated_width(layer) * local;
    let fused = 2.0 * e * (rotated + if composed.is_some() { 0.0 } else { queries });
    let rotary =
        costing.software.rotary_bytes.map_or([fused; 2], |bytes| bytes.map(|each| each / passes * rotated));
    let trained = local_parameters(&layer.weights, plan).trained();
    let weights = weight_casts(costing, trained) / passes;
    // Narrow formats cast every input: read wide, write narrow, twice for the transposed copy that the weight
    // gradient reads.
    let casts = if plan.precision.compute.is_narrow() {
        projection_inputs(costing, layer)
            * (e + 2.0 * plan.precision.compute.bytes())
            * costing.software.cast_passes
            / passes
    } else {
        0.0
    };
    for (phase, rotary) in [Phase::Forward, Phase::BackwardInput].into_iter().zip(rotary) {
        stream(Family::Residual, phase, residual + rotary + casts + weights, 2.0 * halves);
    }
}

/// Bytes moved by casts of trained weights, or of their gradients, in a pass of a micro-batch if the software
/// casts in each (autocast). None if weights are kept in the compute format.
pub(super) fn weight_casts(costing: &Costing<'_>, parameters: f64) -> f64 {
    let precision = &costing.plan.precision;
    let is_cast = precision.master.is_some_and(|master| master.bytes() > precision.parameters.bytes());
    if is_cast { parameters * costing.software.weight_cast_bytes } else { 0.0 }
}

/// Query and key elements per token with a query-key norm.
fn query_norm_width(layer: &Layer) -> f64 {
    let width = |mixer: &Mixer| match mixer {
        Mixer::Attention(a) if a.qk_norm => ((a.heads + a.kv_heads) * a.head_dim) as f64,
        _ => 0.0,
    };
    layer.mixer.each().iter().map(width).sum()
}

/// Query and key elements per token with rotary embedding.
fn rotated_width(layer: &Layer) -> f64 {
    let width = |mixer: &Mixer| match mixer {
        Mixer::Attention(a) => ((a.heads + a.kv_heads) * a.head_dim) as f64,
        // Latent attention also concatenates the rotated and plain parts of queries and keys.
        Mixer::Latent(a) => (2 * a.heads * (a.qk_nope_head_dim + a.qk_rope_head_dim)) as f64,
        _ => 0.0,
    };
    layer.mixer.each().iter().map(width).sum()
}

/// Elements per rank in the inputs of the layer's dense GEMMs in a micro-batch.
fn projection_inputs(costing: &Costing<'_>, layer: &Layer) -> f64 {
    products::products(layer, costing.plan.tensor_parallel as f64)
        .iter()
        .filter(|product| product.module != Module::Router)
        .map(|product| product.tokens(costing) * product.columns)
        .sum()
}
