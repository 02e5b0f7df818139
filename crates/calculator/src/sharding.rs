//! Cost of data parallelism: gathering sharded parameters, reducing gradients, and the optimizer step.
//!
//! Responsible for: the times of these three, and their overlap with compute. Excludes the list of
//! collectives (see [`crate::update`]) and the pipeline's order. The window for overlapping the reduction is
//! an input.

use crate::collectives::Collective;
use crate::costing::Costing;
use crate::host::{host_time, pace};
use crate::layer::LayerCost;
use crate::local::{LocalParameters, layer_parameters};
use crate::memory::{self, SoftwareCatalogue};
use crate::operators::Pass;
use crate::schedule::ChunkCost;
use crate::update::{self, Purpose, reduces_in_hooks, reductions_per_step};
use crate::work::{Dimension, Work};
use railwright_spec::model::Layer;
use railwright_spec::plan::{Offload, Optimizer, Plan, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Seconds};

/// Adds the gathers of some parameters and the scatter of the trained ones' gradients under full sharding
/// (ZeRO-3, FSDP).
///
/// They overlap with the compute of the adjacent layer: only the remainder is exposed, and the overlapped
/// part slows compute by the generation's share. Without overlap all of it is exposed.
pub fn gather(costing: &Costing<'_>, local: LocalParameters, cost: &mut LayerCost) {
    let plan = costing.plan;
    if plan.sharding.zero_stage < 3 || plan.shard_group() <= 1 {
        return;
    }
    let (mut gather, mut scatter) = (Seconds::ZERO, Seconds::ZERO);
    let (mut gathered, mut scattered) = (Bytes::ZERO, Bytes::ZERO);
    for collective in update::inside_passes(costing, local) {
        if collective.purpose == Purpose::Parameters {
            gather += collective.time(costing);
            gathered += collective.bytes;
        } else {
            scatter += collective.time(costing);
            if collective.operation == Collective::ReduceScatter {
                scattered += collective.bytes;
            }
        }
    }
    let again = if plan.sharding.reshard_after_forward { gather } else { Seconds::ZERO };
    let covers = |overlapped: bool, cover: Seconds| if overlapped { cover } else { Seconds::ZERO };
    let (forward, backward) = (uncovering(&cost.forward), uncovering(&cost.backward_input));
    // A recompute pass that waits for its host leaves the device idle, and transfers go on. With its compute
    // alone as cover, a faster device would expose more of them without a shorter pass.
    let recompute = pace(uncovering(&cost.recompute), host_time(costing)(&cost.recompute));
    let more = uncovering(&cost.backward_weight) + recompute;
    hide(
        costing.software.overlap_slowdown,
        Dimension::Shard,
        &mut cost.forward,
        covers(plan.overlap.parameter_gather, forward),
        gather,
    );
    let both = plan.overlap.parameter_gather && plan.overlap.gradient_reduce;
    hide(
        costing.software.overlap_slowdown,
        Dimension::Shard,
        &mut cost.backward_input,
        covers(both, backward + more),
        again + scatter,
    );
    if costing.software.copies_shards {
        let copy = |bytes: Bytes| costing.machine.device.memory_bound(bytes * 2.0).time;
        cost.forward.add_communication(Dimension::Shard, copy(gathered), 1.0);
        let again = if plan.sharding.reshard_after_forward { copy(gathered) } else { Seconds::ZERO };
        cost.backward_input.add_communication(Dimension::Shard, again + copy(scattered), 1.0);
    }
}

/// Compute that hides nothing yet: `compute - hidden transfers of a ring`. Attention that covers the
/// transfers of context parallelism does not cover gathers as well, which share copy engines and links with
/// them. With one cover for both, less of it would expose two transfers.
fn uncovering(work: &Work) -> Seconds {
    let ring = Dimension::Context as usize;
    let hidden = (work.communication[ring] - work.exposed[ring]).max(Seconds::ZERO);
    (work.compute_time() - hidden).max(Seconds::ZERO)
}

