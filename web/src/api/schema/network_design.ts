// Made from docs/reference/schema/network_design.json by scripts/types.mjs.

/**
 * A family of topologies.
 */
export type Kind =
  | 'clos'
  | 'rail-optimized'
  | 'rail-only'
  | 'trimmed'
  | 'dual-plane'
  | 'multi-plane'
  | 'dragonfly'
  | 'dragonfly-plus'
  | 'torus'
  | 'slim-fly'
  | 'scale-up'
/**
 * Why a network is not simulated.
 */
export type Unsimulated = 'costs_more' | 'no_domain_price' | 'no_device_price' | 'too_many' | 'failed' | 'stopped'
/**
 * Result of the search of a class.
 */
export type Searched = 'found' | 'nothing_fits' | 'not_searched'

/**
 * Common fields of every result.
 */
export interface NetworkDesignAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'network_design'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Designs in the order of the axes.
   */
  rows: Row[]
  /**
   * Plans of the classes.
   */
  classes: Class[]
  /**
   * Designs that cannot be built, one per reason.
   */
  refused: Refused[]
  /**
   * Extra price per device of scale-up domains larger than the machine's own, by domain size.
   */
  scale_up_prices: {
    /**
     * Unit: USD.
     *
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^\d+$".
     */
    [k: string]: number
  }
  /**
   * Power of the same parts, if given; it is in the watts of the rows.
   */
  scale_up_watts?: {
    /**
     * Unit: W.
     *
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^\d+$".
     */
    [k: string]: number
  }
  /**
   * Sizes of larger scale-up domains without a price, so that the cost per token of their rows is
   * unknown. In the order of the rows.
   */
  unpriced_domains: number[]
  /**
   * Rows with a simulated cost per token equal to the lowest within intervals; a single one is the
   * winner. Empty without simulation.
   */
  contenders: number[]
  /**
   * True if the fronts include watts. Requires the power of every design, because an unknown value would
   * count as 0.
   */
  compares_power: boolean
  /**
   * Warnings.
   */
  warnings: Warning[]
  /**
   * Settings that were not specified.
   */
  chosen: string[]
  /**
   * True if the search covered everything.
   */
  complete: boolean
}
/**
 * One design with its step.
 */
export interface Row {
  topology: Kind
  /**
   * Devices per scale-up domain.
   */
  domain: number
  /**
   * Requested bandwidth below a leaf over bandwidth above it.
   */
  oversubscription: number
  /**
   * The same as built, from the ports of a leaf; 1 without leaves.
   */
  built_oversubscription: number
  /**
   * Bandwidth of a NIC, one direction. Unit: B/s.
   */
  speed: number
  /**
   * Number of switch tiers.
   */
  tiers: number
  /**
   * Number of switches.
   */
  switches: number
  /**
   * Dollars of the network, including NICs, and of larger domains if they have a price. Unit: USD.
   */
  dollars: number
  /**
   * Dollars per device. Unit: USD.
   */
  dollars_per_device: number
  /**
   * Watts of the network. `null` if the power of a part is unknown. Unit: W.
   */
  watts: number | null
  /**
   * Time of a step. `null` if its class has no plan. Unit: s.
   */
  step_time: number | null
  /**
   * Share of the step due to the network between domains.
   */
  network_share: number | null
  /**
   * Tokens per second.
   */
  tokens_per_second: number | null
  /**
   * Factor of the availability by failures of this network, in proportion to its part of the step. Of a
   * job with a goodput, relative to the network in it. `null` without a step.
   */
  kept: number | null
  share: Share
  /**
   * Index of the class that shares its plan.
   */
  class: number
  /**
   * True if no other design of the same domain size is at least as good in time, dollars and watts and
   * better in one.
   */
  on_front: boolean
  /**
   * The same over all sizes. Only if larger domains have a price.
   */
  on_whole_front: boolean
  /**
   * True for the lowest cost per token, among designs comparable by it. After simulation, only if its
   * interval is below all others.
   */
  cheapest_token: boolean
  /**
   * True for references: rail-optimized, no oversubscription, the machine's own domains.
   */
  is_reference: boolean
  /**
   * The simulated step, for references and possible winners.
   */
  simulated: Simulated | null
  /**
   * Why a network with a step has no simulated one.
   */
  unsimulated?: Unsimulated | null
}
/**
 * The network's share.
 */
