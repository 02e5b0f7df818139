//! Fields of nearly every family: layers, widths, heads, vocabulary, positions; and the pre-norm decoder
//! layer.

use crate::model::bounds;
use crate::model::build::{
    AttentionShape, Block, DenseShape, FeedForwardShape, Frame, MixerShape, NormShape, QkNorm,
};
use crate::model::fields::{Fields, missing};
use crate::model::{Activation, Position, Span};
use crate::problem::Problem;

/// A configuration file under conversion to a model.
pub(super) struct Source<'a> {
    pub(super) fields: Fields<'a>,
    /// Outermost object of the file; differs from the language model's only in multimodal files.
    pub(super) outer: Fields<'a>,
    pub(super) name: String,
    /// `model_type` without a `_text` suffix.
    pub(super) family: &'a str,
    pub(super) notes: Vec<String>,
}

impl Source<'_> {
    /// True if the language model is nested in a multimodal file.
    fn is_nested(&self) -> bool {
        !self.fields.is_same_object(&self.outer)
    }
}

/// Defaults of a family's configuration class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    pub(super) tied: bool,
    pub(super) activation: Activation,
    /// Head width; `None`: hidden width over heads.
    pub(super) head_dim: Option<u64>,
    pub(super) max_positions: u64,
    /// Heads, key-value heads and vocabulary for files that nest the language model without them.
    pub(super) nested: Option<(u64, u64, u64)>,
}

impl Defaults {
    /// Defaults of the llama family.
    pub(super) const LLAMA: Self =
        Self { tied: false, activation: Activation::Silu, head_dim: None, max_positions: 0, nested: None };
}

/// Dimensions of nearly every family.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) layers: u64,
    pub(super) hidden: u64,
    pub(super) heads: u64,
    pub(super) kv_heads: u64,
    pub(super) head_dim: u64,
    pub(super) vocabulary: u64,
    pub(super) max_positions: u64,
    pub(super) tied: bool,
    pub(super) activation: Activation,
    pub(super) prediction_depth: u64,
    notes: Vec<String>,
}

pub(super) const LAYERS: &[&str] = &["num_hidden_layers", "n_layer", "n_layers", "num_layers"];
const HIDDEN: &[&str] = &["hidden_size", "n_embd", "d_model", "hidden_dim"];
const HEADS: &[&str] = &["num_attention_heads", "n_head", "n_heads"];
const KV_HEADS: &[&str] = &["num_key_value_heads", "num_kv_heads", "n_head_kv", "num_attention_groups"];
const POSITIONS: &[&str] = &["max_position_embeddings", "n_positions", "max_seq_len", "seq_length"];
const PREDICTION: &[&str] = &["num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers"];
pub(super) const INTERMEDIATE: &[&str] = &["intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"];
pub(super) const EXPERTS: &[&str] =
    &["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"];
pub(super) const TOP_K: &[&str] = &[
    "num_experts_per_tok",
    "experts_per_token",
    "num_experts_per_token",
    "top_k_experts",
    "moe_topk",
    "moe_top_k",
];

impl Common {
    pub(super) fn read(source: &Source<'_>, defaults: &Defaults) -> Result<Self, Problem> {
        let fields = &source.fields;
        let nested = defaults.nested.filter(|_| source.is_nested());
        let mut notes = source.notes.clone();
        let mut or_class = |names: &[&'static str], bound, class: Option<u64>| -> Result<u64, Problem> {
            match (fields.count(names, bound)?, class) {
                (Some(value), _) => Ok(value),
                (None, Some(value)) => {
                    notes.push(format!(
                        "`{}` is not in the file: using {value}, the default of {}",
                        names.first().unwrap_or(&""),
                        source.family
                    ));
                    Ok(value)
                }
                (None, None) => Err(missing(names)),
            }
        };
        let layers = match (fields.count(LAYERS, bounds::LAYERS)?, fields.strings("layers_block_type")?) {
            (Some(layers), _) => layers,
            (None, Some(types)) => bounds::LAYERS.check("layers_block_type", types.len() as u64)?,
            (None, None) => return Err(missing(LAYERS)),
        };
        let hidden = fields.required(HIDDEN, bounds::HIDDEN)?;
        let heads = or_class(HEADS, bounds::HEADS, nested.map(|n| n.0))?;
        let vocabulary = or_class(&["vocab_size"], bounds::VOCABULARY, nested.map(|n| n.2))?;
        let kv_heads = match fields.count(KV_HEADS, bounds::HEADS)? {
            Some(kv_heads) => kv_heads,
            None if fields.flag(&["multi_query"])? == Some(true) => 1,
            None => nested.filter(|_| !fields.has("num_attention_heads")).map_or(heads, |n| n.1),
        };
        if !heads.is_multiple_of(kv_heads) {
            let problem =
                Problem::new(format!("{kv_heads} key-value heads do not divide {heads} query heads"));
            return Err(fields.locate(problem, "num_key_value_heads"));
        }
        let head_dim =
            fields.count(&["head_dim", "attention_head_dim"], bounds::HEAD_DIM)?.or(defaults.head_dim);
        let head_dim = match head_dim {
            Some(head_dim) => head_dim,
            None if hidden.is_multiple_of(heads) => hidden / heads,
            None => {
                return Err(Problem::new(format!(
                    "hidden size {hidden} is not a multiple of {heads} heads, and `head_dim` is missing"
                ))
                .hint("add `head_dim`, or correct one of the two")
                .at_key("num_attention_heads"));
            }
        };
        let tied = match fields.flag(&["tie_word_embeddings"])? {
            Some(tied) => tied,
            None => source.outer.flag(&["tie_word_embeddings"])?.unwrap_or(defaults.tied),
        };
        let max_positions = fields.count(POSITIONS, bounds::POSITIONS)?.unwrap_or(defaults.max_positions);
        let activation = activation(fields, defaults.activation)?;
        let prediction_depth = fields.count(PREDICTION, bounds::SMALL)?.unwrap_or(0);
        Ok(Self {
            layers,
            hidden,
            heads,
            kv_heads,
            head_dim,
            vocabulary,
            max_positions,
            tied,
            activation,
            prediction_depth,
            notes,
        })
    }