/// Adds the traffic of offload over the host link: activations to the host in the forward pass and back in
/// the backward pass, parameters to the device in both (each rank its shard). `activations` is the offloaded
/// share of the layer's kept memory under `recompute`.
///
/// Copy engines move the data next to the kernels, which lose memory bandwidth alone: a time `t` concurrent
/// with a copy is `t x link / memory bandwidth` longer. (Engines: CUDA C++ programming guide, "Overlap of
/// data transfer and kernel execution". Collectives, in contrast, occupy compute units.) Eleven published
/// runs of MaxText on TPU v6e offload the input and the projections of each layer: 8B is within 3%, 70B 5 to
/// 11% too fast.
pub fn offload_layer(
    costing: &Costing<'_>,
    layer: &Layer,
    recompute: &Recompute,
    activations: f64,
    cost: &mut LayerCost,
) {
    let offload = Offload { activations, ..costing.plan.offload };
    if offload.activations <= 0.0 && offload.parameters <= 0.0 {
        return;
    }
    let accelerator = &costing.cluster.accelerator;
    let link = accelerator.host_link();
    let kept = SoftwareCatalogue::shared().map_or(Bytes::ZERO, |c| {
        memory::kept_by_layer(
            costing.model,
            costing.cluster,
            layer,
            costing.plan,
            recompute,
            c.get(&costing.plan.software),
        )
    });
    let shards = if costing.plan.sharding.zero_stage >= 3 { costing.plan.shard_group() as f64 } else { 1.0 };
    let held = layer_parameters(layer, costing.plan).total() / shards;
    let parameters = Bytes::new(held * costing.plan.precision.parameters.bytes()) * offload.parameters;
    let time = (kept * offload.activations + parameters) / link;
    // The link to the host is independent of the others: copies go on during communication that waits for
    // them.
    let forward = cost.forward.time();
    let backward = cost.backward_input.time() + cost.backward_weight.time() + cost.recompute.time();
    let slowdown = (link / accelerator.memory_bandwidth).min(1.0);
    hide(slowdown, Dimension::Host, &mut cost.forward, forward, time);
    hide(slowdown, Dimension::Host, &mut cost.backward_input, backward, time);
}

/// Adds communication to a piece of work, overlapped with at most `cover` of compute, which each hidden
/// second slows by `slowdown`.
fn hide(slowdown: f64, dimension: Dimension, work: &mut Work, cover: Seconds, communication: Seconds) {
    if communication <= Seconds::ZERO {
        return;
    }
    let hidden = communication.min(cover);
    let exposed = (communication - hidden) + hidden * slowdown;
    work.add_communication(dimension, communication, exposed / communication);
}

/// Data-parallel communication and the optimizer of one pipeline stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageUpdate {
    /// Total time of gradient reduction, hidden and exposed.
    pub gradient_reduce: Seconds,
    /// Exposed gradient reduction, including the slowdown of overlapped compute.
    pub gradient_exposed: Seconds,
    /// The part overlapped with compute: `exposed = reduce - hidden + slowdown of that compute`.
    pub gradient_hidden: Seconds,
    /// Reductions with another stage, which follow and are exposed.
    pub between_stages: Seconds,
    /// Total time of gathering parameters after the step, hidden and exposed.
    pub parameter_gather: Seconds,
    /// Exposed parameter gathering.
    pub parameter_exposed: Seconds,
    /// The part overlapped with compute.
    pub parameter_hidden: Seconds,
    /// The optimizer step.
    pub optimizer: Seconds,
}

/// The passes of one micro-batch over all chunks of a stage, with which its update can overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StagePasses {
    forward: Seconds,
    /// Includes recompute.
    backward: Seconds,
    chunks: usize,
    layers: u64,
}

impl StagePasses {
    /// Passes of chunks with their numbers of layers.
    pub fn new<'c>(chunks: impl IntoIterator<Item = (u64, &'c ChunkCost)>) -> Self {
        let mut passes = Self::default();
        for (layers, time) in chunks {
            passes.forward += time.forward;
            passes.backward += time.backward_input + time.backward_weight + time.recompute;
            passes.chunks += 1;
            passes.layers += layers;
        }
        passes
    }
}

/// Prices of a stage's update, independent of its passes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UpdatePrices {
    /// One reduction of all gradients.
    reduce: Seconds,
    /// One gather of all parameters after the step.
    gather: Seconds,
    optimizer: Seconds,
}

