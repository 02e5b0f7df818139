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
 * Common fields of every answer.
 */
export interface NetworkSimulateAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
   * Where the ranks are, and what other orders of the hosts take, where hosts are given.
   */
  placed?: Placed | null
  /**
   * This run and another on the same network, where another is given.
   */
  jobs?: SharedJob[]
  /**
   * The step as `estimate` has it, in closed form. Unit: s.
   */
  closed_form: number
  /**
   * Differences between both, step by step.
   */
  changes: Change[]
  /**
   * Every dimension that exchanges.
   */
  dimensions: DimensionRow[]
  /**
   * Load of links, from the devices outwards.
   */
  layers: LayerLoad[]
  /**
   * Whether groups of each kind are equivalent in the network, so that replicas are synchronous.
   */
  is_exact: boolean
  /**
   * Exchanges that go through third groups of a dragonfly, where its routing chooses.
   */
  detours?: string[]
  over_time: OverTime
  /**
   * Passes and exchanges that were played.
   */
  tasks: number
  /**
   * Flows that stand for all of them.
   */
  flows: number
  title: string
  /**
   * Settings that were not specified.
   */
  chosen: string[]
}
/**
 * Devices that send all the time.
 */
export interface Background {
  /**
   * Share of its network bandwidth that each uses if it can.
   */
  load: number
  /**
   * Only devices that the run does not use; otherwise all, the run's own too.
   */
  spare_only: boolean
}
/**
 * Step times over seeds.
 */
export interface OverSeeds {
  /**
   * Number.
   */
  seeds: number
  /**
   * The first.
   */
  first: number
  /**
   * The fastest step. Unit: s.
   */
  least: number
  /**
   * As many are faster as are slower. Unit: s.
   */
  median: number
  /**
   * Nine in ten are no slower. Unit: s.
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
   * Location of its ranks.
   */
  survey: Survey | null
  /**
   * Orders of hosts: contiguous and given first.
   */
  orders: Ordered[]
  best: Order
  /**
   * How much of the given order's step the best one saves, as a share.
   */
  gain: number
  /**
   * Hosts in the best order, by their names.
   */
  hosts: string[]
  /**
   * Hash seeds whose median each step is; 1 where routes are not hashed.
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
   * Leaf groups that the hosts are below: domains whose first device shares a leaf.
   */
  leaf_groups: number
  /**
   * The fewest leaf groups with as many domains.
   */
  least_leaf_groups: number
  /**
   * Pods of a Clos, or groups of a dragonfly.
   */
  pods: number
  /**
   * The fewest pods with as many domains.
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
   * First and last rank of each run of ranks that follow each other.
   */
  ranks: [number, number][]
}
/**
 * The step with an order of hosts.
 */
export interface Ordered {
  order: Order
  /**
   * The step; its median over hash seeds where routes are hashed. Unit: s.
   */
  step_time: number
  /**
   * Over the step with ranks on the first devices, minus 1; none where failed parts cut these off.
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
   * Its ranks.
   */
  ranks: number
  /**
   * Its step with the network for itself. Unit: s.
   */
  alone: number
  /**
   * Counted steps with the other run.
   */
  steps: number
  /**
   * Their mean. Unit: s.
   */
  mean: number
  /**
   * The fastest. Unit: s.
   */
  least: number
  /**
   * The slowest. Unit: s.
   */
  most: number
  /**
   * `mean / alone`.
   */
  slowdown: number
}
/**
 * One more circumstance, and the step with it.
 */
export interface Change {
  /**
   * Added effect.
   */
  what: string
  /**
   * The step with it and everything before. Unit: s.
   */
  step_time: number
  /**
   * Added time. Unit: s.
   */
  cost: number
}
/**
 * What one dimension's exchanges take, on the stage whose exchanges take longest.
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
   * Exchanges in the step.
   */
  exchanges: number
  /**
   * All of them in closed form, hidden or not, on a network without oversubscription. Unit: s.
   */
  closed_form: number
  /**
   * On the topology, each kind alone. Unit: s.
   */
  alone: number
  /**
   * In the step, with contention. Unit: s.
   */
  in_step: number
  /**
   * `in_step / closed_form`.
   */
  slowdown: number
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
   * Of these, how many carried anything.
   */
  used: number
  /**
   * Capacity of one. Unit: B/s.
   */
  capacity: number
  /**
   * Share of its capacity that the average link carried.
   */
  mean: number
  /**
   * The same of the busiest.
   */
  busiest: number
  /**
   * Place of the busiest.
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
   * The link; none for the mean of all links of the layer.
   */
  link: string | null
  /**
   * Share of the capacity in each interval, from 0 to 1.
   */
  busy: number[]
}
