//! The fast path: one training step's time from a model, a machine and a plan, without building a timeline.
//!
//! Responsible for: summing chunks, pipeline, update and the step's fixed costs into one number with its
//! parts. The timeline ([`crate::timeline`]) uses the same chunk costs; a test compares the two.

use crate::costing::Costing;
use crate::disturbance;
use crate::local::{LocalParameters, layer_parameters, local_parameters};
use crate::partition::chunks_per_stage;
pub use crate::partition::local_chunks;
use crate::schedule::{ChunkCost, GradientEnds, Pipeline, Reduced, Workspace};
use crate::sharding::{self, StagePasses, StageUpdate};
use crate::stage::{self, Chunk};
pub use crate::transfer::transfer_time;
use crate::update;
use crate::work::{Dimension, Family};
use railwright_spec::Portable as _;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Flop, Seconds};
use serde::Serialize;

/// Step breakdown on the critical rank. The parts sum to `total`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeBreakdown {
    /// The whole step.
    pub total: Seconds,
    /// Device compute by operator family, forward, backward and recompute together.
    pub compute: Vec<(Family, Seconds)>,
    /// Recomputed part of the compute.
    pub recompute: Seconds,
    /// Exposed communication inside the passes by dimension.
    pub exposed: Vec<(Dimension, Seconds)>,
    /// Waiting for the host's kernel launches.
    pub host: Seconds,
    /// Idle time in the pipeline, including transfers between stages.
    pub bubble: Seconds,
    /// Exposed reduction of gradients and gathering of parameters.
    pub data_parallel: Seconds,
    /// The optimizer step.
    pub optimizer: Seconds,
    /// Fixed per step: data, logging, synchronization.
    pub fixed: Seconds,
    /// Jitter allowance: unequal devices and network noise, growing with the number of devices.
    pub jitter: Seconds,
}

/// One evaluated step.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The step time and its parts.
    pub time: TimeBreakdown,
    /// The virtual stages in pipeline order.
    pub chunks: Vec<Chunk>,
    /// The update of each stage.
    pub updates: Vec<StageUpdate>,
    /// The stage of the breakdown: the busiest one.
    pub critical_stage: usize,
    /// Time of one transfer between stages.
    pub transfer: Seconds,
    /// Pipeline part of the step: from the first pass to the last, or the repetition period of zero-bubble
    /// schedules.
    pub pipeline: Seconds,
    /// Time by which a step by itself is longer than the interval of consecutive steps. Positive for
    /// zero-bubble schedules alone.
    pub overlap_of_steps: Seconds,
    /// Time in passes on each stage.
    pub busy: Vec<Seconds>,
    /// Arithmetic that all ranks execute in a step, recompute included.
    pub hardware_flop: Flop,
}

/// The pipeline of a plan with these chunk times.
pub fn pipeline<'a>(plan: &Plan, chunks: &'a [ChunkCost], transfer: Seconds) -> Pipeline<'a> {
    Pipeline {
        schedule: plan.schedule,
        stages: plan.pipeline_parallel,
        virtual_stages: chunks_per_stage(plan),
        micro_batches: plan.micro_batches().max(1),
        chunks,
        transfer,
        overlap_transfer: plan.overlap.pipeline,
    }
}

/// Evaluates a step. Fails if the schedule cannot run the plan.
pub fn evaluate(costing: &Costing<'_>) -> Result<Evaluation, Problem> {
    evaluate_with(costing, &mut Workspace::default())
}

