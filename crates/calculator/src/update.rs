//! Communication of a pipeline stage for its weights: reduced gradients, gathered parameters.
//!
//! Responsible for: the one list of these collectives, by kind, process group, bytes and count, for dense
//! weights and routed experts separately, and the price of each. [`crate::sharding`] sums their times; the
//! table of an estimate, the spans of a timeline and the traffic between ranks show them. Excludes overlap:
//! see [`crate::sharding`], for all reductions and all gathers of a stage together.

mod between;
mod priced;

pub use between::{between_stages, time_between_stages};
pub use priced::{PricedCollective, of_stage};

use crate::collectives::{Collective, CollectiveCost};
use crate::costing::Costing;
use crate::exchanges::ProcessGroup;
use crate::local::LocalParameters;
use railwright_spec::plan::{Group, Layout, NF4_BYTES};
use railwright_spec::quantity::{Bytes, Seconds};

/// Exchanged tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Reduction of the gradients of the stage's weights.
    Gradients,
    /// Gather of parameters after the optimizer step, or of fully sharded ones.
    Parameters,
    /// Sum of the gradients of a tied embedding, which the first and the last stage both hold.
    EmbeddingGradients,
    /// Sum of the gradients of a stage and its mirror image, which hold the same weights.
    MirrorGradients,
    /// Sum of squared gradients for clipping, one fp32 number. Not priced: it is four bytes.
    GradientNorm,
}

impl Purpose {
    /// Label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gradients => "gradients",
            Self::Parameters => "parameters",
            Self::EmbeddingGradients => "gradients of the embedding",
            Self::MirrorGradients => "gradients of the mirror stage",
            Self::GradientNorm => "gradient norm",
        }
    }
}

/// Weights of the gradients or parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weights {
    /// Weights on every data-parallel rank.
    Dense,
    /// Routed experts, which are only on some ranks.
    Experts,
}

/// Collectives of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateCollective {
    /// Purpose of the exchange.
    pub purpose: Purpose,
    /// Weights.
    pub weights: Weights,
    /// Kind of collective.
    pub operation: Collective,
    /// Group of the stage.
    pub process_group: ProcessGroup,
    /// Group in the layout.
    pub group: Group,
    /// Bytes of one collective with all of its buckets, by nccl-tests' convention.
    pub bytes: Bytes,
    /// Number of buckets of one collective.
    pub buckets: f64,
    /// Count per step.
    pub count: f64,
}

impl UpdateCollective {
    /// A collective with a single bucket, once per step. `None` if the group is one rank.
    fn whole(
        layout: &Layout,
        (purpose, weights): (Purpose, Weights),
        operation: Collective,
        process_group: ProcessGroup,
        bytes: f64,
    ) -> Option<Self> {
        let group = process_group.group(layout);
        let bytes = Bytes::new(bytes);
        let one = Self { purpose, weights, operation, process_group, group, bytes, buckets: 1.0, count: 1.0 };
        (group.ranks > 1).then_some(one)
    }

    /// Name of the exchanged tensors, with a prefix for experts.
    pub fn title(&self) -> String {
        let experts = if self.weights == Weights::Experts { "expert " } else { "" };
        format!("{experts}{}", self.purpose.name())
    }

    /// Cost of one of its buckets, at the burst rate: the ring's latency dominates small buckets over many
    /// ranks.
    pub fn bucket_cost(&self, costing: &Costing<'_>) -> CollectiveCost {
        let bytes = Bytes::new(self.bytes.get() / self.buckets);
        costing.machine.fabric.time(self.operation, bytes, &self.group, 1.0)
    }

    /// Time of one collective, in seconds, at the sustained rate: `buckets x time(bytes / buckets) / rate`,
    /// with [`crate::collectives`]' time of a bucket and the generation's `collective_rate`.
    pub fn time(&self, costing: &Costing<'_>) -> Seconds {
        self.bucket_cost(costing).time * self.buckets / costing.software.collective_rate
    }
}

