//! Sums of a stage's memory at each time that can be its peak.
//!
//! Responsible for: the numbers, once per kind of layer and then per stage; a search calls only [`peak`].
//! Item names are in the report, which uses the same functions.

use super::activations::{LayerBytes, covered, layer_bytes, treated_bytes};
use super::head::{HeadBytes, head_bytes};
use super::held::RankParameters;
use super::moment::Moment;
use super::parameters::{Extent, Held, PerParameter, gathered, per_parameter};
use super::stages::{StageLayers, layers_per_chunk, layout};
use super::{MemoryInput, MemorySoftware, Published};
use crate::partition;
use crate::program::saved::{self, SavedSizes, Saving};
use crate::treatment::Coverage;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute, Schedule};
use railwright_spec::quantity::Bytes;
use serde::Serialize;

const MIB: f64 = 1_048_576.0;

/// The worst stage's peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peak {
    /// The stage, from 0.
    pub stage: usize,
    /// Time of the peak.
    pub moment: Moment,
    /// Bytes allocated by tensors (torch's `max_memory_allocated`).
    pub allocated: Bytes,
    /// Bytes reserved by the allocator (torch's `max_memory_reserved`).
    pub reserved: Bytes,
    /// Memory reported by the device: reserved, the driver's context and the communicators.
    pub device: Bytes,
    /// Device memory of the stage.
    pub available: Bytes,
}

impl Peak {
    /// Minimum memory with which the stage runs, as in [`super::MemoryReport`].
    pub fn least(&self) -> Bytes {
        self.device - (self.reserved - self.allocated) * 0.5
    }
}

/// One kind of layer, with and without recompute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindBytes {
    pub plain: LayerBytes,
    pub recomputed: LayerBytes,
}

/// Inputs common to all stages.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub kinds: Vec<KindBytes>,
    pub sizes: SavedSizes,
    pub per: PerParameter,
    pub head: HeadBytes,
    pub(super) held: RankParameters,
    pub stages: Vec<Vec<StageLayers>>,
    pub recomputed_layers: u64,
    /// Treatments by stage and layer, and each kind of layer under each treatment. `None` if stages do not
    /// differ in recompute.
    pub by_stage: Option<ByStage>,
}

/// Treatments of layers if stages differ.
#[derive(Clone)]
pub(crate) struct ByStage {
    pub coverage: Coverage,
    /// By kind of layer, then by treatment.
    pub bytes: Vec<Vec<LayerBytes>>,
}

impl Prepared {
    /// Kept and working memory of a layer: the one of its virtual stage with this index.
    pub(super) fn layer(&self, kind: usize, chunk: &StageLayers, index: usize) -> &LayerBytes {
        match &self.by_stage {
            Some(by) => &by.bytes[kind][by.coverage.of(chunk.chunk, index)],
            None if (index as u64) < self.recomputed_layers => &self.kinds[kind].recomputed,
            None => &self.kinds[kind].plain,
        }
    }

    /// The policy of the layer, and the share of its activations in host memory.
    pub(super) fn treatment<'a>(
        &'a self,
        plan: &'a Plan,
        chunk: &StageLayers,
        index: usize,
    ) -> (&'a Recompute, f64) {
        if let Some(by) = &self.by_stage {
            let treatment = &by.coverage.treatments[by.coverage.of(chunk.chunk, index)];
            (&treatment.recompute, treatment.offload)
        } else {
            let offload = plan.offload.activations.clamp(0.0, 1.0);
            (covered(plan, (index as u64) < self.recomputed_layers), offload)
        }
    }
}

/// A stage's sums, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StageSum {
    pub held: Held,
    /// Parameters of layers, embedding and head: all of them, and the trained ones.
    pub all: Extent,
    pub trained: Extent,
    pub resident: f64,
    /// Activations of all micro-batches in flight.
    pub activations: f64,
    /// Tensors saved by the head for all micro-batches in flight.
    pub head: f64,
    /// Part of these that the micro-batch in its backward pass has freed before the layers' backward pass.
    pub head_done: f64,
    /// Additional memory at the loss.
    pub loss: f64,
    /// Additional memory in the backward pass of the layer with the largest working set.
    pub working: f64,
    /// Gradients that do not exist yet at the loss and at the start of the backward pass.
    pub lazy_gradients: f64,
    /// Casts of fp32 weights, part of `resident`: they exist from the forward to the backward pass.
    pub casts: f64,
    /// Part of them that is gone when the backward pass begins, because a recomputed layer casts its weights
    /// again.
    pub casts_again: f64,
    pub gathered: f64,
    pub gradient_buffers: f64,
    pub pipeline_buffers: f64,
    pub stepping: f64,
    pub workspace: f64,
}

