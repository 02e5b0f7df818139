//! Saved tensors of the embedding, of a stage's output and of the head with its
//! loss.

use super::sizes::SavedSizes;
use super::tensor::{Saved, Saving, Visit, other};
use crate::partition::padded_vocabulary;
use railwright_spec::model::{Model, Module};

/// The embedding's dropout mask.
pub(crate) fn embedding(sizes: &SavedSizes) -> Saved {
    other(Module::Embedding, sizes.mask * sizes.hidden * sizes.micro.sequence_shard_tokens)
}

/// Bytes kept with each micro-batch at the end of a virtual stage: gathered buffers of the residual stream
/// that another kernel's stream still holds, and the output that the next stage receives.
pub(crate) fn stage_output(saving: &Saving<'_>, has_head: bool) -> f64 {
    let Saving { plan, software, sizes } = *saving;
    let micro = &sizes.micro;
    let replicated = match sizes.tensor_domains {
        0 => 0.0,
        1 => software.stage_replicated,
        _ => software.stage_replicated_across,
    };
    let kept = replicated * sizes.hidden * micro.tokens;
    let is_sent = plan.pipeline_parallel > 1 && !has_head && software.keeps_stage_output;
    let residual = sizes.hidden * micro.sequence_shard_tokens;
    kept + if is_sent { micro.activation_bytes * residual } else { 0.0 }
}

/// Predictions of a position: of the next token, and of those that multi-token prediction adds.
fn predictions(model: &Model) -> f64 {
    1.0 + model.multi_token_prediction.as_ref().map_or(0.0, |mtp| mtp.depth as f64)
}

/// Logits of a micro-batch on one rank: all of the vocabulary's if the tensor group gathers them, otherwise
/// its part.
pub(crate) fn logits(model: &Model, saving: &Saving<'_>) -> f64 {
    let tp = saving.sizes.tp;
    let gathered = if saving.software.gathered_logits { tp } else { 1.0 };
    padded_vocabulary(model.vocabulary, saving.plan) / tp * gathered * saving.sizes.micro.tokens
}

/// Visits the tensors that the head saves until its backward pass: the final norm's and its own input, and
/// the softmax, for each prediction.
pub(crate) fn head(model: &Model, saving: &Saving<'_>, visit: Visit<'_>) {
    let SavedSizes { micro, input, hidden, .. } = *saving.sizes;
    let predictions = predictions(model);
    let inputs = (micro.activation_bytes + input) * hidden * micro.sequence_shard_tokens * predictions;
    visit(other(Module::Head, inputs));
    visit(other(Module::Head, saving.software.logit_saved_bytes * logits(model, saving) * predictions));
}
