// Made from docs/reference/schema/accelerators.json by scripts/types.mjs.

/**
 * Common fields of every answer.
 */
export interface AcceleratorsAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'accelerators'
  /**
   * Version of the program.
   */
  railwright: string
  accelerators: Accelerator[]
}
/**
 * One accelerator: what a rank sees.
 */
export interface Accelerator {
  /**
   * Catalogue identifier, such as `h100-sxm5-80gb`.
   */
  id: string
  /**
   * The vendor's name for it.
   */
  name: string
  /**
   * The vendor.
   */
  vendor: string
  /**
   * The architecture: `Ampere`, `Hopper`, `Blackwell`, ...
   */
  architecture: string
  /**
   * Year of introduction.
   */
  year: number
  /**
   * Multiprocessors, compute units or cores.
   */
  compute_units: number | null
  /**
   * Memory as labelled: decimal gigabytes of the data sheet times 2^30 is *not* assumed; bytes that the device reports
   * as total. Unit: B.
   */
  memory: number
  /**
   * Memory bandwidth. Unit: B/s.
   */
  memory_bandwidth: number
  /**
   * Dense peak rate of matrix products by number format; a missing format is not supported.
   */
  peak: {
    /**
     * Unit: FLOP/s.
     */
    [k: string]: number
  }
  /**
   * Best dense bf16 rate that a sweep of shapes measured, if known. Unit: FLOP/s.
   */
  measured_matmul: number | null
  /**
   * The scale-up link's name (`NVLink4`).
   */
  scale_up_link: string
  /**
   * Bandwidth of one device into its scale-up domain, one direction. Unit: B/s.
   */
  scale_up_bandwidth: number
  /**
   * Devices that one scale-up domain usually joins.
   */
  scale_up_domain: number
  /**
   * Usual network bandwidth per device, one direction. Unit: B/s.
   */
  network_bandwidth: number | null
  /**
   * Bandwidth to the host, one direction. Unit: B/s.
   */
  host_bandwidth: number | null
  /**
   * Design power. Unit: W.
   */
  power: number | null
  /**
   * Price per device and hour.
   */
  price: HourlyPrice | null
  /**
   * Patterns of the names that drivers and traces print.
   */
  device_name_patterns: string[]
  /**
   * Source of the values.
   */
  source: string
  /**
   * Conflicts and remarks.
   */
  notes: string
}
/**
 * A range of prices per device-hour, with when and where it was read.
 */
export interface HourlyPrice {
  /**
   * Lowest seen. Unit: USD.
   */
  low: number | null
  /**
   * The one used by default. Unit: USD.
   */
  typical: number
  /**
   * Highest seen. Unit: USD.
   */
  high: number | null
  /**
   * Date and source.
   */
  source: string
}