impl StageSum {
    /// Sums of an empty stage.
    pub(super) fn empty(software: &MemorySoftware) -> Self {
        Self { workspace: software.workspace_mib * MIB, ..Self::default() }
    }

    fn always(&self) -> f64 {
        self.resident + self.workspace
    }

    /// Memory throughout the step, without casts of weights.
    fn lasting(&self) -> f64 {
        self.always() - self.casts
    }

    fn waiting(&self) -> f64 {
        self.always() - self.lazy_gradients
            + self.activations
            + self.head
            + self.gathered
            + self.pipeline_buffers
    }

    /// Allocated bytes at a time.
    pub(crate) fn at(&self, moment: Moment) -> f64 {
        match moment {
            Moment::Loss => self.waiting() + self.loss,
            Moment::Backward => {
                self.waiting() - self.casts_again - self.head_done + self.gradient_buffers + self.working
            }
            Moment::BackwardEnd => {
                self.lasting() + self.gathered + self.pipeline_buffers + self.gradient_buffers + self.working
            }
            Moment::OptimizerStep => self.lasting() + self.stepping,
        }
    }

    /// The peak and its time.
    pub(crate) fn peak(&self) -> (f64, Moment) {
        [Moment::Loss, Moment::Backward, Moment::BackwardEnd, Moment::OptimizerStep]
            .into_iter()
            .map(|moment| (self.at(moment), moment))
            .fold((0.0, Moment::Backward), |best, next| if next.0 > best.0 { next } else { best })
    }
}

pub(crate) fn prepare(input: &MemoryInput<'_>) -> Prepared {
    let MemoryInput { model, plan, software, .. } = *input;
    prepare_layers(input, RankParameters::new(model, plan), layout(model, plan, software.stage_split))
}

/// Prepares layers with known parameters and given stages. A search that has stages by shape passes none.
pub(super) fn prepare_layers(
    input: &MemoryInput<'_>,
    held: RankParameters,
    stages: Vec<Vec<StageLayers>>,
) -> Prepared {
    let MemoryInput { model, plan, software, .. } = *input;
    let sizes = input.sizes();
    let saving = Saving { plan, software, sizes: &sizes };
    let kind = |layer| KindBytes {
        plain: layer_bytes(&saving, layer, false),
        recomputed: layer_bytes(&saving, layer, true),
    };
    let coverage = plan
        .stage_recompute
        .as_ref()
        .and_then(|_| Coverage::new(plan, &layers_per_chunk(model, plan, software.stage_split)));
    let by_stage = coverage.map(|coverage| {
        let treated = |layer| {
            let of = |t| treated_bytes(&saving, layer, t);
            coverage.treatments.iter().map(of).collect()
        };
        ByStage { bytes: model.layer_kinds.iter().map(treated).collect(), coverage }
    });
    Prepared {
        by_stage,
        kinds: model.layer_kinds.iter().map(kind).collect(),
        head: head_bytes(model, &saving),
        sizes,
        per: per_parameter(plan, software),
        held,
        stages,
        recomputed_layers: partition::recomputed_layers(plan),
    }
}

/// Bytes outside the layers kept with each micro-batch: the embedding's dropout mask, the stage's output.
pub(crate) fn edges(saving: &Saving<'_>, chunk: &StageLayers) -> (f64, f64) {
    let embedding = if chunk.embedding { saved::embedding(saving.sizes).bytes } else { 0.0 };
    (embedding, saved::stage_output(saving, chunk.head))
}

