//! Network between scale-up domains: NICs, hops, and slowdown of a group by oversubscription.

use super::link::LinkClass;
use super::{CollectiveCost, Source};
use railwright_spec::calibration::NetworkLaw;
use railwright_spec::cluster::{Cluster, Tier};
use railwright_spec::quantity::{Bytes, Seconds};

/// NIC share of a single point-to-point message, and its latency in addition to the network, in seconds.
const SEND_SHARE: f64 = 0.85;
const SEND_BASE: f64 = 11.0e-6;
/// Share of NIC bandwidth that many-to-many traffic reaches.
const ALL_TO_ALL_SHARE: f64 = 0.8;
/// The same share on EFA, after the time per peer: 0.84 to 0.90 over 2 to 32 nodes of p5.48xlarge
/// (`nccl_alltoall.csv` of crazyguitar/aws-gpu-communication-benchmark at fd167f9, 2 GiB per rank).
const ALL_TO_ALL_SHARE_EFA: f64 = 0.86;
/// Seconds for each remote peer of an all-to-all.
const PER_PEER: f64 = 1.0e-6;
/// Channels between two ranks over the network: the default of `NCCL_NCHANNELS_PER_NET_PEER`.
const CHANNELS_PER_PEER: f64 = 2.0;
/// Bytes of a chunk between two ranks of an all-to-all on EFA: `NCCL_P2P_NET_CHUNKSIZE` of that benchmark.
const EFA_CHUNK: f64 = 524_288.0;

/// The network between domains.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// Bytes per second per device, one direction, as labelled.
    pub(super) nic: f64,
    /// Share of the NIC bandwidth that rings reach with large messages.
    share: f64,
    /// Share of the NIC bandwidth that many-to-many traffic reaches.
    pub(super) spread_share: f64,
    /// Measurements of this fabric behind the shares and the latency, if any.
    measured: Option<NetworkLaw>,
    latency: f64,
    /// Multiple of all latencies; 1 is normal.
    pub(super) pace: f64,
    tiers: Vec<Tier>,
    /// True if its switches reduce.
    pub(super) reduces: bool,
    /// Slowdown of all-to-all traffic if rails are connected only through domains.
    rail_forwarding: f64,
    pub(super) low_latency_cap: f64,
    has_ll128: bool,
    /// True on EFA.
    is_efa: bool,
    /// True if the plugin selects algorithms of all-reduces by its table.
    pub(super) has_table: bool,
}

/// Placement of a group: `ranks` in total, `local` of them in one scale-up domain and `least` in the smallest
/// one, with neighbours `stride` devices apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) ranks: u64,
    pub(super) local: u64,
    pub(super) least: u64,
    pub(super) stride: u64,
    pub(super) sharing: f64,
}

impl Span {
    /// Number of domains of the group. Two if the group would fit into one but is not placed in it.
    pub(super) fn domains(&self) -> u64 {
        self.ranks.div_ceil(self.local).max(if self.least < self.ranks { 2 } else { 1 })
    }

    /// Members of the group below one switch of a tier.
    fn below(&self, tier: &Tier) -> u64 {
        (tier.devices / self.stride.max(1)).clamp(1, self.ranks)
    }
}

impl Network {
    pub(super) fn new(cluster: &Cluster, class: LinkClass) -> Self {
        let network = &cluster.network;
        let measured = cluster.calibration.as_ref().and_then(|c| c.network.as_ref());
        let is_efa = is_efa(&network.kind);
        let spread_share = if is_efa { ALL_TO_ALL_SHARE_EFA } else { ALL_TO_ALL_SHARE };
        Self {
            nic: network.bandwidth.get().max(1e6),
            share: measured.map_or_else(|| ring_share(&network.kind), |law| law.ring_share),
            spread_share: measured.map_or(spread_share, |law| law.spread_share),
            measured: measured.cloned(),
            latency: network.latency.get().max(0.0),
            pace: measured.map_or(1.0, |law| law.latency),
            tiers: network.tiers.clone(),
            reduces: network.in_network_reduction,
            rail_forwarding: network.rail_forwarding.max(1.0),
            low_latency_cap: class.low_latency_cap(),
            has_ll128: cluster.accelerator.vendor.eq_ignore_ascii_case("nvidia"),
            is_efa,
            // H100 over EFA, which AWS sells as p5.
            has_table: is_efa && cluster.accelerator.id.starts_with("h100"),
        }
    }

