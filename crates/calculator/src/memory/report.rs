//! The memory report: every stage, and every item by kind, module and layer, at the time of the peak.
//!
//! Responsible for: names of the terms of [`super::sum`]. Has no calculation of its own: the items of a stage
//! sum to its peak, which a test compares with the fast path.

use super::MemoryInput;
use super::activations::tensors;
use super::fit::{Fit, probability_of_fitting};
use super::moment::Moment;
use super::parameters::{self, Held};
use super::stages::StageLayers;
use super::sum::{Prepared, StageSum, edges, overheads, prepare, stage_sum};
use railwright_spec::model::Module;
use railwright_spec::quantity::Bytes;
use serde::Serialize;

/// Kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Weights that the forward pass reads.
    Parameters,
    /// Accumulated gradients.
    Gradients,
    /// Master weights.
    MasterWeights,
    /// Optimizer moments.
    OptimizerMoments,
    /// Narrow copies of weights.
    NarrowWeights,
    /// Tensors saved for the backward pass, all micro-batches in flight.
    Activations,
    /// Recomputed tensors and gradients of activations of the layer in its backward pass.
    WorkingSet,
    /// Logits and loss.
    Logits,
    /// Gathered parameters, full gradients, buckets, stage-to-stage buffers.
    CommunicationBuffers,
    /// Temporaries of the optimizer step.
    OptimizerTemporaries,
    /// Libraries' workspaces.
    Workspace,
    /// Reserved by the allocator but unused.
    Fragmentation,
    /// The driver's context and the communicators, outside the allocator.
    Context,
}

/// One line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    /// Purpose.
    pub kind: Kind,
    /// Module, if any.
    pub module: Option<Module>,
    /// Layer of the model, from 0. `None` for memory outside layers.
    pub layer: Option<u32>,
    /// Amount.
    pub bytes: Bytes,
}

/// One stage's memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageReport {
    /// The stage, from 0.
    pub stage: usize,
    /// First layer and number of layers of each chunk.
    pub layers: Vec<(usize, usize)>,
    /// Micro-batches in flight, per chunk.
    pub in_flight: Vec<f64>,
    /// Time of the peak.
    pub moment: Moment,
    /// Contents of memory at that time, which sum to `device`.
    pub items: Vec<Item>,
    /// Bytes allocated by tensors.
    pub allocated: Bytes,
    /// Bytes reserved by the allocator.
    pub reserved: Bytes,
    /// Memory reported by the device.
    pub device: Bytes,
    /// Memory of the device; that of the smallest kind on the stage.
    pub available: Bytes,
}

/// Memory of all stages, compared with the device's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryReport {
    /// Reports of all stages.
    pub stages: Vec<StageReport>,
    /// Index of the stage with the largest need.
    pub worst: usize,
    /// Memory of the device of the worst stage.
    pub device_memory: Bytes,
    /// Free memory on the worst stage at its expected peak; negative if the allocator must release memory,
    /// or fails.
    pub margin: Bytes,
    /// Minimum memory with which the worst stage runs. Near the limit the allocator releases unused memory,
    /// of which about half is usable.
    pub least: Bytes,
    /// Verdict by the probability of fitting.
    pub fit: Fit,
    /// Probability that it fits, from the spread of past errors.
    pub probability_of_fitting: f64,
    /// True if the peak is close enough to the limit to cause allocator retries and slower steps.
    pub near_limit: bool,
}

/// Every stage's memory, itemized.
pub fn report(input: &MemoryInput<'_>) -> MemoryReport {
    let prepared = prepare(input);
    let stages: Vec<StageReport> =
        (0..prepared.stages.len()).map(|stage| stage_report(input, &prepared, stage)).collect();
    let mut worst = 0;
    for (i, stage) in stages.iter().enumerate() {
        let need = |i: usize, stage: &StageReport| input.weighted(i, stage.allocated.get());
        if need(i, stage) > need(worst, &stages[worst]) {
            worst = i;
        }
    }
    let need = stages.get(worst).map_or(Bytes::ZERO, |s| s.device);
    let least = stages.get(worst).map_or(Bytes::ZERO, |s| s.device - (s.reserved - s.allocated) * 0.5);
    let device_memory = input.available(worst);
    let probability = probability_of_fitting(least, device_memory, input.software.sigma);
    MemoryReport {
        stages,
        worst,
        device_memory,
        margin: device_memory - need,
        least,
        fit: Fit::of(probability),
        probability_of_fitting: probability,
        near_limit: need.get() > 0.92 * device_memory.get(),
    }
}

/// Items that exist at the time of the peak.
#[derive(Clone, Copy)]
struct At {
    /// Saved activations.
    activations: bool,
    /// Gradients.
    gradients: bool,
    /// Casts of fp32 weights.
    casts: bool,
}

struct Items(Vec<Item>);

impl Items {
    fn push(&mut self, kind: Kind, module: Option<Module>, layer: Option<usize>, bytes: f64) {
        if bytes > 0.0 {
            let layer = layer.and_then(|l| u32::try_from(l).ok());
            self.0.push(Item { kind, module, layer, bytes: Bytes::new(bytes) });
        }
    }

