//! All-reduces over EFA: the algorithm that AWS's tuner selects, and its time.
//!
//! Responsible for: the selection by ranks and bytes on p5.48xlarge, rings and trees of the LL128 protocol,
//! and the bound of NVLS trees. Excludes groups with other than 8 ranks per node, for which the tuner has
//! other tables, and other machines.
//!
//! NCCL over EFA loads the plugin `aws-ofi-nccl`, whose tuner replaces NCCL's selection. It selects by a
//! table, not by time, so an all-reduce can run an algorithm that is not the fastest.

use super::across::{TREE_HOP, between_neighbours, fill, ring_wire};
use super::links::Links;
use super::network::{Network, Span, cost};
use super::{Collective, CollectiveCost};
use railwright_spec::Portable as _;
use railwright_spec::quantity::Seconds;

/// Ranks of a node in the table.
const PER_NODE: u64 = 8;
/// Channels of the tuner: the default of `OFI_NCCL_TUNER_NUM_CHANNELS`, one for each group of four NICs.
const CHANNELS: f64 = 8.0;
/// Bus bandwidth of a channel with LL128 on Hopper, in bytes per second: a ring, a tree over two nodes, and a
/// tree over more (NCCL's tuning table, `perChMaxRingLL128Bws` and `perChMaxTreeLL128Bws`).
const RING_CHANNEL: f64 = 36.7e9;
const TREE_CHANNEL: [f64; 2] = [36.7e9, 29.0e9];
/// Share of the wire that LL128 leaves to data: 120 of 128 bytes.
const LL128_SHARE: f64 = 0.9375;
/// Latencies of a ring with LL128 in seconds (NCCL's tuning table): base, and hops inside a node and between
/// nodes in addition to the network.
const BASE: f64 = 14.0e-6;
const HOPS: [f64; 2] = [1.9e-6, 4.0e-6];
/// Chunk of a tree with LL128 in bytes: 640 threads with 120 elements of 8 bytes each, of which 15 of 16 are
/// data.
const TREE_CHUNK: f64 = 576_000.0;
/// Bytes of the buffer per second and channel of an NVLS tree over more than two nodes: the 20 GiB/s within a
/// node in the tuner's model.
const NVLS_CHANNEL: f64 = 20.0 * 1_073_741_824.0;

/// An algorithm with its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selected {
    TreeLl128,
    RingLl128,
    NvlsTree,
    Ring,
}
use Selected::{NvlsTree, Ring, RingLl128, TreeLl128};

/// A number of ranks, with the maximum bytes of each algorithm.
type Row = (u64, &'static [(f64, Selected)]);

/// The tuner's table for all-reduces of 8 ranks per node on p5.48xlarge, at powers of two of nodes
/// (`src/tuner/nccl_ofi_regions.cpp` of aws/aws-ofi-nccl, equal from v1.16.3 to 2daf7d3 of August 2026). Its
/// regions have straight edges in logarithms of ranks and bytes. Sizes between two regions, which NCCL itself
/// decides, belong to the next region here.
const P5: [Row; 8] = [
    (16, &[(31_457_280.0, TreeLl128), (f64::INFINITY, NvlsTree)]),
    (32, &[(37_748_736.0, TreeLl128), (1.4976e9, RingLl128), (f64::INFINITY, Ring)]),
    (64, &[(117_440_512.0, TreeLl128), (2_147_483_648.0, RingLl128), (f64::INFINITY, Ring)]),
    (
        128,
        &[
            (301_989_888.0, TreeLl128),
            (2_147_483_648.0, RingLl128),
            (6_442_450_944.0, NvlsTree),
            (f64::INFINITY, Ring),
        ],
    ),
    (
        256,
        &[
            (301_989_888.0, TreeLl128),
            (1_074_790_400.0, NvlsTree),
            (2_147_483_648.0, RingLl128),
            (12_884_901_888.0, NvlsTree),
            (f64::INFINITY, Ring),
        ],
    ),
    (512, &[(335_544_320.0, TreeLl128), (25_769_803_776.0, NvlsTree), (f64::INFINITY, Ring)]),
    (1024, &[(536_870_912.0, TreeLl128), (51_539_607_552.0, NvlsTree), (f64::INFINITY, Ring)]),
    (2048, &[(402_653_184.0, TreeLl128), (f64::INFINITY, NvlsTree)]),
];

/// The row with the nearest number of ranks. `None` outside the table.
fn row(span: &Span) -> Option<&'static [(f64, Selected)]> {
    if span.local != PER_NODE || span.least != PER_NODE || span.ranks != PER_NODE * span.domains() {
        return None;
    }
    let distance = |row: &Row| (row.0 as f64 / span.ranks as f64).portable_log2().abs();
    P5.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|row| row.1)
}

