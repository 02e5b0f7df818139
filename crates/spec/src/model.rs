//! What is trained: a model as the exact list of its weight matrices, layer by layer.
//!
//! Responsible for: the structure of a decoder (or encoder) stack, every parameter with its shape, how tensor and
//! expert parallelism cut it, and what each layer does with tokens. Refuses to know about hardware, precision or
//! batch. Start reading at [`Model`], then [`Layer`] and [`Weight`].
//!
//! The structure is the only truth: parameter counts, matrix products, memory and traffic are all read off the same
//! list of weights, so they cannot disagree.

mod bounds;
mod build;
mod catalogue;
mod count;
mod dimensions;
mod fields;
mod grammar;
mod hugging_face;
mod tolerant;
pub use catalogue::{CatalogueEntry, PublishedTraining, by_name, catalogue, published_training};
pub use count::ParameterCount;
pub use dimensions::{Dimensions, NormKind, Style, from_dimensions};
pub use hugging_face::{families, from_hugging_face};

use serde::{Deserialize, Serialize};

/// A model's whole structure.
///
/// Layers that are equal share one [`Layer`] value: `layers[i]` is an index into `layer_kinds`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// The catalogue name, or what the user called it.
    pub name: String,
    /// The family as Hugging Face's `model_type` names it (`llama`, `deepseek_v3`, ...); `custom` for dimensions typed in.
    pub family: String,
    /// Width of the residual stream.
    pub hidden_size: u64,
    /// Rows of the word embedding before any padding that a framework adds.
    pub vocabulary: u64,
    /// Longest sequence declared by the configuration, in tokens; 0 if not declared.
    pub max_positions: u64,
    /// Whether the head reuses the word embedding.
    pub tied_embeddings: bool,
    /// Position encoding.
    pub position: Position,
    /// The distinct layers.
    pub layer_kinds: Vec<Layer>,
    /// For each layer in order, its kind.
    pub layers: Vec<usize>,
    /// Weights in front of the first layer: word embedding, learned positions, embedding norm.
    pub embedding: Vec<Weight>,
    /// Weights between the last layer and the head: the final norm.
    pub final_norm: Vec<Weight>,
    /// The head's own weights; empty when tied (its matrix product still runs).
    pub head: Vec<Weight>,
    /// Multi-token-prediction modules, if the model has them.
    pub multi_token_prediction: Option<MultiTokenPrediction>,
    /// Further stacks with tokens of their own: an encoder, a vision or audio tower.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub towers: Vec<Tower>,
    /// Parts of the file that are neither counted nor priced, by their keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What the reader wants the user to know (a vision tower skipped, a field that was assumed).
    pub notes: Vec<String>,
}

/// A separate stack with its own tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tower {
    /// What it is: `vision`, `audio`, `encoder`.
    pub name: String,
    /// Positions per sample that the stack works on, as the configuration has them; `None` where the data decides (a text encoder).
    pub tokens: Option<u64>,
    /// Positions that it hands to the main stack, fewer where patches are merged.
    pub handed_on: Option<u64>,
    /// The stack; its head is what connects it to the main one.
    pub stack: Model,
}

/// Position encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// A learned table added to the embedding.
    Learned,
    /// Rotation of queries and keys.
    Rotary,
    /// A bias on attention scores.
    Alibi,
    /// None.
    None,
}

/// Modules that predict further tokens (DeepSeek-V3, section 2.2): each is one more layer plus a projection of 2h to h.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiTokenPrediction {
    /// How many modules, one behind another.
    pub depth: u64,
    /// The layer that each module runs, an index into [`Model::layer_kinds`].
    pub layer_kind: usize,
    /// The weights of one module in addition to its layer (norms, projection); embedding and head are shared
    /// with the model.
    pub weights: Vec<Weight>,
}

/// One layer: what mixes tokens, what transforms each token, and every weight of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layer {
    /// A short name for people: `decoder`, `dense`, `moe`, `sliding`, `mamba`, ...
    pub name: String,
    /// Module that mixes tokens along the sequence.
    pub mixer: Mixer,
    /// Module that transforms each token.
    pub feed_forward: FeedForward,
    /// Normalisations over the hidden width that one pass executes (2 for pre-norm layers, 4 for gemma 2).
    pub norms: u64,
    /// The kind of norm.
    pub norm: Norm,
    /// Whether attention and feed-forward read the same input and add to the residual once (GPT-NeoX, Falcon, Phi).
    pub parallel_residual: bool,
    /// Every trainable tensor.
    pub weights: Vec<Weight>,
}