/// Evaluates a step with a reusable workspace, as in a search.
pub fn evaluate_with(costing: &Costing<'_>, workspace: &mut Workspace) -> Result<Evaluation, Problem> {
    let plan = costing.plan;
    let by_kind = stage::ByKind::new(costing);
    let mut chunks = by_kind.as_ref().map_or_else(|| stage::chunks(costing), stage::ByKind::chunks);
    disturbance::stretch_chunks(costing, &mut chunks);
    let micro_batches = plan.micro_batches().max(1);
    let transfer = transfer_time(costing);
    let times: Vec<_> = chunks.iter().map(|c| c.time).collect();
    let pipeline = pipeline(plan, &times, transfer);
    let summary = workspace.summarize(&pipeline)?;
    // Zero-bubble schedules validate the optimizer step afterwards, so stages continue into the next step one
    // after another.
    let ends = GradientEnds::new(summary, plan.schedule.validates_afterwards());
    let duration = ends.pipeline();
    let local = stage_parameters(costing, &chunks);

    let mut updates = Vec::with_capacity(local.len());
    let mut critical = (Seconds::ZERO, 0);
    for (s, &parameters) in local.iter().enumerate() {
        let own = local_chunks(plan, s);
        let passes = StagePasses::new(own.into_iter().map(|i| (chunks[i].layers, &chunks[i].time)));
        let slow = disturbance::update_costing(costing, s);
        let on_stage = slow.as_ref().or_else(|| by_kind.as_ref()?.slowest(s)).unwrap_or(costing);
        let mut update = sharding::stage_update(on_stage, parameters, &passes, micro_batches);
        update.between_stages = update::time_between_stages(on_stage, parameters, s, chunks.len());
        disturbance::stretch_update(costing, s, &mut update);
        let busy = summary.busy.get(s).copied().unwrap_or(Seconds::ZERO);
        if busy > critical.0 {
            critical = (busy, s);
        }
        updates.push(update);
    }
    let exposed = updates.iter().map(|u| u.gradient_exposed + u.between_stages);
    let Reduced { alone, in_sequence: end } = ends.reduced(exposed);
    let optimizer = updates.iter().map(|u| u.optimizer).fold(Seconds::ZERO, Seconds::max);
    let gather = updates.iter().map(|u| u.parameter_exposed).fold(Seconds::ZERO, Seconds::max);
    let reduce = end - duration;
    let fixed = Seconds::from_millis(costing.software.host_ms_per_step);
    let body = end + optimizer + gather + fixed;
    let doublings = (plan.world_size() as f64 / plan.domain(costing.cluster) as f64).max(1.0).portable_log2();
    let jitter = body * (costing.software.jitter_per_doubling * doublings);

    let time = TimeBreakdown {
        total: body + jitter,
        data_parallel: reduce + gather,
        optimizer,
        fixed,
        jitter,
        ..TimeBreakdown::default()
    };
    let time = on_rank_of(costing, &chunks, critical, duration, &time);
    if let Some(problem) = costing.machine.fabric.problem() {
        return Err(problem);
    }

    let per_replica: Flop = chunks
        .iter()
        .map(|c| {
            c.cost.forward.flop
                + c.cost.backward_input.flop
                + c.cost.backward_weight.flop
                + c.cost.recompute.flop
        })
        .sum();
    let m = micro_batches as f64;
    let ranks = (plan.data_parallel * plan.tensor_parallel * plan.context_parallel) as f64;
    Ok(Evaluation {
        time,
        critical_stage: critical.1,
        transfer,
        pipeline: duration,
        overlap_of_steps: alone - end,
        busy: summary.busy.clone(),
        hardware_flop: per_replica * (m * ranks),
        chunks,
        updates,
    })
}

/// Breakdown of the same step on another stage: its work, and its idle time in the pipeline.
#[must_use]
pub fn on_stage(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize) -> Evaluation {
    let Some(&busy) = evaluation.busy.get(stage) else { return evaluation.clone() };
    let time = on_rank_of(costing, &evaluation.chunks, (busy, stage), evaluation.pipeline, &evaluation.time);
    Evaluation { time, critical_stage: stage, ..evaluation.clone() }
}

