//! Cost of each virtual stage of the pipeline: its layers, and the embedding or the head if they are on it.
//!
//! Responsible for: placing layers on virtual stages and summing their costs, including both ends of the
//! vocabulary. Excludes the order of stages (see [`crate::schedule`]).

mod contents;

pub(crate) use contents::{Piece, contents};

use crate::costing::{Costing, Kind};
pub(crate) use crate::host::{CORNER, host_time, pace};
use crate::layer::LayerCost;
use crate::local::{LocalParameters, layer_parameters, local_parameters};
use crate::memory;
pub use crate::partition::{chunks_per_stage, virtual_stages};
use crate::partition::{local_chunks, recomputed_layers};
use crate::program;
use crate::schedule::ChunkCost;
use crate::sharding;
use crate::treatment::{Coverage, Treatment};
use crate::work::{Family, Work};
use railwright_spec::model::Layer;
use railwright_spec::plan::{Plan, Recompute};
use railwright_spec::quantity::Seconds;

/// One virtual stage.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Layers on it.
    pub layers: u64,
    /// Cost of its contents per micro-batch.
    pub cost: LayerCost,
    /// Device and host time together.
    pub time: ChunkCost,
}

/// Every kind of layer under the treatments of a plan.
pub(crate) struct LayerPrices {
    /// Cost under the plan's recompute and offload.
    kinds: Vec<LayerCost>,
    /// Cost of the layers beyond the number that the policy covers.
    beyond: Vec<LayerCost>,
    /// Treatment of each layer. `None` if stages do not differ.
    coverage: Option<Coverage>,
    /// Each kind of layer under each treatment; empty if stages do not differ.
    treated: Vec<Vec<LayerCost>>,
    /// Number of layers of a chunk that the plan's recompute covers.
    covered: u64,
}

impl LayerPrices {
    /// Prices of layers with this split over virtual stages.
    pub(crate) fn new(costing: &Costing<'_>, split: &[u64]) -> Self {
        let (model, plan) = (costing.model, costing.plan);
        let kept: Vec<LayerCost> =
            model.layer_kinds.iter().map(|layer| LayerCost::kept(costing, layer)).collect();
        let (kinds, beyond) = under_policy(costing, &kept);
        let coverage = Coverage::new(plan, split);
        let treated = coverage.as_ref().map_or_else(Vec::new, |coverage| {
            let under = |(layer, kept): (&Layer, &LayerCost)| {
                coverage.treatments.iter().map(|t| treated_as(costing, kept, layer, t)).collect()
            };
            model.layer_kinds.iter().zip(&kept).map(under).collect()
        });
        Self { kinds, beyond, coverage, treated, covered: recomputed_layers(plan) }
    }

    /// Cost of the layer at a place of a virtual stage, of this kind.
    pub(crate) fn of(&self, chunk: usize, place: usize, kind: usize) -> LayerCost {
        match &self.coverage {
            Some(coverage) => self.treated[kind][coverage.of(chunk, place)],
            None if (place as u64) < self.covered => self.kinds[kind],
            None => self.beyond[kind],
        }
    }

    /// Cost of multi-token prediction's layer, of this kind.
    pub(crate) fn beside(&self, kind: usize) -> LayerCost {
        self.coverage
            .as_ref()
            .map_or_else(|| self.kinds[kind], |coverage| self.treated[kind][coverage.beside])
    }
}

/// Prices every virtual stage, in pipeline order; on the slowest of its kinds of device if there are several.
pub fn chunks(costing: &Costing<'_>) -> Vec<Chunk> {
    ByKind::new(costing).map_or_else(|| chunks_of_kind(costing), |by_kind| by_kind.chunks())
}

/// The virtual stages priced on every kind of device, each kind once.
pub(crate) struct ByKind<'a> {
    plan: &'a Plan,
    kinds: Vec<(Kind<'a>, Vec<Chunk>)>,
}

