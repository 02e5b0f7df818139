//! The two ends of a model: the word embedding, and the final norm with head and loss.

use super::elementwise::weight_casts;
use super::exchanges::whole_width;
use super::{Exchange, Kernel, Operation, Overlap, Turn};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::exchanges::ProcessGroup;
use crate::partition::padded_vocabulary;
use crate::work::{Dimension, Family};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop};
use railwright_step::Phase;

/// The word embedding: a lookup writes `h` elements per token and reads the same number; backward adds rows
/// of gradient in fp32.
pub(crate) fn embedding(costing: &Costing<'_>, visit: &mut impl FnMut(Operation<'_>)) {
    let unit = costing.tokens * costing.model.hidden_size as f64 * costing.activation_bytes;
    for (phase, units) in [(Phase::Forward, 3.0), (Phase::BackwardWeight, 5.0)] {
        let kernel = Kernel::Stream { bytes: Bytes::new(units * unit), derived: None };
        visit(Operation::new(Family::Embedding, phase, kernel, 4.0));
    }
}

/// With tensor parallelism each rank looks up its rows of the embedding, and an all-reduce sums the results.
pub(crate) fn embedding_exchanges(costing: &Costing<'_>, visit: &mut impl FnMut(Exchange)) {
    if costing.plan.tensor_parallel > 1 {
        let turns = [Some(Turn::once(Phase::Forward, one_way(costing))), None];
        visit(Exchange { turns, ..whole_width(costing) });
    }
}

/// Half of an exchange for a gather or a scatter; a whole all-reduce without sequence parallelism.
fn one_way(costing: &Costing<'_>) -> f64 {
    if costing.plan.sequence_parallel { 0.5 } else { 1.0 }
}

/// The head and the loss: a GEMM of tokens x hidden x vocabulary, and softmax with cross entropy over the
/// logits, bound by memory. If logits are gathered, each tensor-parallel rank computes the loss on all of
/// them. The GEMM has the format of
/// [`Precision::wide_products`](railwright_spec::plan::Precision::wide_products).
pub(crate) fn head(costing: &Costing<'_>, visit: &mut impl FnMut(Operation<'_>)) {
    let plan = costing.plan;
    let h = costing.model.hidden_size as f64;
    let vocabulary = padded_vocabulary(costing.model.vocabulary, plan) / plan.tensor_parallel as f64;
    let format = plan.precision.wide_products();
    let product = Kernel::Product { m: costing.tokens, n: vocabulary, k: h, format, is_wide: true };
    let gathered = if costing.software.gathers_logits { plan.tensor_parallel as f64 } else { 1.0 };
    let logits = costing.tokens * vocabulary * gathered;
    let cast = if costing.trains_weights() { weight_casts(costing, vocabulary * h) } else { 0.0 };
    let loss = Kernel::Stream {
        bytes: Bytes::new(logits * costing.software.loss_bytes_per_logit / 2.0 + cast),
        derived: None,
    };
    let norm = Kernel::Stream {
        bytes: Bytes::new(2.5 * costing.sequence_shard_tokens * h * costing.activation_bytes),
        derived: Some(Flop::ZERO),
    };
    let (forward, input) = (Phase::Forward, Phase::BackwardInput);
    let mut one = |family, phase, kernel, launches| {
        visit(Operation::new(family, phase, kernel, launches));
    };
    one(Family::Head, forward, product, 2.0);
    one(Family::Head, input, product, 1.0);
    if costing.trains_weights() {
        one(Family::Head, Phase::BackwardWeight, product, 1.0);
    }
    one(Family::Loss, forward, loss, 10.0);
    one(Family::Loss, input, loss, 5.0);
    one(Family::Norm, forward, norm, 1.0);
    one(Family::Norm, input, norm, 2.0);
}

/// Gather of the head's input and reduction of its gradient; and three small reductions for maximum, sum and
/// target of the softmax, of an fp32 number per token. A loss on gathered logits needs one gather of them
/// instead; each rank keeps its part of their gradient.
pub(crate) fn head_exchanges(costing: &Costing<'_>, visit: &mut impl FnMut(Exchange)) {
    if costing.plan.tensor_parallel <= 1 {
        return;
    }
    let count = one_way(costing);
    let turns = [Some(Turn::once(Phase::Forward, count)), Some(Turn::once(Phase::BackwardInput, count))];
    visit(Exchange { turns, ..whole_width(costing) });
    let of_loss = |operation, bytes, count| Exchange {
        dimension: Dimension::Tensor,
        operations: [Some(operation), None],
        process_group: ProcessGroup::Tensor,
        bytes: Bytes::new(costing.tokens * bytes),
        overlap: Overlap::Exposed(1.0),
        turns: [Some(Turn { phase: Phase::Forward, count, launches: 0.0, stalls: 0.0 }), None],
    };
    visit(if costing.software.gathers_logits {
        let vocabulary = padded_vocabulary(costing.model.vocabulary, costing.plan);
        of_loss(Collective::AllGather, vocabulary * costing.activation_bytes, 1.0)
    } else {
        of_loss(Collective::AllReduce, DataType::Fp32.bytes(), 3.0)
    });
}
