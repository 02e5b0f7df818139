//! From a description's names to layers, and to the whole stack.

use super::families::Place;
use super::stack::Stack;
use super::{feed_forwards, mixers};
use crate::model::bounds::{self, Bound};
use crate::model::build::{Block, Frame, MixerShape, NormShape, assemble};
use crate::model::{Mixer, Model, Module, Position, Tower, Usage, Weight};
use crate::problem::Problem;

/// Names of a layer's norms for reports; a layer uses as many as it has norms.
const NORMS: &[&str] = &[
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
    "norm_5",
    "norm_6",
    "norm_7",
    "norm_8",
];

/// Suffix of a module that reuses the weights of an earlier layer.
const AGAIN: &str = " again";

impl Stack<'_> {
    fn block(&self, hidden: u64) -> Result<Block, Problem> {
        let mut mixer_weights: Vec<Weight> = Vec::new();
        let mut kinds: Vec<Mixer> = Vec::new();
        let names: Vec<String> = self.texts("mixer")?.into_iter().filter(|name| name != "none").collect();
        for (index, name) in names.iter().enumerate() {
            // Weights of an earlier layer that are executed again are not held twice.
            let (name, again) = name.strip_suffix(AGAIN).map_or((name.as_str(), false), |name| (name, true));
            let (mixer, mut weights) = mixers::mixer(self, name, hidden)?;
            for weight in weights.iter_mut().filter(|_| again) {
                weight.copies = 0;
            }
            // Parallel mixers have separate GEMMs.
            for weight in weights.iter_mut().filter(|_| index > 0) {
                if let Usage::Matmul { fused, .. } = &mut weight.usage {
                    *fused = format!("{fused}_{}", index + 1);
                }
            }
            kinds.push(mixer);
            mixer_weights.extend(weights);
        }
        mixer_weights.extend(self.extra(Place::Mixer, Module::AttentionInput)?);
        let mixer = match kinds.len() {
            0 => Mixer::None,
            1 => kinds.swap_remove(0),
            _ => Mixer::Several { mixers: kinds },
        };
        let mut weights = self.extra(Place::Layer, Module::Norm)?;
        weights.extend(self.extra(Place::FeedForward, Module::Mlp)?);
        let norms = self.count("norms", Bound::upto(NORMS.len() as u64))?;
        let feed_forward = self.text("feed_forward")?;
        let again = feed_forward.ends_with(AGAIN);
        Ok(Block {
            name: kind_name(&self.text("layer_name")?),
            mixer: MixerShape::Described { mixer, weights: mixer_weights },
            feed_forward: feed_forwards::feed_forward(
                self,
                feed_forward.strip_suffix(AGAIN).unwrap_or(&feed_forward),
            )?,
            again,
            norm: self.norm("norm")?,
            norms: NORMS.get(..norms as usize).unwrap_or_default(),
            parallel_residual: self.flag("parallel_residual")?,
            extra_vectors: Vec::new(),
            extra_matrices: Vec::new(),
            weights,
        })
    }

    /// Builds the whole stack.
    pub(super) fn model(mut self, name: &str, kind: &str, notes: Vec<String>) -> Result<Model, Problem> {
        let layers = self.count("layers", bounds::LAYERS)?;
        let hidden = self.count("hidden", bounds::HIDDEN)?;
        let vocabulary = self.optional("vocabulary", bounds::VOCABULARY_OR_NONE)?.unwrap_or(0);
        let position = match self.text("position")?.as_str() {
            "learned" => Position::Learned,
            "alibi" => Position::Alibi,
            "none" => Position::None,
            _ => Position::Rotary,
        };
        let final_norm = if self.text("final_norm")? == "none" {
            NormShape { scale: false, bias: false, ..NormShape::RMS }
        } else {
            self.norm("final_norm")?
        };
        let mut frame = Frame {
            name: name.to_owned(),
            family: kind.to_owned(),
            hidden,
            vocabulary,
            max_positions: self.optional("positions", bounds::POSITIONS)?.unwrap_or(0),
            tied: self.flag("tied")?,
            position,
            position_rows: self.count("position_rows", bounds::POSITIONS)?,
            embedding_width: self.optional("embedding_width", bounds::HIDDEN)?,
            embedding_norm: self.flag("embedding_norm")?,
            final_norm,
            head_bias: self.flag("head_bias")?,
            extra: self.extra(Place::Outside, Module::Embedding)?,
            head_extra: self.extra(Place::Head, Module::Head)?,
            prediction_depth: self.optional("prediction_depth", bounds::SMALL)?.unwrap_or(0),
            notes: Vec::new(),
        };
        let mut blocks = Vec::with_capacity(layers as usize);
        for index in 0..layers {
            self.scope.layer = i128::from(index);
            blocks.push(self.block(hidden)?);
        }
        frame.notes = notes;
        frame.notes.extend(self.notes.take());
        let mut blocks = blocks.into_iter();
        let missing = || Problem::new("a layer is missing");
        assemble(frame, layers, |_| blocks.next().ok_or_else(missing))
    }

    /// Tower with its positions and the positions passed on.
    pub(super) fn tower(self, name: &str, kind: &str) -> Result<Tower, Problem> {
        let tokens = self.optional("tokens", bounds::POSITIONS)?.filter(|&n| n > 0);
        let handed_on = self.optional("handed_on", bounds::POSITIONS)?.filter(|&n| n > 0).or(tokens);
        let stack = self.model(name, kind, Vec::new())?;
        Ok(Tower { name: name.to_owned(), tokens, handed_on, stack })
    }
}

/// Kind of a layer, as shown in reports.
fn kind_name(name: &str) -> &'static str {
    const KNOWN: &str = "attention block convolution decoder dense encoder full hybrid joint linear mamba mlp moe \
        recurrent sliding chunked cross";
    KNOWN.split(' ').find(|known| *known == name).unwrap_or("decoder")
}
