// Made from docs/reference/schema/accelerators.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface AcceleratorsAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
 * One accelerator, as used by one rank.
 */
export interface Accelerator {
  /**
   * Catalogue identifier, such as `h100-sxm5-80gb`.
   */
  id: string
  /**
   * Name given by the vendor.
   */
  name: string
  /**
   * Vendor.
   */
  vendor: string
  /**
   * Architecture: `Ampere`, `Hopper`, `Blackwell`, ...
   */
  architecture: string
  /**
   * Year of introduction.
   */
  year: number
  /**
   * Number of multiprocessors, compute units or cores.
   */
  compute_units: number | null
  /**
   * Total device memory in bytes, as reported by the device; if that is unknown, the label of the data
   * sheet in decimal gigabytes. Unit: B.
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
   * Best measured dense bf16 rate over a sweep of shapes; `null` if not measured. Unit: FLOP/s.
   */
  measured_matmul: number | null
  /**
   * Name of the scale-up link, such as `NVLink4`.
   */
  scale_up_link: string
  /**
   * Scale-up bandwidth of one device, one direction. Unit: B/s.
   */
  scale_up_bandwidth: number
  /**
   * Usual number of devices in a scale-up domain.
   */
  scale_up_domain: number
  /**
   * Usual network bandwidth per device, one direction; `null` if unknown. Unit: B/s.
   */
  network_bandwidth: number | null
  /**
   * Bandwidth to the host, one direction; `null` if unknown. Unit: B/s.
   */
  host_bandwidth: number | null
  /**
   * Design power in watts; `null` if unknown. Unit: W.
   */
  power: number | null
  /**
   * Price per device-hour; `null` if not in the catalogue.
   */
  price: HourlyPrice | null
  /**
   * Patterns of the device names in drivers and traces.
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
 * Range of prices per device-hour, with date and source.
 */
export interface HourlyPrice {
  /**
   * Lowest price found. Unit: USD.
   */
  low: number | null
  /**
   * Default price. Unit: USD.
   */
  typical: number
  /**
   * Highest price found. Unit: USD.
   */
  high: number | null
  /**
   * Date and source.
   */
  source: string
}
