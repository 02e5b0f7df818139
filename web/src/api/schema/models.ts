// Made from docs/reference/schema/models.json by scripts/types.mjs.

/**
 * Common fields of every answer.
 */
export interface ModelsAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'models'
  /**
   * Version of the program.
   */
  railwright: string
  models: ModelField[]
}
export interface ModelField {
  name: string
  aliases: string[]
  family: string
  parameters: ParameterCount
  layers: number
  hidden_size: number
  vocabulary: number
  max_positions: number
  /**
   * Origin of the dimensions.
   */
  source: string
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
   * Multi-token-prediction modules, not included in `total`.
   */
  multi_token_prediction: number
}