/// Prices the collectives and the optimizer of a stage with `local` parameters.
pub fn update_prices(costing: &Costing<'_>, local: LocalParameters, micro_batches: u64) -> UpdatePrices {
    let mut prices = UpdatePrices { optimizer: optimizer_time(costing, local), ..UpdatePrices::default() };
    for collective in update::around_optimizer(costing, local, micro_batches) {
        match collective.purpose {
            Purpose::Parameters => prices.gather += collective.time(costing),
            _ => prices.reduce += collective.time(costing),
        }
    }
    prices
}

/// Prices the update of a stage with `local` parameters and `passes`.
pub fn stage_update(
    costing: &Costing<'_>,
    local: LocalParameters,
    passes: &StagePasses,
    micro_batches: u64,
) -> StageUpdate {
    overlapped(costing, update_prices(costing, local, micro_batches), passes, micro_batches)
}

/// Overlaps a stage's update with its passes.
///
/// Gradients are reduced (or reduce-scattered, ZeRO-1) once per step. With overlap they are hidden behind the
/// last micro-batch's backward pass. With interleaving, earlier chunks finish earlier and have more time.
pub fn overlapped(
    costing: &Costing<'_>,
    prices: UpdatePrices,
    passes: &StagePasses,
    micro_batches: u64,
) -> StageUpdate {
    let plan = costing.plan;
    let software = costing.software;
    let mut update = StageUpdate {
        optimizer: prices.optimizer,
        gradient_reduce: prices.reduce,
        parameter_gather: prices.gather,
        ..StageUpdate::default()
    };
    let StagePasses { forward, backward, .. } = *passes;
    let (hooks, each_pass) = reduces_in_hooks(costing);
    let times = reductions_per_step(costing, micro_batches);
    let count = passes.chunks.max(1) as f64;
    let layers = passes.layers.max(1) as f64;
    if plan.overlap.gradient_reduce || (hooks && !each_pass) {
        let per_chunk = backward / count;
        // The first bucket is full only after its share of layers, and the last can start only after the end
        // of backward.
        let within = per_chunk * (1.0 - 1.0 / (layers / count).max(1.0));
        let window =
            within + per_chunk * ((count - 1.0) * (plan.pipeline_parallel.min(micro_batches) as f64));
        let tail = update.gradient_reduce / layers;
        let left = (update.gradient_reduce - window).max(update.gradient_reduce / count - within).max(tail);
        let hidden = (update.gradient_reduce - left).max(Seconds::ZERO);
        let slowdown =
            if hooks { crowded(costing, software.overlap_slowdown) } else { software.overlap_slowdown };
        update.gradient_exposed = left.min(update.gradient_reduce) + hidden * slowdown;
        update.gradient_hidden = hidden;
    } else {
        update.gradient_exposed = update.gradient_reduce;
    }
    // All reductions except the last overlap with the passes of the micro-batches between two of them.
    let more = times - 1.0;
    let between = (forward + backward) * (micro_batches as f64 / times);
    let room = if plan.overlap.gradient_reduce || each_pass { between } else { Seconds::ZERO };
    let hidden = update.gradient_reduce.min(room);
    let each = (update.gradient_reduce - hidden) + hidden * software.overlap_slowdown;
    update.gradient_exposed += each * more;
    update.gradient_hidden += hidden * more;
    update.gradient_reduce = update.gradient_reduce * times;
    update.parameter_exposed = if plan.overlap.parameter_gather {
        let hidden = update.parameter_gather.min(forward * (1.0 - 1.0 / layers));
        update.parameter_hidden = hidden;
        (update.parameter_gather - hidden) + hidden * software.overlap_slowdown
    } else {
        update.parameter_gather
    };
    update
}

/// Share of a hidden reduction by which it slows the overlapped compute when all of a replica's ranks reduce
/// at once. A NIC's traffic passes through every local rank of the ring. The traffic through one device, for
/// the same time on the network, therefore grows with them: `min(1, slowdown x local ranks)`.
///
/// nanotron on 128 and 256 H100, a step with whole replicas against the same with ZeRO-1: 8 local ranks hide
/// none of the last pass's reduction, 4 a third, 2 two thirds, 1 nearly all.
fn crowded(costing: &Costing<'_>, slowdown: f64) -> f64 {
    let data = &costing.layout.data;
    (slowdown * data.per_domain.clamp(1, data.ranks.max(1)) as f64).min(1.0)
}

