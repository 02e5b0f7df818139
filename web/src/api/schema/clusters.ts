// Made from docs/reference/schema/clusters.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface ClustersAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
   * Origin of the data.
   */
  source: string
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
/**
 * Scale-up domain: devices with full scale-up bandwidth to each other.
 */
export interface ScaleUp {
  /**
   * Devices per domain (8 in a DGX, 72 in an NVL72 rack).
   */
  domain_size: number
  /**
   * Bandwidth per device, one direction. Unit: B/s.
   */
  bandwidth: number
  /**
   * Name of the link.
   */
  link: string
  /**
   * True if switches reduce in the network (NVLink SHARP).
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
   * Technology: `InfiniBand`, `RoCE`, `EFA`, `ICI`, `Ethernet`.
   */
  kind: string
  /**
   * One-way latency between two nodes under one switch. Unit: s.
   */
  latency: number
  /**
   * Tiers, from the leaf upwards.
   */
  tiers: Tier[]
  /**
   * True if its switches reduce (InfiniBand SHARP).
   */
  in_network_reduction?: boolean
  /**
   * True if nothing specifies the network, so that its bandwidth is the accelerator's usual one.
   */
  is_assumed?: boolean
  /**
   * Slowdown factor of traffic to all peers if rails are joined only through scale-up domains, whose
   * forwarding is exposed; 1 if the network joins the rails.
   */
  rail_forwarding?: number
}
/**
 * A tier of the fabric.
 */
export interface Tier {
  /**
   * Name, such as `leaf`, `spine` or `core`.
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
   * One-way latency added by the tier. Unit: s.
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
   * CPU memory bandwidth per device, which limits an optimizer on the host. Unit: B/s.
   */
  memory_bandwidth_per_device: number
  /**
   * Power of the node without accelerators, per device. Unit: W.
   */
  power_per_device: number
  /**
   * Facility power over machine power.
   */
  power_usage_effectiveness: number
}
