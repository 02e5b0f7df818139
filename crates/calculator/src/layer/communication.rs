//! Tensor- and context-parallel communication of a layer.

use super::LayerCost;
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::work::{Dimension, Family};
use railwright_spec::model::{FeedForward, Layer, Mixer};
use railwright_spec::plan::ContextKind;
use railwright_spec::quantity::{Bytes, Seconds};

/// Adds the layer's tensor- and context-parallel communication.
pub(super) fn add(costing: &Costing<'_>, layer: &Layer, cost: &mut LayerCost) {
    if costing.plan.tensor_parallel > 1 {
        tensor(costing, layer, cost);
    }
    if costing.plan.context_parallel > 1 {
        context(costing, layer, cost);
    }
}

/// Time to make a cut activation of full width whole again and back: an all-reduce, or with sequence parallelism a gather before
/// and a reduce-scatter behind (the same bytes on the wire; Korthikanti 2022, section 4.2.2).
pub(crate) fn tensor_exchange(costing: &Costing<'_>, width: f64) -> Seconds {
    let bytes = Bytes::new(costing.tokens * width * costing.activation_bytes);
    let fabric = &costing.machine.fabric;
    let group = &costing.layout.tensor;
    let time = if costing.plan.sequence_parallel {
        fabric.time(Collective::AllGather, bytes, group, 1.0).time
            + fabric.time(Collective::ReduceScatter, bytes, group, 1.0).time
    } else {
        fabric.time(Collective::AllReduce, bytes, group, 1.0).time
    };
    time / costing.software.collective_rate
}

/// Exchanges of a layer's full-width activation: one behind the mixer and one behind the feed-forward, if they are cut.
pub(crate) fn tensor_halves(costing: &Costing<'_>, layer: &Layer) -> f64 {
    // Mixers side by side add up before one exchange; one behind another (with a norm of its own) exchanges for itself.
    let mixers = layer.mixer.each().len();
    let mixers = if layer.norms > 2 { mixers as f64 } else { mixers.min(1) as f64 };
    let mixer = mixers > 0.0;
    let feed_forward = match &layer.feed_forward {
        FeedForward::Dense(_) => true,
        // Routed tokens leave from the sequence shard; only a shared expert is cut by tensor parallelism.
        FeedForward::MixtureOfExperts(moe) => {
            moe.shared_intermediate_size > 0 || !costing.plan.sequence_parallel
        }
        FeedForward::None => false,
    };
    if layer.parallel_residual && mixer && feed_forward {
        1.0
    } else {
        mixers + f64::from(u8::from(feed_forward))
    }
}

fn tensor(costing: &Costing<'_>, layer: &Layer, cost: &mut LayerCost) {
    let h = costing.model.hidden_size as f64;
    let halves = tensor_halves(costing, layer);
    // Kernels that overlap pieces of the exchange with pieces of the product reach no further than the scale-up domain.
    let overlapped = costing.plan.overlap.tensor && costing.layout.tensor.is_inside_domain();
    let exposed = if overlapped { costing.software.tensor_overlap_exposed } else { 1.0 };
    let time = tensor_exchange(costing, h) * halves;
    let operations = if costing.plan.sequence_parallel { 2.0 } else { 1.0 };
    for work in [&mut cost.forward, &mut cost.backward_input] {
        work.add_communication(Dimension::Tensor, time, exposed);
        // An all-reduce waits as often as the gather and scatter that it is made of.
        work.tensor_collectives += 2.0 * halves;
        work.launches += operations * halves - 1.0;
    }
    if costing.plan.sequence_parallel && costing.trains_weights() {
        // The weight gradient needs the gathered input again; the gather runs beside the data gradient when overlap is on.
        let bytes = Bytes::new(costing.tokens * h * costing.activation_bytes);
        let gather =
            costing.machine.fabric.time(Collective::AllGather, bytes, &costing.layout.tensor, 1.0).time
                / costing.software.collective_rate;
        cost.backward_weight.tensor_collectives += halves;
        cost.backward_weight.add_communication(
            Dimension::Tensor,
            gather * halves,
            exposed * costing.software.weight_gather_exposed,
        );
    }
}

/// Elements per token on one rank of queries with outputs, and of keys with values; none for mixers that keep a state instead.
pub(crate) fn context_widths(layer: &Layer, tp: f64) -> Option<(f64, f64)> {
    let one = |mixer: &Mixer| match mixer {
        Mixer::Attention(a) => {
            let kv = (a.kv_heads as f64 / tp).max(1.0);
            ((a.heads * (a.head_dim + a.value_dim)) as f64 / tp, kv * (a.head_dim + a.value_dim) as f64)
        }
        Mixer::Latent(a) => {
            let width = (a.qk_nope_head_dim + a.qk_rope_head_dim + a.v_head_dim) as f64;
            (a.heads as f64 * width / tp, a.heads as f64 * width / tp)
        }
        _ => (0.0, 0.0),
    };
    let widths = layer.mixer.each().iter().map(one).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    (widths.0 > 0.0).then_some(widths)
}

/// Keys and values of the other context ranks.
///
/// Ring: they arrive while attention runs on those at hand, and only what attention does not cover is exposed; backward moves them
/// and their gradients. All-gather: exposed, with the reduce-scatter of gradients behind. Ulysses: queries, keys, values and output
/// change from sequence shards to head shards and back, exposed.
fn context(costing: &Costing<'_>, layer: &Layer, cost: &mut LayerCost) {
    let plan = costing.plan;
    let tp = plan.tensor_parallel as f64;
    let cp = plan.context_parallel as f64;
    let Some((query_width, kv_width)) = context_widths(layer, tp) else { return };
    let e = costing.activation_bytes;
    let fabric = &costing.machine.fabric;
    let group = &costing.layout.context;
    let rate = costing.software.collective_rate;
    let whole = Bytes::new(costing.tokens * cp * kv_width * e);
    match plan.context_kind {
        ContextKind::Ring => {
            let slice = fabric.send(whole / cp, group, 1.0).time / rate;
            let travel = slice * (cp - 1.0);
            for (work, factor) in [(&mut cost.forward, 1.0), (&mut cost.backward_input, 2.0)] {
                let time = travel * factor;
                // The last slice of attention has nothing left to hide behind.
                let cover = work.compute[Family::AttentionCore as usize] * ((cp - 1.0) / cp);
                let share = ((time - cover).max(Seconds::ZERO) / time).clamp(0.0, 1.0);
                work.add_communication(
                    Dimension::Context,
                    time,
                    if time > Seconds::ZERO { share } else { 0.0 },
                );
            }
        }
        ContextKind::AllGather => {
            let gather = fabric.time(Collective::AllGather, whole, group, 1.0).time / rate;
            let scatter = fabric.time(Collective::ReduceScatter, whole, group, 1.0).time / rate;
            cost.forward.add_communication(Dimension::Context, gather, 1.0);
            cost.backward_input.add_communication(Dimension::Context, gather + scatter, 1.0);
        }
        ContextKind::Ulysses => {
            let bytes = Bytes::new(costing.tokens * (query_width + kv_width) * e);
            let time = fabric.time(Collective::AllToAll, bytes, group, 1.0).time / rate;
            cost.forward.add_communication(Dimension::Context, time, 1.0);
            cost.backward_input.add_communication(Dimension::Context, time, 1.0);
        }
    }
}