/// Memory traffic of an optimizer's states relative to Adam with fp32 master weights and moments, the
/// reference of the generations' constants. Every state is read and written, the gradient read and the
/// parameter written (30 bytes a parameter for Adam).
fn state_share(plan: &Plan) -> f64 {
    let master = plan.precision.master.map_or(0.0, DataType::bytes);
    (2.0 * (master + moment_bytes(plan)) + 6.0) / 30.0
}

/// Bytes of an optimizer's moments per parameter.
fn moment_bytes(plan: &Plan) -> f64 {
    let moments = match plan.optimizer {
        Optimizer::Adam | Optimizer::Lora => 2.0,
        Optimizer::Sgd | Optimizer::Lion | Optimizer::Muon => 1.0,
        Optimizer::Adafactor => 0.0,
    };
    moments * plan.precision.moments.bytes()
}

/// Rate at which all ranks of a node together copy between devices and pageable host memory, in bytes per
/// second: each page passes a pinned buffer and is mapped again. 11 to 14 GB/s follow from
/// reinforcement-learning steps of 0.6B to 30B parameters with and without the copies. Nodes have one H100,
/// or eight H100, H200 and B200. Pinned copies, limited by the host link, are several times as fast.
const PAGEABLE: f64 = 12.5e9;

/// Time to copy moments to pageable host memory between steps and back: `2 moments parameters / (PAGEABLE /
/// ranks of the node)`.
fn park_time(costing: &Costing<'_>, parameters: f64) -> Seconds {
    if !costing.software.parks_moments {
        return Seconds::ZERO;
    }
    let ranks = costing.cluster.devices_per_node.min(costing.plan.world_size()).max(1) as f64;
    Seconds::new(2.0 * moment_bytes(costing.plan) * parameters * ranks / PAGEABLE)
}

/// Newton-Schulz iterations of Muon (Jordan 2024): five, each about `4 d` multiply-adds per element of a
/// matrix whose smaller side is `d`. Every rank of the shard group works on its share of whole matrices.
fn orthogonalization(costing: &Costing<'_>, parameters: f64) -> Seconds {
    if costing.plan.optimizer != Optimizer::Muon {
        return Seconds::ZERO;
    }
    let side = costing.model.hidden_size as f64 / costing.plan.tensor_parallel as f64;
    let flop = 5.0 * 8.0 * side * parameters;
    // The time of one square GEMM of this size, scaled to the required arithmetic.
    let product = costing.machine.device.gemm(side, side, side, DataType::Bf16, Pass::Forward);
    product.time * (flop / product.flop.get().max(1.0)) / costing.wide_matmul_rate
}

/// The optimizer step: bound by memory traffic over the states of trained parameters that the rank keeps. If
/// offloaded, it runs on the host: gradients and parameters cross the host link, and the passes take `bytes /
/// (host memory bandwidth of the rank x host_update_rate)`.
fn optimizer_time(costing: &Costing<'_>, local: LocalParameters) -> Seconds {
    let plan = costing.plan;
    let shards = if plan.sharding.zero_stage == 0 { 1.0 } else { plan.shard_group() as f64 };
    let expert_shards = costing.layout.expert_shard.ranks as f64;
    let parameters = local.dense / shards + local.routed / expert_shards;
    let bytes = parameters * state_share(plan) * costing.software.optimizer_bytes_per_parameter;
    let on_device = bytes * (1.0 - plan.offload.optimizer);
    let mut time = costing.machine.device.memory_bound(Bytes::new(on_device)).time
        + orthogonalization(costing, parameters)
        + park_time(costing, parameters);
    if plan.offload.optimizer > 0.0 {
        let moved = parameters * plan.offload.optimizer;
        let link = costing.cluster.accelerator.host_link();
        let down = Bytes::new(moved * plan.precision.gradients.bytes());
        let up = Bytes::new(moved * plan.precision.parameters.bytes());
        time += down / link + up / link;
        let memory = costing.cluster.host.memory_bandwidth_per_device * costing.software.host_update_rate;
        time += Bytes::new(bytes * plan.offload.optimizer) / memory;
    }
    time
}

#[cfg(test)]
mod tests;
