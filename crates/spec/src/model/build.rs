//! From the shape of a layer to its weights: the only place that sets a matrix's rows, sharding and label.
//!
//! Responsible for: [`Block`], plain numbers from a family's reader, and [`assemble`], which turns blocks
//! into a [`Model`] and checks the whole. Independent of JSON and family names.
//!
//! Labels of fused GEMMs: `qkv`, `q`, `q_a`, `q_b`, `kv_a`, `kv_b`, `attention_output`, `gate_up` (`up`
//! without a gate), `down`, the same after `experts_` and `shared_`, `router`, `shared_gate`, `latent_down`,
//! `latent_up`, `in_proj`, `head`; a few families add their own. Weights with one label share input and
//! module.

mod attention;
mod feed_forward;
mod frame;
mod recurrent;

pub(super) use attention::{AttentionShape, CompressedShape, IndexerShape, LatentShape, QkNorm};
pub(super) use feed_forward::{DenseShape, ExpertsShape, FeedForwardShape, SharedGate, SharedShape};
pub(super) use frame::Frame;
pub(super) use recurrent::{DeltaShape, GateStyle, StateSpaceShape};

use super::{Cut, Layer, Mixer, Model, Module, MultiTokenPrediction, Norm, Span, Usage, Weight, bounds};
use crate::problem::Problem;

/// A layer as plain numbers. Two layers with equal blocks share one [`Layer`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) name: &'static str,
    pub(super) mixer: MixerShape,
    pub(super) feed_forward: FeedForwardShape,
    pub(super) norm: NormShape,
    /// Names of the norms over the hidden width, one per norm of a pass.
    pub(super) norms: &'static [&'static str],
    pub(super) parallel_residual: bool,
    /// Trainable scalars and small vectors in no other field: name and length.
    pub(super) extra_vectors: Vec<(&'static str, u64)>,
    /// Trainable matrices in no other field.
    pub(super) extra_matrices: Vec<ExtraMatrix>,
    /// True if the feed-forward reuses the weights of an earlier layer.
    pub(super) again: bool,
    /// Further weights from a family description.
    pub(super) weights: Vec<Weight>,
}

/// A matrix outside mixer and feed-forward (hyper-connections, per-layer inputs).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExtraMatrix {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) rows: u64,
    pub(super) columns: u64,
}

/// Shape of the token mixer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MixerShape {
    Attention(AttentionShape),
    Latent(LatentShape),
    Compressed(CompressedShape),
    Delta(DeltaShape),
    StateSpace(StateSpaceShape),
    /// Mixer from a family description.
    Described {
        mixer: Mixer,
        weights: Vec<Weight>,
    },
    None,
}

/// A norm and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NormShape {
    pub(super) kind: Norm,
    pub(super) scale: bool,
    pub(super) bias: bool,
}

impl NormShape {
    pub(super) const RMS: Self = Self { kind: Norm::RmsNorm, scale: true, bias: false };
    pub(super) const LAYER: Self = Self { kind: Norm::LayerNorm, scale: true, bias: true };

    /// Weights of the norm over `width`.
    pub(super) fn weights(self, name: &str, module: Module, width: u64, cut: Cut) -> Vec<Weight> {
        let mut weights = Vec::new();
        if self.scale {
            weights.push(vector(name, module, width, cut));
        }
        if self.bias {
            weights.push(vector(&format!("{name}.bias"), module, width, cut));
        }
        weights
    }
}

/// A weight of a GEMM: `rows` is the output width, `columns` the input width.
pub(super) fn matrix(
    name: &str,
    module: Module,
    (rows, columns): (u64, u64),
    cut: Cut,
    fused: &str,
) -> Weight {
    let usage = Usage::Matmul { fused: fused.to_owned(), positions: None };
    Weight { name: name.to_owned(), module, rows, columns, copies: 1, cut, usage }
}

/// A weight that is read once: norm scale, bias, scalar per head.
pub(super) fn vector(name: &str, module: Module, length: u64, cut: Cut) -> Weight {
    Weight { name: name.to_owned(), module, rows: length, columns: 1, copies: 1, cut, usage: Usage::Vector }
}

