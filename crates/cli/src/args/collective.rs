//! Arguments of `network collective`.

use super::Output;
use super::choices::choices;
use super::flows::{Broken, Networked};
use clap::{Args, ValueHint};
use railwright_calculator::collectives::Collective;

pub(super) const EXAMPLES: &str = include_str!("help/collective.txt");

/// Arguments of `network collective`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct CollectiveOn {
    /// Collective
    #[arg(value_name = "COLLECTIVE")]
    pub(crate) operation: Operation,
    /// Message sizes: a range, a list or one size
    #[arg(long, value_name = "SIZES", default_value = railwright_commands::CollectiveOn::BYTES)]
    pub(crate) bytes: String,
    /// Factor between the sizes of a range
    #[arg(long, value_name = "X", default_value_t = railwright_commands::CollectiveOn::FACTOR)]
    pub(crate) factor: f64,
    /// GPUs in the collective, from rank 0 [default: those of --ranks or --nodelist]
    #[arg(long, value_name = "N", conflicts_with_all = ["ranks", "nodelist"])]
    pub(crate) gpus: Option<u64>,
    /// Cluster: a name from `clusters list` or `gpus list`, or a file [default: dgx-h100]
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath)]
    pub(crate) cluster: Option<String>,
    /// Ranks of one process group, such as `0-7,16-23`; repeat it for concurrent groups
    #[arg(long, value_name = "RANKS", help_heading = "Placement")]
    pub(crate) ranks: Vec<String>,
    /// Slurm node list of one process group, such as `gpu[001-004]`; repeat it for concurrent groups
    #[arg(long, value_name = "NODES", help_heading = "Placement")]
    pub(crate) nodelist: Vec<String>,
    /// Number in the name of the network's first node, for --nodelist
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Placement")]
    pub(crate) first_node: u32,
    #[command(flatten)]
    pub(crate) network: Networked,
    /// Routing: `ecmp`, `spray`, `static`, and on dragonflies `valiant` or `adaptive` [default: `spray`, or
    /// `adaptive` on dragonflies]
    #[arg(long, value_name = "ROUTING", help_heading = "Network")]
    pub(crate) routing: Option<String>,
    /// Number of hash seeds; times are the median and the 90th percentile [default: 16 with `ecmp` routing,
    /// otherwise 1]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub(crate) seeds: Option<u32>,
    #[command(flatten)]
    pub(crate) broken: Broken,
    /// Output the bus bandwidth by message size as an SVG chart
    #[arg(long, help_heading = "Output")]
    pub(crate) svg: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

choices! {
    /// A collective by the names of NCCL and of nccl-tests.
    Operation as Collective {
        /// Every rank gets the sum of all buffers
        #[value(alias = "all_reduce", alias = "allreduce")]
        AllReduce,
        /// Every rank gets the shards of all ranks
        #[value(alias = "all_gather", alias = "allgather")]
        AllGather,
        /// Every rank gets one shard of the sum
        #[value(alias = "reduce_scatter", alias = "reducescatter")]
        ReduceScatter,
        /// Every rank sends a different part of its buffer to each rank
        #[value(alias = "all_to_all", alias = "alltoall")]
        AllToAll,
        /// Every rank gets the buffer of the first rank
        Broadcast,
        /// Every rank sends a message to the next one (`sendrecv_perf`)
        #[value(alias = "send_receive", alias = "sendrecv", alias = "send")]
        SendReceive,
    }
}
