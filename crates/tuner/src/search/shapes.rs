//! Pipeline shapes for given parallel sizes and micro-batches: schedule, virtual stages, split.
//!
//! Responsible for: the combinations that the schedules can run. Does not time them.

use super::counts::Counts;
use super::space::{Policy, Space};
use super::split::Split;
use crate::simplicity::has_unequal_chunks;
use railwright_calculator::memory::{StageLayout, StageSplit, layers_per_chunk};
use railwright_calculator::stage;
use railwright_spec::model::Model;
use railwright_spec::plan::{
    Chunks, Counts as ScheduleCounts, Plan, Schedule, balanced_layers, end_balanced_layers,
};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Schedule, virtual stages and split.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The schedule.
    pub schedule: Schedule,
    /// Chunks per stage.
    pub virtual_stages: u64,
    /// Assignment of layers to chunks.
    pub split: Split,
    /// Layers of each chunk in pipeline order, as in the calculator.
    pub layers: Vec<u64>,
    /// The first layer of each chunk, and the number of layers.
    pub starts: Vec<usize>,
    /// True if inner chunks differ, as listed in the plan.
    pub is_unequal: bool,
    /// Maximum number of layers of a stage.
    pub most: u64,
    /// By recompute policy: the layers per stage to try.
    pub ladders: Vec<Vec<Option<u64>>>,
}

impl Shape {
    /// Number of strategies of the shape that differ only in recompute.
    pub fn rungs(&self) -> u64 {
        self.ladders.iter().map(|ladder| ladder.len() as u64).sum()
    }
}

/// Maximum number of chunks per stage up to which every number is tried. No model of today reaches it. With
/// ten thousand layers the number of combinations explodes, and such chunks hardly differ.
const EVERY: u64 = 256;

impl Space {
    /// Tests whether stages may differ in their number of layers.
    pub fn allows_uneven(&self) -> bool {
        self.splits.iter().any(|split| *split != Split::Even)
    }

    /// Numbers of chunks per stage to try under a schedule (above 256, powers of two). If stages may be
    /// uneven, every one that leaves each chunk a layer (embedding and head counting as layers),
    /// otherwise those that divide the layers.
    pub fn virtual_stage_choices(&self, schedule: Schedule, pipeline: u64, layers: u64) -> Vec<u64> {
        let interleaves = self.offers.as_ref().is_none_or(|o| o.interleaving);
        match schedule.facts().chunks {
            Chunks::Exactly(chunks) => self.virtual_stages.of([chunks]),
            Chunks::Any if pipeline == 1 || !schedule.interleaves() => self.virtual_stages.of([1]),
            Chunks::Any => {
                let most = if interleaves { (layers + 2) / pipeline.max(1) } else { 1 };
                let divides =
                    |v: &u64| *v == 1 || self.allows_uneven() || layers.is_multiple_of(v * pipeline);
                let is_tried = |v: &u64| *v <= EVERY || v.is_power_of_two();
                self.virtual_stages.of((1..=most.max(1)).filter(is_tried).filter(divides))
            }
        }
    }

    /// Layers of each chunk under a split. `None` if it does not apply, is equal to a simpler one, or leaves
    /// a chunk without work.
    pub fn split_layers(&self, split: Split, model: &Model, chunks: u64) -> Option<Vec<u64>> {
        let layers = model.num_layers();
        let even = chunks <= layers && layers.is_multiple_of(chunks);
        let list = match split {
            Split::Even => even.then(|| vec![layers / chunks; chunks as usize]),
            Split::ShortEnds => (!even && chunks <= layers + 2).then(|| balanced_layers(layers, chunks)),
            Split::LightHead => {
                let list = end_balanced_layers(model, chunks);
                let simpler = if even {
                    vec![layers / chunks; chunks as usize]
                } else {
                    balanced_layers(layers, chunks)
                };
                (chunks > 1 && chunks <= layers + 2 && list != simpler).then_some(list)
            }
            Split::Given => return self.given_layers.clone(),
        };
        list.filter(|list| has_work_everywhere(split, list))
    }

    /// Numbers of layers per stage to recompute under a policy, the lowest first; `None` is all. A plan may
    /// list at most `most`, and `fullest` are all.
    pub fn ladder(&self, policy: &Policy, most: u64, fullest: u64) -> Vec<Option<u64>> {
        match policy {
            Policy::None => vec![None],
            Policy::Selective(_) => match &self.recompute_layers {
                Counts::Listed(list) if !list.is_empty() => list.iter().copied().map(Some).collect(),
                _ => vec![None],
            },
            Policy::Full => {
                let some = self.recompute_layers.of(1..=most).into_iter();
                let all = match &self.recompute_layers {
                    Counts::Listed(list) => list.is_empty(),
                    Counts::Between(_, limit) => *limit >= fullest,
                };
                // Listing all layers is equal to listing none.
                some.filter(|n| !all || *n < fullest).map(Some).chain(all.then_some(None)).collect()
            }
        }
    }
}

