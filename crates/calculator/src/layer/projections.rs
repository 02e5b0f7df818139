//! Dense matrix products of a layer, read off its weights, and the activation between an MLP's matrices.

use super::LayerCost;
use crate::costing::Costing;
use crate::operators::Pass;
use crate::work::Family;
use railwright_spec::model::{Cut, FeedForward, Layer, Mlp, Module, Usage, Weight};
use railwright_spec::quantity::Bytes;

/// A fused product's local shape: `rows` outputs and `columns` inputs on one rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product<'a> {
    pub(crate) label: &'a str,
    pub(crate) module: Module,
    pub(crate) rows: f64,
    pub(crate) columns: f64,
}

/// The dense products of a layer, weights with one label joined.
pub(crate) fn products(layer: &Layer, tensor_parallel: f64) -> Vec<Product<'_>> {
    joined(layer.weights.iter().filter(|w| !w.is_routed()), tensor_parallel)
}

/// The products of each routed expert of a layer.
pub(super) fn routed_products(layer: &Layer, expert_tensor_parallel: f64) -> Vec<Product<'_>> {
    joined(layer.weights.iter().filter(|w| w.is_routed()), expert_tensor_parallel)
}

fn joined<'a>(weights: impl Iterator<Item = &'a Weight>, ranks: f64) -> Vec<Product<'a>> {
    let mut list: Vec<Product<'a>> = Vec::with_capacity(8);
    for weight in weights {
        let Usage::Matmul { fused } = &weight.usage else { continue };
        let (rows, columns) = local_shape(weight, ranks);
        match list.iter_mut().find(|p| p.label == fused) {
            Some(product) => product.rows += rows,
            None => list.push(Product { label: fused, module: weight.module, rows, columns }),
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

fn family(module: Module) -> Family {
    match module {
        Module::AttentionOutput => Family::AttentionOutput,
        Module::Mlp | Module::SharedExpert => Family::Mlp,
        Module::Router => Family::Router,
        _ => Family::AttentionInput,
    }
}

/// Adds the dense products, and the activations of the dense or shared MLP.
pub(super) fn add(costing: &Costing<'_>, layer: &Layer, cost: &mut LayerCost) {
    let tp = costing.plan.tensor_parallel as f64;
    for product in products(layer, tp) {
        // Routers stay in the activations' format.
        let router = product.module == Module::Router;
        let (data_type, rate) = if router {
            (costing.plan.precision.activations, costing.wide_matmul_rate)
        } else {
            (costing.compute_type(), costing.matmul_rate)
        };
        let tokens = if router { costing.sequence_shard_tokens } else { costing.tokens };
        let family = family(product.module);
        let price = |pass| costing.gemm(tokens, product.rows, product.columns, data_type, pass);
        cost.forward.add_compute(family, price(Pass::Forward), rate, 1.0);
        cost.backward_input.add_compute(family, price(Pass::DataGradient), rate, 1.0);
        if costing.trains_weights() {
            cost.backward_weight.add_compute(family, price(Pass::WeightGradient), rate, 1.0);
        }
    }
    match &layer.feed_forward {
        FeedForward::Dense(mlp) => activation(costing, mlp, costing.tokens / tp, cost),
        FeedForward::MixtureOfExperts(moe) if moe.shared_intermediate_size > 0 => {
            let shared = Mlp { intermediate_size: moe.shared_intermediate_size, ..moe.expert.clone() };
            activation(costing, &shared, costing.tokens / tp, cost);
        }
        _ => {}
    }
}

/// The activation of an MLP on `tokens` full-width tokens: gated it reads two widths and writes one, and backward reads three and
/// writes two; plain it reads one and writes one, and backward reads two and writes one.
pub(super) fn activation(costing: &Costing<'_>, mlp: &Mlp, tokens: f64, cost: &mut LayerCost) {
    let (forward, backward) = if mlp.gated { (3.0, 5.0) } else { (2.0, 3.0) };
    let unit = tokens
        * mlp.intermediate_size as f64
        * costing.activation_bytes
        * costing.software.elementwise_passes;
    let device = &costing.machine.device;
    cost.forward.add_compute(Family::Activation, device.memory_bound(Bytes::new(unit * forward)), 1.0, 1.0);
    cost.backward_input.add_compute(
        Family::Activation,
        device.memory_bound(Bytes::new(unit * backward)),
        1.0,
        1.0,
    );
}
