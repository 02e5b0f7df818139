// Made from docs/reference/schema/network_cost.json by scripts/types.mjs.

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
 * Behaviour of a domain without one of its parts.
 */
export type WithoutPart = 'drain' | 'run-on'
/**
 * Kinds of networks.
 */
export type Fabric =
  | {
      clos: ClosNetwork
    }
  | {
      dragonfly: Dragonfly
    }
  | {
      dragonfly_plus: DragonflyPlus
    }
  | {
      slim_fly: SlimFly
    }
  | {
      torus: Torus
    }
  | 'none'
/**
 * Routing among equal-length paths.
 */
export type Routing = 'ecmp' | 'spray' | 'static' | 'valiant' | 'adaptive'
/**
 * Forwarding of a message to another rail.
 */
export type Forwarding = 'none' | 'before' | 'after'
/**
 * Medium of a cable.
 */
export type Medium = 'copper' | 'active-optical' | 'fibre' | 'linear' | 'co-packaged' | 'circuit'
/**
 * Purpose of a side network.
 */
export type Purpose = 'storage' | 'in-band' | 'out-of-band'
/**
 * Layer of a link.
 */
export type Layer =
  'scale_up' | 'host' | 'access' | 'leaf_spine' | 'spine_core' | 'core_top' | 'local' | 'global' | 'torus'
/**
 * Kinds of parts.
 */
export type Item =
  | 'switch-port'
  | 'chassis-port'
  | 'transceiver'
  | 'linear-transceiver'
  | 'co-packaged-end'
  | 'nic'
  | 'copper'
  | 'active-optical'
  | 'fibre'
  | 'circuit-switch-port'
  | 'patch-panel-port'
  | 'device'

/**
 * Common fields of every result.
 */
export interface NetworkCostAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'network_cost'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Designs that can be built; savings are relative to the first.
   */
  designs: Entry[]
  /**
   * Designs that cannot be built.
   */
  refused: Refused[]
  /**
   * Designs without a step time.
   */
  without_step: Refused[]
  /**
   * Savings over the ratio of prices.
   */
  saving_by_price_ratio: Sweep[]
  /**
   * Ratios of prices at which two designs cost the same.
   */
  break_even: BreakEven[]
  /**
   * Savings over a factor on the prices of switch ports.
   */
  saving_by_port_price: Sweep[]
  /**
   * Factors on the prices of switch ports at which two designs cost the same.
   */
  break_even_by_port_price: BreakEven[]
  /**
   * Names of all designs.
   */
  names: string[]
  /**
   * The cheapest design by number of devices.
   */
  cheapest_by_devices: Cheapest[]
  /**
   * Purchases of each design for a larger network, now and later.
   */
  growth: Growth[]
  /**
   * Designs that cannot be built at that size.
   */
  without_growth: Refused[]
  cluster: Cluster
  /**
   * The run in one line.
   */
  run: string | null
}
/**
 * One design of a comparison.
 */
export interface Entry {
  /**
   * Its name.
   */
  name: string
  design: Design
  bill: Bill
  /**
   * Saving of the whole bill over the first design (0 to 1), NICs included.
   */
  saving: number
  /**
   * Saving of switch ports and transceivers over the first design (0 to 1), as in published comparisons.
   */
  saving_ports_and_transceivers: number
  share: Share
  /**
   * Results of a run, if one was given.
   */
  step: OnRun | null
}
/**
 * A network.
 */