/// Tests whether every chunk has work: a layer, except for the ends. If chunks have one layer each, embedding
/// and head may count as layers (Llama 3). A light head's chunk has none only if the head, with multi-token
/// prediction, has the cost of another chunk (Megatron-Core's layout of DeepSeek-V3).
fn has_work_everywhere(split: Split, layers: &[u64]) -> bool {
    let (first, last) = (0, layers.len().saturating_sub(1));
    let ends_alone = layers.iter().all(|n| *n <= 1);
    let by_design = |index| match split {
        Split::LightHead => index == last,
        Split::ShortEnds => ends_alone && (index == first || index == last),
        Split::Even | Split::Given => false,
    };
    layers.iter().enumerate().all(|(index, n)| *n > 0 || by_design(index))
}

/// Number of layers of a stage that covers every chunk completely: chunks have equal parts, so the largest
/// one decides.
fn fullest(plan: &Plan, layers: &[u64]) -> u64 {
    stage::chunks_per_stage(plan) * layers.iter().max().copied().unwrap_or(0)
}

/// The shapes of a number of stages and micro-batches.
#[derive(Debug)]
pub(super) struct Shaped {
    pub(super) shapes: Vec<Shape>,
    /// Number of strategies of all shapes that differ only in recompute.
    pub(super) rungs: u64,
    /// Number of invalid combinations.
    pub(super) refused: u64,
    /// Contents of stages by shape, computed on first use.
    pub(super) layouts: Vec<OnceLock<StageLayout>>,
}

/// Cache of shapes: most pieces share them, because they depend only on stages and micro-batches.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    known: BTreeMap<(u64, u64), Arc<Shaped>>,
    held: usize,
}

/// Maximum number of cached shapes, of some kilobytes each; above it the cache is emptied.
const MOST_HELD: usize = 20_000;

impl Shapes {
    pub(super) fn of(
        &mut self,
        space: &Space,
        model: &Model,
        stage_split: StageSplit,
        pipeline: u64,
        micro_batches: u64,
        plan: &mut Plan,
    ) -> Arc<Shaped> {
        if let Some(known) = self.known.get(&(pipeline, micro_batches)) {
            return Arc::clone(known);
        }
        let (shapes, refused) = all(space, model, stage_split, pipeline, micro_batches, plan);
        if self.held + shapes.len() > MOST_HELD {
            self.known.clear();
            self.held = 0;
        }
        self.held += shapes.len();
        let layouts = shapes.iter().map(|_| OnceLock::new()).collect();
        let rungs = shapes.iter().map(Shape::rungs).sum();
        let shaped = Arc::new(Shaped { shapes, rungs, refused, layouts });
        self.known.insert((pipeline, micro_batches), Arc::clone(&shaped));
        shaped
    }
}

/// The shapes of some stages with `micro_batches`, and the number of rejected combinations.
fn all(
    space: &Space,
    model: &Model,
    stage_split: StageSplit,
    pipeline: u64,
    micro_batches: u64,
    plan: &mut Plan,
) -> (Vec<Shape>, u64) {
    let mut found = Vec::new();
    let mut refused = 0;
    for &schedule in &space.schedules {
        // One stage needs no schedule: one value is sufficient.
        if pipeline == 1
            && schedule != Schedule::default()
            && schedule.facts().chunks == Chunks::Any
            && space.schedules.contains(&Schedule::default())
        {
            continue;
        }
        for virtual_stages in space.virtual_stage_choices(schedule, pipeline, model.num_layers()) {
            if !schedule.runs(ScheduleCounts { stages: pipeline, virtual_stages, micro_batches }) {
                refused += 1;
                continue;
            }
            let chunks = pipeline.saturating_mul(virtual_stages);
            if chunks > 100_000 {
                refused += 1;
                continue;
            }
            for &split in &space.splits {
                let Some(list) = space.split_layers(split, model, chunks) else { continue };
                let entries = list.len() as u64;
                if list.iter().sum::<u64>() != model.num_layers() || entries != chunks && entries != pipeline
                {
                    refused += 1;
                    continue;
                }
                let stage = |s| list.iter().skip(s).step_by(pipeline as usize).sum::<u64>();
                let most = match split {
                    Split::Even => model.num_layers().div_ceil(pipeline),
                    _ => (0..pipeline as usize).map(stage).max().unwrap_or(0),
                };
                (plan.pipeline_parallel, plan.virtual_stages) = (pipeline, virtual_stages);
                plan.schedule = schedule;
                plan.layers_per_stage = (split != Split::Even).then_some(list);
                let is_unequal = plan.layers_per_stage.as_deref().is_some_and(has_unequal_chunks);
                let layers = layers_per_chunk(model, plan, stage_split);
                let fullest = fullest(plan, &layers);
                let ladder = |policy| space.ladder(policy, most, fullest);
                let ladders = space.policies.iter().map(ladder).collect();
                let mut next = 0;
                let mut starts = vec![0];
                starts.extend(layers.iter().map(|n| {
                    next = (next + *n as usize).min(model.layers.len());
                    next
                }));
                found.push(Shape {
                    schedule,
                    virtual_stages,
                    split,
                    layers,
                    starts,
                    is_unequal,
                    most,
                    ladders,
                });
            }
        }
    }
    (found, refused)
}
