//! Fast path of a search: layers are priced once, and many pipelines, recompute depths and shardings are
//! timed from them.
//!
//! Responsible for: a bit-identical step time to [`crate::evaluate`], from parts that are reused over plans,
//! and the device time of layers for bounds. Excludes plans whose stages differ in recompute, disturbances,
//! and breakdowns.

mod key;
mod updates;

use self::key::Key;
use self::updates::Updates;
use crate::costing::Costing;
use crate::evaluate::{evaluate_with, pipeline, transfer_time};
use crate::layer::LayerCost;
use crate::local::{LocalParameters, layer_parameters, local_parameters};
use crate::partition;
use crate::schedule::{ChunkCost, GradientEnds, Workspace, lower_bound};
use crate::sharding::{self, StagePasses, StageUpdate};
use crate::stage;
use crate::update;
use crate::work::Work;
use railwright_spec::Portable as _;
use railwright_spec::model::Model;
use railwright_spec::plan::{Placement, Plan, Recompute, Schedule};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Layers, embedding and head under one setting of parallel sizes, micro-batch and placement, before sharding
/// and recompute.
#[derive(Clone, Debug)]
pub struct Setting {
    layers: Arc<Layers>,
    /// Layers on devices of other kinds.
    others: Vec<Arc<Layers>>,
    transfer: Seconds,
}

/// Part of a setting that is independent of the numbers of stages and replicas.
#[derive(Debug)]
struct Layers {
    kept: Vec<LayerCost>,
    embedding: LayerCost,
    head: LayerCost,
    kinds: Vec<LocalParameters>,
    embedding_parameters: LocalParameters,
    head_parameters: LocalParameters,
    prediction_parameters: LocalParameters,
}

/// Maximum number of entries of a [`LayerMemo`], of some kilobytes each.
const MOST_LAYERS: usize = 16_384;

/// Cache of priced layers, shared by threads: pieces of a search differ in stages and replicas more than in
/// layers.
#[derive(Debug, Default)]
pub struct LayerMemo(Mutex<BTreeMap<Key, Arc<Layers>>>);

impl Setting {
    /// Prices a setting.
    pub fn new(costing: &Costing<'_>) -> Self {
        Self {
            layers: Arc::new(Layers::new(costing)),
            others: other_layers(costing),
            transfer: transfer_time(costing),
        }
    }

    /// Evaluates a setting with cached layers. The memo is of one model and machine, and of plans that differ
    /// in search dimensions: parallel sizes, micro-batch, placement, switches, schedule, stages,
    /// recompute and sharding.
    pub fn remembered(costing: &Costing<'_>, memo: &LayerMemo) -> Self {
        let (key, transfer) = (Key::of(costing), transfer_time(costing));
        let known = memo.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let layers = known.unwrap_or_else(|| {
            let layers = Arc::new(Layers::new(costing));
            let mut known = memo.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST_LAYERS {
                known.clear();
            }
            known.insert(key, Arc::clone(&layers));
            layers
        });
        Self { layers, others: other_layers(costing), transfer }
    }

    /// The least of a device time over all kinds of device.
    fn least(&self, of: impl Fn(&Layers) -> DeviceTime) -> DeviceTime {
        self.others.iter().fold(of(&self.layers), |least, other| least.min(&of(other)))
    }

    /// Least device time of one layer of a kind.
    pub fn layer(&self, kind: usize) -> DeviceTime {
        self.least(|layers| DeviceTime::of(&layers.kept[kind]))
    }

    /// Least device time of the embedding.
    pub fn embedding(&self) -> DeviceTime {
        self.least(|layers| DeviceTime::of(&layers.embedding))
    }

    /// Least device time of one head.
    pub fn head(&self) -> DeviceTime {
        self.least(|layers| DeviceTime::of(&layers.head))
    }

    /// Least device time of recomputing a layer of a kind.
    pub fn recompute(&self, model: &Model, kind: usize, policy: &Recompute) -> Seconds {
        let time = |layers: &Layers| {
            layers.kept[kind].recomputing(policy, &model.layer_kinds[kind]).recompute.time()
        };
        self.others.iter().fold(time(&self.layers), |least, other| least.min(time(other)))
    }