/// Dense weights or experts of a rank.
struct OfWeights {
    weights: Weights,
    /// Number of trained parameters.
    trained: f64,
    /// Number of frozen parameters in the format of the parameters.
    frozen: f64,
    /// Number of frozen parameters in four bits.
    nf4: f64,
    /// The groups of copies, of shards, and of copies of shards.
    groups: [ProcessGroup; 3],
}

/// Dense weights and experts of a rank.
fn of_weights(local: LocalParameters) -> [OfWeights; 2] {
    [
        OfWeights {
            weights: Weights::Dense,
            trained: local.dense,
            frozen: local.frozen_dense,
            nf4: local.nf4_dense,
            groups: [ProcessGroup::Data, ProcessGroup::Shard, ProcessGroup::Replicate],
        },
        OfWeights {
            weights: Weights::Experts,
            trained: local.routed,
            frozen: local.frozen_routed,
            nf4: local.nf4_routed,
            groups: [ProcessGroup::ExpertData, ProcessGroup::ExpertShard, ProcessGroup::ExpertReplicate],
        },
    ]
}

/// The collectives around the optimizer step of a stage with `local` parameters. None under full sharding
/// that gathers in every pass: see [`inside_passes`].
///
/// Replicas all-reduce gradients: `bytes = parameters x bytes of a gradient on the wire`. With sharded
/// optimizer states (ZeRO-1 and 2; Rajbhandari et al. 2020, section 7) they reduce-scatter gradients and
/// all-gather the same number of parameters, among the ranks that share one copy. Copies of a shard (hybrid
/// sharding) all-reduce the shard of a rank: `bytes / ranks of a shard group`. `parameters` are the trained
/// ones: with LoRA the adapters.
pub fn around_optimizer(
    costing: &Costing<'_>,
    local: LocalParameters,
    micro_batches: u64,
) -> impl Iterator<Item = UpdateCollective> {
    let plan = costing.plan;
    let layout = costing.layout;
    let sharded = plan.sharding.zero_stage >= 1 && plan.shard_group() > 1;
    let once = plan.gathers_once();
    let is_updated = plan.sharding.zero_stage < 3 || once;
    let times = reductions_per_step(costing, micro_batches);
    let wire = plan.precision.gradient_reduce.bytes();
    let element = plan.precision.parameters.bytes();
    let bucket = bucket_elements(costing);
    of_weights(local)
        .into_iter()
        .filter(move |of| {
            is_updated && of.gathered(once, element) > 0.0 && of.groups[0].group(&layout).ranks > 1
        })
        .flat_map(move |of| {
            let gathered = of.gathered(once, element);
            let OfWeights { weights, trained: held, groups: [all, shard, copies], .. } = of;
            let one = |purpose, operation, process_group, elements: f64, size: f64, count| {
                let buckets = (elements / bucket).ceil().max(1.0);
                let whole = UpdateCollective::whole(
                    &layout,
                    (purpose, weights),
                    operation,
                    process_group,
                    elements * size,
                );
                whole.filter(|_| elements > 0.0).map(|whole| UpdateCollective { buckets, count, ..whole })
            };
            let ranks = shard.group(&layout).ranks as f64;
            let part = held / ranks;
            let owners = if costing.software.broadcasts_parameters { ranks } else { 1.0 };
            if sharded {
                let gather = one(Purpose::Parameters, Collective::AllGather, shard, gathered, element, 1.0);
                let gather = gather.map(|g| UpdateCollective { buckets: g.buckets.max(owners), ..g });
                [
                    one(Purpose::Gradients, Collective::ReduceScatter, shard, held, wire, times),
                    gather,
                    one(Purpose::Gradients, Collective::AllReduce, copies, part, wire, times),
                ]
            } else {
                [one(Purpose::Gradients, Collective::AllReduce, all, held, wire, times), None, None]
            }
        })
        .flatten()
}

