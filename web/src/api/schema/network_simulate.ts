// Made from docs/reference/schema/network_simulate.json by scripts/types.mjs.

/**
 * Devices that carry the traffic of a device with lost network bandwidth.
 */
export type Recovery = 'alone' | 'neighbour' | 'spread'
/**
 * An order of hosts.
 */
export type Order = 'contiguous' | 'given' | 'by_network' | 'swapped'
/**
 * Predicted memory fit of a plan.
 */
export type Fit = 'fits' | 'at_risk' | 'does_not_fit'

/**
 * Common fields of every result.
 */
export interface NetworkSimulateAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'network_simulate'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The topology's name.
   */
  topology: string
  /**
   * Routing on it.
   */
  routing: string
  /**
   * Failed parts.
   */
  failed: string[]
  /**
   * Devices that carry the traffic of NICs with lost ports, if parts failed.
   */
  recovery?: Recovery | null
  /**
   * The other jobs on it.
   */
  background: Background | null
  /**
   * Ranks of the run.
   */
  ranks: number
  /**
   * Devices of the network.
   */
  devices: number
  /**
   * The step on this network. Unit: s.
   */
  step_time: number
  /**
   * The step with other hash seeds, if requested.
   */
  over_seeds?: OverSeeds | null
  /**
   * Placement of the ranks, and step times of other orders of the hosts. `null` unless hosts are
   * specified.
   */
  placed?: Placed | null
  /**
   * This run and another on the same network; empty without another.
   */
  jobs?: SharedJob[]
  /**
   * The step of `estimate`, in closed form. Unit: s.
   */
  closed_form: number
  /**
   * Differences between both, step by step.
   */
  changes: Change[]
  /**
   * Rows of all dimensions with exchanges.
   */
  dimensions: DimensionRow[]
  /**
   * Compute and waits of each pipeline stage.
   */
  waits: StageWaits[]
  /**
   * Load of links, from the devices outwards.
   */
  layers: LayerLoad[]
  /**
   * True if groups of each kind are equivalent in the network, so that replicas are synchronous.
   */
  is_exact: boolean
  /**
   * Exchanges through third groups of a dragonfly, if its routing selects these.
   */
  detours?: string[]
  over_time: OverTime
  /**
   * Number of simulated passes and exchanges.
   */
  tasks: number
  /**
   * Number of flows that represent all of them.
   */
  flows: number
  title: string
  fit: Fit
  /**
   * Settings that were not specified.
   */
  chosen: string[]
}
/**
 * Devices that send continuously.
 */
export interface Background {
  /**
   * Maximum share of its network bandwidth that each uses.
   */
  load: number
  /**
   * True for only those devices that the run does not use, false for all, including the run's own.
   */
  spare_only: boolean
}
/**
 * Step times over seeds.
 */
export interface OverSeeds {
  /**
   * Number of seeds.
   */
  seeds: number
  /**
   * The first seed.
   */
  first: number
  /**
   * The fastest step. Unit: s.
   */
  least: number
  /**
   * Median step. Unit: s.
   */
  median: number
  /**
   * 90th percentile. Unit: s.
   */
  p90: number
  /**
   * The slowest step. Unit: s.
   */
  most: number
}
/**
 * A run on an allocation.
 */
export interface Placed {
  /**
   * Placement of its ranks.
   */
  survey: Survey | null
  /**
   * Orders of hosts: contiguous and given first.
   */
  orders: Ordered[]
  best: Order
  /**
   * Share of the given order's step that the best one saves.
   */
  gain: number
  /**
   * Hosts in the best order, by name.
   */
  hosts: string[]
  /**
   * Number of hash seeds behind each median; 1 unless routes are hashed.
   */
  seeds: number
}
/**
 * Placement of an allocation.
 */
export interface Survey {
  /**
   * Hosts with ranks.
   */
  hosts: number
  /**
   * Number of leaf groups of the hosts: domains whose first device shares a leaf.
   */
  leaf_groups: number
  /**
   * Minimum number of leaf groups with the same number of domains.
   */
  least_leaf_groups: number
  /**
   * Pods of a Clos, or groups of a dragonfly.
   */
  pods: number
  /**
   * Minimum number of pods with the same number of domains.
   */
  least_pods: number
  /**
   * Each leaf group with ranks, in the order of the network.
   */
  rows: LeafGroupRow[]
}
/**
 * Ranks below one leaf group.
 */
export interface LeafGroupRow {
  /**
   * The pod.
   */
  pod: number
  /**
   * The number of its first leaf.
   */
  leaf: number
  /**
   * Hosts.
   */
  hosts: number
  /**
   * First and last rank of each sequence of consecutive ranks.
   */
  ranks: [number, number][]
}
/**
 * The step with an order of hosts.
 */