    /// Time of a transfer between stages.
    pub fn transfer(&self) -> Seconds {
        self.transfer
    }
}

/// Layers on the devices of pools; empty if all devices are equal.
fn other_layers(costing: &Costing<'_>) -> Vec<Arc<Layers>> {
    if !costing.is_mixed() {
        return Vec::new();
    }
    costing.kinds().iter().skip(1).map(|kind| Arc::new(Layers::new(&kind.costing))).collect()
}

impl Layers {
    fn new(costing: &Costing<'_>) -> Self {
        let (model, plan) = (costing.model, costing.plan);
        let (mut embedding, mut head) = (LayerCost::default(), LayerCost::default());
        stage::embedding(costing, &mut embedding);
        stage::head(costing, &mut head);
        Self {
            kept: model.layer_kinds.iter().map(|layer| LayerCost::kept(costing, layer)).collect(),
            embedding,
            head,
            kinds: model.layer_kinds.iter().map(|l| layer_parameters(l, plan)).collect(),
            embedding_parameters: local_parameters(&model.embedding, plan),
            head_parameters: local_parameters(model.head.iter().chain(&model.final_norm), plan),
            prediction_parameters: model
                .multi_token_prediction
                .as_ref()
                .map_or_else(LocalParameters::default, |mtp| local_parameters(&mtp.weights, plan)),
        }
    }
}

/// Time of a piece of the model on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceTime {
    /// Compute, forward.
    pub forward: Seconds,
    /// Compute, backward, gradients of inputs.
    pub backward_input: Seconds,
    /// Compute, backward, gradients of weights.
    pub backward_weight: Seconds,
    /// Exposed communication of these three.
    pub exposed: [Seconds; 3],
}

impl DeviceTime {
    fn of(cost: &LayerCost) -> Self {
        Self {
            forward: cost.forward.compute_time(),
            backward_input: cost.backward_input.compute_time(),
            backward_weight: cost.backward_weight.compute_time(),
            exposed: [&cost.forward, &cost.backward_input, &cost.backward_weight].map(Work::exposed_time),
        }
    }

    /// The smaller of each time.
    fn min(&self, other: &Self) -> Self {
        Self {
            forward: self.forward.min(other.forward),
            backward_input: self.backward_input.min(other.backward_input),
            backward_weight: self.backward_weight.min(other.backward_weight),
            exposed: std::array::from_fn(|i| self.exposed[i].min(other.exposed[i])),
        }
    }

    /// Adds a multiple of another.
    pub fn add(&mut self, other: &Self, times: f64) {
        self.forward += other.forward * times;
        self.backward_input += other.backward_input * times;
        self.backward_weight += other.backward_weight * times;
        for (slot, value) in self.exposed.iter_mut().zip(other.exposed) {
            *slot += value * times;
        }
    }
}

/// Maximum number of layer kinds in a chunk's key. Models with more are not cached.
const MOST_KINDS: usize = 8;

/// Contents of a chunk: layers per kind without and with recompute, and the ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Content {
    kept: [u32; MOST_KINDS],
    recomputed: [u32; MOST_KINDS],
    first: bool,
    last: bool,
    fused: bool,
}

/// A setting after sharding and recompute, with the chunks built from it.
#[derive(Clone, Debug)]
pub struct Priced {
    kinds: Vec<LayerCost>,
    /// Layers beyond the number that the recompute policy covers.
    beyond: Vec<LayerCost>,
    embedding_gather: LayerCost,
    head: LayerCost,
    known: Vec<(Content, ChunkCost)>,
    updates: Updates,
}

impl Priced {
    /// Prices a setting under the plan's sharding and recompute policy, for any number of layers.
    pub fn new(costing: &Costing<'_>, setting: &Setting) -> Self {
        let (model, plan) = (costing.model, costing.plan);
        let (kinds, beyond) = stage::under_policy(costing, &setting.layers.kept);
        let mut embedding_gather = LayerCost::default();
        sharding::gather(costing, local_parameters(&model.embedding, plan), &mut embedding_gather);
        let mut head = setting.layers.head;
        sharding::gather(costing, stage::head_parameters(costing), &mut head);
        Self { kinds, beyond, embedding_gather, head, known: Vec::new(), updates: Updates::default() }
    }

