// Made from docs/reference/schema/memory_snapshot.json by scripts/types.mjs.

/**
 * Purpose of an allocation.
 */
export type Use =
  'parameters' | 'optimizer' | 'backward' | 'activations' | 'communication' | 'workspace' | 'other' | 'unknown'

/**
 * Common fields of every result.
 */
export interface MemorySnapshotAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'memory_snapshot'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Devices with memory or a history.
   */
  devices: DeviceReport[]
  title: string
  /**
   * Predicted memory of the same run; absent without a run.
   */
  predicted?: Predicted | null
}
/**
 * Report of one device.
 */
export interface DeviceReport {
  /**
   * Number of the device.
   */
  device: number
  /**
   * Number of events in its history.
   */
  events: number
  /**
   * True if there is a history, and so a peak; otherwise the state at the end is shown.
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
   * Peak of the bytes reserved by the allocator.
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
   * Bytes of free blocks in segments that also contain tensors, which cannot be released. `null` without
   * segments.
   */
  fragmented_bytes: number | null
  /**
   * Bytes of free segments, which can be released. `null` without segments.
   */
  cached_bytes: number | null
  /**
   * Bytes freed by their owner and still in use by a stream.
   */
  awaiting_free_bytes: number
  /**
   * Size of the largest free block, in bytes.
   */
  largest_free_bytes: number
  /**
   * Memory at the peak by kind, largest first.
   */
  kinds: Group[]
  /**
   * Memory at the peak by place in the code, largest first.
   */
  places: Group[]
  /**
   * Memory at the peak by module, largest first.
   */
  modules: Group[]
  /**
   * Memory over the history.
   */
  curve: Point[]
  /**
   * Number of segments that the driver allocated within the history.
   */
  segment_allocs: number
  /**
   * Number of segments that it released.
   */
  segment_frees: number
  /**
   * Number of times that the allocator released segments and requested one at once: its cache had no
   * block that fitted.
   */
  cache_flushes: number
  /**
   * Number of out-of-memory events.
   */
  out_of_memory: number
  /**
   * Requested bytes of the first failed allocation, and the driver's free bytes at that time.
   *
   * @minItems 2
   * @maxItems 2
   */
  first_failure: [number, number | null] | null
  /**
   * Stacks with growing memory.
   */
  leaks: Leak[]
}
/**
 * A moment of the history.
 */
export interface Point {
  /**
   * Index of the event, from 0.
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
   * Name of the kind, place or module.
   */
  name: string
  /**
   * Purpose of the allocations of a place.
   */
  kind?: Use | null
  /**
   * For a place: the module whose forward pass allocates.
   */
  module?: string | null
  /**
   * Bytes of its blocks.
   */
  bytes: number
  /**
   * Number of its blocks.
   */
  blocks: number
  /**
   * For a place: its stack, innermost frame first.
   */
  stack?: string[]
}
/**
 * A stack whose memory grows.
 */
export interface Leak {
  /**
   * The innermost frame outside the framework.
   */
  place: string
  /**
   * Number of blocks allocated in the history and never freed.
   */
  blocks: number
  /**
   * Bytes of these blocks.
   */
  bytes: number
  /**
   * Number of the eight parts of the history with such allocations.
   */
  parts: number
  /**
   * Growth in bytes per second; `null` if events have no times.
   */
  bytes_per_s: number | null
}
/**
 * The calculator's prediction for the stage.
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
