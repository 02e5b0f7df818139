// Made from docs/reference/schema/model.json by scripts/types.mjs.

/**
 * Position encoding.
 */
export type Position = 'learned' | 'rotary' | 'alibi' | 'none'
/**
 * Module that mixes tokens along the sequence.
 */
export type Mixer =
  | (Attention & {
      kind: 'attention'
    })
  | (LatentAttention & {
      kind: 'latent'
    })
  | (LinearAttention & {
      kind: 'linear'
    })
  | (StateSpace & {
      kind: 'state_space'
    })
  | (SelectiveScan & {
      kind: 'selective'
    })
  | (Convolution & {
      kind: 'convolution'
    })
  | {
      kind: 'several'
      /**
       * The mixers, in order.
       */
      mixers: Mixer[]
    }
  | {
      kind: 'unpriced'
      /**
       * Kind of mixer.
       */
      name: string
    }
  | {
      kind: 'none'
    }
/**
 * Keys that a query may attend to, in addition to causality.
 */
export type Span =
  | 'causal'
  | 'bidirectional'
  | {
      window: number
    }
  | {
      chunk: number
    }
  | {
      memory: number
    }
/**
 * Module that transforms each token.
 */
export type FeedForward =
  | (Mlp & {
      kind: 'dense'
    })
  | (MixtureOfExperts & {
      kind: 'mixture_of_experts'
    })
  | {
      kind: 'none'
    }
/**
 * An activation function.
 */
export type Activation = 'gelu' | 'silu' | 'relu' | 'squared_relu' | 'clamped_quick_gelu'
/**
 * A normalization.
 */
export type Norm = 'layer_norm' | 'rms_norm'
/**
 * Module of a layer; the unit of recompute and of memory reports.
 */
export type Module =
  | 'embedding'
  | 'norm'
  | 'attention_input'
  | 'attention_core'
  | 'attention_output'
  | 'mlp'
  | 'router'
  | 'experts'
  | 'shared_expert'
  | 'head'
  | 'multi_token_prediction'
/**
 * Sharding of a weight over tensor-parallel ranks.
 */
export type Cut =
  | 'replicated'
  | 'column'
  | 'row'
  | {
      heads: number
    }
  | 'vocabulary'
/**
 * Role of a weight in the forward pass.
 */
export type Usage =
  | {
      matmul: {
        /**
         * Label of the fused GEMM.
         */
        fused: string
        /**
         * Positions per sample that the GEMM multiplies, if they are not those of the sequence: the tokens
         * of another stack (keys and values of cross-attention), or 1 for a vector per sample
         * (modulation by time step or class).
         */
        positions?: number | null
      }
    }
  | 'vector'
  | 'table'

/**
 * Common fields of every result.
 */
export interface ModelAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'model'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Its entry in the catalogue.
   */
  catalogue: CatalogueEntry | null
  parameters: ParameterCount
  flop_per_token: FlopFields
  model: Model
}
/**
 * Catalogue data of a model other than its dimensions.
 */
export interface CatalogueEntry {
  /**
   * Name in reports.
   */
  name: string
  /**
   * Aliases.
   */
  aliases: string[]
  /**
   * Family, by `model_type`.
   */
  family: string
  /**
   * Source of the dimensions.
   */
  source: string
  /**
   * Remarks on the dimensions.
   */
  notes: string
  /**
   * Published pre-training; `null` unless the publication has batch and sequence length.
   */
  training?: PublishedTraining | null
}
/**
 * Steps of a published pre-training, after the batch ramp.
 */
export interface PublishedTraining {
  /**
   * Sequences per step.
   */
  global_batch: number
  /**
   * Tokens per sequence.
   */
  sequence_length: number
  /**
   * True if the router has a bias for each expert that balances them, without an auxiliary loss.
   */
  balances_experts_by_bias: boolean
  /**
   * Publication with its section.
   */
  source: string
}
/**
 * Parameter counts of a model, in all conventions of model cards.
 */