impl Network {
    /// An all-reduce with the algorithm of the table. `None` without a row.
    ///
    /// Above the maximum of a region, the next algorithm can be faster (rings above 2 GiB). It is not assumed
    /// to be faster than the previous one at that maximum, so that more bytes never take less time.
    pub(super) fn by_table(&self, links: &Links, bytes: f64, span: &Span) -> Option<CollectiveCost> {
        let row = if self.has_table { row(span)? } else { return None };
        let time = |selected: Selected, bytes: f64| match selected {
            TreeLl128 => self.tree_ll128(links, bytes, span),
            RingLl128 => self.ring_ll128(links, bytes, span),
            NvlsTree => self.tree(links, bytes, span),
            Ring => self.ring(links, Collective::AllReduce, bytes, span),
        };
        let own = row.iter().position(|(most, _)| bytes <= *most)?;
        let before = row[..own].iter().map(|&(most, selected)| time(selected, most).time);
        let cost = time(row[own].1, bytes);
        Some(CollectiveCost { time: before.fold(cost.time, Seconds::max), ..cost })
    }

    /// A ring with LL128: `t = base + hops + max(NVLink part, NIC part / 0.9375, f b / (8 x 36.7 GB/s)) +
    /// fill`.
    ///
    /// Data of LL128 carries its own flags, so a message crosses the network once.
    fn ring_ll128(&self, links: &Links, bytes: f64, span: &Span) -> CollectiveCost {
        let inside = 2 * (span.ranks - span.domains());
        let between = 2 * (span.domains() - 1);
        let latency = BASE + inside as f64 * HOPS[0] + between as f64 * (HOPS[1] + self.hop(span));
        self.ll128((links, "ring-ll128"), bytes, span, (latency, 0.0), RING_CHANNEL)
    }

    /// Double binary trees of chains with LL128, with the latency of small messages. A chunk passes all hops
    /// at the rate of its channel before the pipeline is full.
    fn tree_ll128(&self, links: &Links, bytes: f64, span: &Span) -> CollectiveCost {
        let depth = (span.domains() as f64).portable_log2().ceil();
        let channel = TREE_CHANNEL[usize::from(span.domains() > 2)];
        let (law, _) = links.law(Collective::AllReduce, span.local);
        let latency = law.base + 2.0 * depth * (TREE_HOP + self.hop(span));
        let hops = 2.0 * ((span.local - 1) as f64 + depth);
        let pipeline = hops * TREE_CHUNK.min(bytes / CHANNELS) / channel;
        self.ll128((links, "tree-ll128"), bytes, span, (latency, pipeline), channel)
    }

