// Made from docs/reference/schema/memory.json by scripts/types.mjs.

/**
 * Time of the peak.
 */
export type Moment = 'loss' | 'backward' | 'backward_end' | 'optimizer_step'
/**
 * Kind of memory.
 */
export type Kind =
  | 'parameters'
  | 'gradients'
  | 'master_weights'
  | 'optimizer_moments'
  | 'narrow_weights'
  | 'activations'
  | 'working_set'
  | 'logits'
  | 'communication_buffers'
  | 'optimizer_temporaries'
  | 'workspace'
  | 'fragmentation'
  | 'context'
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
 * Predicted memory fit of a plan.
 */
export type Fit = 'fits' | 'at_risk' | 'does_not_fit'
/**
 * Kind of memory.
 */
export type MemoryKind =
  | 'parameters'
  | 'gradients'
  | 'optimizer'
  | 'activations'
  | 'logits'
  | 'communication'
  | 'workspace'
  | 'overhead'
  | 'other'

/**
 * Common fields of every result.
 */
export interface MemoryAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'memory'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Title: the run in one line.
   */
  title: string
  memory: MemoryReport
  /**
   * Index of the stage in `over_time`.
   */
  stage: number
  over_time: OverTime
}
/**
 * Memory of all stages, compared with the device's.
 */
export interface MemoryReport {
  /**
   * Reports of all stages.
   */
  stages: StageReport[]
  /**
   * Index of the stage with the largest need.
   */
  worst: number
  /**
   * Memory of the device of the worst stage. Unit: B.
   */
  device_memory: number
  /**
   * Free memory on the worst stage at its expected peak; negative if the allocator must release memory,
   * or fails. Unit: B.
   */
  margin: number
  /**
   * Minimum memory with which the worst stage runs. Near the limit the allocator releases unused memory,
   * of which about half is usable. Unit: B.
   */
  least: number
  fit: Fit
  /**
   * Probability that it fits, from the spread of past errors.
   */
  probability_of_fitting: number
  /**
   * True if the peak is close enough to the limit to cause allocator retries and slower steps.
   */
  near_limit: boolean
}
/**
 * One stage's memory.
 */
export interface StageReport {
  /**
   * The stage, from 0.
   */
  stage: number
  /**
   * First layer and number of layers of each chunk.
   */
  layers: [number, number][]
  /**
   * Micro-batches in flight, per chunk.
   */
  in_flight: number[]
  moment: Moment
  /**
   * Contents of memory at that time, which sum to `device`.
   */
  items: Item[]
  /**
   * Bytes allocated by tensors. Unit: B.
   */
  allocated: number
  /**
   * Bytes reserved by the allocator. Unit: B.
   */
  reserved: number
  /**
   * Memory reported by the device. Unit: B.
   */
  device: number
  /**
   * Memory of the device; that of the smallest kind on the stage. Unit: B.
   */
  available: number
}
/**
 * One line of a report.
 */
export interface Item {
  kind: Kind
  /**
   * Module, if any.
   */
  module: Module | null
  /**
   * Layer of the model, from 0. `null` for memory outside layers.
   */
  layer: number | null
  /**
   * Amount. Unit: B.
   */
  bytes: number
}
/**
 * Memory of one stage over a step.
 */
export interface OverTime {
  /**
   * Peak bytes in equal time intervals of the step, over all kinds.
   */
  highest_bytes: number[]
  /**
   * Bytes by kind at those peaks, without kinds that are always zero.
   */
  parts: KindOverTime[]
  /**
   * Step time. Unit: s.
   */
  duration: number
  /**
   * Peak with its time; `null` without events.
   */
  peak: PeakMemory | null
}
/**
 * Memory of one kind over the step.
 */
export interface KindOverTime {
  kind: MemoryKind
  /**
   * Bytes of this kind at the peak of each interval.
   */
  bytes: number[]
}
/**
 * Peak memory of one rank over a step.
 */
export interface PeakMemory {
  /**
   * Rank.
   */
  rank: number
  /**
   * First time of the peak since the step began. Unit: s.
   */
  time: number
  /**
   * Number of bytes.
   */
  bytes: number
  /**
   * Bytes by kind, largest first, without zeros.
   */
  parts: [MemoryKind, number][]
}