pub(crate) fn stage_sum(input: &MemoryInput<'_>, prepared: &Prepared, stage: usize) -> StageSum {
    let chunks = prepared.stages.get(stage).map_or(&[][..], Vec::as_slice);
    let alive: Vec<f64> = (0..chunks.len()).map(|c| input.alive(stage, c)).collect();
    chunks_sum(input, prepared, chunks, &alive)
}

/// Sums of a stage with these chunks and a number of micro-batches in flight.
fn chunks_sum(
    input: &MemoryInput<'_>,
    prepared: &Prepared,
    chunks: &[StageLayers],
    alive: &[f64],
) -> StageSum {
    let mut sum = StageSum::empty(input.software);
    sum.hold(&prepared.held, input.model, chunks);
    sum.compute(input, prepared, chunks, alive);
    sum.shard(input, &prepared.per);
    sum
}

/// Tests whether the loss and the head finish both of their gradients before the layers' backward pass
/// begins. False if the gradients of weights have a separate pass.
pub(crate) fn gives_head_back(schedule: Schedule) -> bool {
    !schedule.divides_backward()
}

/// Multi-token prediction's layers keep their activations through the loss of one micro-batch. The recompute
/// policy covers them if it covers all layers.
fn multi_token_working(input: &MemoryInput<'_>, prepared: &Prepared) -> f64 {
    input.model.multi_token_prediction.as_ref().map_or(0.0, |mtp| {
        let all = prepared.recomputed_layers == u64::MAX;
        let saved = |kind: &KindBytes| if all { kind.recomputed.saved } else { kind.plain.saved };
        let by_stage = prepared.by_stage.as_ref();
        if let Some(treated) = by_stage.and_then(|by| by.bytes.get(mtp.layer_kind)?.get(by.coverage.beside)) {
            return mtp.depth as f64 * treated.saved;
        }
        prepared.kinds.get(mtp.layer_kind).map_or(0.0, |kind| mtp.depth as f64 * saved(kind))
    })
}

/// Number of communicators of a rank: one per parallel dimension in use, and pipeline neighbours on both
/// sides.
pub(crate) fn communicators(plan: &Plan) -> f64 {
    let used = |degree: u64, count: f64| if degree > 1 { count } else { 0.0 };
    used(plan.tensor_parallel, 1.0)
        + used(plan.data_parallel * plan.context_parallel, 1.0)
        + used(plan.context_parallel, 1.0)
        + used(plan.pipeline_parallel, 2.0)
        + used(plan.expert_parallel, 1.0)
}

/// Reserved memory and memory reported by the device, from the allocation.
pub(crate) fn overheads(allocated: f64, plan: &Plan, software: &MemorySoftware) -> (f64, f64) {
    let reserved = allocated * software.reserved_over_allocated.max(1.0);
    let outside = (software.context_mib + communicators(plan) * software.communicator_mib) * MIB;
    (reserved, reserved + outside)
}

/// The worst stage's peak, by the fast path of a search.
pub fn peak(input: &MemoryInput<'_>) -> Peak {
    let prepared = prepare(input);
    let worst = (0..prepared.stages.len())
        .map(|stage| (stage, stage_sum(input, &prepared, stage).peak()))
        .fold((0, (0.0, Moment::Backward)), |best, next| worse(input, best, next));
    finish(input, worst)
}

/// Peak memory as the framework's users would publish it: allocated, reserved or the device's, of the worst
/// stage or of the rank that logs.
pub fn published_peak(input: &MemoryInput<'_>) -> Bytes {
    let software = input.software;
    let peak = if software.published_by_first_stage {
        finish(input, (0, stage_sum(input, &prepare(input), 0).peak()))
    } else {
        peak(input)
    };
    match software.published {
        Published::Allocated => peak.allocated,
        Published::Reserved => peak.reserved,
        Published::Device => peak.device,
    }
}

/// The stage with the larger need relative to its device memory; the first of equal ones.
pub(super) fn worse(
    input: &MemoryInput<'_>,
    best: (usize, (f64, Moment)),
    next: (usize, (f64, Moment)),
) -> (usize, (f64, Moment)) {
    if input.weighted(next.0, next.1.0) > input.weighted(best.0, best.1.0) { next } else { best }
}