impl OfWeights {
    /// Number of parameters in an all-gather, in elements of `element` bytes: trained ones, and frozen ones
    /// if these are sharded too. Ranks gather weights in four bits as they hold them, and restore them
    /// afterwards.
    fn gathered(&self, with_frozen: bool, element: f64) -> f64 {
        let frozen = self.frozen + self.nf4 * NF4_BYTES / element;
        self.trained + if with_frozen { frozen } else { 0.0 }
    }
}

/// The collectives of some weights in each forward and backward pass under full sharding (ZeRO-3, FSDP), each
/// once. None otherwise, and none if a pipeline stage gathers once a step
/// ([`railwright_spec::plan::Plan::gathers_once`]).
///
/// Parameters are gathered before use, gradients scattered after it (Rajbhandari et al. 2020, section 7.2.2;
/// Zhao et al. 2023, section 3.2), with the bytes of [`around_optimizer`]. `count` is 1: the number of
/// gathers depends on the passes.
pub fn inside_passes(
    costing: &Costing<'_>,
    local: LocalParameters,
) -> impl Iterator<Item = UpdateCollective> {
    let plan = costing.plan;
    let layout = costing.layout;
    let is_sharded = plan.sharding.zero_stage >= 3 && plan.shard_group() > 1 && !plan.gathers_once();
    let wire = plan.precision.gradient_reduce.bytes();
    let element = plan.precision.parameters.bytes();
    of_weights(local)
        .into_iter()
        .filter(move |of| is_sharded && of.gathered(true, element) > 0.0)
        .flat_map(move |of| {
            let gathered = of.gathered(true, element);
            let OfWeights { weights, trained, groups: [_, shard, copies], .. } = of;
            let one = |purpose, operation, process_group, elements: f64, size: f64| {
                UpdateCollective::whole(
                    &layout,
                    (purpose, weights),
                    operation,
                    process_group,
                    elements * size,
                )
                .filter(|_| elements > 0.0)
            };
            let part = trained / shard.group(&layout).ranks as f64;
            [
                one(Purpose::Parameters, Collective::AllGather, shard, gathered, element),
                one(Purpose::Gradients, Collective::ReduceScatter, shard, trained, wire),
                one(Purpose::Gradients, Collective::AllReduce, copies, part, wire),
            ]
        })
        .flatten()
}

/// The exchange that is excluded from the step time: the sum of squared gradients of all ranks.
pub fn not_priced(costing: &Costing<'_>) -> Option<UpdateCollective> {
    let process_group = ProcessGroup::All;
    (costing.plan.world_size() > 1).then(|| UpdateCollective {
        purpose: Purpose::GradientNorm,
        weights: Weights::Dense,
        operation: Collective::AllReduce,
        process_group,
        group: process_group.group(&costing.layout),
        bytes: Bytes::new(4.0),
        buckets: 1.0,
        count: 1.0,
    })
}

/// Elements of a bucket: gradients are reduced and parameters gathered bucket by bucket.
fn bucket_elements(costing: &Costing<'_>) -> f64 {
    let software = costing.software;
    let grown = software.gradient_bucket_elements_per_rank * costing.layout.data.ranks as f64;
    software.gradient_bucket_elements.max(grown)
}

/// Returns true if replicas reduce in hooks of the backward pass, and true if these run in each pass of a
/// pipeline.
pub(crate) fn reduces_in_hooks(costing: &Costing<'_>) -> (bool, bool) {
    let hooks = costing.software.replicas_reduce_in_hooks && costing.plan.sharding.zero_stage == 0;
    (hooks, hooks && costing.plan.pipeline_parallel > 1)
}

/// Number of gradient reductions per parameter and step: as determined by sharding
/// ([`railwright_spec::plan::Plan::gradient_reductions`]), or one per micro-batch if hooks of replicas run in
/// each pass of a pipeline.
pub fn reductions_per_step(costing: &Costing<'_>, micro_batches: u64) -> f64 {
    let (_, each_pass) = reduces_in_hooks(costing);
    if each_pass { micro_batches as f64 } else { costing.plan.gradient_reductions(micro_batches) as f64 }
}
