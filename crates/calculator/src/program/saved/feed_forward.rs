//! Saved tensors of a layer's MLP or experts.

use super::inputs::Inputs;
use super::sizes::SavedSizes;
use super::tensor::{Origin, Saving, Visit, other};
use crate::program::{MicroBatch, experts};
use railwright_spec::model::{Activation, FeedForward, Layer, MixtureOfExperts, Mlp, Module};
use railwright_spec::plan::RecomputeModule;

/// Visits the tensors of the feed-forward half.
pub(super) fn visit(saving: &Saving<'_>, layer: &Layer, inputs: &Inputs<'_>, visit: Visit<'_>) {
    match &layer.feed_forward {
        FeedForward::Dense(mlp) => dense(saving, layer, mlp, inputs, visit),
        FeedForward::MixtureOfExperts(moe) => mixture(saving, layer, moe, inputs, visit),
        FeedForward::None => {}
    }
}

/// Bytes of an MLP's tensors: results of its first GEMMs, and input of its last one.
fn products(saving: &Saving<'_>, mlp: &Mlp, width: f64, tokens: f64, down: f64) -> [f64; 2] {
    let sizes = saving.sizes;
    let products = if mlp.gated { 2.0 } else { 1.0 };
    // Only the gated kernel keeps gate and up in the narrow format.
    let inner = if mlp.gated { sizes.inner } else { sizes.micro.activation_bytes };
    let plain = mlp.activation == Activation::Gelu && !mlp.gated;
    let extra = if plain { sizes.plain_inner_extra } else { saving.software.inner_extra };
    [inner * products * width * tokens, (down + extra) * width * tokens]
}

/// Visits the products of an MLP on all tokens.
fn whole_mlp(
    saving: &Saving<'_>,
    module: Module,
    mlp: &Mlp,
    down: f64,
    [whole, activation]: [&'static [RecomputeModule]; 2],
    visit: Visit<'_>,
) {
    let SavedSizes { micro, hidden, tp, .. } = *saving.sizes;
    let width = mlp.intermediate_size as f64 / tp;
    let [before, after] = products(saving, mlp, width, micro.tokens, down);
    let one = if mlp.gated { before / 2.0 } else { 0.0 };
    visit(other(module, before - one).of(Origin::SecondProduct).with(whole));
    visit(other(module, one).with(whole));
    visit(other(module, after).with(activation));
    let output = micro.activation_bytes * hidden * micro.sequence_shard_tokens;
    visit(other(module, output).of(Origin::DownProjection));
}

fn dense(saving: &Saving<'_>, layer: &Layer, mlp: &Mlp, inputs: &Inputs<'_>, visit: Visit<'_>) {
    let SavedSizes { micro, hidden, mask, .. } = *saving.sizes;
    let own = |bytes| other(Module::Mlp, bytes);
    let [input, down] = inputs.mlp(Module::Mlp);
    let ranks = micro.activation_bytes * inputs.ranks(Module::Mlp) * micro.tokens;
    visit(own(ranks).with(&[RecomputeModule::Mlp]));
    if !layer.parallel_residual {
        visit(own(saving.shared_input(input)).with(&[RecomputeModule::Mlp, RecomputeModule::Norm]));
    }
    let restored: [&[_]; 2] = [&[RecomputeModule::Mlp], &[RecomputeModule::Activation, RecomputeModule::Mlp]];
    whole_mlp(saving, Module::Mlp, mlp, down, restored, visit);
    visit(own(mask * hidden * micro.sequence_shard_tokens));
}

fn mixture(
    saving: &Saving<'_>,
    layer: &Layer,
    moe: &MixtureOfExperts,
    inputs: &Inputs<'_>,
    visit: Visit<'_>,
) {
    const WHOLE: &[RecomputeModule] = &[RecomputeModule::Moe];
    const ACTIVATION: &[RecomputeModule] = &[RecomputeModule::Activation, RecomputeModule::Moe];
    let Saving { plan, software, sizes } = *saving;
    let MicroBatch { tokens, sequence_shard_tokens, activation_bytes: a } = sizes.micro;
    let hidden = sizes.hidden;
    let router = |bytes, restored| other(Module::Router, bytes).with(restored);
    // Scores and probabilities in fp32, and the routing mask.
    visit(router(9.0 * moe.experts as f64 * sequence_shard_tokens, WHOLE));
    let [input, down] = inputs.mlp(Module::Experts);
    let [shared_in, shared_down] = inputs.mlp(Module::SharedExpert);
    // The router's GEMM is not in a narrow format, and shared experts read the same tensor.
    let router_input = if inputs.of(Module::Router).max(shared_in) > 0.0 { a } else { 0.0 };
    let normed = router_input * hidden * sequence_shard_tokens;
    visit(router(normed, &[RecomputeModule::Moe, RecomputeModule::Norm]));
    let routed = experts::stored(plan, tokens, moe, sizes.stored_load);
    let own = |bytes| other(Module::Experts, bytes).with(WHOLE);
    let dispatched = experts::input_width(layer, hidden) * routed;
    visit(own(input * dispatched));
    let width = moe.expert.intermediate_size as f64 / plan.expert_tensor_parallel.max(1) as f64;
    let [before, after] = products(saving, &moe.expert, width, routed, down);
    visit(own(a * inputs.ranks(Module::Experts) * routed));
    visit(own(before));
    visit(own(after).with(ACTIVATION));
    if plan.expert_parallel > 1 && sizes.keeps_exchange {
        visit(other(Module::Experts, 2.0 * a * dispatched).of(Origin::TokenExchange));
    }
    // The experts' outputs are kept until they are weighted and added.
    visit(own(software.expert_output * dispatched));
    if moe.shared_intermediate_size > 0 {
        let shared = Mlp { intermediate_size: moe.shared_intermediate_size, ..moe.expert.clone() };
        let ranks = a * inputs.ranks(Module::SharedExpert) * tokens;
        visit(other(Module::SharedExpert, ranks).with(WHOLE));
        whole_mlp(saving, Module::SharedExpert, &shared, shared_down, [WHOLE, ACTIVATION], visit);
    }
}