export interface ParameterCount {
  /**
   * All parameters, including towers, a tied embedding counted once, without multi-token prediction.
   */
  total: number
  /**
   * Word embedding.
   */
  word_embedding: number
  /**
   * Matrix of the head; 0 if tied.
   */
  head: number
  /**
   * All routed experts of all layers.
   */
  routed_experts: number
  /**
   * Parameters active per token, input embedding included.
   */
  active: number
  /**
   * Parameters active per token, without the input embedding unless it is also the head.
   */
  active_without_embedding: number
  /**
   * Further stacks (an encoder, a vision tower), part of `total`.
   */
  towers?: number
  /**
   * Multi-token-prediction modules, not included in `total`.
   */
  multi_token_prediction: number
}
export interface FlopFields {
  sequence_length: number
  /**
   * Unit: FLOP.
   */
  causal_attention: number
  /**
   * Unit: FLOP.
   */
  full_attention: number
}
/**
 * Complete structure of a model.
 *
 * Equal layers share one `Layer` value: `layers[i]` is an index into `layer_kinds`.
 */
export interface Model {
  /**
   * Name in the catalogue, or label set by the user.
   */
  name: string
  /**
   * Family by Hugging Face's `model_type` (`llama`, `deepseek_v3`, ...); `custom` for dimensions without
   * a file.
   */
  family: string
  /**
   * Width of the residual stream.
   */
  hidden_size: number
  /**
   * Rows of the word embedding, without padding by a framework.
   */
  vocabulary: number
  /**
   * Longest sequence declared by the configuration, in tokens; 0 if not declared.
   */
  max_positions: number
  /**
   * True if the head reuses the word embedding.
   */
  tied_embeddings: boolean
  position: Position
  /**
   * Distinct layers.
   */
  layer_kinds: Layer[]
  /**
   * Kind of each layer in order, an index into `layer_kinds`.
   */
  layers: number[]
  /**
   * Weights before the first layer: word embedding, learned positions, embedding norm.
   */
  embedding: Weight[]
  /**
   * Weights between the last layer and the head: final norm.
   */
  final_norm: Weight[]
  /**
   * Weights of the head; empty if tied to the word embedding (its GEMM still runs).
   */
  head: Weight[]
  /**
   * Multi-token-prediction modules; `null` if the model has none.
   */
  multi_token_prediction: MultiTokenPrediction | null
  /**
   * Further stacks with tokens of their own: an encoder, a vision or audio tower.
   */
  towers?: Tower[]
  /**
   * Keys of the file's parts that are neither counted nor priced.
   */
  left_out?: string[]
  /**
   * Notes from the reader for the user, such as a skipped vision tower or an assumed field.
   */
  notes: string[]
}
/**
 * One layer: token mixer, feed-forward, and the weights of both.
 */
export interface Layer {
  /**
   * Short name for reports: `decoder`, `dense`, `moe`, `sliding`, `mamba`, ...
   */
  name: string
  mixer: Mixer
  feed_forward: FeedForward
  /**
   * Number of norms over the hidden width in one pass (2 for pre-norm layers, 4 for gemma 2).
   */
  norms: number
  norm: Norm
  /**
   * True if attention and feed-forward read the same input and add to the residual once (GPT-NeoX,
   * Falcon, Phi).
   */
  parallel_residual: boolean
  /**
   * All trainable tensors.
   */
  weights: Weight[]
}
/**
 * Softmax attention.
 */
export interface Attention {
  /**
   * Query heads.
   */
  heads: number
  /**
   * Key-value heads (1 for multi-query).
   */
  kv_heads: number
  /**
   * Width of a query or key head.
   */
  head_dim: number
  /**
   * Width of a value head.
   */
  value_dim: number
  span: Span
  /**
   * Norms on queries and keys.
   */
  qk_norm: boolean
  /**
   * Keys kept per query by a learned index (DeepSeek sparse attention), if any.
   */
  sparse_top_k: number | null
  /**
   * Heads of that index and their width; 0 if it has no scores of its own.
   *
   * @minItems 2
   * @maxItems 2
   */
  index: [number, number]
  /**
   * Tokens per entry of a compressed past, which queries see besides `span` (DeepSeek-V4); 0: none.
   */
  compress_rate: number
}
/**
 * Multi-head latent attention.
 */
