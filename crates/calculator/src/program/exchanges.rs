//! Tensor- and context-parallel exchanges of a layer, and those of its experts.

use super::widths::{Widths, is_indexed};
use super::{Exchange, Overlap, Turn, experts};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::exchanges::ProcessGroup;
use crate::work::Dimension;
use railwright_spec::model::{FeedForward, Layer, Mixer};
use railwright_spec::plan::ContextKind;
use railwright_spec::quantity::Bytes;
use railwright_step::Phase;

/// Visits every collective of a layer except those of its weights.
pub(crate) fn layer(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Exchange)) {
    if costing.plan.tensor_parallel > 1 {
        tensor(costing, layer, visit);
    }
    if costing.plan.context_parallel > 1 {
        context(costing, layer, visit);
    }
    if let FeedForward::MixtureOfExperts(moe) = &layer.feed_forward {
        experts::exchanges(costing, layer, moe, visit);
    }
}

/// Exchange that restores a tensor-parallel activation to full width: an all-reduce, or with sequence
/// parallelism a gather before and a reduce-scatter after (the same bytes on the wire; Korthikanti 2022,
/// section 4.2.2).
pub(super) fn whole_width(costing: &Costing<'_>) -> Exchange {
    let operations = if costing.plan.sequence_parallel {
        [Some(Collective::AllGather), Some(Collective::ReduceScatter)]
    } else {
        [Some(Collective::AllReduce), None]
    };
    Exchange {
        dimension: Dimension::Tensor,
        operations,
        process_group: ProcessGroup::Tensor,
        bytes: Bytes::new(costing.tokens * costing.model.hidden_size as f64 * costing.activation_bytes),
        overlap: Overlap::Exposed(1.0),
        turns: [None, None],
    }
}

/// Numbers of exchanges of a layer's full-width activation: around its mixers and around its feed-forward, as
/// far as they are sharded.
fn halves(costing: &Costing<'_>, layer: &Layer) -> [f64; 2] {
    // Parallel mixers are summed before one exchange; sequential ones (with separate norms) have one each.
    let mixers = layer.mixer.each().len();
    let mixers = if layer.norms > 2 { mixers as f64 } else { mixers.min(1) as f64 };
    let is_cut = match &layer.feed_forward {
        FeedForward::Dense(_) => true,
        // Routed tokens are sent from the sequence shard; tensor parallelism shards only a shared expert.
        FeedForward::MixtureOfExperts(moe) => {
            moe.shared_intermediate_size > 0 || !costing.plan.sequence_parallel
        }
        FeedForward::None => false,
    };
    let feed_forward = f64::from(u8::from(is_cut));
    if layer.parallel_residual && mixers > 0.0 && is_cut { [0.0, 1.0] } else { [mixers, feed_forward] }
}

/// Two exchanges in a transformer layer, in the forward pass and in the backward pass: all-reduces (Shoeybi
/// et al. 2019, section 3), or pairs of a gather and a reduce-scatter, and then as many gathers again for the
/// weights' gradients (Korthikanti et al. 2022, section 4.2.2).
fn tensor(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Exchange)) {
    let [mixers, feed_forward] = halves(costing, layer);
    let count = mixers + feed_forward;
    if count <= 0.0 {
        return;
    }
    // Kernels that overlap pieces of the exchange with pieces of the GEMM work only within the scale-up
    // domain.
    let overlapped = costing.plan.overlap.tensor && costing.layout.tensor.is_inside_domain();
    let exposed = if overlapped { costing.software.tensor_overlap_exposed } else { 1.0 };
    let exchange = Exchange { overlap: Overlap::Exposed(exposed), ..whole_width(costing) };
    let operations = exchange.operations().count() as f64;
    // An all-reduce waits as often as its gather and scatter.
    let turn = |phase| Some(Turn { phase, count, launches: operations * count, stalls: 2.0 * count });
    visit(Exchange { turns: [turn(Phase::Forward), turn(Phase::BackwardInput)], ..exchange });
    if costing.plan.sequence_parallel && costing.trains_weights() {
        // The weight gradient needs the gathered input again; the gather overlaps with the data gradient if
        // overlap is on.
        let turn = Turn { phase: Phase::BackwardWeight, count, launches: 1.0, stalls: count };
        visit(Exchange {
            operations: [Some(Collective::AllGather), None],
            overlap: Overlap::Exposed(exposed * costing.software.weight_gather_exposed),
            turns: [Some(turn), None],
            ..exchange
        });
    }
}

/// Elements per token on one rank of queries with outputs, and of keys with values. `None` for mixers that
/// keep a state instead.
fn context_widths(layer: &Layer, tp: f64) -> Option<(f64, f64)> {
    let of = |mixer: &Mixer| {
        // The index's one key per token goes with the others.
        let index = if let Mixer::Latent(latent) = mixer { latent.index[1] } else { 0 };
        let of = |w: Widths| (w.queries() + w.outputs(), w.keys() + w.values() + index as f64);
        Widths::of(mixer, tp).map(of)
    };
    let widths = layer.mixer.each().iter().filter_map(of);
    widths.reduce(|a, b| (a.0 + b.0, a.1 + b.1))
}

/// Exchanges of keys and values with the other context ranks.
///
/// Ring: they arrive during the attention of the previous ones, and only the excess over attention is
/// exposed; backward moves them and their gradients. All-gather: exposed, with the reduce-scatter of
/// gradients after it; also in place of a ring for a learned index, which compares all keys before it selects
/// some. Ulysses: queries, keys, values and output change from sequence shards to head shards
/// and back, exposed.
fn context(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Exchange)) {
    let plan = costing.plan;
    let cp = plan.context_parallel as f64;
    let Some((query_width, kv_width)) = context_widths(layer, plan.tensor_parallel as f64) else { return };
    let e = costing.activation_bytes;
    let whole = Bytes::new(costing.tokens * cp * kv_width * e);
    let (forward, backward) = (Phase::Forward, Phase::BackwardInput);
    let each = [Some(Turn::once(forward, 1.0)), Some(Turn::once(backward, 1.0))];
    let exchange = |operation, bytes| Exchange {
        dimension: Dimension::Context,
        operations: [Some(operation), None],
        process_group: ProcessGroup::Context,
        bytes,
        overlap: Overlap::Exposed(1.0),
        turns: each,
    };
    let needs_all = layer.mixer.each().iter().any(is_indexed);
    match plan.context_kind {
        ContextKind::Ring if !needs_all => visit(Exchange {
            // The last slice of attention cannot hide any transfer.
            overlap: Overlap::BehindAttention((cp - 1.0) / cp),
            turns: [Some(Turn::once(forward, cp - 1.0)), Some(Turn::once(backward, 2.0 * (cp - 1.0)))],
            ..exchange(Collective::SendReceive, whole / cp)
        }),
        ContextKind::Ring | ContextKind::AllGather => {
            visit(exchange(Collective::AllGather, whole));
            let scatter = Turn { phase: backward, count: 1.0, launches: 0.0, stalls: 0.0 };
            visit(Exchange { turns: [Some(scatter), None], ..exchange(Collective::ReduceScatter, whole) });
        }
        ContextKind::Ulysses => {
            let bytes = Bytes::new(costing.tokens * (query_width + kv_width) * e);
            visit(exchange(Collective::AllToAll, bytes));
        }
    }
}
