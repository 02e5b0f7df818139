//! Tensors that automatic differentiation saves in a layer's forward pass of one micro-batch for its backward
//! pass, operator by operator.
//!
//! Responsible for: their widths and shards, and the operator that each is the result of. Independent of
//! recompute, which only drops some of them ([`crate::memory`] applies it), and of stages and schedules.
//!
//! Notation, per rank: T tokens of the micro-batch; Ts the same after sequence parallelism; h hidden width;
//! q, k, v, o widths of queries, keys, values and attention output; f inner width; a bytes of an activation;
//! i bytes of a GEMM's saved input. With 2-byte activations, dropout and unfused attention the sum is
//! Korthikanti's sbh(34 + 5as/h).

mod ends;
mod feed_forward;
mod inputs;
mod mixer;
mod sizes;
mod tensor;

pub(crate) use ends::{embedding, head, logits, stage_output};
pub(crate) use sizes::SavedSizes;
pub(crate) use tensor::{Origin, Saved, Saving};

use self::inputs::Inputs;
use self::tensor::{Visit, other};
use railwright_spec::model::{Layer, Module};

/// Visits every tensor that a layer saves.
pub(crate) fn layer(saving: &Saving<'_>, layer: &Layer, visit: Visit<'_>) {
    let SavedSizes { micro, hidden: h, norm_extra, .. } = *saving.sizes;
    let (a, shard) = (micro.activation_bytes, micro.sequence_shard_tokens);
    // The layer's input: the first norm's input, and all that full recompute keeps.
    visit(Saved { origin: Origin::LayerInput, ..other(Module::Norm, a * h * shard) });
    let inner_norms = (layer.norms as f64 - 1.0).max(0.0);
    visit(other(Module::Norm, a * h * shard * inner_norms));
    visit(other(Module::Norm, norm_extra * h * shard));
    visit(other(Module::Norm, saving.software.hidden_replicated * h * micro.tokens));
    let inputs = Inputs::new(layer, saving.plan, [saving.sizes.input, a]);
    mixer::visit(saving, layer, &inputs, visit);
    feed_forward::visit(saving, layer, &inputs, visit);
}

#[cfg(test)]
mod tests;