export interface LatentAttention {
  /**
   * Query heads.
   */
  heads: number
  /**
   * Rank of the query latent; `null` if queries are projected directly.
   */
  q_lora_rank: number | null
  /**
   * Rank of the key-value latent.
   */
  kv_lora_rank: number
  /**
   * Width of a head's part without rotation.
   */
  qk_nope_head_dim: number
  /**
   * Width of a head's rotated part.
   */
  qk_rope_head_dim: number
  /**
   * Width of a value head.
   */
  v_head_dim: number
  /**
   * Keys kept per query by a learned index (DeepSeek sparse attention), if any.
   */
  sparse_top_k: number | null
  /**
   * Heads of that index and their width; 0 without it.
   *
   * @minItems 2
   * @maxItems 2
   */
  index: [number, number]
}
/**
 * Linear attention: a state of `key_dim x value_dim` per value head.
 */
export interface LinearAttention {
  /**
   * Key heads.
   */
  key_heads: number
  /**
   * Value heads.
   */
  value_heads: number
  /**
   * Width of a key head.
   */
  key_head_dim: number
  /**
   * Width of a value head.
   */
  value_head_dim: number
  /**
   * Taps of the short convolution.
   */
  conv_kernel: number
}
/**
 * A Mamba 2 mixer.
 */
export interface StateSpace {
  /**
   * Heads.
   */
  heads: number
  /**
   * Width of a head.
   */
  head_dim: number
  /**
   * State size per head and channel.
   */
  state_size: number
  /**
   * Groups that share B and C.
   */
  groups: number
  /**
   * Taps of the short convolution.
   */
  conv_kernel: number
}
/**
 * A selective scan without heads: every channel has a state of its own.
 */
export interface SelectiveScan {
  /**
   * Channels.
   */
  inner: number
  /**
   * State size per channel.
   */
  state_size: number
  /**
   * Taps of the short convolution; 0 without.
   */
  conv_kernel: number
}
/**
 * A gated short convolution along the sequence.
 */
export interface Convolution {
  /**
   * Channels.
   */
  width: number
  /**
   * Taps.
   */
  taps: number
}
/**
 * A two- or three-matrix MLP.
 */
export interface Mlp {
  /**
   * Inner width.
   */
  intermediate_size: number
  /**
   * True if a gate matrix multiplies the up projection (SwiGLU and variants).
   */
  gated: boolean
  activation: Activation
  /**
   * True if the matrices have biases.
   */
  biases: boolean
}
/**
 * Routed experts.
 */
export interface MixtureOfExperts {
  /**
   * Number of routed experts.
   */
  experts: number
  /**
   * Experts per token.
   */
  top_k: number
  expert: Mlp
  /**
   * Total width of the shared experts (or of a parallel dense MLP); 0 without.
   */
  shared_intermediate_size: number
  /**
   * Groups of experts for group-limited routing, 1 without.
   */
  routing_groups: number
  /**
   * Maximum groups per token.
   */
  top_k_groups: number
}
/**
 * One trainable tensor, or `copies` equal ones.
 */
export interface Weight {
  /**
   * Name inside the layer, as in Hugging Face without prefix (`q_proj`, `down_proj`, `input_layernorm`).
   */
  name: string
  module: Module
  /**
   * Rows: the output width of a matrix, the length of a vector.
   */
  rows: number
  /**
   * Columns: the input width of a matrix, 1 for a vector.
   */
  columns: number
  /**
   * Number of equal tensors: that of routed experts, or 1. It is 0 if an earlier layer holds the weight
   * and this one executes it again.
   */
  copies: number
  cut: Cut
  usage: Usage
}
/**
 * Modules that predict further tokens (DeepSeek-V3, section 2.2): each is one more layer plus a projection
 * of 2h to h.
 */
export interface MultiTokenPrediction {
  /**
   * Number of modules in sequence.
   */
  depth: number
  /**
   * Layer of each module, an index into `Model::layer_kinds`.
   */
  layer_kind: number
  /**
   * Weights of one module in addition to its layer (norms, projection). Embedding and head are shared
   * with the model.
   */
  weights: Weight[]
}
/**
 * A separate stack with its own tokens.
 */
export interface Tower {
  /**
   * Kind of tower: `vision`, `audio`, `encoder`.
   */
  name: string
  /**
   * Positions per sample in the stack, from the configuration; `null` if they depend on the data (a text
   * encoder).
   */
  tokens: number | null
  /**
   * Positions per sample passed to the main stack, fewer if patches are merged; `null`: by the data.
   */
  handed_on: number | null
  stack: Model
}