export interface Design {
  /**
   * Name.
   */
  name: string
  kind: Kind
  /**
   * Accelerators.
   */
  devices: number
  domain: Domain
  /**
   * Network bandwidth of one device, one direction, over all of its ports. Unit: B/s.
   */
  nic_bandwidth: number
  /**
   * Ports of a NIC, each in a separate plane.
   */
  planes: number
  /**
   * Rails; 1 if irrelevant.
   */
  rails: number
  /**
   * Ports of a switch, counted at the NIC's bandwidth.
   */
  radix: number
  /**
   * Bandwidth of the links between switches, one direction. Unit: B/s.
   */
  port_bandwidth: number
  /**
   * Ports of a leaf, a router, or any switch of a fabric with equal ones, counted at `port_bandwidth`.
   */
  ports_per_switch: number
  fabric: Fabric
  /**
   * Endpoints other than devices in one fabric.
   */
  extra_endpoints: number
  /**
   * Links in one cable.
   */
  links_per_cable: number
  routing: Routing
  connection: Connection
  /**
   * Seed of the hash.
   */
  seed: number
  forwarding: Forwarding
  /**
   * Latency of each link with the following switch. Unit: s.
   */
  link_latency: number
  /**
   * Cables between NIC and leaf, leaf and spine, spine and core.
   *
   * @minItems 3
   * @maxItems 3
   */
  cabling: [Cabling, Cabling, Cabling]
  /**
   * Networks of the servers.
   */
  side?: SideNetwork[]
}
/**
 * Scale-up domains, each modelled as one non-blocking switch with a share of its bandwidth for each of its
 * parts.
 */
export interface Domain {
  /**
   * Devices in each.
   */
  size: number
  /**
   * Bandwidth of one device, one direction. Unit: B/s.
   */
  bandwidth: number
  /**
   * Latency through a domain, one way. Unit: s.
   */
  latency: number
  /**
   * Its switches and links, if they are known.
   */
  parts?: ScaleUp | null
}
/**
 * Switches and links of a domain.
 */
export interface ScaleUp {
  /**
   * Switch chips. In two racks, each device is linked to the chips of its own.
   */
  switches: number
  /**
   * Chips in a tray.
   */
  per_tray: number
  /**
   * Links of a device.
   */
  links: number
  /**
   * Chips that a device is linked to: all, or those of its rack.
   */
  reached: number
  /**
   * Devices that a job leaves idle.
   */
  spares: number
  without_part: WithoutPart
}
/**
 * Equivalent folded Clos fabrics, and the devices of each.
 */
export interface ClosNetwork {
  clos: Clos
  /**
   * Fabrics in each plane: one, or one for each rail.
   */
  fabrics_per_plane: number
  /**
   * Fabrics that share one switch, if a switch is larger than needed for one.
   */
  fabrics_per_switch: number
  /**
   * Rails that share leaves: those of one group of the fabric.
   */
  rails_per_group: number
  /**
   * Remaining tiers; fewer than those of the fabric if layers without traffic were removed.
   */
  kept_tiers: number
  /**
   * NIC ports that one switch port serves.
   */
  hosts_per_port: number
  /**
   * Ports of a spine, counted at the bandwidth of links between switches.
   */
  spine_ports: number
  /**
   * Ports of a core, counted as those of a spine.
   */
  core_ports: number
  /**
   * Ports of a fourth-tier switch; `null` below four tiers.
   */
  top_ports?: number | null
}
/**
 * A folded Clos: tiers, switches and links. Leaves of a pod are joined to its spines, spines to the cores of
 * their core group.
 */
export interface Clos {
  /**
   * Tiers of switches, 1 to 4.
   */
  tiers: number
  /**
   * Groups of endpoints with leaves of their own.
   */
  groups: number
  /**
   * Endpoints in each group.
   */
  endpoints_per_group: number
  /**
   * Endpoints that fit under a leaf.
   */
  hosts_per_leaf: number
  /**
   * Leaves of each group.
   */
  leaves_per_group: number
  /**
   * Links from a leaf upwards.
   */
  leaf_uplinks: number
  /**
   * Pods; 1 below three tiers.
   */
  pods: number
  /**
   * Maximum number of leaves of a pod; the last pod may have fewer.
   */
  leaves_per_pod: number
  /**
   * Spines in each pod.
   */
  spines_per_pod: number
  /**
   * Links from a spine upwards.
   */
  spine_uplinks: number
  /**
   * Core groups of a zone: spines of the same index in their pods share one.
   */
  core_groups: number
  /**
   * Cores in each core group.
   */
  cores_per_group: number
  /**
   * True if leaves are numbered group by group instead of unit by unit.
   */
  by_group: boolean
  /**
   * The fourth tier; `null` below four tiers.
   */
  upper?: Upper | null
}
/**
 * The fourth tier, above zones: fabrics of three tiers whose cores have ports upwards.
 */
