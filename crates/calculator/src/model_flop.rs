//! Model FLOPs: the arithmetic that a step needs, in the conventions of papers and frameworks.
//!
//! MFU compares these with the peak; HFU compares the executed arithmetic, recompute included. Sources differ
//! by up to 12% on an 8B model at 8k tokens through the attention term alone, so the convention is always
//! given.

use crate::program::{Keys, attended_by_documents, attended_length};
use railwright_spec::model::{Layer, Mixer, Model, Span, Usage};
use railwright_spec::plan::{Lora, Plan, PlanSpec};
use railwright_spec::quantity::Flop;
use serde::Serialize;

/// Convention for attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Convention {
    /// Attention under a causal mask: `6N + 6Lhs` per token for plain attention (Megatron-Bridge, MLPerf).
    CausalAttention,
    /// Attention over the full square: `6N + 12Lhs` per token (PaLM, NeMo to 24.07, torchtitan, llm-foundry).
    FullAttention,
}

impl Convention {
    /// The convention of every reported MFU without another name. It counts executed arithmetic, so HFU is
    /// never below MFU.
    pub const REPORTED: Self = Self::CausalAttention;
}

/// FLOPs of forward and backward for one token at a sequence length, without recompute. N counts matrix
/// parameters that a token uses, including the head and excluding the input embedding.
pub fn per_token(model: &Model, sequence_length: u64, convention: Convention) -> Flop {
    attending(model, sequence_length, sequence_length as f64, convention)
}

/// FLOPs of forward and backward for one token of a sequence, with the specified packing of documents: before
/// a plan exists. Excludes recompute and the savings of LoRA.
pub fn of_spec(model: &Model, spec: &PlanSpec, sequence_length: u64, convention: Convention) -> Flop {
    let attended = match convention {
        Convention::CausalAttention => attended_by_documents(
            sequence_length,
            spec.document_length,
            spec.document_length_cv.unwrap_or_default(),
        ),
        Convention::FullAttention => sequence_length as f64,
    };
    attending(model, sequence_length, attended, convention)
}

/// The same as [`per_token`], with attention over `attended` tokens: those of a document if sequences are
/// packed.
fn attending(model: &Model, sequence_length: u64, attended: f64, convention: Convention) -> Flop {
    let layer = |kind: usize| forward(&model.layer_kinds[kind], sequence_length, attended, convention);
    let layers: f64 = model.layers.iter().map(|&kind| layer(kind)).sum();
    let head = 2.0 * model.hidden_size as f64 * model.vocabulary as f64;
    let prediction = model.multi_token_prediction.as_ref().map_or(0.0, |mtp| {
        let own: f64 =
            mtp.weights.iter().filter(|w| is_matrix(&w.usage)).map(|w| 2.0 * w.parameters() as f64).sum();
        mtp.depth as f64 * (own + head + layer(mtp.layer_kind))
    });
    Flop::new(3.0 * (layers + head + prediction))
}

/// FLOPs of forward and backward for one token of a plan's sequence, without recompute.
///
/// Tokens of packed documents attend to their own document, so the causal convention counts its mean length
/// over tokens. The full square is that of the whole sequence, as frameworks report it.
///
/// With LoRA a frozen matrix has no gradient, so its GEMMs count `4N` instead of `6N`; attention counts as
/// before, and adapters of `n` parameters `6n`. Papers that count `6N` for LoRA publish an MFU that is up to
/// half larger.
pub fn of_plan(model: &Model, plan: &Plan, convention: Convention) -> Flop {
    let attended = match convention {
        Convention::CausalAttention => attended_length(plan),
        Convention::FullAttention => plan.sequence_length as f64,
    };
    let all = attending(model, plan.sequence_length, attended, convention);
    let Some(lora) = plan.adapters() else { return all };
    let mixers = |kind: usize| mixer(&model.layer_kinds[kind].mixer, attended, convention);
    let prediction = model.multi_token_prediction.as_ref();
    let attention = model.layers.iter().map(|&kind| mixers(kind)).sum::<f64>()
        + prediction.map_or(0.0, |mtp| mtp.depth as f64 * mixers(mtp.layer_kind));
    let trained = model.layers.iter().map(|&kind| adapters(&model.layer_kinds[kind], &lora)).sum::<f64>()
        + prediction
            .map_or(0.0, |mtp| mtp.depth as f64 * adapters(&model.layer_kinds[mtp.layer_kind], &lora));
    let matrices = all.get() / 3.0 - attention;
    Flop::new(2.0 * matrices + 3.0 * (attention + trained))
}