/// A normalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Norm {
    /// Mean and variance.
    LayerNorm,
    /// Root mean square.
    RmsNorm,
}

/// Module that mixes tokens along the sequence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Mixer {
    /// Multi-head, grouped-query or multi-query attention.
    Attention(Attention),
    /// Multi-head latent attention (DeepSeek-V2): keys and values from a low-rank latent. In training it runs as
    /// attention with `heads` key-value heads.
    Latent(LatentAttention),
    /// Linear attention with a recurrent state (gated delta net, KDA).
    Linear(LinearAttention),
    /// A selective state space (Mamba 2).
    StateSpace(StateSpace),
    /// A selective scan without heads (Mamba 1), or a gated linear recurrence (state of 1).
    Selective(SelectiveScan),
    /// A gated short convolution (LFM2).
    Convolution(Convolution),
    /// Several mixers, parallel (attention and Mamba) or sequential (attention and cross-attention).
    Several {
        /// Each of them.
        mixers: Vec<Mixer>,
    },
    /// Counted, but without a cost model.
    Unpriced {
        /// Kind.
        name: String,
    },
    /// The layer has none.
    None,
}

/// Softmax attention.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attention {
    /// Query heads.
    pub heads: u64,
    /// Key-value heads (1 for multi-query).
    pub kv_heads: u64,
    /// Width of a query or key head.
    pub head_dim: u64,
    /// Width of a value head.
    pub value_dim: u64,
    /// Attention mask.
    pub span: Span,
    /// Norms on queries and keys.
    pub qk_norm: bool,
    /// Keys kept per query by a learned index (DeepSeek sparse attention), if any.
    pub sparse_top_k: Option<u64>,
}

/// Keys that a query may attend to, in addition to causality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// All earlier tokens.
    Causal,
    /// All tokens (encoders).
    Bidirectional,
    /// The last `n` tokens.
    Window(u64),
    /// Tokens of the same chunk of `n`.
    Chunk(u64),
    /// All `n` tokens of another stack (cross-attention); 0 where the data decides.
    Memory(u64),
}

/// Multi-head latent attention.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatentAttention {
    /// Query heads.
    pub heads: u64,
    /// Rank of the query latent; `None` when queries are projected directly.
    pub q_lora_rank: Option<u64>,
    /// Rank of the key-value latent.
    pub kv_lora_rank: u64,
    /// Width of a head's part without rotation.
    pub qk_nope_head_dim: u64,
    /// Width of a head's rotated part.
    pub qk_rope_head_dim: u64,
    /// Width of a value head.
    pub v_head_dim: u64,
    /// Keys kept per query by a learned index (DeepSeek sparse attention), if any.
    pub sparse_top_k: Option<u64>,
}

/// Linear attention: a state of `key_dim x value_dim` per value head.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinearAttention {
    /// Key heads.
    pub key_heads: u64,
    /// Value heads.
    pub value_heads: u64,
    /// Width of a key head.
    pub key_head_dim: u64,
    /// Width of a value head.
    pub value_head_dim: u64,
    /// Taps of the short convolution.
    pub conv_kernel: u64,
}

/// A Mamba 2 mixer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateSpace {
    /// Heads.
    pub heads: u64,
    /// Width of a head.
    pub head_dim: u64,
    /// State size per head and channel.
    pub state_size: u64,
    /// Groups that share B and C.
    pub groups: u64,
    /// Taps of the short convolution.
    pub conv_kernel: u64,
}

/// A selective scan without heads: every channel has a state of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelectiveScan {
    /// Channels.
    pub inner: u64,
    /// State size per channel.
    pub state_size: u64,
    /// Taps of the short convolution; 0 without.
    pub conv_kernel: u64,
}

/// A gated short convolution along the sequence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Convolution {
    /// Channels.
    pub width: u64,
    /// Taps.
    pub taps: u64,
}

/// Module that transforms each token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FeedForward {
    /// One MLP for all tokens.
    Dense(Mlp),
    /// Routed experts, optionally with a shared expert or a dense MLP.
    MixtureOfExperts(MixtureOfExperts),
    /// The layer has none.
    None,
}