export interface Upper {
  /**
   * Zones.
   */
  zones: number
  /**
   * Links from a core upwards.
   */
  core_uplinks: number
  /**
   * Top switches.
   */
  tops: number
  /**
   * Groups of top switches: cores of the same index in their zones share one.
   */
  groups: number
}
/**
 * A dragonfly: `groups` groups of `routers` fully connected routers, each with a number of hosts and global
 * links.
 *
 * J. Kim et al. (ISCA 2008): radix `p + a - 1 + h`, at most `a h + 1` groups, `a p g` hosts, balanced at `a
 * = 2p = 2h`.
 */
export interface Dragonfly {
  /**
   * Groups, `g`.
   */
  groups: number
  /**
   * Routers in each group, `a`.
   */
  routers: number
  /**
   * Hosts at each router, `p`.
   */
  hosts: number
  /**
   * Global links of each router, `h`.
   */
  globals: number
}
/**
 * A dragonfly+: groups are two-tier trees, global links leave from the spines (A. Shpiner et al., HiPINEB
 * 2017).
 */
export interface DragonflyPlus {
  /**
   * Groups.
   */
  groups: number
  /**
   * Leaves in each group.
   */
  leaves: number
  /**
   * Spines in each group; each is joined to each leaf once.
   */
  spines: number
  /**
   * Hosts under each leaf.
   */
  hosts: number
  /**
   * Global links of each spine.
   */
  globals: number
}
/**
 * Slim Fly on McKay-Miller-Siran graphs (M. Besta and T. Hoefler, SC 2014): `2 q^2` routers of degree `(3q -
 * d) / 2`, where `q = 4w + d` and `d` is -1, 0 or 1, with `ceil(degree / 2)` hosts each.
 */
export interface SlimFly {
  /**
   * The order of the field.
   */
  q: number
  /**
   * Links of a router to routers.
   */
  degree: number
  /**
   * Hosts at each router.
   */
  hosts: number
}
/**
 * A torus of up to three dimensions.
 */
export interface Torus {
  /**
   * Devices along each dimension.
   */
  dimensions: number[]
  /**
   * Edge of a cube within which links are copper; `null` without cubes.
   */
  cube: number | null
}
/**
 * Routes of a connection between two devices with hashed routing: `channels x queue pairs x flowlets` on
 * each port, with equal bytes.
 *
 * A flowlet is a burst between two gaps that are longer than the difference of path delays; a switch draws
 * its route again, at random (S. Kandula et al., 2007; E. Vanini et al., LetFlow, NSDI 2017). Here all
 * routes of a message carry their shares at the same time, so the time is an upper bound: in sequence, a
 * flowlet on a busy link delays only itself.
 *
 * The defaults are NCCL's: two channels for each peer over the network (`NCCL_NCHANNELS_PER_NET_PEER`,
 * src/graph/paths.cc; a DGX H100 with 8 NICs has 16 channels), one queue pair for each
 * (`NCCL_IB_QPS_PER_CONNECTION`, src/transport/net_ib), and every message split evenly over the merged ports
 * of a NIC (`nDataQps` is the number of ports; `NCCL_IB_MERGE_NICS`).
 */
export interface Connection {
  /**
   * Channels.
   */
  channels: number
  /**
   * Queue pairs of each channel on a port.
   */
  queue_pairs: number
  /**
   * Flowlets of a message on each queue pair, each with its own route and an equal share of the bytes.
   */
  flowlets?: number
  /**
   * True if bytes are split evenly over all ports. Otherwise a hash chooses one for each queue pair, as
   * with bonded ports.
   */
  plane_striping: boolean
}
/**
 * Cables of one layer.
 */
export interface Cabling {
  medium: Medium
  /**
   * Mean length in metres. Unit: m.
   */
  length: number
}
/**
 * A network of the servers.
 */
