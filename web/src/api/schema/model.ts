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
       * Each of them.
       */
      mixers: Mixer[]
    }
  | {
      kind: 'unpriced'
      /**
       * Kind.
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
export type Activation = 'gelu' | 'silu' | 'relu' | 'squared_relu'
/**
 * A normalisation.
 */
export type Norm = 'layer_norm' | 'rms_norm'
/**
 * The module of a layer that a weight belongs to; the unit of recompute and of memory reports.
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
 * How tensor parallelism cuts a weight among its ranks.
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
 * What a weight does in the forward pass.
 */
export type Usage =
  | {
      matmul: {
        /**
         * The label of the fused product.
         */
        fused: string
      }
    }
  | 'vector'
  | 'table'

/**
 * Common fields of every answer.
 */
export interface ModelAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
   * The name that output uses.
   */
  name: string
  /**
   * Other names that find it.
   */
  aliases: string[]
  /**
   * The family, as `model_type` names it.
   */
  family: string
  /**
   * Where the dimensions come from.
   */
  source: string
  /**
   * What to know about them.
   */
  notes: string
  /**
   * How it was trained, where its publication has both figures.
   */
  training?: PublishedTraining | null
}
/**
 * The steps of a published pre-training, after the ramp of the batch.
 */
export interface PublishedTraining {
  /**
   * Sequences of a step.
   */
  global_batch: number
  /**
   * Tokens of a sequence.
   */
  sequence_length: number
  /**
   * The publication, with its section.
   */
  source: string
}
/**
 * Parameter counts of a model. Cards differ in what they count, so all conventions stand side by side.
 */
export interface ParameterCount {
  /**
   * Everything, towers included, a tied embedding once, without multi-token prediction.
   */
  total: number
  /**
   * The word embedding.
   */
  word_embedding: number
  /**
   * The head's own matrix; 0 when tied.
   */
  head: number
  /**
   * All routed experts of all layers.
   */
  routed_experts: number
  /**
   * Parameters that one token uses, input embedding included.
   */
  active: number
  /**
   * Parameters that one token uses, without the input embedding unless it also serves as head.
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
 * A model's whole structure.
 *
 * Layers that are equal share one `Layer` value: `layers[i]` is an index into `layer_kinds`.
 */
export interface Model {
  /**
   * The catalogue name, or what the user called it.
   */
  name: string
  /**
   * The family as Hugging Face's `model_type` names it (`llama`, `deepseek_v3`, ...); `custom` for dimensions typed in.
   */
  family: string
  /**
   * Width of the residual stream.
   */
  hidden_size: number
  /**
   * Rows of the word embedding before any padding that a framework adds.
   */
  vocabulary: number
  /**
   * Longest sequence declared by the configuration, in tokens; 0 if not declared.
   */
  max_positions: number
  /**
   * Whether the head reuses the word embedding.
   */
  tied_embeddings: boolean
  position: Position
  /**
   * The distinct layers.
   */
  layer_kinds: Layer[]
  /**
   * For each layer in order, its kind.
   */
  layers: number[]
  /**
   * Weights in front of the first layer: word embedding, learned positions, embedding norm.
   */
  embedding: Weight[]
  /**
   * Weights between the last layer and the head: the final norm.
   */
  final_norm: Weight[]
  /**
   * The head's own weights; empty when tied (its matrix product still runs).
   */
  head: Weight[]
  /**
   * Multi-token-prediction modules, if the model has them.
   */
  multi_token_prediction: MultiTokenPrediction | null
  /**
   * Further stacks with tokens of their own: an encoder, a vision or audio tower.
   */
  towers?: Tower[]
  /**
   * Parts of the file that are neither counted nor priced, by their keys.
   */
  left_out?: string[]
  /**
   * What the reader wants the user to know (a vision tower skipped, a field that was assumed).
   */
  notes: string[]
}
/**
 * One layer: what mixes tokens, what transforms each token, and every weight of both.
 */
export interface Layer {
  /**
   * A short name for people: `decoder`, `dense`, `moe`, `sliding`, `mamba`, ...
   */
  name: string
  mixer: Mixer
  feed_forward: FeedForward
  /**
   * Normalisations over the hidden width that one pass executes (2 for pre-norm layers, 4 for gemma 2).
   */
  norms: number
  norm: Norm
  /**
   * Whether attention and feed-forward read the same input and add to the residual once (GPT-NeoX, Falcon, Phi).
   */
  parallel_residual: boolean
  /**
   * Every trainable tensor.
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
   * Rank of the query latent; `None` when queries are projected directly.
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
   * Whether a gate matrix multiplies the up projection (SwiGLU and kin).
   */
  gated: boolean
  activation: Activation
}
/**
 * Routed experts.
 */
export interface MixtureOfExperts {
  /**
   * Routed experts in all.
   */
  experts: number
  /**
   * Experts that one token visits.
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
   * Groups that one token may visit.
   */
  top_k_groups: number
}
/**
 * One trainable tensor, or `copies` equal ones.
 */
export interface Weight {
  /**
   * Its name inside the layer, as Hugging Face names it without prefix (`q_proj`, `down_proj`, `input_layernorm`).
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
   * How many of it (routed experts); 0 where an earlier layer holds it and this one executes it again; 1 elsewhere.
   */
  copies: number
  cut: Cut
  usage: Usage
}
/**
 * Modules that predict further tokens (DeepSeek-V3, section 2.2): each is one more layer plus a projection of 2h to h.
 */
export interface MultiTokenPrediction {
  /**
   * How many modules, one behind another.
   */
  depth: number
  /**
   * The layer that each module runs, an index into `Model::layer_kinds`.
   */
  layer_kind: number
  /**
   * The weights of one module in addition to its layer (norms, projection); embedding and head are shared
   * with the model.
   */
  weights: Weight[]
}
/**
 * A separate stack with its own tokens.
 */
export interface Tower {
  /**
   * What it is: `vision`, `audio`, `encoder`.
   */
  name: string
  /**
   * Positions per sample that the stack works on, as the configuration has them; `None` where the data decides (a text encoder).
   */
  tokens: number | null
  /**
   * Positions that it hands to the main stack, fewer where patches are merged.
   */
  handed_on: number | null
  stack: Model
}
