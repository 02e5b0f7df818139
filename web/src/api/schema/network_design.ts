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
 * Result of the search of a class.
 */
export type Searched = 'found' | 'nothing_fits' | 'not_searched'

/**
 * Common fields of every answer.
 */
export interface NetworkDesignAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
   * Price of each device's part of a scale-up domain beyond the machine's own, by domain size.
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
   * Rows with a simulated cost per token equal to the lowest within intervals; a single one is the winner.
   * Empty without simulation.
   */
  contenders: number[]
  /**
   * Whether the fronts are of watts, too: only where the power of every design is known, or what is not known would count as 0.
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
   * Whether everything was searched.
   */
  complete: boolean
}
/**
 * One design with its step.
 */
export interface Row {
  topology: Kind
  /**
   * Devices of a scale-up domain.
   */
  domain: number
  /**
   * Bandwidth below a leaf over bandwidth above it.
   */
  oversubscription: number
  /**
   * Bandwidth of a NIC, one direction. Unit: B/s.
   */
  speed: number
  /**
   * Tiers of switches.
   */
  tiers: number
  /**
   * Switches.
   */
  switches: number
  /**
   * Dollars of the network, NICs included, and of larger domains where they have a price. Unit: USD.
   */
  dollars: number
  /**
   * The same for each device. Unit: USD.
   */
  dollars_per_device: number
  /**
   * Watts of the network; none where the power of a part is not known. Unit: W.
   */
  watts: number | null
  /**
   * Time of a step; none where its class has no plan. Unit: s.
   */
  step_time: number | null
  /**
   * Share of it that the network between domains takes.
   */
  network_share: number | null
  /**
   * Tokens a second.
   */
  tokens_per_second: number | null
  share: Share
  /**
   * Index of the class that shares its plan.
   */
  class: number
  /**
   * Whether no other design of the same domain size is at least as good in time, dollars and watts and better in one.
   */
  on_front: boolean
  /**
   * The same over all sizes; only if larger domains have a price.
   */
  on_whole_front: boolean
  /**
   * Whether a token costs least here, among designs that can be compared by it; once steps are simulated, beyond the doubt of all others.
   */
  cheapest_token: boolean
  /**
   * Whether it is what others are compared with: rail-optimized, nothing oversubscribed, the machine's own domains.
   */
  is_reference: boolean
  /**
   * The simulated step, where it may be the cheapest or is a reference.
   */
  simulated: Simulated | null
}
/**
 * The network's share.
 */
export interface Share {
  /**
   * Of the dollars of network and devices.
   */
  of_dollars: number | null
  /**
   * Of the watts of network and devices.
   */
  of_watts: number | null
  /**
   * The network's dollars a year: price over years, and electricity. Unit: USD.
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
   * Tokens a second.
   */
  tokens_per_second: number | null
  /**
   * Dollars a day. Unit: USD.
   */
  dollars_per_day: number
  /**
   * Dollars for a million tokens. Unit: USD.
   */
  dollars_per_million_tokens: number | null
  /**
   * Dollars for the run: `tokens x dollars for one / availability`. Unit: USD.
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
 * A simulated step on a network, and what a token costs there.
 */
export interface Simulated {
  /**
   * Routing of messages.
   */
  routing: string
  /**
   * The step. Unit: s.
   */
  step_time: number
  /**
   * Whether groups of one kind that the network treats differently were simulated at the pace of the slowest. Its interval is wider.
   */
  is_merged: boolean
  /**
   * Bounds of the step: the network's part of it shorter or longer by what flows miss packets by, over all hash seeds. Unit: s.
   */
  step_low: number
  /**
   * The upper bound. Unit: s.
   */
  step_high: number
  /**
   * With the simulated step. Unit: USD.
   */
  dollars?: number
  /**
   * Its bounds. Unit: USD.
   */
  dollars_low?: number
  /**
   * The upper bound. Unit: USD.
   */
  dollars_high?: number
}
/**
 * A class of designs with equal steps.
 */
export interface Class {
  searched: Searched
  /**
   * The best plan's layout as flags; empty where there is none.
   */
  layout: string
  /**
   * Reason why nothing fits; empty elsewhere.
   */
  reason: string
}
/**
 * A combination that cannot be built.
 */
export interface Refused {
  kind: Kind
  /**
   * Devices of a domain.
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
   * Place in the input; `None` if unknown.
   */
  place: Place | null
  /**
   * Action or nearest valid name; `None` without one.
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
   * Line from 1; `None` if unknown.
   */
  line: number | null
  /**
   * Column from 1; `None` if unknown.
   */
  column: number | null
  /**
   * Dotted key; `None` if unknown.
   */
  key: string | null
  /**
   * Line of text with the problem; `None` if unknown.
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