    /// The time of a chunk of `layers` (by kind, in order), the first `covered` of them recomputed.
    fn chunk(
        &mut self,
        costing: &Costing<'_>,
        setting: &Setting,
        layers: &[usize],
        covered: u64,
        first: bool,
        last: bool,
    ) -> ChunkCost {
        let fused = costing.plan.schedule.has_two_directions();
        let remembers = self.kinds.len() <= MOST_KINDS;
        let mut content = Content { first, last, fused, ..Content::default() };
        if remembers {
            let with = usize::try_from(covered).unwrap_or(usize::MAX).min(layers.len());
            if let ([_], true) = (self.kinds.as_slice(), true) {
                content.recomputed[0] = with as u32;
                content.kept[0] = (layers.len() - with) as u32;
            } else {
                for &kind in &layers[..with] {
                    content.recomputed[kind] += 1;
                }
                for &kind in &layers[with..] {
                    content.kept[kind] += 1;
                }
            }
            if let Some((_, time)) = self.known.iter().find(|(known, _)| *known == content) {
                return *time;
            }
        }
        let time = self.price(costing, setting, layers, covered, first, last);
        if remembers {
            self.known.push((content, time));
        }
        time
    }

    /// The same additions in the same order as [`stage::chunks`], for identical bits.
    fn price(
        &self,
        costing: &Costing<'_>,
        setting: &Setting,
        layers: &[usize],
        covered: u64,
        first: bool,
        last: bool,
    ) -> ChunkCost {
        let mut cost = LayerCost::default();
        let with = &layers[..usize::try_from(covered).unwrap_or(usize::MAX).min(layers.len())];
        for (kind, template) in self.kinds.iter().enumerate() {
            let here = layers.iter().filter(|&&k| k == kind).count();
            let with = with.iter().filter(|&&k| k == kind).count();
            if with > 0 {
                cost.add(template, with as f64);
            }
            if here > with {
                cost.add(&self.beyond[kind], (here - with) as f64);
            }
        }
        if first {
            cost.add(&setting.layers.embedding, 1.0);
            cost.add(&self.embedding_gather, 1.0);
        }
        if last {
            if let Some(mtp) = &costing.model.multi_token_prediction {
                for _ in 0..mtp.depth {
                    cost.add(&self.kinds[mtp.layer_kind], 1.0);
                    cost.add(&setting.layers.head, 1.0);
                }
            }
            cost.add(&self.head, 1.0);
        }
        stage::chunk_time(costing, &cost)
    }
}

/// Buffers of [`step_time`].
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    workspace: Workspace,
    times: Vec<ChunkCost>,
    held: Vec<LocalParameters>,
    exposed: Vec<Seconds>,
    own: Vec<usize>,
    /// Lower bound on the passes in `times`, if it was computed.
    passes_at_least: Option<Seconds>,
    /// The last few pipelines, common to shardings that do not change passes.
    known: Vec<Known>,
    oldest: usize,
}

/// Cached evaluation of a pipeline.
#[derive(Clone, Debug)]
struct Known {
    shape: (Schedule, u64, u64, u64, bool),
    transfer: Seconds,
    times: Vec<ChunkCost>,
    timed: GradientEnds,
}

/// Number of cached pipelines.
const KNOWN: usize = 4;

impl Buffers {
    /// Evaluates a pipeline, or returns one of the last few cached evaluations.
    fn timed(&mut self, plan: &Plan, transfer: Seconds) -> Result<&GradientEnds, Problem> {
        let pipeline = pipeline(plan, &self.times, transfer);
        let shape = (
            pipeline.schedule,
            pipeline.stages,
            pipeline.virtual_stages,
            pipeline.micro_batches,
            pipeline.overlap_transfer,
        );
        let same = |k: &Known| k.shape == shape && k.transfer == transfer && k.times == self.times;
        if let Some(at) = self.known.iter().position(same) {
            return Ok(&self.known[at].timed);
        }
        let summary = self.workspace.summarize(&pipeline)?;
        let timed = GradientEnds::new(summary, plan.schedule.validates_afterwards());
        let known = Known { shape, transfer, times: self.times.clone(), timed };
        let at = self.oldest;
        if self.known.len() < KNOWN {
            self.known.push(known);
        } else {
            self.known[at] = known;
        }
        self.oldest = (at + 1) % KNOWN;
        Ok(&self.known[at].timed)
    }
}