impl Block {
    /// Builds the layer with all its weights.
    pub(super) fn layer(&self, hidden: u64) -> Layer {
        let (mixer, mixer_weights) = match &self.mixer {
            MixerShape::Attention(shape) => (shape.mixer(), shape.weights(hidden)),
            MixerShape::Latent(shape) => (shape.mixer(), shape.weights(hidden)),
            MixerShape::Compressed(shape) => (shape.mixer(), shape.weights(hidden)),
            MixerShape::Delta(shape) => (shape.mixer(), shape.weights(hidden)),
            MixerShape::StateSpace(shape) => (shape.mixer(), shape.weights(hidden)),
            MixerShape::Described { mixer, weights } => (mixer.clone(), weights.clone()),
            MixerShape::None => (Mixer::None, Vec::new()),
        };
        // In the order of a pass: the first half of the norms, the mixer, the other norms, the feed-forward.
        let (before, after) = self.norms.split_at(self.norms.len().div_ceil(2));
        let norm = |name: &&str| self.norm.weights(name, Module::Norm, hidden, Cut::Replicated);
        let mut weights: Vec<Weight> = before.iter().flat_map(norm).collect();
        weights.extend(mixer_weights);
        weights.extend(after.iter().flat_map(norm));
        let mut transform = self.feed_forward.weights(hidden);
        for weight in transform.iter_mut().filter(|_| self.again) {
            weight.copies = 0;
        }
        weights.extend(transform);
        weights.extend(
            self.extra_matrices.iter().map(|m| {
                matrix(m.name, Module::AttentionCore, (m.rows, m.columns), Cut::Replicated, m.label)
            }),
        );
        weights.extend(
            self.extra_vectors
                .iter()
                .map(|(name, length)| vector(name, Module::Norm, *length, Cut::Replicated)),
        );
        weights.extend(self.weights.iter().cloned());
        Layer {
            name: self.name.to_owned(),
            mixer,
            feed_forward: self.feed_forward.feed_forward(),
            norms: self.norms.len() as u64,
            norm: self.norm.kind,
            parallel_residual: self.parallel_residual,
            weights,
        }
    }

    /// Returns the block with a different span of its softmax attention, for families that vary it by layer.
    pub(super) fn with_span(mut self, span: Span) -> Self {
        self.edit_attention(|attention| attention.span = span);
        self
    }

    /// Changes the softmax attention, if present.
    pub(super) fn edit_attention(&mut self, edit: impl FnOnce(&mut AttentionShape)) {
        if let MixerShape::Attention(attention) = &mut self.mixer {
            edit(attention);
        }
    }
}

/// Upper limit of parameters, thousands of times the largest model of 2026: larger descriptions are mistakes.
const MAX_PARAMETERS: u128 = 10_000_000_000_000_000;

/// Combines frame and layers. `block_of` returns the block of each layer.
pub(super) fn assemble(
    frame: Frame,
    layers: u64,
    mut block_of: impl FnMut(u64) -> Result<Block, Problem>,
) -> Result<Model, Problem> {
    bounds::LAYERS.check("num_hidden_layers", layers)?;
    let mut blocks: Vec<Block> = Vec::new();
    let mut order = Vec::with_capacity(layers as usize);
    for index in 0..layers {
        let block = block_of(index)?;
        let kind = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        order.push(kind);
    }
    let layer_kinds: Vec<Layer> = blocks.iter().map(|block| block.layer(frame.hidden)).collect();
    let multi_token_prediction = order.last().filter(|_| frame.prediction_depth > 0).map(|&layer_kind| {
        MultiTokenPrediction { depth: frame.prediction_depth, layer_kind, weights: frame.prediction() }
    });
    let model = Model {
        embedding: frame.embedding(),
        final_norm: frame.final_norm.weights("norm", Module::Norm, frame.hidden, Cut::Replicated),
        head: frame.head(),
        name: frame.name,
        family: frame.family,
        hidden_size: frame.hidden,
        vocabulary: frame.vocabulary,
        max_positions: frame.max_positions,
        tied_embeddings: frame.tied,
        position: frame.position,
        layer_kinds,
        layers: order,
        multi_token_prediction,
        towers: Vec::new(),
        left_out: Vec::new(),
        notes: frame.notes,
    };
    check_size(&model)?;
    Ok(model)
}

/// Counts in 128 bits, so that later 64-bit sums cannot overflow.
fn check_size(model: &Model) -> Result<(), Problem> {
    let sum = |weights: &[Weight]| -> u128 {
        weights.iter().map(|w| u128::from(w.rows) * u128::from(w.columns) * u128::from(w.copies)).sum()
    };
    let kinds: Vec<u128> = model.layer_kinds.iter().map(|layer| sum(&layer.weights)).collect();
    let prediction = model
        .multi_token_prediction
        .as_ref()
        .map_or(0, |mtp| u128::from(mtp.depth) * (kinds[mtp.layer_kind] + sum(&mtp.weights)));
    let total = sum(&model.embedding)
        + sum(&model.final_norm)
        + sum(&model.head)
        + model.layers.iter().map(|&kind| kinds[kind]).sum::<u128>()
        + prediction;
    if total > MAX_PARAMETERS {
        return Err(Problem::new(format!(
            "these dimensions result in {:.0e} parameters, above the limit of 1e16",
            total as f64
        ))
        .hint("check the dimensions for extra digits"));
    }
    Ok(())
}