    /// Evidence for the cost of a group if this fabric was measured: measured over this number of domains, or
    /// extrapolated. Latencies grow with the hops of the group at the measured rate, and bandwidth stays
    /// below that of the link.
    pub(super) fn founded(&self, span: &Span) -> Option<Source> {
        let measured = self.measured.as_ref()?;
        Some(if measured.covers(span.domains()) { Source::Calibrated } else { Source::Interpolated })
    }

    /// NIC share for a group. A measured share above 1 indicates a wrong bandwidth in the cluster; it is not
    /// applied to unmeasured groups.
    fn bounded(&self, share: f64, span: &Span) -> f64 {
        match &self.measured {
            Some(measured) if !measured.covers(span.domains()) => share.min(1.0),
            _ => share,
        }
    }

    /// Latency of switches on one hop of the group, one way, in seconds.
    pub(super) fn hop(&self, span: &Span) -> f64 {
        let mut hop = self.latency;
        for pair in self.tiers.windows(2) {
            if span.ranks > span.below(&pair[0]) {
                hop += pair[1].latency.get().max(0.0);
            }
        }
        hop
    }

    /// Tests whether the library runs a protocol, by the share of bandwidth that it leaves: LL 0.5, LL128
    /// 0.92 and Simple 1.
    ///
    /// LL and LL128 find the end of a message in its data, so they need its bytes in order. EFA (SRD)
    /// delivers packets in any order. All-gathers of 32 and 64 MiB take the same time there, that of Simple.
    /// The plugin selects LL128 for all-reduces of p5 ([`super::efa`]), whose NICs write aligned parts of 128
    /// bytes in order.
    pub(super) fn runs(&self, share: f64) -> bool {
        share == 1.0 || !self.is_efa && (self.has_ll128 || share == 0.5)
    }

    /// Latency of switches on one hop of a message above the LL protocols, one way, in seconds.
    ///
    /// On EFA such a message crosses the network twice: the receiver first sends the address of its buffer
    /// (control message of the plugin's protocol `RDMA`). All-gathers of 32 MiB over 4 to 32 nodes of
    /// p5.48xlarge take 58 to 65 us per hop between nodes: NCCL's 14.6 us and twice the 22 us of the floors.
    pub(super) fn large_hop(&self, span: &Span) -> f64 {
        if self.is_efa { 2.0 * self.hop(span) } else { self.hop(span) }
    }

    /// Seconds for each remote peer of an all-to-all with m bytes for it: `t = 1 us + min(m / 2, c) / r`.
    ///
    /// On EFA, a chunk of c bytes on each of the library's 2 channels per peer
    /// (`NCCL_NCHANNELS_PER_NET_PEER`) is copied to its buffer before it is sent at the rate r of the NIC.
    /// Measured on p5.48xlarge: 3.7, 5.3, 8 and 11 us at 128, 256, 512 KiB and above. On other networks no
    /// curve over message size is published, and the first microsecond is counted alone.
    pub(super) fn peer(&self, bytes: f64, span: &Span) -> f64 {
        if !self.is_efa {
            return PER_PEER;
        }
        PER_PEER + (bytes / CHANNELS_PER_PEER).min(EFA_CHUNK) / self.spread_rate(self.spread_share, span)
    }