/// The step time of a plan with layers `split` over virtual stages. `None` if it is certainly above a limit.
/// Fails if the schedule cannot run the plan.
pub fn step_time(
    costing: &Costing<'_>,
    setting: &Setting,
    priced: &mut Priced,
    split: &[u64],
    limit: Seconds,
    buffers: &mut Buffers,
) -> Result<Option<Seconds>, Problem> {
    if !costing.is_mixed() {
        lay_out(costing, setting, priced, split, &mut buffers.times, &mut buffers.held);
    }
    buffers.passes_at_least = None;
    step_time_again(costing, setting, priced, split, limit, buffers)
}

/// The same for a plan that differs from the last one only in sharding below stage 3, which does not change
/// the passes.
pub fn step_time_again(
    costing: &Costing<'_>,
    setting: &Setting,
    priced: &mut Priced,
    split: &[u64],
    limit: Seconds,
    buffers: &mut Buffers,
) -> Result<Option<Seconds>, Problem> {
    let plan = costing.plan;
    if costing.is_mixed() {
        return mixed_step_time(costing, split, &mut buffers.workspace).map(Some);
    }
    let micro_batches = plan.micro_batches().max(1);
    let per_stage = partition::chunks_per_stage(plan);
    let fixed = Seconds::from_millis(costing.software.host_ms_per_step);
    let jitter = jitter_share(costing);
    let whole = |end: Seconds, optimizer: Seconds, gather: Seconds| {
        let body = end + optimizer + gather + fixed;
        body + body * jitter
    };
    let is_above = |least: Seconds| least * (1.0 - 1e-9) > limit;
    let bound = || lower_bound(&pipeline(plan, &buffers.times, setting.transfer));
    let passes_at_least =
        if limit.is_finite() { *buffers.passes_at_least.get_or_insert_with(bound) } else { Seconds::ZERO };
    // Most plans of a search are too slow by their passes, or by these and the update of the first stage.
    if is_above(whole(passes_at_least, Seconds::ZERO, Seconds::ZERO)) {
        return Ok(None);
    }
    let (mut optimizer, mut gather) = (Seconds::ZERO, Seconds::ZERO);
    let mut known: Option<(LocalParameters, StagePasses, StageUpdate)> = None;
    buffers.exposed.clear();
    let mut own = std::mem::take(&mut buffers.own);
    for s in 0..plan.pipeline_parallel {
        own_chunks(plan, per_stage, s, &mut own);
        let of = |i: &usize| (split[*i], &buffers.times[*i]);
        let passes = StagePasses::new(own.iter().map(of));
        let parameters = own.iter().filter_map(|&i| buffers.held.get(i)).fold(
            LocalParameters::default(),
            |mut sum, part| {
                sum.add(*part, 1.0);
                sum
            },
        );
        let update = match &known {
            Some((p, same, update)) if *p == parameters && *same == passes => *update,
            _ => {
                let update = sharding::overlapped(
                    costing,
                    priced.updates.of(costing, parameters, micro_batches),
                    &passes,
                    micro_batches,
                );
                optimizer = optimizer.max(update.optimizer);
                gather = gather.max(update.parameter_exposed);
                let mut least = passes_at_least;
                if !plan.schedule.divides_backward() {
                    // The last backward pass of all is the first stage's, and the reduction of its gradients
                    // follows.
                    least += buffers.exposed.first().copied().unwrap_or(update.gradient_exposed);
                }
                if is_above(whole(least, optimizer, gather)) {
                    buffers.own = own;
                    return Ok(None);
                }
                update
            }
        };
        let between = update::time_between_stages(costing, parameters, s as usize, split.len());
        buffers.exposed.push(update.gradient_exposed + between);
        known = Some((parameters, passes, update));
    }
    buffers.own = own;
    let exposed = std::mem::take(&mut buffers.exposed);
    let timed = buffers.timed(plan, setting.transfer)?;
    let end = timed.reduced(exposed.iter().copied()).in_sequence;
    buffers.exposed = exposed;
    Ok(Some(whole(end, optimizer, gather)))
}