impl<'a> ByKind<'a> {
    /// `None` if all devices of the job are equal.
    pub(crate) fn new(costing: &Costing<'a>) -> Option<Self> {
        let priced = |kind: Kind<'a>| {
            let chunks = chunks_of_kind(&kind.costing);
            (kind, chunks)
        };
        costing
            .is_mixed()
            .then(|| Self { plan: costing.plan, kinds: costing.kinds().into_iter().map(priced).collect() })
    }

    /// The virtual stages, in pipeline order, each on the slowest of its kinds.
    pub(crate) fn chunks(&self) -> Vec<Chunk> {
        let slowest = |(index, stages): (usize, Vec<usize>)| {
            let on_stages = self.kinds.iter().filter(|(kind, _)| kind.is_on_any(self.plan, &stages));
            let longer = |a: &&Chunk, b: &&Chunk| a.time.total().get().total_cmp(&b.time.total().get());
            on_stages.filter_map(|(_, chunks)| chunks.get(index)).max_by(longer).cloned().unwrap_or_default()
        };
        let count = self.kinds.first().map_or(0, |(_, chunks)| chunks.len());
        stages_of_chunks(self.plan, count).into_iter().enumerate().map(slowest).collect()
    }

    /// The context of the slowest kind on a stage.
    pub(crate) fn slowest(&self, stage: usize) -> Option<&Costing<'a>> {
        let own = local_chunks(self.plan, stage);
        let time = |chunks: &[Chunk]| -> Seconds {
            own.iter().filter_map(|&index| chunks.get(index)).map(|chunk| chunk.time.total()).sum()
        };
        let on_stage = self.kinds.iter().filter(|(kind, _)| kind.is_on_any(self.plan, &[stage]));
        on_stage
            .map(|(kind, chunks)| (time(chunks), &kind.costing))
            .max_by(|a, b| a.0.get().total_cmp(&b.0.get()))
            .map(|(_, costing)| costing)
    }
}

/// The stages of each virtual stage: one, or two if the schedule has two directions.
pub fn stages_of_chunks(plan: &Plan, count: usize) -> Vec<Vec<usize>> {
    let mut stages = vec![Vec::new(); count];
    for stage in 0..plan.pipeline_parallel as usize {
        for index in local_chunks(plan, stage) {
            if let Some(of_chunk) = stages.get_mut(index) {
                of_chunk.push(stage);
            }
        }
    }
    stages
}

fn chunks_of_kind(costing: &Costing<'_>) -> Vec<Chunk> {
    let model = costing.model;
    let split = memory::layers_per_chunk(model, costing.plan, costing.stage_split);
    let LayerPrices { kinds, beyond, coverage, treated, covered } = LayerPrices::new(costing, &split);
    let last = split.len() - 1;
    let mut next = 0_usize;
    let mut chunks: Vec<Chunk> = Vec::with_capacity(split.len());
    // The layers of the last chunk, if it contains nothing else: inner chunks are mostly equal, which speeds
    // up a search.
    let mut inner: Option<std::ops::Range<usize>> = None;
    for (index, &layers) in split.iter().enumerate() {
        let mut cost = LayerCost::default();
        let end = (next + layers as usize).min(model.layers.len());
        let is_inner = index > 0 && index < last;
        if let (true, Some(before)) = (is_inner, inner.clone())
            && model.layers[next..end] == model.layers[before]
            && coverage.as_ref().is_none_or(|c| c.chunks[index] == c.chunks[index - 1])
            && let Some(alike) = chunks.last().cloned()
        {
            next = end;
            chunks.push(Chunk { layers, ..alike });
            continue;
        }
        inner = is_inner.then_some(next..end);
        if let Some(coverage) = &coverage {
            let mut from = next;
            for &(treatment, count) in &coverage.chunks[index] {
                let until = (from + count as usize).min(end);
                for (kind, templates) in treated.iter().enumerate() {
                    let here = model.layers[from..until].iter().filter(|&&k| k == kind).count();
                    if here > 0 {
                        cost.add(&templates[treatment], here as f64);
                    }
                }
                from = until;
            }
        }
        for (kind, template) in kinds.iter().enumerate().filter(|_| coverage.is_none()) {
            let here = model.layers[next..end].iter().filter(|&&k| k == kind).count();
            let with = model.layers[next..end]
                .iter()
                .take(usize::try_from(covered).unwrap_or(usize::MAX))
                .filter(|&&k| k == kind)
                .count();
            if with > 0 {
                cost.add(template, with as f64);
            }
            if here > with {
                cost.add(&beyond[kind], (here - with) as f64);
            }
        }
        next = end;
        let layer = model.multi_token_prediction.as_ref().map(|mtp| match &coverage {
            Some(coverage) => treated[mtp.layer_kind][coverage.beside],
            None => kinds[mtp.layer_kind],
        });
        ends(costing, index, last, &layer.unwrap_or_default(), &mut cost);
        let time = chunk_time(costing, &cost);
        chunks.push(Chunk { layers, cost, time });
    }
    chunks
}