    fn ll128(
        &self,
        (links, name): (&Links, &'static str),
        bytes: f64,
        span: &Span,
        (latency, pipeline): (f64, f64),
        channel: f64,
    ) -> CollectiveCost {
        let wire = ring_wire(Collective::AllReduce, bytes, span.ranks);
        let network = wire / span.least as f64;
        let (law, _) = links.law(Collective::AllGather, span.local);
        let rate = self.ring_rate(span);
        let part = law.growing(wire, bytes).max(network / rate) / LL128_SHARE;
        // Oversubscription and other groups on the NICs slow a channel as well.
        let of_channels = wire / (CHANNELS * channel) * (self.unshared_rate(span) / rate);
        let latency = latency * self.pace;
        let time = latency + pipeline + part.max(of_channels) + fill(bytes);
        cost((time, latency, name), between_neighbours(wire, span), network)
    }

    /// Lower bound on the bandwidth part of an NVLS tree over more than two nodes, in seconds: the rate of
    /// its channels in a node.
    pub(super) fn nvls_bound(&self, bytes: f64, span: &Span) -> f64 {
        let is_bound = self.has_table && span.local == PER_NODE && span.domains() > 2;
        if is_bound { bytes / (CHANNELS * NVLS_CHANNEL) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::LinkClass;
    use super::*;

    /// Ranks, then MiB, bus bandwidth and algorithm.
    type Published = (u64, [(f64, f64, &'static str); 6]);

    fn over_nodes(name: &str, ranks: u64) -> (Network, Links, Span) {
        let cluster = railwright_spec::cluster::by_name(name, ranks).expect("a preset");
        let span = Span { ranks, local: 8, least: 8, stride: 1, sharing: 1.0 };
        (Network::new(&cluster, LinkClass::of(&cluster)), Links::of_domain(&cluster), span)
    }

    /// Bus bandwidths in GB/s of all-reduces over 4 to 32 nodes of p5.48xlarge by GPUs and MiB
    /// (`data/nccl_all_reduce.csv` of crazyguitar/aws-gpu-communication-benchmark at fd167f9; its job files
    /// load the tuner, v1.16.3): within 23%. NVLS trees of 512 MiB and 1 GiB over 32 nodes took 76% and 39%
    /// longer than here, for an unknown reason.
    #[test]
    fn all_reduces_over_efa_take_the_published_time() {
        let measured: [Published; 4] = [
            (
                32,
                [
                    (32.0, 95.38, "tree-ll128"),
                    (64.0, 152.41, "ring-ll128"),
                    (256.0, 273.34, "ring-ll128"),
                    (1024.0, 280.30, "ring-ll128"),
                    (2048.0, 347.57, "ring"),
                    (8192.0, 356.99, "ring"),
                ],
            ),
            (
                64,
                [
                    (32.0, 86.74, "tree-ll128"),
                    (64.0, 103.85, "tree-ll128"),
                    (256.0, 232.09, "ring-ll128"),
                    (1024.0, 274.47, "ring-ll128"),
                    (2048.0, 278.15, "ring-ll128"),
                    (4096.0, 351.32, "ring"),
                ],
            ),
            (
                128,
                [
                    (64.0, 92.39, "tree-ll128"),
                    (256.0, 148.11, "tree-ll128"),
                    (512.0, 223.80, "ring-ll128"),
                    (2048.0, 270.91, "ring-ll128"),
                    (4096.0, 306.15, "tree"),
                    (8192.0, 356.27, "ring"),
                ],
            ),
            (
                256,
                [
                    (64.0, 83.60, "tree-ll128"),
                    (128.0, 115.78, "tree-ll128"),
                    (256.0, 137.99, "tree-ll128"),
                    (2048.0, 269.47, "ring-ll128"),
                    (4096.0, 302.81, "tree"),
                    (8192.0, 321.10, "tree"),
                ],
            ),
        ];
        for (ranks, sizes) in measured {
            let (network, links, span) = over_nodes("aws-p5", ranks);
            for (mib, published, algorithm) in sizes {
                let bytes = mib * 1_048_576.0;
                let found = network.time(&links, Collective::AllReduce, bytes, &span);
                let bus = ring_wire(Collective::AllReduce, bytes, ranks) / found.time.get() / 1e9;
                assert_eq!(found.algorithm, algorithm, "{ranks} {mib}");
                assert!((bus / published - 1.0).abs() < 0.23, "{ranks} {mib}: {bus} for {published}");
            }
        }
    }

    /// Other clusters, other accelerators on EFA and parts of nodes have no table; a number of ranks between
    /// two rows has the nearest one.
    #[test]
    fn whole_nodes_of_p5_alone_have_a_table() {
        let has = |name: &str| over_nodes(name, 64).0.has_table;
        assert_eq!([has("aws-p5"), has("aws-p5en"), has("dgx-h100")], [true, false, false]);
        let selected = |bytes: f64, ranks: u64, local: u64| {
            let row = row(&Span { ranks, local, least: local, stride: 1, sharing: 1.0 })?;
            row.iter().find(|(most, _)| bytes <= *most).map(|(_, selected)| *selected)
        };
        assert_eq!(selected(1e9, 32, 4), None);
        assert_eq!(selected(1e8, 64, 8), Some(TreeLl128));
        assert_eq!(selected(3e9, 120, 8), Some(NvlsTree));
        assert_eq!(selected(3e9, 72, 8), Some(Ring));
        assert_eq!(selected(1e12, 16_384, 8), Some(NvlsTree));
    }

    /// More bytes never take less time, also where the table changes to a faster algorithm.
    #[test]
    fn more_bytes_never_take_less_time_by_the_table() {
        for ranks in [16, 24, 64, 128, 256, 1024, 4096] {
            let (network, links, span) = over_nodes("aws-p5", ranks);
            let time = |bytes| network.time(&links, Collective::AllReduce, bytes, &span).time;
            let mut last = Seconds::ZERO;
            for step in 0..400 {
                let now = time(1e3 * 1.05_f64.powi(step));
                assert!(now >= last, "{ranks} {step}: {now:?} {last:?}");
                last = now;
            }
        }
    }
}
