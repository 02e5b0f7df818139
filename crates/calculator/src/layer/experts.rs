//! Routed experts: router, permutation, grouped products, and the tokens that travel to them.

use super::LayerCost;
use super::projections::{activation, routed_products};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::operators::Pass;
use crate::work::{Dimension, Family};
use railwright_spec::model::{Layer, MixtureOfExperts};
use railwright_spec::plan::Plan;
use railwright_spec::quantity::{Bytes, Seconds};

/// Tokens that each tensor rank routes: its sequence shard, or without sequence parallelism as many of those that all hold alike, so that
/// none is worked on twice.
pub(crate) fn source_tokens(costing: &Costing<'_>) -> f64 {
    costing.tokens / costing.plan.tensor_parallel as f64
}

/// Tokens of the busiest expert over the mean, as far as capacity lets it.
pub(crate) fn load(plan: &Plan) -> f64 {
    plan.expert_capacity.map_or(plan.expert_imbalance, |c| plan.expert_imbalance.min(c))
}

/// The collective that takes tokens to their experts, and brings them back.
pub(crate) fn dispatch(costing: &Costing<'_>, moe: &MixtureOfExperts) -> Collective {
    if costing.software.fused_expert_dispatch {
        Collective::ExpertDispatch {
            copies: moe.top_k as u32,
            most_domains: if moe.routing_groups > 1 { moe.top_k_groups as u32 } else { u32::MAX },
        }
    } else {
        Collective::AllToAll
    }
}

/// Tokens that the experts of one rank work on, each as often as experts of the rank take it.
pub(super) fn held(costing: &Costing<'_>, moe: &MixtureOfExperts) -> f64 {
    let plan = costing.plan;
    source_tokens(costing) * moe.top_k as f64 * plan.expert_tensor_parallel as f64 * load(plan)
}

/// Adds routing, grouped products and dispatch.
///
/// With `t` tokens on a rank, top-k routing makes `t k` copies; expert parallelism over `ep` ranks spreads them so that each rank
/// again holds `t k` copies (times the imbalance), over `experts / ep` local experts.
pub(super) fn add(costing: &Costing<'_>, layer: &Layer, moe: &MixtureOfExperts, cost: &mut LayerCost) {
    let plan = costing.plan;
    let device = &costing.machine.device;
    let ep = plan.expert_parallel as f64;
    let etp = plan.expert_tensor_parallel as f64;
    let h = costing.model.hidden_size as f64;
    let e = costing.activation_bytes;
    let source_tokens = source_tokens(costing);
    let capped = load(plan);
    let copies = source_tokens * moe.top_k as f64;
    let held = held(costing, moe);
    let local_experts = (moe.experts as f64 / ep).max(1.0);
    let per_expert = held / local_experts;

    // What travels is what experts take in: the hidden width, or a latent one.
    let width = layer.expert_input_width().map_or(h, |width| width as f64);
    let rate = costing.matmul_rate * costing.expert_rate;
    for product in routed_products(layer, etp) {
        let (rows, columns) = (product.rows, product.columns);
        let price = |pass| {
            costing.grouped_gemm([local_experts, per_expert, rows, columns], costing.compute_type(), pass)
        };
        cost.forward.add_compute(Family::Experts, price(Pass::Forward), rate, 1.0);
        cost.backward_input.add_compute(Family::Experts, price(Pass::DataGradient), rate, 1.0);
        if costing.trains_weights() {
            cost.backward_weight.add_compute(Family::Experts, price(Pass::WeightGradient), rate, 1.0);
        }
    }
    activation(costing, &moe.expert, held / etp, cost);

    // Router: scores in fp32, top-k, and two permutations that read and write every copy (unpermute also sums).
    let scores = Bytes::new(source_tokens * moe.experts as f64 * 4.0 * 6.0);
    // A fused dispatch permutes as it sends and receives: each copy is written and read once on either side.
    let passes =
        if costing.software.fused_expert_dispatch { 2.0 } else { 4.0 * costing.software.elementwise_passes };
    let permutes = Bytes::new(passes * copies * width * e);
    let narrow = if plan.precision.compute.is_narrow() {
        Bytes::new(
            2.0 * held * width * (e + 2.0 * plan.precision.compute.bytes()) * costing.software.cast_passes,
        )
    } else {
        Bytes::ZERO
    };
    let router = device.memory_bound(scores + permutes + narrow);
    cost.forward.add_compute(Family::Router, router, 1.0, costing.software.router_kernels);
    cost.backward_input.add_compute(Family::Router, router, 1.0, costing.software.router_kernels);

    cost.forward.host += Seconds::from_micros(costing.software.host_us_per_expert_layer);
    cost.backward_input.host += Seconds::from_micros(costing.software.host_us_per_expert_layer);

    if plan.expert_parallel > 1 {
        let spans = !costing.layout.expert.is_inside_domain();
        let exposed = if plan.overlap.expert || (spans && costing.software.overlap_spanning_experts) {
            costing.software.expert_overlap_exposed
        } else {
            1.0
        };
        let rate = costing.software.collective_rate;
        let bytes = Bytes::new(copies * width * e * capped);
        let operation = dispatch(costing, moe);
        let time = costing.machine.fabric.time(operation, bytes, &costing.layout.expert, 1.0).time / rate;
        // Dispatch and combine, each way.
        for work in [&mut cost.forward, &mut cost.backward_input] {
            work.add_communication(Dimension::Expert, time * 2.0, exposed);
        }
    }
    // Without sequence parallelism the layer's own all-reduce joins the parts.
    if plan.expert_tensor_parallel > 1 && plan.sequence_parallel {
        let bytes = Bytes::new(held * width * e);
        let fabric = &costing.machine.fabric;
        let group = &costing.layout.expert_tensor;
        let time = fabric.time(Collective::AllGather, bytes, group, 1.0).time
            + fabric.time(Collective::ReduceScatter, bytes, group, 1.0).time;
        for work in [&mut cost.forward, &mut cost.backward_input] {
            work.add_communication(Dimension::Tensor, time / costing.software.collective_rate, 1.0);
        }
    }
}
