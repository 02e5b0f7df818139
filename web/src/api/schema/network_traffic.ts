// Made from docs/reference/schema/network_traffic.json by scripts/types.mjs.

/**
 * Predicted memory fit of a plan.
 */
export type Fit = 'fits' | 'at_risk' | 'does_not_fit'
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
 * Kind of a pair of ranks.
 */
export type PairClass = 'same_domain' | 'same_rail' | 'other_rail'
/**
 * Parallel dimension of a communication.
 */
export type Dimension = 'tensor' | 'context' | 'expert' | 'pipeline' | 'data' | 'other'
/**
 * Part of the step.
 */
export type Phase = 'forward' | 'recompute' | 'backward' | 'backward_input' | 'backward_weight' | 'optimizer' | 'other'
/**
 * A kind of communication among ranks, in a plan or in a recording.
 */
export type CollectiveKind =
  | 'all_reduce'
  | 'all_gather'
  | 'reduce_scatter'
  | 'all_to_all'
  | 'dispatch'
  | 'combine'
  | 'notify'
  | 'broadcast'
  | 'reduce'
  | 'gather'
  | 'scatter'
  | 'send_receive'
  | 'send'
  | 'receive'
  | 'copy'
  | 'barrier'
/**
 * Algorithm of a collective.
 */
export type Algorithm =
  | 'ring'
  | 'direct'
  | 'hierarchical'
  | 'message'
  | {
      dispatch: {
        /**
         * Number of experts per token.
         */
        copies: number
        /**
         * Domains that a token may visit at most; 0 is no limit.
         */
        most_domains: number
      }
    }
/**
 * Layer of a link.
 */
export type Layer =
  'scale_up' | 'host' | 'access' | 'leaf_spine' | 'spine_core' | 'core_top' | 'local' | 'global' | 'torus'
/**
 * Direction of the links of a layer.
 */
export type Direction = 'up' | 'down' | 'either'

/**
 * Common fields of every result.
 */
export interface NetworkTrafficAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'network_traffic'
  /**
   * Version of the program.
   */
  railwright: string
  title: string
  /**
   * Settings that were not specified.
   */
  chosen: string[]
  fit: Fit
  design: Design | null
  place: Place
  /**
   * Bytes sent by all ranks per step. Unit: B.
   */
  sent: number
  /**
   * Bytes sent by one rank, mean. Unit: B.
   */
  sent_per_rank: number
  /**
   * Share of the bytes that stays inside scale-up domains.
   */
  inside_share: number
  /**
   * Share of the pairs without traffic (0 to 1).
   */
  silent_share: number
  /**
   * Rows by class of pairs, the nearest first.
   */
  pairs: PairRow[]
  /**
   * Rows by parallel dimension.
   */
  dimensions: DimensionRow[]
  /**
   * Rows by exchange, the most bytes first.
   */
  exchanges: ExchangeRow[]
  /**
   * With an allocation of hosts.
   */
  placement?: Placement | null
  /**
   * With `--by domain`.
   */
  domains?: DomainRow[] | null
  /**
   * With `--by rail`.
   */
  rails?: RailRow[] | null
  /**
   * All bytes first, then those of each dimension that has any.
   */
  squares?: Square[]
  /**
   * Ranks of the run.
   */
  ranks?: number
  /**
   * Ranks along a cell's side; the last cell may have fewer.
   */
  per_cell?: number
  /**
   * Cells along a square's side.
   */
  side?: number
  links?: LinkFields[]
  /**
   * True if a row represents several parallel links.
   */
  links_pooled?: boolean
  /**
   * Bytes between domains that no network joins. Unit: B.
   */
  unjoined?: number
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
 * Domains and rails of a run. Rank `n` runs on device `n`, or on that of its seat.
 */
export interface Place {
  /**
   * Ranks of the run.
   */
  ranks: number
  /**
   * Devices in a scale-up domain.
   */
  domain: number
  /**
   * Number of rails: devices of equal position in their domain, modulo this, share one.
   */
  rails: number
}
/**
 * Pairs of one class; a pair is ordered.
 */
