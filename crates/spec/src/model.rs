//! Models: the exact list of weight matrices, layer by layer.
//!
//! Responsible for: the structure of a decoder or encoder stack; every parameter with its shape and its
//! sharding by tensor and expert parallelism; the operations of each layer. Independent of hardware,
//! precision and batch. Start reading at [`Model`], then [`Layer`] and [`Weight`].
//!
//! Parameter counts, GEMMs, memory and traffic all derive from this one list of weights, so they agree.

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

/// Complete structure of a model.
///
/// Equal layers share one [`Layer`] value: `layers[i]` is an index into `layer_kinds`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// Name in the catalogue, or label set by the user.
    pub name: String,
    /// Family by Hugging Face's `model_type` (`llama`, `deepseek_v3`, ...); `custom` for dimensions without
    /// a file.
    pub family: String,
    /// Width of the residual stream.
    pub hidden_size: u64,
    /// Rows of the word embedding, without padding by a framework.
    pub vocabulary: u64,
    /// Longest sequence declared by the configuration, in tokens; 0 if not declared.
    pub max_positions: u64,
    /// True if the head reuses the word embedding.
    pub tied_embeddings: bool,
    /// Position encoding.
    pub position: Position,
    /// Distinct layers.
    pub layer_kinds: Vec<Layer>,
    /// Kind of each layer in order, an index into `layer_kinds`.
    pub layers: Vec<usize>,
    /// Weights before the first layer: word embedding, learned positions, embedding norm.
    pub embedding: Vec<Weight>,
    /// Weights between the last layer and the head: final norm.
    pub final_norm: Vec<Weight>,
    /// Weights of the head; empty if tied to the word embedding (its GEMM still runs).
    pub head: Vec<Weight>,
    /// Multi-token-prediction modules; `None` if the model has none.
    pub multi_token_prediction: Option<MultiTokenPrediction>,
    /// Further stacks with tokens of their own: an encoder, a vision or audio tower.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub towers: Vec<Tower>,
    /// Keys of the file's parts that are neither counted nor priced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Notes from the reader for the user, such as a skipped vision tower or an assumed field.
    pub notes: Vec<String>,
}

/// A separate stack with its own tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tower {
    /// Kind of tower: `vision`, `audio`, `encoder`.
    pub name: String,
    /// Positions per sample in the stack, from the configuration; `None` if they depend on the data (a text
    /// encoder).
    pub tokens: Option<u64>,
    /// Positions per sample passed to the main stack, fewer if patches are merged; `None`: by the data.
    pub handed_on: Option<u64>,
    /// Layers of the tower. The head of this stack is the connection to the main one.
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
    /// No position encoding.
    None,
}

/// Modules that predict further tokens (DeepSeek-V3, section 2.2): each is one more layer plus a projection
/// of 2h to h.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiTokenPrediction {
    /// Number of modules in sequence.
    pub depth: u64,
    /// Layer of each module, an index into [`Model::layer_kinds`].
    pub layer_kind: usize,
    /// Weights of one module in addition to its layer (norms, projection). Embedding and head are shared
    /// with the model.
    pub weights: Vec<Weight>,
}

/// One layer: token mixer, feed-forward, and the weights of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layer {
    /// Short name for reports: `decoder`, `dense`, `moe`, `sliding`, `mamba`, ...
    pub name: String,
    /// Module that mixes tokens along the sequence.
    pub mixer: Mixer,
    /// Module that transforms each token.
    pub feed_forward: FeedForward,
    /// Number of norms over the hidden width in one pass (2 for pre-norm layers, 4 for gemma 2).
    pub norms: u64,
    /// Kind of norm.
    pub norm: Norm,
    /// True if attention and feed-forward read the same input and add to the residual once (GPT-NeoX,
    /// Falcon, Phi).
    pub parallel_residual: bool,
    /// All trainable tensors.
    pub weights: Vec<Weight>,
}

/// A normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Norm {
    /// Mean and variance.
    LayerNorm,
    /// Root mean square.
    RmsNorm,
}

impl Norm {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LayerNorm => "LayerNorm",
            Self::RmsNorm => "RMSNorm",
        }
    }
}

/// Module that mixes tokens along the sequence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Mixer {
    /// Multi-head, grouped-query or multi-query attention.
    Attention(Attention),
    /// Multi-head latent attention (DeepSeek-V2): keys and values from a low-rank latent. In training it runs
    /// as attention with `heads` key-value heads.
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
        /// The mixers, in order.
        mixers: Vec<Mixer>,
    },
    /// Counted, but without a cost model.
    Unpriced {
        /// Kind of mixer.
        name: String,
    },
    /// The layer has no token mixer.
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
    /// Heads of that index and their width; 0 if it has no scores of its own.
    pub index: [u64; 2],
    /// Tokens per entry of a compressed past, which queries see besides `span` (DeepSeek-V4); 0: none.
    pub compress_rate: u64,
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
    /// All `n` tokens of another stack (cross-attention); 0 if they depend on the data.
    Memory(u64),
}