export interface SideNetwork {
  purpose: Purpose
  /**
   * Servers.
   */
  servers: number
  /**
   * Ports of a server.
   */
  ports: number
  /**
   * Further ports: storage, management servers, switches, power distribution, uplinks of the site.
   */
  endpoints: number
  /**
   * Bandwidth of a port, one direction. Unit: B/s.
   */
  speed: number
  /**
   * Ports of a switch.
   */
  radix: number
  /**
   * Equal fabrics.
   */
  fabrics: number
  clos: Clos
  /**
   * Uplinks of all switches of one tier to the in-band network, which has ports for them.
   */
  uplinks: number
  /**
   * Cables at servers and between switches.
   *
   * @minItems 2
   * @maxItems 2
   */
  cabling: [Cabling, Cabling]
}
/**
 * The bill of a network.
 */
export interface Bill {
  /**
   * The design's name.
   */
  design: string
  counts: Counts
  /**
   * Accelerators.
   */
  devices: number
  /**
   * Line by line; the accelerators' network first.
   */
  lines: Line[]
  /**
   * Dollars of switch ports and transceivers alone, as counted by published comparisons of rail-only. Unit: USD.
   */
  ports_and_transceivers: number
  /**
   * Switches, cables and transceivers of the accelerators' network. Unit: USD.
   */
  fabric: number
  /**
   * Network interfaces of the accelerators. Unit: USD.
   */
  nics: number
  /**
   * Networks of the servers: storage and management, NICs included. Unit: USD.
   */
  side: number
  /**
   * All of it, at typical prices. Unit: USD.
   */
  total: number
  /**
   * All of it at the lowest prices that are known. Unit: USD.
   */
  total_low: number
  /**
   * All of it at the highest. Unit: USD.
   */
  total_high: number
  /**
   * Share of the total whose price has a range of public sources. The rest counts at its typical price in
   * all three totals, or at the range of its rule if it is derived.
   */
  ranged_share: number
  /**
   * True if every part has a price; the totals are lower bounds otherwise.
   */
  has_all_prices: boolean
  /**
   * Total power of the parts with known power. Unit: W.
   */
  watts: number
  /**
   * True if `watts` covers every part of the network.
   */
  has_all_watts: boolean
  /**
   * Warnings.
   */
  warnings: Warning[]
}
/**
 * Parts of a network.
 */
export interface Counts {
  /**
   * Switches by tier, from the leaves.
   */
  tiers: TierCount[]
  /**
   * Links by layer, from the NICs.
   */
  layers: LayerCount[]
  /**
   * Network interfaces.
   */
  nics: number
  /**
   * Ports of optical circuit switches.
   */
  circuit_ports: number
}
/**
 * Switches of one tier.
 */
export interface TierCount {
  /**
   * `leaf`, `spine`, `core`, `top`, `router`.
   */
  name: string
  /**
   * Switches.
   */
  switches: number
  /**
   * Ports that cables are plugged into.
   */
  ports_used: number
  /**
   * Total number of ports.
   */
  ports: number
}
/**
 * Links of one layer.
 */
export interface LayerCount {
  layer: Layer
  /**
   * Links, both directions counted once.
   */
  links: number
  /**
   * Cables.
   */
  cables: number
  cabling: Cabling
  /**
   * Transceivers.
   */
  transceivers: number
  /**
   * Bandwidth of a link, one direction. Unit: B/s.
   */
  bandwidth: number
}
/**
 * One line of a bill.
 */
export interface Line {
  item: Item
  /**
   * Location: a tier of switches or a layer of cables, after the name of its network if that is not the
   * accelerators'.
   */
  place: string
  /**
   * Its speed, one direction; `null` for prices without a speed. Unit: B/s.
   */
  speed: number | null
  /**
   * Number; metres of fibre.
   */
  count: number
  price: Price
  /**
   * `count x price`. Unit: USD.
   */
  dollars: number
  /**
   * The same at the lowest known price; at the typical one if there is only one. Unit: USD.
   */
  dollars_low: number
  /**
   * The same at the highest. Unit: USD.
   */
  dollars_high: number
  /**
   * `count x watts of one`; `null` if unknown. Unit: W.
   */
  watts: number | null
}
/**
 * A row of the table.
 */
