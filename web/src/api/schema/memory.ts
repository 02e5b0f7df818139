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
 * A moment or a duration of the step's clock, in picoseconds.
 */
export type Time = number

/**
 * Common fields of every answer.
 */
export interface MemoryAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'memory'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The run in one line.
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
 * Memory of all stages against the device's.
 */
export interface MemoryReport {
  /**
   * Every stage.
   */
  stages: StageReport[]
  /**
   * The one that needs most.
   */
  worst: number
  /**
   * Memory of the device. Unit: B.
   */
  device_memory: number
  /**
   * Free memory on the worst stage at its expected peak; negative if the allocator must release memory, or fails. Unit: B.
   */
  margin: number
  /**
   * The least that the worst stage runs with: near the limit the allocator gives back what it only reserved, of which about half
   * can be used. Unit: B.
   */
  least: number
  fit: Fit
  /**
   * Probability that it fits, from the spread of past errors.
   */
  probability_of_fitting: number
  /**
   * Whether the peak is so near the limit that the allocator will retry and the step slow down.
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
   * Its layers, chunk by chunk: first and count.
   */
  layers: [number, number][]
  /**
   * Micro batches alive, chunk by chunk.
   */
  in_flight: number[]
  moment: Moment
  /**
   * Contents of memory at that time; adds up to `device`.
   */
  items: Item[]
  /**
   * Bytes of tensors. Unit: B.
   */
  allocated: number
  /**
   * Bytes reserved by the allocator. Unit: B.
   */
  reserved: number
  /**
   * Memory as shown by the device. Unit: B.
   */
  device: number
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
   * Of which layer of the model, from 0, if of one.
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
   * Peak with its time; `None` without events.
   */
  peak: Peak | null
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
 * Memory peak of a rank.
 */
export interface Peak {
  /**
   * Rank.
   */
  rank: number
  time: Time
  /**
   * Number of bytes.
   */
  bytes: number
  /**
   * Bytes by kind, largest first, without zeros.
   */
  parts: [MemoryKind, number][]
}
