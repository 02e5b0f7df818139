//! Parts of a model outside its layers: embedding, final norm, head, prediction modules.

use super::{NormShape, matrix, vector};
use crate::model::{Cut, Module, Position, Usage, Weight};

/// Parts of a model outside its layers.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) hidden: u64,
    pub(crate) vocabulary: u64,
    pub(crate) max_positions: u64,
    pub(crate) tied: bool,
    pub(crate) position: Position,
    /// Rows of a learned position table; 0 without.
    pub(crate) position_rows: u64,
    /// Width of the word embedding; `None`: the hidden width.
    pub(crate) embedding_width: Option<u64>,
    /// True for a norm directly after the embedding (bloom).
    pub(crate) embedding_norm: bool,
    pub(crate) final_norm: NormShape,
    pub(crate) head_bias: bool,
    /// Further trainable tensors outside the layers.
    pub(crate) extra: Vec<Weight>,
    /// Further trainable tensors between the final norm and the loss.
    pub(crate) head_extra: Vec<Weight>,
    /// Number of multi-token-prediction modules; each has a layer like the last one.
    pub(crate) prediction_depth: u64,
    pub(crate) notes: Vec<String>,
}

impl Frame {
    /// Word and position tables, and all weights between them and the first layer.
    pub(super) fn embedding(&self) -> Vec<Weight> {
        let width = self.embedding_width.unwrap_or(self.hidden);
        let table = |name: &str, rows: u64, columns: u64, cut: Cut| Weight {
            name: name.to_owned(),
            module: Module::Embedding,
            rows,
            columns,
            copies: 1,
            cut,
            usage: Usage::Table,
        };
        let mut weights = Vec::new();
        if self.vocabulary > 0 {
            weights.push(table("embed_tokens", self.vocabulary, width, Cut::Vocabulary));
        }
        if self.position_rows > 0 {
            weights.push(table("embed_positions", self.position_rows, self.hidden, Cut::Replicated));
        }
        if width != self.hidden {
            weights.push(matrix(
                "project_in",
                Module::Embedding,
                (self.hidden, width),
                Cut::Replicated,
                "project_in",
            ));
        }
        if self.embedding_norm {
            weights.extend(NormShape::LAYER.weights(
                "embed_norm",
                Module::Embedding,
                self.hidden,
                Cut::Replicated,
            ));
        }
        weights.extend(self.extra.iter().cloned());
        weights
    }

    /// Weights of the head.
    pub(super) fn head(&self) -> Vec<Weight> {
        let width = self.embedding_width.unwrap_or(self.hidden);
        let mut weights = Vec::new();
        if width != self.hidden {
            weights.push(matrix(
                "project_out",
                Module::Head,
                (width, self.hidden),
                Cut::Replicated,
                "project_out",
            ));
        }
        if !self.tied && self.vocabulary > 0 {
            weights.push(matrix("lm_head", Module::Head, (self.vocabulary, width), Cut::Vocabulary, "head"));
        }
        if self.head_bias {
            weights.push(vector("lm_head.bias", Module::Head, self.vocabulary, Cut::Vocabulary));
        }
        weights.extend(self.head_extra.iter().cloned());
        weights
    }

    /// Weights of a prediction module (DeepSeek-V3, section 2.2): norms on the embedding and on the hidden
    /// state, a projection of 2h to h, and the norm before the shared head.
    pub(super) fn prediction(&self) -> Vec<Weight> {
        let module = Module::MultiTokenPrediction;
        let mut weights: Vec<Weight> = ["enorm", "hnorm", "shared_head.norm"]
            .iter()
            .map(|name| vector(name, module, self.hidden, Cut::Replicated))
            .collect();
        weights.push(matrix("eh_proj", module, (self.hidden, 2 * self.hidden), Cut::Column, "eh_proj"));
        weights
    }
}