export interface Price {
  /**
   * Dollars for one: the typical price. Unit: USD.
   */
  dollars: number
  /**
   * Lowest price of a public source; `null` if there is only one. Unit: USD.
   */
  dollars_low: number | null
  /**
   * The most. Unit: USD.
   */
  dollars_high: number | null
  /**
   * Watts of one part; `null` if unknown. Unit: W.
   */
  watts: number | null
  /**
   * Date of reading.
   */
  date: string
  /**
   * Source of the price.
   */
  dollars_source: string
  /**
   * Address of the source, or `unknown`.
   */
  address: string
  /**
   * Source of the power.
   */
  watts_source: string
  /**
   * `retrieved`, `recalled`, `inferred`, `derived`, `unknown` (no price), or text of the user.
   */
  confidence: string
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
 * The step of a run on a design, computed by the caller.
 */
export interface OnRun {
  /**
   * Time of a step: simulated, or in closed form if it cannot be simulated. Unit: s.
   */
  step_time: number
  /**
   * Time of a step in closed form, in which messages between stages do not slow down by oversubscription. Unit: s.
   */
  closed_form: number
  /**
   * Reason why the step is not simulated.
   */
  unsimulated?: string | null
  /**
   * Share of the step spent on the network between domains.
   */
  network_share: number
  /**
   * Tokens per second.
   */
  tokens_per_second: number
  /**
   * Factor of the availability by failures of this network.
   */
  kept: number
}
/**
 * A design that cannot be built as requested, with the reason.
 */
export interface Refused {
  /**
   * Its name.
   */
  name: string
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
 * Savings over the first design, by ratio of port price to transceiver price.
 */
export interface Sweep {
  /**
   * Ratio of port price to transceiver price, or a factor on the catalogue's port prices.
   */
  ratio: number
  /**
   * Saving of each further design, in their order.
   */
  savings: number[]
}
/**
 * Two designs cost the same at some ratio or number of devices.
 */
export interface BreakEven {
  /**
   * The cheaper design at a high port price.
   */
  expensive_ports: string
  /**
   * The cheaper design at a high transceiver price.
   */
  expensive_transceivers: string
  /**
   * Port price over transceiver price, or a factor on the catalogue's port prices.
   */
  ratio: number
}
/**
 * The cheapest design from some number of devices on, by dollars for each device.
 */
export interface Cheapest {
  /**
   * Devices.
   */
  devices: number
  /**
   * The design.
   */
  name: string
  /**
   * Dollars of each design per device, in the order of `Comparison::names`; `null` if it cannot be
   * built.
   */
  per_device: (number | null)[]
}
/**
 * A design that grows.
 */
export interface Growth {
  /**
   * Its name.
   */
  name: string
  /**
   * Devices of the larger network.
   */
  devices: number
  as_needed: Purchase
  /**
   * Purchase with the upper switches of the larger network from the start; `null` if the topology has no
   * tiers.
   */
  prepared: Purchase | null
}
/**
 * A plan for the larger network.
 */
export interface Purchase {
  /**
   * Bought for today's devices. Unit: USD.
   */
  now: number
  /**
   * Cost of the purchases for later devices. Unit: USD.
   */
  later: number
  /**
   * Cost of parts bought first that have no place in the larger network. Unit: USD.
   */
  discarded: number
  /**
   * Lower bound on today's links to reconnect; `null` if the topology has no rule for it.
   */
  moved_links: number | null
}
/**
 * Cost and power of the rest of the cluster, and its time in use.
 */
export interface Cluster {
  /**
   * The accelerator's name.
   */
  accelerator: string
  /**
   * Price of one accelerator with its share of the server. Unit: USD.
   */
  device_price: number | null
  /**
   * Source of that price.
   */
  device_price_source: string
  /**
   * Power of one accelerator. Unit: W.
   */
  device_power: number | null
  /**
   * Power of the rest of a server, for each accelerator. Unit: W.
   */
  host_power: number
  /**
   * Years over which network and devices are paid.
   */
  years: number
  /**
   * Dollars for a kilowatt-hour. Unit: USD.
   */
  electricity_price: number
  /**
   * Facility power over machine power.
   */
  power_usage_effectiveness: number
  /**
   * Tokens per second of the whole run; `null` if unknown.
   */
  tokens_per_second: number | null
  /**
   * Tokens of the whole run; `null` if unknown.
   */
  tokens: number | null
  /**
   * Share of the calendar time in which the run makes progress. An owner also pays for the rest.
   */
  availability: number
}