/// A two- or three-matrix MLP.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mlp {
    /// Inner width.
    pub intermediate_size: u64,
    /// Whether a gate matrix multiplies the up projection (SwiGLU and kin).
    pub gated: bool,
    /// The activation.
    pub activation: Activation,
}

/// An activation function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// Gaussian error linear unit, exact or tanh.
    Gelu,
    /// x times sigmoid of x; gated it is SwiGLU.
    Silu,
    /// max(0, x).
    Relu,
    /// max(0, x) squared.
    SquaredRelu,
}

/// Routed experts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixtureOfExperts {
    /// Routed experts in all.
    pub experts: u64,
    /// Experts that one token visits.
    pub top_k: u64,
    /// One expert.
    pub expert: Mlp,
    /// Total width of the shared experts (or of a parallel dense MLP); 0 without.
    pub shared_intermediate_size: u64,
    /// Groups of experts for group-limited routing, 1 without.
    pub routing_groups: u64,
    /// Groups that one token may visit.
    pub top_k_groups: u64,
}

/// One trainable tensor, or `copies` equal ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Weight {
    /// Its name inside the layer, as Hugging Face names it without prefix (`q_proj`, `down_proj`, `input_layernorm`).
    pub name: String,
    /// The module that it belongs to.
    pub module: Module,
    /// Rows: the output width of a matrix, the length of a vector.
    pub rows: u64,
    /// Columns: the input width of a matrix, 1 for a vector.
    pub columns: u64,
    /// How many of it (routed experts); 0 where an earlier layer holds it and this one executes it again; 1 elsewhere.
    pub copies: u64,
    /// How tensor parallelism cuts it.
    pub cut: Cut,
    /// Purpose.
    pub usage: Usage,
}

/// The module of a layer that a weight belongs to; the unit of recompute and of memory reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Module {
    /// Word and position embedding.
    Embedding,
    /// A norm over the hidden width.
    Norm,
    /// Projections into attention (or another mixer).
    AttentionInput,
    /// The mixer itself: softmax attention, scan, convolution and its own small weights.
    AttentionCore,
    /// The projection out of attention (or another mixer).
    AttentionOutput,
    /// A dense MLP.
    Mlp,
    /// The router of a mixture of experts.
    Router,
    /// Routed experts.
    Experts,
    /// Shared experts, and the gate on them.
    SharedExpert,
    /// The language-model head and the loss.
    Head,
    /// Multi-token prediction's own weights.
    MultiTokenPrediction,
}

/// How tensor parallelism cuts a weight among its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Every rank holds all of it.
    Replicated,
    /// Rows (the output) are divided.
    Column,
    /// Columns (the input) are divided, and the results summed.
    Row,
    /// Rows are divided by heads, but at most into this many parts; ranks beyond share (multi-query keys and values).
    Heads(u64),
    /// Rows are divided after padding (word embedding, head).
    Vocabulary,
}

/// What a weight does in the forward pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Usage {
    /// A matrix product with the activations. Weights of one layer that carry the same label are executed as one
    /// product (`qkv`, `gate_up`).
    Matmul {
        /// The label of the fused product.
        fused: String,
    },
    /// A norm's scale, a bias, a scalar per head: read once, no matrix product.
    Vector,
    /// A table that is looked up.
    Table,
}

impl Weight {
    /// Parameters in it, all copies and all shards together.
    pub fn parameters(&self) -> u64 {
        self.rows * self.columns * self.copies
    }

    /// Whether it belongs to routed experts, and is cut by expert parallelism.
    pub fn is_routed(&self) -> bool {
        self.module == Module::Experts
    }
}

impl Mixer {
    /// The mixers that run in the layer: none, one, or each of several.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::None => &[],
            Self::Several { mixers } => mixers,
            one => std::slice::from_ref(one),
        }
    }
}

impl Model {
    /// The layer at a position.
    pub fn layer(&self, index: usize) -> &Layer {
        &self.layer_kinds[self.layers[index]]
    }

    /// Layers, without multi-token prediction.
    pub fn num_layers(&self) -> u64 {
        self.layers.len() as u64
    }

    /// Whether any layer routes tokens to experts.
    pub fn is_mixture_of_experts(&self) -> bool {
        self.layers
            .iter()
            .any(|&kind| matches!(self.layer_kinds[kind].feed_forward, FeedForward::MixtureOfExperts(_)))
    }
}
