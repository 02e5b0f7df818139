// Made from docs/reference/schema/network_failures.json by scripts/types.mjs.

/**
 * Devices that carry the traffic of a device with lost network bandwidth.
 */
export type Recovery = 'alone' | 'neighbour' | 'spread'
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
 * Action of a job after a failure.
 */
export type Response = 'run-on' | 'go-without' | 'swap' | 'wait'
/**
 * Kind of sampling.
 */
export type Draw =
  | 'moments'
  | {
      together: [string, number][]
    }

/**
 * Common fields of every result.
 */
export interface NetworkFailuresAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'network_failures'
  /**
   * Version of the program.
   */
  railwright: string
  job: Job
  /**
   * The run in one line.
   */
  run: string | null
  designs: FailingFields[]
}
/**
 * Job under failures.
 */
export interface Job {
  /**
   * Share of the step that is exposed network time. With a run, that of its step on the first design.
   */
  exposed_share: number
  /**
   * Share of the step in exposed communication within scale-up domains.
   */
  exposed_domain_share: number
  /**
   * Hours of all devices that an interruption costs: detection, restart, work since the last
   * checkpoint.
   */
  interruption_hours: number
  recovery: Recovery
}
export interface FailingFields {
  design: Design
  expected: Expectation
  /**
   * Several parts fail at random.
   */
  sampled: Sampled | null
  /**
   * The parts that were named.
   */
  named: NamedFields | null
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
 * Cost of the failures of one design.
 */
export interface Expectation {
  /**
   * The design's name.
   */
  design: string
  /**
   * Devices.
   */
  devices: number
  /**
   * Class by class, from the devices outwards.
   */
  classes: ClassLoss[]
  /**
   * Flaps and slow parts of the classes that have rates of them.
   */
  brief?: BriefLoss[]
  /**
   * Failures in a month.
   */
  failures_per_month: number
  /**
   * Failures in a month that stop the job, without flaps.
   */
  interruptions_per_month: number
  /**
   * Device-hours that are lost in a month, also to flaps and slow parts.
   */
  lost_hours_per_month: number
  /**
   * Share of all device-hours.
   */
  lost_share: number
  /**
   * Mean factor of the step's time over a month, without interruptions.
   */
  mean_slowdown: number
  /**
   * Mean number of idle devices.
   */
  mean_lost_devices: number
}
/**
 * Cost of failures of one class of parts.
 */
export interface ClassLoss {
  /**
   * The part: `NIC`, `leaf`, `leaf-spine link`, ...
   */
  part: string
  /**
   * Number of entries.
   */
  count: number
  /**
   * Devices with a disconnected NIC.
   */
  cut_off: number
  /**
   * Devices that are unreachable, also through their domain: the step cannot finish.
   */
  stranded: number
  /**
   * Devices that keep a part of their bandwidth.
   */
  slowed: number
  /**
   * Devices of all domains with a member that is cut off or slowed: the devices that a job would have to
   * drop.
   */
  touched: number
  /**
   * Share of bandwidth that the most affected device keeps on its own NIC (0 to 1).
   */
  kept_alone: number
  /**
   * Remaining share if one neighbour also carries its traffic.
   */
  kept_neighbour: number
  /**
   * Share that the most affected domain keeps over all of its NICs.
   */
  kept_spread: number
  /**
   * Share of scale-up bandwidth that the most affected device keeps.
   */
  kept_domain: number
  /**
   * Assumptions behind the values.
   */
  remark: string
  rate: Rate
  /**
   * Failures of all parts per month.
   */
  failures_per_month: number
  /**
   * True if the job stops and restarts because connections of a device break.
   */
  interrupts: boolean
  /**
   * Step slowdown until the repair; `null` if the step cannot finish.
   */
  slowdown: number | null
  /**
   * True if the slowdown is that of a simulated step without the part. Otherwise it follows from the
   * remaining bandwidth.
   */
  simulated: boolean
  response: Response
  /**
   * Device-hours that one failure costs.
   */
  lost_hours: number
  /**
   * Devices that the job lacks while the part is down.
   */
  lost_devices: number
  /**
   * Device-hours in a month.
   */
  lost_hours_per_month: number
}
/**
 * One line: failure rate and repair time of a part.
 */
export interface Rate {
  /**
   * Failures of one part in 10^9 hours.
   */
  fit: number
  /**
   * Hours until it is repaired.
   */
  repair_hours: number
  /**
   * Date of reading.
   */
  date: string
  /**
   * Source of the rate.
   */
  fit_source: string
  /**
   * Source of the repair time.
   */
  repair_source: string
  /**
   * `retrieved`, `recalled`, `derived`, or text of the user.
   */
  confidence: string
  /**
   * Flaps.
   */
  flaps?: Flaps | null
  /**
   * Slow parts.
   */
  slow?: Slow | null
}
/**
 * Flaps of one part.
 */
export interface Flaps {
  /**
   * Flaps of one part in a month of 730 hours.
   */
  per_month: number
  /**
   * Mean time until the link is up again. Unit: s.
   */
  seconds: number
  /**
   * Time until routes avoid the part, where others exist; `null` if they never do for a flap. Unit: s.
   */
  reroute_seconds: number | null
}
/**
 * Slow parts: lossy links, NICs below their bandwidth.
 */
export interface Slow {
  /**
   * Expected number of times that one part becomes slow in a month of 730 hours.
   */
  per_month: number
  /**
   * Hours until one is found and replaced.
   */
  hours: number
  /**
   * Share of its bandwidth that it keeps (0 to 1).
   */
  kept: number
}
/**
 * A class with its flaps and slow parts.
 */
export interface BriefLoss {
  /**
   * Name of the parts, as in `super::Class::part`.
   */
  part: string
  /**
   * Number of parts.
   */
  count: number
  /**
   * Flaps; `null` without a rate.
   */
  flaps: FlapLoss | null
  /**
   * Slow parts; `null` without a rate.
   */
  slow: SlowLoss | null
}
/**
 * Expected cost of the flaps of a class of parts.
 */
export interface FlapLoss {
  /**
   * Flaps of all parts of the class in a month.
   */
  per_month: number
  /**
   * Mean stall of the whole job in one. Unit: s.
   */
  stall_seconds: number
  /**
   * Share of them that outlasts the transport, so that the job stops and restarts (0 to 1).
   */
  stopping: number
  /**
   * Device-hours of one.
   */
  lost_hours: number
  /**
   * Device-hours in a month.
   */
  lost_hours_per_month: number
}
/**
 * Expected cost of the slow parts of a class.
 */
export interface SlowLoss {
  /**
   * Slow parts that appear in a month.
   */
  per_month: number
  /**
   * Bandwidth that the most affected device keeps (0 to 1).
   */
  kept: number
  /**
   * Step time relative to the whole network until the part is found; `null` if it cannot finish.
   */
  slowdown: number | null
  /**
   * Mean number of them at any time.
   */
  present: number
  /**
   * Device-hours of one.
   */
  lost_hours: number
  /**
   * Device-hours in a month.
   */
  lost_hours_per_month: number
}
/**
 * Results with standard errors.
 */
export interface Sampled {
  draw: Draw
  /**
   * States drawn.
   */
  samples: number
  /**
   * The generator's seed.
   */
  seed: number
  /**
   * Mean factor of the step's time over states in which it can be finished.
   */
  mean_slowdown: number
  /**
   * Standard error of the mean slowdown.
   */
  mean_slowdown_error: number
  /**
   * The largest factor among these.
   */
  worst_slowdown: number
  /**
   * Share of states in which the step cannot be finished.
   */
  stopped: number
  /**
   * Standard error of the share. If no state or every state was stopped, it is the bound on the share's
   * distance with 95% confidence: three over the number of samples (J. A. Hanley and A. Lippman-Hand,
   * "If nothing goes wrong, is everything all right?", JAMA 249, 1983).
   */
  stopped_error: number
  /**
   * Mean number of devices with a disconnected NIC.
   */
  mean_cut_off: number
  /**
   * Share of states without any failure.
   */
  whole: number
}
export interface NamedFields {
  failed: Part[]
  state: State
  /**
   * Step time relative to the whole network; `null` if the job cannot finish.
   */
  slowdown: number | null
  finishes: boolean
}
/**
 * A part by its class (as `Class::part`) and its number.
 */
export interface Part {
  /**
   * The class.
   */
  class: string
  /**
   * The number.
   */
  number: number
}
/**
 * Network with failed parts.
 */
export interface State {
  /**
   * Devices with a disconnected NIC.
   */
  cut_off: Range[]
  /**
   * Devices that their domain cannot help either: the step cannot finish.
   */
  stranded: Range[]
  /**
   * True if all domains reach each other.
   */
  is_connected: boolean
  /**
   * Share of bandwidth that the most affected device keeps on its own NIC (0 to 1).
   */
  kept_alone: number
  /**
   * Remaining share if one neighbour also carries its traffic.
   */
  kept_neighbour: number
  /**
   * Share that the most affected domain keeps over all of its NICs.
   */
  kept_spread: number
  /**
   * Share of scale-up bandwidth that the most affected device keeps, in domains that are in service.
   */
  kept_domain: number
}
/**
 * Devices from the first to the last, both included.
 */
export interface Range {
  /**
   * The first.
   */
  first: number
  /**
   * The last.
   */
  last: number
}