/// Every kind of layer under the plan's recompute and offload, and of those beyond the number that the policy
/// covers, from their cost without recompute. Layers beyond recompute nothing, keep more memory to offload
/// and have less compute to hide it.
pub(crate) fn under_policy(costing: &Costing<'_>, kept: &[LayerCost]) -> (Vec<LayerCost>, Vec<LayerCost>) {
    let plan = costing.plan;
    let all = |recompute: &Recompute| -> Vec<LayerCost> {
        let treatment = Treatment { recompute: recompute.clone(), offload: plan.offload.activations };
        let layers = costing.model.layer_kinds.iter().zip(kept);
        layers.map(|(layer, kept)| treated_as(costing, kept, layer, &treatment)).collect()
    };
    let beyond = all(&Recompute::None);
    (if plan.recompute == Recompute::None { beyond.clone() } else { all(&plan.recompute) }, beyond)
}

/// A layer's cost under a treatment, from its cost without recompute: including the gathers of its sharded
/// parameters and its transfers to the host and back.
pub(crate) fn treated_as(
    costing: &Costing<'_>,
    kept: &LayerCost,
    layer: &Layer,
    treatment: &Treatment,
) -> LayerCost {
    let mut cost = kept.recomputing(&treatment.recompute, layer);
    sharding::gather(costing, layer_parameters(layer, costing.plan), &mut cost);
    sharding::offload_layer(costing, layer, &treatment.recompute, treatment.offload, &mut cost);
    cost
}

/// Adds the parts of the first and the last virtual stage other than their layers; `layer` is that of
/// multi-token prediction.
pub(crate) fn ends(
    costing: &Costing<'_>,
    index: usize,
    last: usize,
    layer: &LayerCost,
    cost: &mut LayerCost,
) {
    let model = costing.model;
    if index == 0 {
        embedding(costing, cost);
        // No compute precedes the embedding, so its gather cannot overlap.
        let mut end = LayerCost::default();
        sharding::gather(costing, local_parameters(&model.embedding, costing.plan), &mut end);
        cost.add(&end, 1.0);
    }
    if index == last {
        if let Some(mtp) = &model.multi_token_prediction {
            for _ in 0..mtp.depth {
                cost.add(layer, 1.0);
                let mut own = LayerCost::default();
                head(costing, &mut own);
                cost.add(&own, 1.0);
            }
        }
        let mut end = LayerCost::default();
        head(costing, &mut end);
        sharding::gather(costing, head_parameters(costing), &mut end);
        cost.add(&end, 1.0);
    }
}

/// Parameters of the head and the final norm, and of the last stage's copy of a tied embedding.
pub(crate) fn head_parameters(costing: &Costing<'_>) -> LocalParameters {
    let model = costing.model;
    let own_copy = model.tied_embeddings && costing.plan.pipeline_parallel > 1;
    let shared = if own_copy { &model.embedding[..] } else { &[] };
    local_parameters(model.head.iter().chain(&model.final_norm).chain(shared), costing.plan)
}