export interface PairRow {
  class: PairClass
  /**
   * Pairs of this class.
   */
  pairs: number
  /**
   * Number of these pairs in which the first sends to the second.
   */
  talking: number
  /**
   * Bytes sent by all of them. Unit: B.
   */
  bytes: number
  /**
   * Share of all bytes (0 to 1).
   */
  share: number
  /**
   * Bytes sent by a communicating pair, mean. Unit: B.
   */
  mean: number
  /**
   * Bytes sent by the pair with most. Unit: B.
   */
  most: number
}
/**
 * Exchanges of one parallel dimension.
 */
export interface DimensionRow {
  dimension: Dimension
  /**
   * Bytes sent by all ranks. Unit: B.
   */
  bytes: number
  /**
   * Share of all bytes (0 to 1).
   */
  share: number
  by_class: ByClass
}
/**
 * Bytes by class of pairs.
 */
export interface ByClass {
  /**
   * Inside scale-up domains.
   */
  same_domain: number
  /**
   * Between domains, along a rail.
   */
  same_rail: number
  /**
   * Between domains and rails.
   */
  other_rail: number
}
/**
 * Exchanges of one kind: those that differ only in phase, in stages and in how often.
 */
export interface ExchangeRow {
  dimension: Dimension
  /**
   * Exchanged tensors.
   */
  purpose: string
  /**
   * Parts of the step.
   */
  phases: Phase[]
  kind: CollectiveKind
  algorithm: Algorithm
  /**
   * Ranks of a group.
   */
  ranks: number
  /**
   * Number of groups.
   */
  groups: number
  /**
   * Bytes of one call, by nccl-tests' convention. Unit: B.
   */
  bytes: number
  /**
   * Calls of a group in a step, on average over the groups.
   */
  count: number
  /**
   * Bytes sent by all ranks for it. Unit: B.
   */
  sent: number
  /**
   * Share of all bytes (0 to 1).
   */
  share: number
  by_class: ByClass
}
/**
 * Placement of the ranks of an allocation, and the reach of their traffic.
 */
export interface Placement {
  /**
   * Position of the hosts in the network.
   */
  survey: Survey | null
  bytes: ByLevel
  contiguous: ByLevel
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
 * Traffic of the devices of a scale-up domain.
 */
export interface DomainRow {
  /**
   * Domain number; its devices begin at `domain x size`.
   */
  domain: number
  /**
   * Among each other. Unit: B.
   */
  inside: number
  /**
   * Bytes to other domains. Unit: B.
   */
  sent: number
  /**
   * Bytes from other domains. Unit: B.
   */
  received: number
}
/**
 * Traffic of the devices of a rail with other domains.
 */
export interface RailRow {
  /**
   * Selection.
   */
  rail: number
  /**
   * Devices on it.
   */
  devices: number
  /**
   * Bytes to devices of this rail. Unit: B.
   */
  along: number
  /**
   * Bytes to devices of other rails. Unit: B.
   */
  sent: number
  /**
   * Bytes from devices of other rails. Unit: B.
   */
  received: number
}
/**
 * Senders, receivers and bytes of one dimension.
 */
export interface Square {
  /**
   * Parallel dimension; `null` for all together.
   */
  dimension: Dimension | null
  /**
   * Bytes sent by all ranks. Unit: B.
   */
  bytes: number
  /**
   * Sending cell, receiving cell, bytes: of `Traffic::squares` from a rank to a rank on average over
   * the pairs of a cell, of `Traffic::rail_squares` of all pairs together. Cells without bytes are
   * left out.
   */
  cells: [number, number, number][]
}
/**
 * Links of one layer and direction.
 */
export interface LinkFields {
  layer: Layer
  direction: Direction
  /**
   * Links.
   */
  links: number
  /**
   * Number of these links with traffic.
   */
  used: number
  /**
   * Bytes of all links per step. Unit: B.
   */
  bytes: number
  /**
   * Bytes of one, mean over all. Unit: B.
   */
  mean: number
  /**
   * Bytes of the busiest. Unit: B.
   */
  most: number
  /**
   * Time of the busiest at its bandwidth, a lower bound on the step. Unit: s.
   */
  busy: number
  /**
   * The busiest link.
   */
  busiest?: Ends | null
}
/**
 * Names of the ends of a link.
 */
export interface Ends {
  from: string
  to: string
}
