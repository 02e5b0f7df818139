//! Saved tensors of a layer's token mixers.

use super::inputs::Inputs;
use super::sizes::SavedSizes;
use super::tensor::{Origin, Saved, Saving, Visit, other};
use crate::program::MicroBatch;
use crate::program::widths::{Widths, is_indexed};
use railwright_spec::model::{Attention, Layer, Mixer, Module, Span, Usage};
use railwright_spec::plan::{ContextKind, Plan, RecomputeModule};

/// Visits the tensors of all mixers, and the intermediates of their adapters.
pub(super) fn visit(saving: &Saving<'_>, layer: &Layer, inputs: &Inputs<'_>, visit: Visit<'_>) {
    let MicroBatch { tokens, activation_bytes: a, .. } = saving.sizes.micro;
    for module in [Module::AttentionInput, Module::AttentionCore, Module::AttentionOutput] {
        visit(other(module, a * inputs.ranks(module) * tokens));
    }
    for (index, mixer) in layer.mixer.each().iter().enumerate() {
        // Parallel mixers share one input. Sequential ones have separate norms, and so separate inputs.
        let shares = index > 0 && layer.norms <= 2;
        let mut own = |saved: Saved| {
            if !(shares && saved.module == Module::AttentionInput) {
                visit(saved);
            }
        };
        match Widths::of(mixer, saving.sizes.tp) {
            Some(widths) => attention(saving, mixer, &widths, inputs, &mut own),
            None => recurrent(saving, layer, mixer, inputs, &mut own),
        }
    }
}

/// Widths of a mixer with a state or a convolution: output of its input projection and input of its output
/// projection.
fn recurrent_widths(layer: &Layer, mixer: &Mixer) -> (f64, f64) {
    let product = |module| {
        let weights = layer.weights.iter().filter(move |w| w.module == module);
        weights.filter(|w| matches!(w.usage, Usage::Matmul { .. }))
    };
    let (wide, out) = match mixer {
        _ if layer.mixer.each().len() == 1 => {
            let wide = product(Module::AttentionInput).map(|w| w.rows).sum::<u64>();
            return (wide as f64, product(Module::AttentionOutput).map(|w| w.columns).sum::<u64>() as f64);
        }
        Mixer::Linear(a) => {
            let value = a.value_heads * a.value_head_dim;
            (2 * a.key_heads * a.key_head_dim + 2 * value, value)
        }
        Mixer::StateSpace(s) => {
            let inner = s.heads * s.head_dim;
            (2 * inner + 2 * s.groups * s.state_size + s.heads, inner)
        }
        Mixer::Selective(s) => (2 * s.inner + 2 * s.state_size, s.inner),
        Mixer::Convolution(c) => (3 * c.width, c.width),
        _ => (0, 0),
    };
    (wide as f64, out as f64)
}

/// Visits a mixer with a state or a convolution: the projections before the short convolution, and the scan's
/// output. The state-space kernel fuses convolution and scan and recomputes the convolved projections; linear
/// attention keeps them.
fn recurrent(saving: &Saving<'_>, layer: &Layer, mixer: &Mixer, inputs: &Inputs<'_>, visit: Visit<'_>) {
    let convolved = match mixer {
        Mixer::StateSpace(_) | Mixer::Selective(_) => 0.0,
        // The gated and the convolved value, of three input widths.
        Mixer::Convolution(_) => 2.0 / 3.0,
        Mixer::Linear(_) => 1.0,
        _ => return,
    };
    let SavedSizes { micro: MicroBatch { tokens, activation_bytes: a, .. }, tp, .. } = *saving.sizes;
    let (wide, out) = recurrent_widths(layer, mixer);
    let (wide, out) = (wide / tp, out / tp);
    visit(
        other(Module::AttentionInput, saving.shared_input(inputs.attention())).with(&[RecomputeModule::Norm]),
    );
    visit(other(Module::AttentionCore, a * (1.0 + convolved) * wide * tokens));
    visit(other(Module::AttentionCore, a * out * tokens));
    visit(other(Module::AttentionOutput, inputs.of(Module::AttentionOutput) * out * tokens));
}

