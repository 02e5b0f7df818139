// Made from docs/reference/schema/rail_only.json by scripts/types.mjs.

/**
 * Comparison with a claim.
 */
export type Kind = 'value' | 'construction' | 'above' | 'below' | 'statement' | 'unknown'
/**
 * Result of a claim.
 */
export type Status = 'reproduced' | 'by_construction' | 'variant' | 'not_reproduced' | 'not_attempted'

/**
 * Common fields of every result.
 */
export interface RailOnlyAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'rail_only'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Every claim with its reproduced value.
   */
  targets: Target[]
  /**
   * Figures 3 to 5.
   */
  workloads: WorkloadRow[]
  /**
   * Figure 7.
   */
  domain_sweep: SweepRow[]
  /**
   * Figure 8.
   */
  batch_sweep: BatchRow[]
  /**
   * Switch port over transceiver, for the savings.
   */
  price_ratios: number[]
  /**
   * Table 2.
   */
  costs: CostRow[]
  /**
   * Section on mixture of experts.
   */
  forwarding: ForwardingRow[]
}
/**
 * A claim and its result under this model.
 */
export interface Target {
  /**
   * Identifier: the paper's version, the figure, the quantity.
   */
  id: string
  /**
   * Claim in words.
   */
  claim: string
  /**
   * The value in the paper.
   */
  paper: number | null
  /**
   * Its unit.
   */
  unit: string
  kind: Kind
  /**
   * Maximum distance: percentage points, else relative.
   */
  tolerance: number | null
  /**
   * The same for a documented variant.
   */
  variant: number | null
  /**
   * The configuration.
   */
  configuration: string
  /**
   * Reason why it is not met, or the extent of its evidence.
   */
  reason: string
  /**
   * The plain model's value, in the claim's unit.
   */
  here: number | null
  /**
   * Results of documented variants, if different.
   */
  variants: number[]
  /**
   * Change made by each of these variants.
   */
  variant_names: string[]
  /**
   * Distance of the plain model: percentage points, else relative.
   */
  error: number | null
  status: Status
}
/**
 * Figure 5: a workload on rail-only with K = 256 and on the ideal network.
 */
export interface WorkloadRow {
  /**
   * The workload.
   */
  workload: string
  rail_only: Iteration
  /**
   * Sum of the terms, in seconds. Unit: s.
   */
  total: number
  /**
   * With all devices in one scale-up domain. Unit: s.
   */
  ideal: number
  /**
   * Rail-only over ideal.
   */
  gain: number
  /**
   * The optimal model-parallel degree, in closed form.
   */
  optimum: number
  /**
   * The same by numerical search.
   */
  optimum_by_search: number
  traffic: Traffic
  /**
   * Share of pairs without traffic (0 to 1).
   */
  silent_pairs: number
  /**
   * Share of bytes that stays in domains.
   */
  bytes_in_domain: number
}
/**
 * An iteration, term by term.
 */
export interface Iteration {
  /**
   * Accelerators of a model-parallel group, N_M.
   */
  model_parallel: number
  /**
   * (2) Arithmetic: `6 P tau / (N C)`. Unit: s.
   */
  compute: number
  /**
   * (3) Model-parallel all-reduces inside the domain. Unit: s.
   */
  model_parallel_time: number
  /**
   * (4) Gradients inside the domain. Unit: s.
   */
  data_in_domain: number
  /**
   * (5) Gradients on the rails. Unit: s.
   */
  data_on_rails: number
}
/**
 * The traffic of one accelerator; all are equivalent.
 */
export interface Traffic {
  model_parallel: Class
  data_in_domain: Class
  data_on_rails: Class
  /**
   * Accelerators that it could talk to.
   */
  others: number
}
/**
 * A class of pairs, seen from one accelerator.
 */
export interface Class {
  /**
   * Partners of an accelerator.
   */
  partners: number
  /**
   * Bytes that it sends to each in an iteration. Unit: B.
   */
  bytes: number
}
/**
 * Figure 7: iteration time over the size of the domain.
 */
export interface SweepRow {
  /**
   * The workload.
   */
  workload: string
  /**
   * Accelerators.
   */
  devices: number
  /**
   * Sizes of domains.
   */
  domains: number[]
  /**
   * Iteration times; `null` if the optimal group exceeds the domain, so that the model does not apply.
   */
  times: (number | null)[]
  /**
   * With one domain of all devices. Unit: s.
   */
  ideal: number
}
/**
 * Figure 8: performance relative to the ideal over the size of the domain.
 */
export interface BatchRow {
  /**
   * Sequences of 2,048 tokens.
   */
  sequences: number
  /**
   * Relative performance for each domain of the sweep.
   */
  relative: number[]
  /**
   * Iteration times of the same.
   */
  times: number[]
}
/**
 * Table 2: switches, transceivers and the saving.
 */
export interface CostRow {
  /**
   * Accelerators.
   */
  devices: number
  /**
   * Ports of a switch.
   */
  radix: number
  clos: Counts
  rail_only: Counts
  /**
   * Share of the cost that rail-only saves at each price ratio of `RailOnlyReport::price_ratios`.
   */
  savings: number[]
}
/**
 * Counts of one or several folded Clos networks.
 */
export interface Counts {
  /**
   * Tiers of switches.
   */
  tiers: number
  /**
   * Switches.
   */
  switches: number
  /**
   * Ports of switches in use: `2 t - 1` for each device.
   */
  ports: number
  /**
   * Transceivers, two for each link: `2 t` for each device.
   */
  transceivers: number
}
/**
 * An all-to-all that is forwarded.
 */
export interface ForwardingRow {
  /**
   * Accelerators of a domain.
   */
  domain: number
  /**
   * Bandwidth of a network interface. Unit: B/s.
   */
  network: number
  /**
   * Bandwidth inside the domain. Unit: B/s.
   */
  scale_up: number
  /**
   * Overhead of two steps without overlap.
   */
  overhead: number
}