pub(super) fn finish(input: &MemoryInput<'_>, (stage, (allocated, moment)): (usize, (f64, Moment))) -> Peak {
    let (reserved, device) = overheads(allocated, input.plan, input.software);
    Peak {
        stage,
        moment,
        allocated: Bytes::new(allocated),
        reserved: Bytes::new(reserved),
        device: Bytes::new(device),
        available: input.available(stage),
    }
}

impl StageSum {
    /// Sets the parameters of a stage with these chunks.
    pub(super) fn hold(&mut self, parts: &RankParameters, model: &Model, chunks: &[StageLayers]) {
        let with_embedding = chunks.iter().any(|chunk| chunk.embedding);
        let (mut all, mut trained) = (Extent::default(), Extent::default());
        for chunk in chunks {
            for &kind in &model.layers[chunk.start..chunk.start + chunk.count] {
                let held = parts.kinds[kind];
                self.held.add(held, 1.0);
                for (extent, parameters) in [(&mut all, held.total()), (&mut trained, held.trained())] {
                    extent.layers += parameters;
                    extent.largest = extent.largest.max(parameters);
                }
            }
            let embedding = chunk.embedding.then_some(parts.embedding);
            let head = chunk.head.then_some(parts.head[usize::from(with_embedding)]);
            for end in embedding.into_iter().chain(head) {
                self.held.add(end, 1.0);
                all.ends += end.total();
                trained.ends += end.trained();
            }
        }
        (self.all, self.trained) = (all, trained);
    }

    /// Sets the activations and working memory of the chunks of a stage, with a number of micro-batches in
    /// flight. Independent of sharding.
    pub(super) fn compute(
        &mut self,
        input: &MemoryInput<'_>,
        prepared: &Prepared,
        chunks: &[StageLayers],
        alive: &[f64],
    ) {
        let MemoryInput { model, plan, .. } = *input;
        for (chunk, &alive) in chunks.iter().zip(alive) {
            let mut saved = 0.0;
            for (index, &kind) in model.layers[chunk.start..chunk.start + chunk.count].iter().enumerate() {
                let bytes = prepared.layer(kind, chunk, index);
                saved += bytes.saved;
                self.working = self.working.max(bytes.working);
            }
            let (embedding, output) = edges(&input.saving(&prepared.sizes), chunk);
            self.activations += (saved + embedding + output) * alive;
            if chunk.head {
                self.head += prepared.head.saved * alive;
                if gives_head_back(plan.schedule) {
                    self.head_done += prepared.head.saved * alive.min(1.0);
                }
                self.loss = prepared.head.peak - prepared.head.saved;
                self.working += multi_token_working(input, prepared);
            }
        }
        if plan.pipeline_parallel > 1 {
            let SavedSizes { micro, hidden, .. } = prepared.sizes;
            self.pipeline_buffers = 2.0 * micro.activation_bytes * hidden * micro.sequence_shard_tokens;
        }
    }

    /// Sets a sharding: states of the parameters, and buffers of gathered ones.
    pub(super) fn shard(&mut self, input: &MemoryInput<'_>, per: &PerParameter) {
        let MemoryInput { plan, software, .. } = *input;
        self.states(per);
        if plan.stage_recompute.is_none() && matches!(plan.recompute, Recompute::Full { layers: None }) {
            self.casts_again = self.casts;
        }
        if software.lazy_gradients && plan.micro_batches() <= 1 {
            self.lazy_gradients =
                self.held.dense * per.dense.gradients + self.held.routed * per.routed.gradients;
        }
        (self.gathered, self.gradient_buffers) = gathered(plan, software, self.all, self.trained);
    }

    /// Sets the memory of the parameters' states: throughout the step, and during the optimizer step.
    pub(super) fn states(&mut self, per: &PerParameter) {
        let held = self.held;
        let cost = |dense, routed| held.dense * dense + held.routed * routed;
        let frozen = per.frozen(held);
        self.resident = cost(per.dense.resident(), per.routed.resident())
            + frozen
            + held.matmul * (per.narrow - per.narrower);
        self.casts = cost(per.dense.casts, per.routed.casts);
        self.stepping = cost(per.dense.stepping, per.routed.stepping);
    }
}