export interface Ordered {
  order: Order
  /**
   * Step time, median over hash seeds if routes are hashed. Unit: s.
   */
  step_time: number
  /**
   * Step time over that with ranks on the first devices, minus 1. `null` if failed parts disconnect
   * these.
   */
  over_contiguous?: number | null
  bytes: ByLevel
}
/**
 * Bytes of a step by the highest level that they pass, and those that change the rail.
 */
export interface ByLevel {
  /**
   * Inside scale-up domains. Unit: B.
   */
  same_domain: number
  /**
   * Between domains of one leaf group. Unit: B.
   */
  same_leaf_group: number
  /**
   * Between leaf groups of one pod. Unit: B.
   */
  same_pod: number
  /**
   * Between pods. Unit: B.
   */
  other_pod: number
  /**
   * Between domains, from one rail to another. Unit: B.
   */
  other_rail: number
}
/**
 * A run that shares the network with another.
 */
export interface SharedJob {
  /**
   * Its name.
   */
  name: string
  /**
   * Number of ranks.
   */
  ranks: number
  /**
   * Its step without other traffic. Unit: s.
   */
  alone: number
  /**
   * Number of counted steps with the other run.
   */
  steps: number
  /**
   * Mean of these steps. Unit: s.
   */
  mean: number
  /**
   * The fastest of these steps. Unit: s.
   */
  least: number
  /**
   * The slowest of these steps. Unit: s.
   */
  most: number
  /**
   * `mean / alone`.
   */
  slowdown: number
}
/**
 * An additional effect, and the step with it.
 */
export interface Change {
  /**
   * Name of the added effect.
   */
  what: string
  /**
   * Step time with it and all previous effects. Unit: s.
   */
  step_time: number
  /**
   * Added time. Unit: s.
   */
  cost: number
}
/**
 * Time of one dimension's exchanges, on the stage with the longest.
 */
export interface DimensionRow {
  /**
   * Its name.
   */
  dimension: string
  /**
   * The stage.
   */
  stage: number
  /**
   * Number of exchanges in the step.
   */
  exchanges: number
  /**
   * Time of all of them in closed form, hidden and exposed, on a network without oversubscription. Unit: s.
   */
  closed_form: number
  /**
   * Time on the topology, each kind alone. Unit: s.
   */
  alone: number
  /**
   * Time in the step, with contention. Unit: s.
   */
  in_step: number
  /**
   * `in_step / closed_form`.
   */
  slowdown: number
}
/**
 * Compute of a stage, and its waits.
 */
export interface StageWaits {
  /**
   * The stage.
   */
  stage: number
  /**
   * Time of its compute, with communication that overlaps it. Unit: s.
   */
  compute: number
  /**
   * Time without compute until the end of the step, without the jitter allowance. Unit: s.
   */
  waiting: number
  /**
   * Parts of it, longest first.
   */
  waits: Wait[]
}
/**
 * Time that a stage waits for one kind of work.
 */
export interface Wait {
  /**
   * Work that the stage waits for: `compute` of another stage, a dimension, `optimizer` or `host`.
   */
  waits_for: string
  /**
   * Stage of that work; for messages, the sender. `null` for work of all stages.
   */
  of_stage: number | null
  /**
   * Time without compute on the waiting stage. Unit: s.
   */
  time: number
}
/**
 * A layer's links over some time.
 */
export interface LayerLoad {
  /**
   * Its name.
   */
  layer: string
  /**
   * Directed links.
   */
  links: number
  /**
   * Number of these links that carried bytes.
   */
  used: number
  /**
   * Capacity of one. Unit: B/s.
   */
  capacity: number
  /**
   * Mean utilization of the links (0 to 1).
   */
  mean: number
  /**
   * Utilization of the busiest link (0 to 1).
   */
  busiest: number
  /**
   * Place of the busiest link.
   */
  link: string
}
/**
 * Links over time.
 */
export interface OverTime {
  /**
   * Length of an interval. Unit: s.
   */
  interval: number
  /**
   * The mean of each layer, then its busiest links, from the devices outwards.
   */
  rows: LinkOverTime[]
}
/**
 * A link, or the mean of a layer, over time.
 */
export interface LinkOverTime {
  /**
   * The layer.
   */
  layer: string
  /**
   * The link; `null` for the mean of all links of the layer.
   */
  link: string | null
  /**
   * Share of the capacity in each interval, from 0 to 1.
   */
  busy: number[]
}