/// Keys and values of a micro-batch on one rank: its own tokens, or those of another stack.
fn key_tokens(mixer: &Mixer, plan: &Plan, tokens: f64) -> f64 {
    match mixer {
        Mixer::Attention(Attention { span: Span::Memory(keys @ 1..), .. }) => {
            (plan.micro_batch * keys) as f64
        }
        _ => tokens,
    }
}

/// Keys whose scores unfused attention computes for a token.
fn scored_keys(mixer: &Mixer, sequence: f64) -> f64 {
    match mixer {
        Mixer::Attention(Attention { span: Span::Chunk(n), .. }) => sequence.min(*n as f64),
        Mixer::Attention(Attention { span: Span::Memory(n @ 1..), .. }) => *n as f64,
        _ => sequence,
    }
}

/// Visits softmax attention.
fn attention(saving: &Saving<'_>, mixer: &Mixer, widths: &Widths, inputs: &Inputs<'_>, visit: Visit<'_>) {
    let Saving { plan, software, sizes } = *saving;
    let SavedSizes { micro, mask, hidden, .. } = *sizes;
    let MicroBatch { tokens, sequence_shard_tokens, activation_bytes: a } = micro;
    let (q, k, v, o) = (widths.queries(), widths.keys(), widths.values(), widths.outputs());
    let mut projected: &[RecomputeModule] = &[];
    // Input of the output projection: attention's output, or that of the latents' up-projection after it.
    let mut out = o;
    match mixer {
        Mixer::Latent(la) => {
            if is_indexed(mixer) {
                out = widths.heads * la.v_head_dim as f64;
            }
            // Latents and the rotated key, replicated over tensor-parallel ranks. The normed latents are the
            // up-projections' inputs and are recomputed with them.
            let latent = (la.q_lora_rank.unwrap_or(0) + la.kv_lora_rank) as f64;
            let rotated = la.qk_rope_head_dim as f64;
            visit(other(Module::AttentionInput, a * (latent + rotated) * sequence_shard_tokens));
            let normed = other(Module::AttentionInput, inputs.latent() * latent * sequence_shard_tokens);
            visit(normed.with(&[RecomputeModule::Norm, RecomputeModule::LatentUpProjection]));
            projected = &[RecomputeModule::LatentUpProjection];
        }
        Mixer::Attention(at) if at.qk_norm => {
            visit(other(Module::AttentionCore, (a + software.query_norm_extra) * (q + k) * tokens));
        }
        _ => {}
    }
    visit(
        other(Module::AttentionInput, saving.shared_input(inputs.attention())).with(&[RecomputeModule::Norm]),
    );
    // Rotation copies up-projected keys and values: no fused buffer survives as a view.
    let qkv_extra = if matches!(mixer, Mixer::Latent(_)) { 0.0 } else { software.qkv_extra };
    let keys = key_tokens(mixer, plan, tokens);
    let (k, v) = (k * keys, v * keys);
    let core = |bytes| other(Module::AttentionCore, bytes);
    visit(core(a * (q * tokens + v)).of(Origin::SecondProduct).with(projected));
    visit(core(a * k).with(projected));
    visit(core(qkv_extra * (q * tokens + k + v)).with(projected));
    let output = inputs.of(Module::AttentionOutput);
    if sizes.is_unfused {
        let per_score = a + if plan.dropout { mask + a } else { 0.0 } + software.score_extra;
        let scores = per_score * widths.heads * scored_keys(mixer, sizes.sequence) * tokens;
        visit(core(scores).with(&[RecomputeModule::CoreAttention]));
        visit(other(Module::AttentionOutput, output * out * tokens));
    } else {
        visit(core(a * o * tokens).of(Origin::Attention));
        let statistics = core(4.0 * widths.heads * tokens).of(Origin::Attention);
        visit(statistics.with(&[RecomputeModule::CoreAttention]));
        if is_indexed(mixer) || output < a && software.narrow_attention_output {
            visit(other(Module::AttentionOutput, output * out * tokens));
        }
    }
    if plan.context_parallel > 1 && plan.context_kind == ContextKind::Ulysses {
        // Copies made by the all-to-all.
        visit(core(a * (q * tokens + k + v)));
    }
    visit(other(Module::AttentionOutput, mask * hidden * sequence_shard_tokens));
}
