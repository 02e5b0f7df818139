// Made from docs/reference/schema/models.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface ModelsAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
