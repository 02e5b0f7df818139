//! Dense GEMMs of a layer, from its weights, and the activation between an MLP's matrices.

use super::{Kernel, Operation};
use crate::costing::Costing;
use crate::work::Family;
use railwright_spec::model::{Activation, Cut, FeedForward, Layer, Mlp, Module, Position, Usage, Weight};
use railwright_spec::quantity::Bytes;
use railwright_step::Phase;

/// Local shape of a fused GEMM: `rows` outputs and `columns` inputs on one rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product<'a> {
    pub(crate) label: &'a str,
    pub(crate) module: Module,
    pub(crate) rows: f64,
    pub(crate) columns: f64,
    /// Positions per sample, if they are not those of the sequence.
    positions: Option<u64>,
}

impl Product<'_> {
    /// Input rows of a micro-batch on one rank.
    pub(crate) fn tokens(&self, costing: &Costing<'_>) -> f64 {
        if self.module == Module::Router {
            costing.sequence_shard_tokens
        } else {
            costing.tokens_at(self.positions)
        }
    }
}

/// The dense GEMMs of a layer. Weights with one label are fused.
pub(crate) fn products(layer: &Layer, tensor_parallel: f64) -> Vec<Product<'_>> {
    joined(layer.weights.iter().filter(|w| !w.is_routed()), tensor_parallel)
}

/// The GEMMs of each routed expert of a layer.
pub(super) fn routed_products(layer: &Layer, expert_tensor_parallel: f64) -> Vec<Product<'_>> {
    joined(layer.weights.iter().filter(|w| w.is_routed()), expert_tensor_parallel)
}

/// The GEMMs of some weights.
pub(super) fn joined<'a>(weights: impl IntoIterator<Item = &'a Weight>, ranks: f64) -> Vec<Product<'a>> {
    let mut list: Vec<Product<'a>> = Vec::with_capacity(8);
    for weight in weights {
        let Usage::Matmul { fused, positions } = &weight.usage else { continue };
        let (rows, columns) = local_shape(weight, ranks);
        if let Some(product) = list.iter_mut().find(|p| p.label == fused) {
            product.rows += rows;
        } else {
            let (module, positions) = (weight.module, *positions);
            list.push(Product { label: fused, module, rows, columns, positions });
        }
    }
    list
}

/// The part of a matrix on one rank: `(rows, columns)`.
fn local_shape(weight: &Weight, tensor_parallel: f64) -> (f64, f64) {
    let (rows, columns) = (weight.rows as f64, weight.columns as f64);
    match weight.cut {
        Cut::Replicated => (rows, columns),
        Cut::Column | Cut::Vocabulary => (rows / tensor_parallel, columns),
        Cut::Heads(parts) => (rows / tensor_parallel.min(parts as f64), columns),
        Cut::Row => (rows, columns / tensor_parallel),
    }
}

pub(super) fn family(module: Module) -> Family {
    match module {
        Module::AttentionOutput => Family::AttentionOutput,
        Module::Mlp | Module::SharedExpert => Family::Mlp,
        Module::Router => Family::Router,
        _ => Family::AttentionInput,
    }
}

/// Visits the phases of a GEMM: forward, input gradient and, if base weights are trained, weight gradient.
pub(super) fn in_phases(
    costing: &Costing<'_>,
    (family, name): (Family, &str),
    kernel: Kernel,
    visit: &mut impl FnMut(Operation<'_>),
) {
    let one = |phase| Operation::new(family, phase, kernel, 1.0).named(name);
    visit(one(Phase::Forward));
    visit(one(Phase::BackwardInput));
    if costing.trains_weights() {
        visit(one(Phase::BackwardWeight));
    }
}

/// Visits the dense GEMMs, and the activations of the dense or shared MLP.
pub(super) fn visit(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Operation<'_>)) {
    let tp = costing.plan.tensor_parallel as f64;
    for product in products(layer, tp) {
        let is_wide = product.module == Module::Router;
        let format = if is_wide { costing.plan.precision.wide_products() } else { costing.compute_type() };
        let m = product.tokens(costing);
        let kernel = Kernel::Product { m, n: product.rows, k: product.columns, format, is_wide };
        in_phases(costing, (family(product.module), product.label), kernel, visit);
    }
    match &layer.feed_forward {
        FeedForward::Dense(mlp) => activation(costing, mlp, costing.tokens / tp, visit),
        FeedForward::MixtureOfExperts(moe) if moe.shared_intermediate_size > 0 => {
            let shared = Mlp { intermediate_size: moe.shared_intermediate_size, ..moe.expert.clone() };
            activation(costing, &shared, costing.tokens / tp, visit);
        }
        _ => {}
    }
}

/// The activation of an MLP on `tokens` full-width tokens. Gated, it reads two widths and writes one, and
/// backward reads three and writes two; plain, it reads one and writes one, and backward reads two and writes
/// one. GELU that is composed of the framework's operators moves the bytes of each. It counts as one launch,
/// as composed norms do: the host's time per kernel was fitted with this count.
pub(super) fn activation(
    costing: &Costing<'_>,
    mlp: &Mlp,
    tokens: f64,
    visit: &mut impl FnMut(Operation<'_>),
) {
    let (forward, backward) = if mlp.gated { (3.0, 5.0) } else { (2.0, 3.0) };
    let elements = tokens * mlp.intermediate_size as f64;
    let unit = elements * costing.activation_bytes * costing.software.elementwise_passes;
    let mut bytes = composed_gelu(costing, mlp)
        .map_or([forward * unit, backward * unit], |bytes| bytes.map(|each| each * elements));
    if let Some(clamps) =
        costing.software.clamp_bytes.filter(|_| mlp.activation == Activation::ClampedQuickGelu)
    {
        bytes = [bytes[0] + clamps[0] * elements, bytes[1] + clamps[1] * elements];
    }
    for (phase, bytes) in [Phase::Forward, Phase::BackwardInput].into_iter().zip(bytes) {
        let kernel = Kernel::Stream { bytes: Bytes::new(bytes), derived: None };
        visit(Operation::new(Family::Activation, phase, kernel, 1.0));
    }
}

/// Bytes per element of a GELU composed of several operators, forward and backward. Transformers composes
/// that of models with learned positions (`gelu_new` of GPT-2) and calls one kernel otherwise.
fn composed_gelu(costing: &Costing<'_>, mlp: &Mlp) -> Option<[f64; 2]> {
    let is_composed =
        !mlp.gated && mlp.activation == Activation::Gelu && costing.model.position == Position::Learned;
    costing.software.composed_gelu_bytes.filter(|_| is_composed)
}