/// Multi-head latent attention.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatentAttention {
    /// Query heads.
    pub heads: u64,
    /// Rank of the query latent; `None` if queries are projected directly.
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
    /// Heads of that index and their width; 0 without it.
    pub index: [u64; 2],
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
    /// The layer has no feed-forward.
    None,
}

/// A two- or three-matrix MLP.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mlp {
    /// Inner width.
    pub intermediate_size: u64,
    /// True if a gate matrix multiplies the up projection (SwiGLU and variants).
    pub gated: bool,
    /// Activation function.
    pub activation: Activation,
    /// True if the matrices have biases.
    pub biases: bool,
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
    /// x times sigmoid of 1.702 x, with x and the up projection clamped to a limit and 1 added to the up
    /// projection (gpt-oss).
    ClampedQuickGelu,
}

impl Activation {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gelu => "GELU",
            Self::Silu => "SiLU",
            Self::Relu => "ReLU",
            Self::SquaredRelu => "squared ReLU",
            Self::ClampedQuickGelu => "clamped quick GELU",
        }
    }
}

/// Routed experts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixtureOfExperts {
    /// Number of routed experts.
    pub experts: u64,
    /// Experts per token.
    pub top_k: u64,
    /// Shape of one expert.
    pub expert: Mlp,
    /// Total width of the shared experts (or of a parallel dense MLP); 0 without.
    pub shared_intermediate_size: u64,
    /// Groups of experts for group-limited routing, 1 without.
    pub routing_groups: u64,
    /// Maximum groups per token.
    pub top_k_groups: u64,
}

/// One trainable tensor, or `copies` equal ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Weight {
    /// Name inside the layer, as in Hugging Face without prefix (`q_proj`, `down_proj`, `input_layernorm`).
    pub name: String,
    /// Module of the weight.
    pub module: Module,
    /// Rows: the output width of a matrix, the length of a vector.
    pub rows: u64,
    /// Columns: the input width of a matrix, 1 for a vector.
    pub columns: u64,
    /// Number of equal tensors: that of routed experts, or 1. It is 0 if an earlier layer holds the weight
    /// and this one executes it again.
    pub copies: u64,
    /// Sharding by tensor parallelism.
    pub cut: Cut,
    /// Role in the forward pass.
    pub usage: Usage,
}

/// Module of a layer; the unit of recompute and of memory reports.
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

/// Sharding of a weight over tensor-parallel ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Every rank holds the whole weight.
    Replicated,
    /// Rows (the output) are sharded.
    Column,
    /// Columns (the input) are sharded, and the results are summed.
    Row,
    /// Rows are sharded by heads into at most this many parts; further ranks share a part (multi-query keys
    /// and values).
    Heads(u64),
    /// Rows are sharded after padding (word embedding, head).
    Vocabulary,
}

/// Role of a weight in the forward pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Usage {
    /// A GEMM with the activations. Weights of one layer with the same label run as one GEMM (`qkv`,
    /// `gate_up`).
    Matmul {
        /// Label of the fused GEMM.
        fused: String,
        /// Positions per sample that the GEMM multiplies, if they are not those of the sequence: the tokens
        /// of another stack (keys and values of cross-attention), or 1 for a vector per sample
        /// (modulation by time step or class).
        #[serde(skip_serializing_if = "Option::is_none")]
        positions: Option<u64>,
    },
    /// A norm's scale, a bias or a scalar per head: read once, no GEMM.
    Vector,
    /// A lookup table.
    Table,
}

impl Weight {
    /// Number of parameters over all copies and shards.
    pub fn parameters(&self) -> u64 {
        self.rows * self.columns * self.copies
    }

    /// Positions per sample of its GEMM, if they are not those of the sequence; `None` for all else.
    pub fn positions(&self) -> Option<u64> {
        match self.usage {
            Usage::Matmul { positions, .. } => positions,
            Usage::Vector | Usage::Table => None,
        }
    }

    /// True for a weight of routed experts, which expert parallelism shards.
    pub fn is_routed(&self) -> bool {
        self.module == Module::Experts
    }
}

impl Mixer {
    /// Mixers of the layer: none, one, or several.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::None => &[],
            Self::Several { mixers } => mixers,
            one => std::slice::from_ref(one),
        }
    }

    /// True for softmax attention, with low-rank keys and values or without.
    pub fn is_attention(&self) -> bool {
        matches!(self, Self::Attention(_) | Self::Latent(_))
    }
}

impl Model {
    /// The layer at a position.
    pub fn layer(&self, index: usize) -> &Layer {
        &self.layer_kinds[self.layers[index]]
    }

    /// Number of layers, without multi-token prediction.
    pub fn num_layers(&self) -> u64 {
        self.layers.len() as u64
    }

    /// True if any layer routes tokens to experts.
    pub fn is_mixture_of_experts(&self) -> bool {
        self.layers
            .iter()
            .any(|&kind| matches!(self.layer_kinds[kind].feed_forward, FeedForward::MixtureOfExperts(_)))
    }
}