/// Forward FLOPs of one token in a layer's adapters.
fn adapters(layer: &Layer, lora: &Lora) -> f64 {
    let share = routed_share(layer);
    let of = |adapter: &railwright_spec::plan::Adapter| {
        2.0 * adapter.parameters() as f64 * if adapter.a.is_routed() { share } else { 1.0 }
    };
    lora.adapters(layer).iter().map(of).sum()
}

fn is_matrix(usage: &Usage) -> bool {
    matches!(usage, Usage::Matmul { .. })
}

/// Share of a layer's routed experts that a token visits.
fn routed_share(layer: &Layer) -> f64 {
    match &layer.feed_forward {
        railwright_spec::model::FeedForward::MixtureOfExperts(moe) if moe.experts > 0 => {
            moe.top_k as f64 / moe.experts as f64
        }
        _ => 1.0,
    }
}

/// Forward FLOPs of one token in one layer.
fn forward(layer: &Layer, sequence_length: u64, attended: f64, convention: Convention) -> f64 {
    let routed_share = routed_share(layer);
    let matrices: f64 = layer
        .weights
        .iter()
        .filter(|w| is_matrix(&w.usage))
        // A weight held by an earlier layer is executed again.
        .map(|w| {
            2.0 * (w.rows * w.columns * w.copies.max(1)) as f64
                * if w.is_routed() { routed_share } else { 1.0 }
                * w.positions().map_or(1.0, |positions| positions as f64 / sequence_length.max(1) as f64)
        })
        .sum();
    matrices + mixer(&layer.mixer, attended, convention)
}

/// Scores and their GEMM with values: `2 (d_qk + d_v)` per query head and visible key. Excludes the scores of
/// a learned index.
fn mixer(of: &Mixer, sequence: f64, convention: Convention) -> f64 {
    let visible = |of: &Mixer| {
        let span = Keys::of(of).map_or(Span::Causal, |keys| keys.seen(sequence));
        let window = match span {
            Span::Bidirectional | Span::Memory(0) => return sequence,
            Span::Memory(keys) => return keys as f64,
            Span::Causal => sequence,
            Span::Window(n) | Span::Chunk(n) => (n as f64).min(sequence),
        };
        if convention == Convention::FullAttention {
            window
        } else if matches!(span, Span::Chunk(_)) {
            // Every chunk is a separate short causal sequence.
            window / 2.0
        } else if window < sequence {
            // The first `window` queries attend to half of it on average, the others to all of it.
            window * (1.0 - window / (2.0 * sequence))
        } else {
            sequence / 2.0
        }
    };
    match of {
        Mixer::Attention(a) => 2.0 * (a.heads * (a.head_dim + a.value_dim)) as f64 * visible(of),
        Mixer::Latent(a) => {
            let width = a.heads * (a.qk_nope_head_dim + a.qk_rope_head_dim + a.v_head_dim);
            2.0 * width as f64 * visible(of)
        }
        // State update and read-out: two multiply-adds per element of state.
        Mixer::Linear(a) => 4.0 * (a.value_heads * a.key_head_dim * a.value_head_dim) as f64,
        Mixer::StateSpace(s) => 4.0 * (s.heads * s.head_dim * s.state_size) as f64,
        Mixer::Selective(s) => 4.0 * (s.inner * s.state_size) as f64,
        Mixer::Convolution(c) => 2.0 * (c.width * c.taps) as f64,
        Mixer::Several { mixers } => mixers.iter().map(|m| mixer(m, sequence, convention)).sum(),
        Mixer::Unpriced { .. } | Mixer::None => 0.0,
    }
}

#[cfg(test)]
mod tests;
