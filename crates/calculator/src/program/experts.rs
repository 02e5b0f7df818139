//! Routed experts: router, permutation, grouped GEMMs, and the dispatch of tokens.

use super::products::{activation, in_phases, routed_products};
use super::{Exchange, Kernel, Operation, Overlap, Turn};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::exchanges::ProcessGroup;
use crate::work::{Dimension, Family};
use railwright_spec::model::{Layer, MixtureOfExperts};
use railwright_spec::plan::Plan;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::Bytes;
use railwright_spec::software::Software;
use railwright_step::Phase;

/// Tokens routed by each tensor rank: its sequence shard, or without sequence parallelism an equal part of
/// the replicated tokens, so that none is processed twice.
fn source_tokens(costing: &Costing<'_>) -> f64 {
    costing.tokens / costing.plan.tensor_parallel as f64
}

/// The collective that sends tokens to their experts and back.
fn dispatch(costing: &Costing<'_>, moe: &MixtureOfExperts) -> Collective {
    if costing.software.fused_expert_dispatch {
        Collective::ExpertDispatch {
            copies: moe.top_k as u32,
            most_domains: if moe.routing_groups > 1 { moe.top_k_groups as u32 } else { u32::MAX },
        }
    } else {
        Collective::AllToAll
    }
}

/// The format of the experts' GEMMs: that of the master weights if automatic casts do not cover grouped
/// GEMMs.
fn format(costing: &Costing<'_>) -> DataType {
    match costing.plan.precision.master {
        Some(master) if costing.software.experts_in_master_format && costing.casts_whole_weights() => master,
        _ => costing.compute_type(),
    }
}

/// Tokens processed by the experts of one rank, counted once per expert.
pub(super) fn held(costing: &Costing<'_>, moe: &MixtureOfExperts) -> f64 {
    processed(costing.plan, costing.tokens, moe) * costing.plan.expert_load()
}

/// Tokens of a micro-batch of `tokens` tokens that the experts of one rank process at even load: every token
/// visits `top_k` experts, and ranks of expert tensor parallelism share theirs.
fn processed(plan: &Plan, tokens: f64, moe: &MixtureOfExperts) -> f64 {
    tokens / plan.tensor_parallel.max(1) as f64 * moe.top_k as f64 * plan.expert_tensor_parallel.max(1) as f64
}

/// The same at a load relative to the mean, as buffers hold them: a capacity reserves its buffers, however
/// few tokens arrive.
pub(crate) fn stored(plan: &Plan, tokens: f64, moe: &MixtureOfExperts, load: f64) -> f64 {
    let load = plan.expert_capacity.map_or_else(|| load.max(1.0), |capacity| capacity.max(0.0));
    processed(plan, tokens, moe) * load
}

/// Width of dispatched tokens and of the experts' inputs: the hidden width, or a latent one.
pub(crate) fn input_width(layer: &Layer, hidden: f64) -> f64 {
    layer.expert_input_width().map_or(hidden, |width| width as f64)
}

/// Visits routing and grouped GEMMs.
///
/// With `t` tokens on a rank, top-k routing creates `t k` copies. Expert parallelism over `ep` ranks
/// distributes them so that each rank again holds `t k` copies (times the imbalance), over `experts / ep`
/// local experts.
pub(super) fn visit(
    costing: &Costing<'_>,
    layer: &Layer,
    moe: &MixtureOfExperts,
    visit: &mut impl FnMut(Operation<'_>),
) {
    let plan = costing.plan;
    let etp = plan.expert_tensor_parallel as f64;
    let e = costing.activation_bytes;
    let source_tokens = source_tokens(costing);
    let copies = source_tokens * moe.top_k as f64;
    let held = held(costing, moe);
    let groups = (moe.experts as f64 / plan.expert_parallel as f64).max(1.0);
    let width = input_width(layer, costing.model.hidden_size as f64);
    for product in routed_products(layer, etp) {
        let (n, k) = (product.rows, product.columns);
        let kernel = Kernel::GroupedProduct { groups, m: held / groups, n, k, format: format(costing) };
        let host_us = loop_us(costing.software, groups);
        in_phases(costing, (Family::Experts, product.label), kernel, &mut |operation: Operation<'_>| {
            visit(Operation { host_us, ..operation });
        });
    }
    activation(costing, &moe.expert, held / etp, visit);
    if moe.expert.biases {
        biases(costing, groups, held * width, visit);
    }

    // Router: scores in fp32, top-k, and two permutations that read and write every copy (unpermute also
    // sums).
    let scores = source_tokens * moe.experts as f64 * 4.0 * 6.0;
    let casts = if plan.precision.compute.is_narrow() {
        2.0 * held * width * (e + 2.0 * plan.precision.compute.bytes()) * costing.software.cast_passes
    } else {
        0.0
    };
    for (phase, passes) in [Phase::Forward, Phase::BackwardInput].into_iter().zip(permutation_passes(costing))
    {
        let kernel =
            Kernel::Stream { bytes: Bytes::new(scores + passes * copies * width * e + casts), derived: None };
        let launches = costing.software.router_kernels;
        let host_us = costing.software.host_us_per_expert_layer;
        visit(Operation { host_us, ..Operation::new(Family::Router, phase, kernel, launches) });
    }
}