export interface Share {
  /**
   * Share of the dollars of network and devices (0 to 1).
   */
  of_dollars: number | null
  /**
   * Share of the watts of network and devices (0 to 1).
   */
  of_watts: number | null
  /**
   * The network's dollars per year: price over years, and electricity. Unit: USD.
   */
  dollars_per_year: number
  /**
   * The network's dollars for a million tokens. Unit: USD.
   */
  dollars_per_million_tokens: number | null
  /**
   * The same for network and devices together.
   */
  cluster: Whole | null
}
/**
 * Network, devices and electricity together.
 */
export interface Whole {
  /**
   * Tokens per second.
   */
  tokens_per_second: number | null
  /**
   * Dollars per day. Unit: USD.
   */
  dollars_per_day: number
  /**
   * Dollars for a million tokens. Unit: USD.
   */
  dollars_per_million_tokens: number | null
  /**
   * Dollars for the run: `tokens x dollars for one`. Unit: USD.
   */
  dollars_per_run: number | null
  /**
   * Power at the facility's meter. Unit: W.
   */
  power: number
  /**
   * Energy at the facility's meter for a million tokens. Unit: kWh.
   */
  energy_per_million_tokens: number | null
  /**
   * The network's part of that energy. Unit: kWh.
   */
  network_energy_per_million_tokens: number | null
}
/**
 * A simulated step on a network, with its cost per token.
 */
export interface Simulated {
  /**
   * Routing of messages.
   */
  routing: string
  /**
   * Simulated step time. Unit: s.
   */
  step_time: number
  /**
   * True if groups of one kind with different routes were simulated at the rate of the slowest. The
   * interval is then wider.
   */
  is_merged: boolean
  /**
   * Lower bound on the step. The interval changes the network's part by the error of flows, over all hash
   * seeds. Unit: s.
   */
  step_low: number
  /**
   * Upper bound on the step. Unit: s.
   */
  step_high: number
  /**
   * Share of the simulated step due to the network between domains.
   */
  network_share: number
  /**
   * Cost at the simulated step. Unit: USD.
   */
  dollars?: number
  /**
   * Lower bound. Unit: USD.
   */
  dollars_low?: number
  /**
   * Upper bound. Unit: USD.
   */
  dollars_high?: number
}
/**
 * A class of designs with equal steps.
 */
export interface Class {
  searched: Searched
  /**
   * The best plan's layout for display, with shortened lists; empty without a plan.
   */
  layout: string
  /**
   * The same as flags of `estimate` and `network simulate`.
   */
  flags: string
  /**
   * Reason why nothing fits; empty otherwise.
   */
  reason: string
}
/**
 * A combination that cannot be built.
 */
export interface Refused {
  kind: Kind
  /**
   * Devices per domain.
   */
  domain: number
  /**
   * Bandwidth of a NIC. Unit: B/s.
   */
  speed: number
  problem: Problem
}
/**
 * A problem of an input.
 */
export interface Problem {
  /**
   * Problem and cause, in a lowercase fragment.
   */
  message: string
  /**
   * Place in the input; `null` if unknown.
   */
  place: Place | null
  /**
   * Action or nearest valid name; `null` without one.
   */
  hint: string | null
  /**
   * Known settings that each remove this problem; the hint contains them in words.
   */
  remedies?: Remedy[]
}
/**
 * A place in an input.
 */
export interface Place {
  /**
   * File, or its substitute (`--set`, `--tp`).
   */
  file: string
  /**
   * Line from 1; `null` if unknown.
   */
  line: number | null
  /**
   * Column from 1; `null` if unknown.
   */
  column: number | null
  /**
   * Dotted key; `null` if unknown.
   */
  key: string | null
  /**
   * Line of text with the problem; `null` if unknown.
   */
  text: string | null
}
/**
 * A setting that removes a problem.
 */
export interface Remedy {
  /**
   * Dotted key of a run file.
   */
  key: string
  /**
   * Value, as in a run file or a flag.
   */
  value: string
}
/**
 * A doubtful setting or result that did not stop the work.
 */
export interface Warning {
  /**
   * Stable identifier for `railwright explain`, such as `memory-margin-small`.
   */
  id: string
  /**
   * Warning in one sentence, with the action if there is one.
   */
  message: string
}