/// Fills in the parts of the pipeline's duration on a stage with this busy time.
fn on_rank_of(
    costing: &Costing<'_>,
    chunks: &[Chunk],
    (busy, stage): (Seconds, usize),
    duration: Seconds,
    whole: &TimeBreakdown,
) -> TimeBreakdown {
    let plan = costing.plan;
    let mut time = TimeBreakdown {
        compute: Family::ALL.iter().map(|&f| (f, Seconds::ZERO)).collect(),
        exposed: Dimension::ALL.iter().map(|&d| (d, Seconds::ZERO)).collect(),
        recompute: Seconds::ZERO,
        ..whole.clone()
    };
    // A stage with two directions runs each of its chunks for half of the micro-batches.
    let runs =
        plan.micro_batches().max(1) as f64 * if plan.schedule.has_two_directions() { 0.5 } else { 1.0 };
    let mut device = Seconds::ZERO;
    for cost in local_chunks(plan, stage).into_iter().map(|i| &chunks[i].cost) {
        for work in [&cost.forward, &cost.backward_input, &cost.backward_weight, &cost.recompute] {
            for (slot, value) in time.compute.iter_mut().zip(work.compute) {
                slot.1 += value * runs;
            }
            for (slot, value) in time.exposed.iter_mut().zip(work.exposed) {
                slot.1 += value * runs;
            }
            device += work.time() * runs;
        }
        time.recompute += cost.recompute.compute_time() * runs;
    }
    let exposed: Seconds = time.exposed.iter().map(|&(_, value)| value).sum();
    if busy < device && exposed > Seconds::ZERO {
        // Passes fused with the other direction hide each other's communication.
        let share = ((exposed - (device - busy)) / exposed).max(0.0);
        for slot in &mut time.exposed {
            slot.1 = slot.1 * share;
        }
        device -= exposed * (1.0 - share);
    }
    // Passes of a stage with a slow link wait for its transfers, which count as bubble.
    let held =
        disturbance::transfer_wait(costing, stage) * (2.0 * runs * local_chunks(plan, stage).len() as f64);
    time.host = busy - device - held;
    // Rounding can give a negative value if no stage waits.
    time.bubble = (duration - busy + held).max(Seconds::ZERO);
    time
}

/// Parameters on one rank of each stage.
pub fn stage_parameters(costing: &Costing<'_>, chunks: &[Chunk]) -> Vec<LocalParameters> {
    let plan = costing.plan;
    let model = costing.model;
    let kinds: Vec<LocalParameters> = model.layer_kinds.iter().map(|l| layer_parameters(l, plan)).collect();
    let mut of_chunk = Vec::with_capacity(chunks.len());
    let mut next = 0;
    for (index, chunk) in chunks.iter().enumerate() {
        let mut slot = LocalParameters::default();
        let end = (next + chunk.layers as usize).min(model.layers.len());
        for &kind in &model.layers[next..end] {
            slot.add(kinds[kind], 1.0);
        }
        next = end;
        if index == 0 {
            slot.add(local_parameters(&model.embedding, plan), 1.0);
        }
        if index + 1 == chunks.len() {
            slot.add(local_parameters(model.head.iter().chain(&model.final_norm), plan), 1.0);
            if model.tied_embeddings && plan.pipeline_parallel > 1 {
                // The last stage keeps its own copy of a tied embedding.
                slot.add(local_parameters(&model.embedding, plan), 1.0);
            }
            if let Some(mtp) = &model.multi_token_prediction {
                let mut own = local_parameters(&mtp.weights, plan);
                own.add(kinds[mtp.layer_kind], 1.0);
                slot.add(own, mtp.depth as f64);
            }
        }
        of_chunk.push(slot);
    }
    (0..plan.pipeline_parallel as usize)
        .map(|stage| {
            local_chunks(plan, stage).into_iter().filter_map(|i| of_chunk.get(i)).fold(
                LocalParameters::default(),
                |mut sum, part| {
                    sum.add(*part, 1.0);
                    sum
                },
            )
        })
        .collect()
}
