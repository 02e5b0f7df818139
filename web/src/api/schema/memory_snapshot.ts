// Made from docs/reference/schema/memory_snapshot.json by scripts/types.mjs.

/**
 * Kind of an allocation.
 */
export type Use =
  'parameters' | 'optimizer' | 'backward' | 'activations' | 'communication' | 'workspace' | 'other' | 'unknown'

/**
 * Common fields of every answer.
 */
export interface MemorySnapshotAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'memory_snapshot'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The devices that hold memory or have a history.
   */
  devices: DeviceReport[]
  title: string
  /**
   * Predicted memory of the same run; absent without a run.
   */
  predicted?: Predicted | null
}
/**
 * One device.
 */
export interface DeviceReport {
  /**
   * Its number.
   */
  device: number
  /**
   * Number of events in its history.
   */
  events: number
  /**
   * Whether there is a history, so that the peak is one; otherwise the end is shown.
   */
  has_history: boolean
  /**
   * Time of the peak.
   */
  peak: Point | null
  /**
   * Bytes requested by tensors at the peak.
   */
  peak_allocated_bytes: number
  /**
   * The most that the allocator held.
   */
  peak_reserved_bytes: number
  /**
   * Bytes of tensors at the end.
   */
  allocated_bytes: number
  /**
   * Bytes reserved by the allocator at the end.
   */
  reserved_bytes: number
  /**
   * Of that, free blocks in segments that also hold tensors: what cannot be given back. None without segments.
   */
  fragmented_bytes: number | null
  /**
   * Free segments, which can. None without segments.
   */
  cached_bytes: number | null
  /**
   * Freed by their owner and in use by a stream.
   */
  awaiting_free_bytes: number
  /**
   * The largest free block.
   */
  largest_free_bytes: number
  /**
   * At the peak by kind, most first.
   */
  kinds: Group[]
  /**
   * At the peak by place in the code, most first.
   */
  places: Group[]
  /**
   * At the peak by module, most first.
   */
  modules: Group[]
  /**
   * Memory over the history.
   */
  curve: Point[]
  /**
   * Segments that the driver gave within the history.
   */
  segment_allocs: number
  /**
   * Segments that it took back.
   */
  segment_frees: number
  /**
   * How often the allocator gave segments back and asked for one at once: its cache had no block that fits.
   */
  cache_flushes: number
  /**
   * Number of out-of-memory events.
   */
  out_of_memory: number
  /**
   * What was asked for the first time that there was none, and what the driver had free.
   *
   * @minItems 2
   * @maxItems 2
   */
  first_failure: [number, number | null] | null
  /**
   * Memory that grows.
   */
  leaks: Leak[]
}
/**
 * A moment.
 */
export interface Point {
  /**
   * Event, from 0.
   */
  event: number
  /**
   * Time, in microseconds since the first event.
   */
  time_us: number | null
  /**
   * Bytes of tensors.
   */
  allocated_bytes: number
  /**
   * Bytes reserved by the allocator.
   */
  reserved_bytes: number
}
/**
 * Memory of one kind, place or module.
 */
export interface Group {
  /**
   * Kind.
   */
  name: string
  /**
   * Kind of an allocation site.
   */
  kind?: Use | null
  /**
   * The module whose forward pass allocates, of a place.
   */
  module?: string | null
  /**
   * Its bytes.
   */
  bytes: number
  /**
   * Its blocks.
   */
  blocks: number
  /**
   * The stack, of a place, innermost frame first.
   */
  stack?: string[]
}
/**
 * A stack whose memory grows.
 */
export interface Leak {
  /**
   * The innermost frame outside of the framework.
   */
  place: string
  /**
   * Blocks that were allocated in the history and never freed.
   */
  blocks: number
  /**
   * Their bytes.
   */
  bytes: number
  /**
   * In how many of the eight parts of the history they were allocated.
   */
  parts: number
  /**
   * Bytes a second, where events have times.
   */
  bytes_per_s: number | null
}
/**
 * The calculator's answer for the stage.
 */
export interface Predicted {
  stage: number
  rows: Row[]
  allocated_bytes: number
  reserved_bytes: number
}
/**
 * One kind of memory, measured and predicted.
 */
export interface Row {
  /**
   * Purpose, as named in the snapshot.
   */
  kind: string
  measured_bytes: number
  predicted_bytes: number
}