    /// Checks the key-value heads again, for a family with other keys for them.
    pub(super) fn check_kv_heads(&self, fields: &Fields<'_>) -> Result<(), Problem> {
        check_kv_heads(self.heads, self.kv_heads, fields)
    }

    /// Frame with rotary positions and RMS norm.
    pub(super) fn frame(&self, source: &Source<'_>) -> Frame {
        Frame {
            name: source.name.clone(),
            family: source.family.to_owned(),
            hidden: self.hidden,
            vocabulary: self.vocabulary,
            max_positions: self.max_positions,
            tied: self.tied,
            position: Position::Rotary,
            position_rows: 0,
            embedding_width: None,
            embedding_norm: false,
            final_norm: NormShape::RMS,
            head_bias: false,
            extra: Vec::new(),
            head_extra: Vec::new(),
            prediction_depth: self.prediction_depth,
            notes: self.notes.clone(),
        }
    }

    /// Attention over all earlier tokens, without biases or norms on queries and keys.
    pub(super) fn attention(&self) -> AttentionShape {
        AttentionShape {
            heads: self.heads,
            kv_heads: self.kv_heads,
            head_dim: self.head_dim,
            value_dim: None,
            span: Span::Causal,
            key_bias: true,
            qkv_bias: false,
            output_bias: false,
            qk_norm: QkNorm::None,
            sinks: false,
            output_gate: false,
            keys_are_values: false,
            reuses_keys: false,
            sparse_top_k: None,
            input_width: None,
            memory_width: None,
        }
    }

    /// A gated MLP of this width without biases.
    pub(super) fn gated(&self, width: u64) -> DenseShape {
        DenseShape { width, gated: true, activation: self.activation, bias: false }
    }

    /// A two-matrix MLP with biases.
    pub(super) fn plain(&self, width: u64) -> DenseShape {
        DenseShape { width, gated: false, activation: self.activation, bias: true }
    }
}

fn check_kv_heads(heads: u64, kv_heads: u64, fields: &Fields<'_>) -> Result<(), Problem> {
    if heads.is_multiple_of(kv_heads) {
        return Ok(());
    }
    let problem = Problem::new(format!("{kv_heads} key-value heads do not divide {heads} query heads"));
    Err(fields.locate_first(problem, &[KV_HEADS, &["kv_n_heads"]].concat()))
}

/// Layer of the llama family with the given attention and feed-forward.
pub(super) fn decoder(attention: AttentionShape, feed_forward: FeedForwardShape) -> Block {
    let name = if matches!(feed_forward, FeedForwardShape::Experts(_)) { "moe" } else { "decoder" };
    Block {
        name,
        mixer: MixerShape::Attention(attention),
        feed_forward,
        norm: NormShape::RMS,
        norms: &["input_layernorm", "post_attention_layernorm"],
        parallel_residual: false,
        extra_vectors: Vec::new(),
        extra_matrices: Vec::new(),
        again: false,
        weights: Vec::new(),
    }
}

/// Required inner width of the dense MLP.
pub(super) fn intermediate(fields: &Fields<'_>) -> Result<u64, Problem> {
    fields.required(INTERMEDIATE, bounds::WIDTH)
}

/// Activation by its name in the file.
fn activation(fields: &Fields<'_>, default: Activation) -> Result<Activation, Problem> {
    // No alias check: gemma files have `hidden_act` and `hidden_activation` with different values, and the
    // latter takes precedence.
    for name in ["hidden_activation", "hidden_act", "activation_function", "mlp_hidden_act", "activation"] {
        let names: &[&'static str] = match name {
            "hidden_activation" => &["hidden_activation"],
            "hidden_act" => &["hidden_act"],
            "activation_function" => &["activation_function"],
            "mlp_hidden_act" => &["mlp_hidden_act"],
            _ => &["activation"],
        };
        if let Some(value) = fields.string(names)? {
            return match value {
                "silu" | "swish" | "swiglu" => Ok(Activation::Silu),
                "relu" => Ok(Activation::Relu),
                "relu2" | "squared_relu" => Ok(Activation::SquaredRelu),
                other if other.starts_with("gelu") || other == "quick_gelu" => Ok(Activation::Gelu),
                other => {
                    let shown: String = other.chars().take(40).collect();
                    let problem = Problem::new(format!("unknown activation `{shown}`"));
                    Err(fields
                        .locate(problem.hint("use one of silu, gelu and its variants, relu, relu2"), name))
                }
            };
        }
    }
    Ok(default)
}