/// Reads and writes of each routed copy of a token by routing and permutation, forward and backward.
///
/// A fused dispatch permutes while it sends and receives: each copy is written and read once on either side.
/// It is not needed if all experts are on the rank.
fn permutation_passes(costing: &Costing<'_>) -> [f64; 2] {
    let software = costing.software;
    if software.fused_expert_dispatch && costing.plan.expert_parallel > 1 {
        return [2.0; 2];
    }
    software.permutation_passes.unwrap_or([4.0 * software.elementwise_passes; 2])
}

/// Host time of one grouped GEMM of `groups` local experts in microseconds: `groups x
/// host_us_per_expert_product`, the launches of a loop. It does not depend on the number of tokens. Source:
/// `multi_stream_cublas_gemm` of Transformer Engine loops over its GEMMs.
fn loop_us(software: &Software, groups: f64) -> f64 {
    groups * software.host_us_per_expert_product
}

/// Visits the biases of the experts' outputs, of `elements` elements on `groups` local experts. Each expert's
/// bias is weighted by the routing probabilities of its tokens.
///
/// Added by one operator, they are read and written once, and the backward pass reads their gradient. Where a
/// loop adds them expert by expert, each has a product and a sum forward, and two products, two sums and two
/// casts backward; then the parts are joined and cast (Megatron-Core, `TEGroupedMLP._apply_bias`).
fn biases(costing: &Costing<'_>, groups: f64, elements: f64, visit: &mut impl FnMut(Operation<'_>)) {
    let e = costing.activation_bytes;
    let in_loop = costing.software.expert_bias_bytes;
    let bytes = in_loop.unwrap_or([2.0 * e, e]);
    let launches = in_loop.map_or([1.0, 1.0], |_| [2.0 * groups + 2.0, 6.0 * groups + 2.0]);
    for (index, phase) in [Phase::Forward, Phase::BackwardInput].into_iter().enumerate() {
        let kernel = Kernel::Stream { bytes: Bytes::new(bytes[index] * elements), derived: None };
        visit(Operation::new(Family::Activation, phase, kernel, launches[index]));
    }
}

/// Visits dispatch and combine of tokens, each way in both passes: `top-k x tokens x width x bytes x load` on
/// each rank (DeepSeek-V3 report, section 3.2.2). A dispatcher that gathers has a gather of `tokens x ranks x
/// width x bytes` and a reduce-scatter of as many in each pass (Megatron-LM, `MoEAllGatherTokenDispatcher`),
/// for any top-k and balance. Includes the gathers and scatters of expert tensor parallelism; without
/// sequence parallelism the layer's own all-reduce sums the parts.
pub(super) fn exchanges(
    costing: &Costing<'_>,
    layer: &Layer,
    moe: &MixtureOfExperts,
    visit: &mut impl FnMut(Exchange),
) {
    let plan = costing.plan;
    let width = input_width(layer, costing.model.hidden_size as f64);
    let e = costing.activation_bytes;
    let twice =
        |count| [Some(Turn::once(Phase::Forward, count)), Some(Turn::once(Phase::BackwardInput, count))];
    if plan.expert_parallel > 1 {
        let spans = !costing.layout.expert.is_inside_domain();
        let is_overlapped = plan.overlap.expert || (spans && costing.software.overlap_spanning_experts);
        let exposed = if is_overlapped { costing.software.expert_overlap_exposed } else { 1.0 };
        let software = costing.software;
        let (operations, copies, count) = if software.gathers_tokens && !software.fused_expert_dispatch {
            let pair = [Some(Collective::AllGather), Some(Collective::ReduceScatter)];
            (pair, plan.expert_parallel as f64, 1.0)
        } else {
            ([Some(dispatch(costing, moe)), None], moe.top_k as f64 * plan.expert_load(), 2.0)
        };
        visit(Exchange {
            dimension: Dimension::Expert,
            operations,
            process_group: ProcessGroup::Expert,
            bytes: Bytes::new(source_tokens(costing) * copies * width * e),
            overlap: Overlap::Exposed(exposed),
            turns: twice(count),
        });
    }
    if plan.expert_tensor_parallel > 1 && plan.sequence_parallel {
        visit(Exchange {
            dimension: Dimension::Tensor,
            operations: [Some(Collective::AllGather), Some(Collective::ReduceScatter)],
            process_group: ProcessGroup::ExpertTensor,
            bytes: Bytes::new(held(costing, moe) * width * e),
            overlap: Overlap::Exposed(1.0),
            turns: twice(1.0),
        });
    }
}
