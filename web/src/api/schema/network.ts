// Made from docs/reference/schema/network.json by scripts/types.mjs.

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
 * Common fields of every result.
 */
export interface NetworkAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'network'
  /**
   * Version of the program.
   */
  railwright: string
  design: Design
  counts: CountsFields
  /**
   * Bandwidth below over bandwidth above, by tier.
   */
  oversubscription: number[]
  /**
   * Maximum number of devices of the design.
   */
  largest: number
  /**
   * Routes of the first device to the others.
   */
  reach: Reach[]
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
 * Parts of a network.
 */
export interface CountsFields {
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
  switches: number
  ports: number
  links: number
  cables: number
  transceivers: number
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
 * Devices that the first device reaches in the same manner.
 */
export interface Reach {
  /**
   * Manner.
   */
  how: string
  /**
   * Number of devices.
   */
  devices: number
  /**
   * Links of the route, NICs included; the maximum if routes differ.
   */
  links: number
  /**
   * Latency of the route; the maximum if routes differ. Unit: s.
   */
  latency: number
  /**
   * Number of equally short routes.
   */
  link_paths: number
}