    fn weights(&mut self, prepared: &Prepared, at: At, module: Module, layer: Option<usize>, held: Held) {
        let (dense, routed) = (&prepared.per.dense, &prepared.per.routed);
        let of = |dense: f64, routed: f64| held.dense * dense + held.routed * routed;
        let module = Some(module);
        let casts = if at.casts { 0.0 } else { of(dense.casts, routed.casts) };
        self.push(Kind::Parameters, module, layer, prepared.per.parameters(held) - casts);
        if at.gradients {
            self.push(Kind::Gradients, module, layer, of(dense.gradients, routed.gradients));
        }
        self.push(Kind::MasterWeights, module, layer, of(dense.master, routed.master));
        self.push(Kind::OptimizerMoments, module, layer, of(dense.moments, routed.moments));
        self.push(Kind::NarrowWeights, module, layer, held.matmul * prepared.per.narrow);
        self.push(Kind::CommunicationBuffers, module, layer, of(dense.bucket, routed.bucket));
    }
}

const LAYER_MODULES: [Module; 9] = [
    Module::Embedding,
    Module::Norm,
    Module::AttentionInput,
    Module::AttentionCore,
    Module::AttentionOutput,
    Module::Mlp,
    Module::Router,
    Module::Experts,
    Module::SharedExpert,
];

fn stage_report(input: &MemoryInput<'_>, prepared: &Prepared, stage: usize) -> StageReport {
    let MemoryInput { plan, software, .. } = *input;
    let sum = stage_sum(input, prepared, stage);
    let (allocated, moment) = sum.peak();
    let mut items = Items(Vec::new());
    let chunks = &prepared.stages[stage];
    let in_flight: Vec<f64> = (0..chunks.len()).map(|c| input.alive(stage, c)).collect();
    let waits = matches!(moment, Moment::Loss | Moment::Backward);
    let at = At {
        activations: waits,
        gradients: !waits || sum.lazy_gradients == 0.0,
        casts: moment == Moment::Loss || moment == Moment::Backward && sum.casts_again == 0.0,
    };
    for (chunk, &alive) in chunks.iter().zip(&in_flight) {
        let with_embedding = chunks.iter().any(|c| c.embedding);
        chunk_items(input, prepared, chunk, alive, at, with_embedding, &mut items);
        if chunk.head && at.activations {
            let done = if moment == Moment::Backward { sum.head_done } else { 0.0 };
            items.push(Kind::Logits, Some(Module::Head), None, prepared.head.saved * alive - done);
        }
    }
    moment_items(&sum, moment, &mut items);
    let (reserved, device) = overheads(allocated, plan, software);
    items.push(Kind::Fragmentation, None, None, reserved - allocated);
    items.push(Kind::Context, None, None, device - reserved);
    StageReport {
        stage,
        layers: chunks.iter().map(|c| (c.start, c.count)).collect(),
        in_flight,
        moment,
        items: items.0,
        allocated: Bytes::new(allocated),
        reserved: Bytes::new(reserved),
        device: Bytes::new(device),
        available: input.available(stage),
    }
}

fn chunk_items(
    input: &MemoryInput<'_>,
    prepared: &Prepared,
    chunk: &StageLayers,
    alive: f64,
    at: At,
    with_embedding: bool,
    items: &mut Items,
) {
    let MemoryInput { model, plan, .. } = *input;
    let saving = input.saving(&prepared.sizes);
    if chunk.embedding {
        items.weights(prepared, at, Module::Embedding, None, parameters::embedding(model, plan));
    }
    for index in chunk.start..chunk.start + chunk.count {
        let layer = model.layer(index);
        for module in LAYER_MODULES {
            let held = parameters::module(layer, module, model, plan);
            items.weights(prepared, at, module, Some(index), held);
        }
        let (recompute, offload) = prepared.treatment(plan, chunk, index - chunk.start);
        let on_device = 1.0 - offload;
        if at.activations {
            let mut by_module = [0.0; LAYER_MODULES.len()];
            tensors(&saving, layer, recompute, &mut |module, bytes, kept| {
                let slot = LAYER_MODULES.iter().position(|&m| m == module);
                if let (Some(slot), true) = (slot, kept) {
                    by_module[slot] += bytes;
                }
            });
            for (module, bytes) in LAYER_MODULES.into_iter().zip(by_module) {
                items.push(Kind::Activations, Some(module), Some(index), bytes * alive * on_device);
            }
        }
    }
    if at.activations {
        let (embedding, output) = edges(&saving, chunk);
        items.push(Kind::Activations, Some(Module::Embedding), None, embedding * alive);
        items.push(Kind::Activations, None, None, output * alive);
    }
    if chunk.head {
        items.weights(prepared, at, Module::Head, None, parameters::head(model, plan, with_embedding));
    }
}

fn moment_items(sum: &StageSum, moment: Moment, items: &mut Items) {
    items.push(Kind::Workspace, None, None, sum.workspace);
    if moment == Moment::OptimizerStep {
        items.push(Kind::OptimizerTemporaries, None, None, sum.stepping);
        return;
    }
    items.push(Kind::CommunicationBuffers, None, None, sum.gathered + sum.pipeline_buffers);
    if moment == Moment::Loss {
        items.push(Kind::Logits, Some(Module::Head), None, sum.loss);
    } else {
        items.push(Kind::CommunicationBuffers, None, None, sum.gradient_buffers);
        items.push(Kind::WorkingSet, None, None, sum.working);
    }
}

#[cfg(test)]
mod tests;