/// The step time on devices of several kinds, which share no prices.
fn mixed_step_time(
    costing: &Costing<'_>,
    split: &[u64],
    workspace: &mut Workspace,
) -> Result<Seconds, Problem> {
    let plan = Plan { layers_per_stage: Some(split.to_vec()), ..costing.plan.clone() };
    Ok(evaluate_with(&costing.for_plan(&plan), workspace)?.time.total)
}

/// The chunks of a stage, as [`partition::local_chunks`]; equally spaced in most schedules.
fn own_chunks(plan: &Plan, per_stage: u64, stage: u64, own: &mut Vec<usize>) {
    own.clear();
    match plan.schedule.facts().placement {
        Placement::Around => {
            own.extend((0..per_stage).map(|v| (v * plan.pipeline_parallel + stage) as usize));
        }
        _ => own.extend(partition::local_chunks(plan, stage as usize)),
    }
}

/// Jitter as a share of the rest of the step.
fn jitter_share(costing: &Costing<'_>) -> f64 {
    let doublings = (costing.plan.world_size() as f64 / costing.plan.domain(costing.cluster) as f64)
        .max(1.0)
        .portable_log2();
    costing.software.jitter_per_doubling * doublings
}

/// Lower bound on the part of a step outside its passes: the jitter factor, and the fixed part, to which the
/// factor also applies.
pub fn time_outside_passes(costing: &Costing<'_>) -> (f64, Seconds) {
    let fixed = Seconds::from_millis(costing.software.host_ms_per_step);
    (1.0 + jitter_share(costing), fixed)
}

/// Chunks with their content; equal neighbours are built once.
fn lay_out(
    costing: &Costing<'_>,
    setting: &Setting,
    priced: &mut Priced,
    split: &[u64],
    times: &mut Vec<ChunkCost>,
    held: &mut Vec<LocalParameters>,
) {
    let (model, plan) = (costing.model, costing.plan);
    let covered = partition::recomputed_layers(plan);
    times.clear();
    held.clear();
    let last = split.len().saturating_sub(1);
    let mut next = 0;
    let mut before: Option<std::ops::Range<usize>> = None;
    for (index, &layers) in split.iter().enumerate() {
        let end = (next + layers as usize).min(model.layers.len());
        let is_inner = index > 0 && index < last;
        if let (true, Some(range)) = (is_inner, before.clone())
            && model.layers[next..end] == model.layers[range]
            && let (Some(&time), Some(&same)) = (times.last(), held.last())
        {
            times.push(time);
            held.push(same);
            next = end;
            continue;
        }
        before = is_inner.then_some(next..end);
        let own = &model.layers[next..end];
        let time = priced.chunk(costing, setting, own, covered, index == 0, index == last);
        times.push(time);
        held.push(holds(model, plan.pipeline_parallel, setting, own, index == 0, index == last));
        next = end;
    }
}

/// Parameters of one virtual stage on one rank, added in the order of [`crate::evaluate::stage_parameters`].
fn holds(
    model: &Model,
    stages: u64,
    setting: &Setting,
    layers: &[usize],
    first: bool,
    last: bool,
) -> LocalParameters {
    let mut slot = LocalParameters::default();
    for &kind in layers {
        slot.add(setting.layers.kinds[kind], 1.0);
    }
    if first {
        slot.add(setting.layers.embedding_parameters, 1.0);
    }
    if last {
        slot.add(setting.layers.head_parameters, 1.0);
        if model.tied_embeddings && stages > 1 {
            slot.add(setting.layers.embedding_parameters, 1.0);
        }
        if let Some(mtp) = &model.multi_token_prediction {
            let mut own = setting.layers.prediction_parameters;
            own.add(setting.layers.kinds[mtp.layer_kind], 1.0);
            slot.add(own, mtp.depth as f64);
        }
    }
    slot
}

#[cfg(test)]
mod tests;
