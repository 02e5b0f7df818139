// Made from docs/reference/schema/clusters.json by scripts/types.mjs.

/**
 * Common fields of every answer.
 */
export interface ClustersAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'clusters'
  /**
   * Version of the program.
   */
  railwright: string
  clusters: ClusterFields[]
}
/**
 * A preset; presets have no number of devices.
 */
export interface ClusterFields {
  name: string
  accelerator: Accelerator
  devices_per_node: number
  scale_up: ScaleUp
  network: Network
  host: Host
  /**
   * Origin of the figures.
   */
  source: string
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
/**
 * The domain within which devices reach each other at full scale-up bandwidth.
 */
export interface ScaleUp {
  /**
   * Devices per domain (8 in a DGX, 72 in an NVL72 rack).
   */
  domain_size: number
  /**
   * Bandwidth of one device, one direction. Unit: B/s.
   */
  bandwidth: number
  /**
   * The link's name.
   */
  link: string
  /**
   * Whether switches reduce in the network (NVLink SHARP).
   */
  in_network_reduction: boolean
}
/**
 * The network between scale-up domains.
 */
export interface Network {
  /**
   * Bandwidth per device, one direction (NICs of a node shared equally). Unit: B/s.
   */
  bandwidth: number
  /**
   * `InfiniBand`, `RoCE`, `EFA`, `ICI`, `Ethernet`.
   */
  kind: string
  /**
   * One-way latency between two nodes under one switch. Unit: s.
   */
  latency: number
  /**
   * Tiers from the leaf upwards.
   */
  tiers: Tier[]
  /**
   * How much longer traffic to all peers takes because rails are joined through domains alone, whose step is not hidden; 1 where
   * the network joins them.
   */
  rail_forwarding?: number
}
/**
 * A tier of the fabric.
 */
export interface Tier {
  /**
   * Its name (`leaf`, `spine`, `core`).
   */
  name: string
  /**
   * Devices below one switch group of the tier.
   */
  devices: number
  /**
   * Down-bandwidth over up-bandwidth; 1 is non-blocking.
   */
  oversubscription: number
  /**
   * Latency that passing the tier adds, one way. Unit: s.
   */
  latency: number
}
/**
 * The host side of a node.
 */
export interface Host {
  /**
   * CPU memory per device. Unit: B.
   */
  memory_per_device: number
  /**
   * CPU memory bandwidth per device (the CPU optimizer's limit). Unit: B/s.
   */
  memory_bandwidth_per_device: number
  /**
   * Power of everything in the node that is not an accelerator, per device. Unit: W.
   */
  power_per_device: number
  /**
   * Facility power over machine power.
   */
  power_usage_effectiveness: number
}