    /// Slowdown of a ring by oversubscription, relative to its NICs: one of the members below a switch sends
    /// out of it.
    fn ring_slowdown(&self, span: &Span) -> f64 {
        self.tiers.iter().filter(|tier| span.ranks > span.below(tier)).fold(1.0, |slow, tier| {
            let domains_below = span.below(tier).div_ceil(span.local) as f64;
            slow.max(tier.oversubscription / domains_below)
        })
    }

    /// Slowdown of uniform traffic to all peers, with the share that leaves the switch.
    fn spread_slowdown(&self, span: &Span) -> f64 {
        let away = (span.ranks - span.local.min(span.ranks - 1)) as f64;
        self.tiers.iter().filter(|tier| span.ranks > span.below(tier)).fold(1.0, |slow, tier| {
            let climbing = (span.ranks - span.below(tier)) as f64 / away;
            slow.max(tier.oversubscription * climbing.min(1.0))
        })
    }

    /// Bytes per second per NIC for a ring or a tree with large messages.
    pub(super) fn ring_rate(&self, span: &Span) -> f64 {
        self.unshared_rate(span) / (span.sharing * self.ring_slowdown(span))
    }

    /// The same without oversubscription and other groups.
    pub(super) fn unshared_rate(&self, span: &Span) -> f64 {
        self.nic * self.bounded(self.share, span)
    }

    /// Bytes per second and NIC for uniform traffic to all peers.
    pub(super) fn spread_rate(&self, share: f64, span: &Span) -> f64 {
        self.nic * self.bounded(share, span) / (span.sharing * self.spread_slowdown(span))
    }

    /// Rate for kernels unaware of rails: traffic that leaves a shared domain is forwarded within it first,
    /// one step after the other (rail-only, arXiv 2307.12169: `overhead = B_S / B_F (K - 1) / K`).
    pub(super) fn unaware_spread_rate(&self, share: f64, span: &Span) -> f64 {
        let rate = self.spread_rate(share, span);
        if span.local > 1 { rate / self.rail_forwarding } else { rate }
    }

    /// One message: `t = base + hop + b / (0.85 NIC)`.
    pub(super) fn send(&self, bytes: f64, sharing: f64) -> CollectiveCost {
        let latency = (SEND_BASE + self.latency) * self.pace;
        let time = latency + bytes * sharing / (self.nic * SEND_SHARE);
        cost((time, latency, "send"), 0.0, bytes)
    }
}

/// Tests for Amazon's Elastic Fabric Adapter, as a word of its own: `EFA`, `AWS EFA v3`.
fn is_efa(kind: &str) -> bool {
    let lower = kind.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.starts_with("efa"))
}

/// Share of its NICs that a ring with large messages reaches, by the kind of network.
pub(crate) fn ring_share(kind: &str) -> f64 {
    let kind = kind.to_ascii_lowercase();
    if kind.contains("infiniband") {
        // H100, 8 x 400 Gb/s: 391 of 400 GB/s over 2 nodes, 380 by the vendor; DGX A100: 192 of 200.
        0.95
    } else if is_efa(&kind) {
        // H200, 16 x 200 Gb/s: 370 of 400 GB/s over 16 nodes.
        0.92
    } else if kind.contains("roce") {
        // A100, 16 x 100 Gb/s: 160 to 165 of 200 GB/s over 2 nodes; 92 of 100 over 4 nodes elsewhere.
        0.9
    } else {
        // A100 on an early 4 x 100 Gb/s Omni-Path: 40.5 of 50 GB/s over 4 nodes.
        0.8
    }
}

/// A cost derived for the network: time and latency in seconds, bytes inside domains and between them.
pub(super) fn cost(
    (time, latency, algorithm): (f64, f64, &'static str),
    inside: f64,
    network: f64,
) -> CollectiveCost {
    CollectiveCost {
        time: Seconds::new(time),
        latency: Seconds::new(latency),
        wire_bytes_scale_up: Bytes::new(inside),
        wire_bytes_network: Bytes::new(network),
        source: Source::Derived,
        algorithm,
    }
}