/// Device and host of a forward pass or its recompute, before and within its loops over local experts. A loop
/// needs the counts of the experts' tokens, which the device has only when it has finished what precedes.
/// Then the queue of launches is empty, so the host is not ahead. Backward needs no counts.
pub(crate) fn segments(work: &Work, host: Seconds) -> [[Seconds; 2]; 2] {
    if work.looped <= Seconds::ZERO {
        return [[work.time(), host], [Seconds::ZERO; 2]];
    }
    let experts = work.compute[Family::Experts as usize];
    let before = (work.time() - experts).max(Seconds::ZERO);
    [[before, (host - work.looped).max(Seconds::ZERO)], [experts, work.looped]]
}

/// Time of a forward pass or its recompute: `pace(device - experts, host - loops) + pace(experts, loops)`.
fn waiting_pace(work: &Work, host: Seconds) -> Seconds {
    segments(work, host).into_iter().map(|[device, host]| pace(device, host)).sum()
}

/// Combined device and host time of a virtual stage.
pub(crate) fn chunk_time(costing: &Costing<'_>, cost: &LayerCost) -> ChunkCost {
    let software = costing.software;
    let host = host_time(costing);
    let fixed = Seconds::from_micros(software.host_us_per_micro_batch / 2.0);
    let backward_device = cost.backward_input.time() + cost.backward_weight.time();
    let backward_host = host(&cost.backward_input) + host(&cost.backward_weight) + fixed;
    // Both halves of backward share one host thread, so they are stretched equally.
    let stretch = if backward_device > Seconds::ZERO {
        pace(backward_device, backward_host) / backward_device
    } else {
        1.0
    };
    let recompute = cost.recompute.time();
    let forward_host = host(&cost.forward) + fixed;
    let time = ChunkCost {
        forward: waiting_pace(&cost.forward, forward_host),
        backward_input: cost.backward_input.time() * stretch,
        backward_weight: cost.backward_weight.time() * stretch,
        recompute: if recompute > Seconds::ZERO {
            waiting_pace(&cost.recompute, host(&cost.recompute))
        } else {
            recompute
        },
        fused_saving: Seconds::ZERO,
    };
    if costing.plan.schedule.has_two_directions() {
        ChunkCost { fused_saving: fused_saving(costing, cost, &time, forward_host, backward_host), ..time }
    } else {
        time
    }
}

/// Time saved by one pass fused with a pass of the other direction: the exposed communication of each
/// overlaps with the compute of the other, as far as that suffices, and slows it by the generation's share.
/// Half of the saving of a pair. Host launches are unchanged, so a host-bound pass saves less.
///
/// DeepSeek-V3 report, section 3.2.1: dispatch, combine and transfers are fully hidden if compute is at least
/// as long.
fn fused_saving(
    costing: &Costing<'_>,
    cost: &LayerCost,
    time: &ChunkCost,
    forward_host: Seconds,
    backward_host: Seconds,
) -> Seconds {
    let backward_exposed = cost.backward_input.exposed_time() + cost.backward_weight.exposed_time();
    let backward_compute = cost.backward_input.compute_time() + cost.backward_weight.compute_time();
    let hides = 1.0 - costing.software.overlap_slowdown;
    let forward_hidden = cost.forward.exposed_time().min(backward_compute) * hides;
    let backward_hidden = backward_exposed.min(cost.forward.compute_time()) * hides;
    let backward = time.backward_input + time.backward_weight;
    let forward_left = pace(cost.forward.time() - forward_hidden, forward_host);
    let backward_left = pace(backward_exposed + backward_compute - backward_hidden, backward_host);
    let saving = (time.forward - forward_left + (backward - backward_left)) * 0.5;
    saving.min(time.forward).min(backward).max(Seconds::ZERO)
}

/// Adds the word embedding.
pub(crate) fn embedding(costing: &Costing<'_>, cost: &mut LayerCost) {
    program::embedding(costing, &mut |operation| cost.add_operation(costing, &operation));
    program::embedding_exchanges(costing, &mut |exchange| cost.add_exchange(costing, &exchange));
}

/// Adds the final norm, the head and the loss.
pub(crate) fn head(costing: &Costing<'_>, cost: &mut LayerCost) {
    program::head(costing, &mut |operation| cost.add_operation(costing, &operation));
    program::head_exchanges(costing, &mut |exchange| cost.add_exchange(costing, &exchange));
}
