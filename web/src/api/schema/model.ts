// Made from docs/reference/schema/model.json by scripts/types.mjs.

/**
 * What mixes tokens along the sequence.
 */
export type Mixer =
  | Attention
  | LatentAttention
  | LinearAttention
  | StateSpace
  | SelectiveScan
  | Convolution
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
       * What it is.
       */
      name: string
    }
  | {
      kind: 'none'
    }

/**
 * What stands around the fields of every answer.
 */
export interface ModelAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
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
 * What the catalogue says about a model beside its dimensions.
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
   * Multi-token-prediction modules, beside `total`.
   */
  multi_token_prediction: number
}
/**
 * Model FLOP of forward and backward pass.
 */
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
   * Longest sequence that the configuration declares, in tokens; 0 when it does not say.
   */
  max_positions: number
  /**
   * Whether the head reuses the word embedding.
   */
  tied_embeddings: boolean
  /**
   * How positions enter the model.
   */
  position: 'learned' | 'rotary' | 'alibi' | 'none'
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
   * Multi-token-prediction modules trained beside the head, if the model has them.
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
  /**
   * What mixes tokens along the sequence.
   */
  mixer:
    | Attention
    | LatentAttention
    | LinearAttention
    | StateSpace
    | SelectiveScan
    | Convolution
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
         * What it is.
         */
        name: string
      }
    | {
        kind: 'none'
      }
  /**
   * What transforms each token.
   */
  feed_forward:
    | Mlp
    | MixtureOfExperts
    | {
        kind: 'none'
      }
  /**
   * Normalisations over the hidden width that one pass executes (2 for pre-norm layers, 4 for gemma 2).
   */
  norms: number
  /**
   * The kind of norm.
   */
  norm: 'layer_norm' | 'rms_norm'
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
 * Multi-head, grouped-query or multi-query attention.
 */
export interface Attention {
  kind: 'attention'
}
/**
 * Multi-head latent attention (DeepSeek-V2): keys and values from a low-rank latent. In training it runs as
 * attention with `heads` key-value heads.
 */
export interface LatentAttention {
  kind: 'latent'
}
/**
 * Linear attention with a recurrent state (gated delta net, KDA).
 */
export interface LinearAttention {
  kind: 'linear'
}
/**
 * A selective state space (Mamba 2).
 */
export interface StateSpace {
  kind: 'state_space'
}
/**
 * A selective scan without heads (Mamba 1), or a gated linear recurrence (state of 1).
 */
export interface SelectiveScan {
  kind: 'selective'
}
/**
 * A gated short convolution (LFM2).
 */
export interface Convolution {
  kind: 'convolution'
}
/**
 * One MLP for all tokens.
 */
export interface Mlp {
  kind: 'dense'
}
/**
 * Routed experts, possibly beside a shared one or a dense MLP.
 */
export interface MixtureOfExperts {
  kind: 'mixture_of_experts'
}
/**
 * One trainable tensor, or `copies` equal ones.
 */
export interface Weight {
  /**
   * Its name inside the layer, as Hugging Face names it without prefix (`q_proj`, `down_proj`, `input_layernorm`).
   */
  name: string
  /**
   * The module that it belongs to.
   */
  module:
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
  /**
   * How tensor parallelism cuts it.
   */
  cut:
    | 'replicated'
    | 'column'
    | 'row'
    | {
        heads: number
      }
    | 'vocabulary'
  /**
   * What it is for.
   */
  usage:
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
   * The weights of one module beside its layer (norms, projection); embedding and head are the model's own.
   */
  weights: Weight[]
}
/**
 * A stack beside the main one, with tokens of its own.
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
  stack: Model1
}
/**
 * The stack; its head is what connects it to the main one.
 */
export interface Model1 {
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
   * Longest sequence that the configuration declares, in tokens; 0 when it does not say.
   */
  max_positions: number
  /**
   * Whether the head reuses the word embedding.
   */
  tied_embeddings: boolean
  /**
   * How positions enter the model.
   */
  position: 'learned' | 'rotary' | 'alibi' | 'none'
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
   * Multi-token-prediction modules trained beside the head, if the model has them.
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
