//! Fast path: the duration of a pipeline and the values for a search, without a timeline.
//!
//! Responsible for: caching compiled schedules, and reading the results from the recurrence. Agrees with
//! [`super::simulate`] to rounding, without approximations.

use super::Pipeline;
use super::in_flight::InFlight;
use super::list::rules;
use super::program::{Moment, Program, compile, period, reduced};
use super::recurrence::{Recurrence, after, time};
use super::slot::{Key, Shape};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

/// Times of a pipeline. Vectors are by stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineSummary {
    /// Time from the first pass's start to the last stage's end.
    pub duration: Seconds,
    /// Maximum over the stages of the time from first pass to end. Steps follow each other at this interval
    /// when a stage may start the next step while others finish this one (zero bubble's post-validated
    /// optimizer).
    pub cycle: Seconds,
    /// Time in passes.
    pub busy: Vec<Seconds>,
    /// Time blocked in transfers without overlap.
    pub transfer: Vec<Seconds>,
    /// The rest of `duration`.
    pub bubble: Vec<Seconds>,
    /// Start of the first pass.
    pub start: Vec<Seconds>,
    /// End of the stage's work, including weight gradients and transfers.
    pub end: Vec<Seconds>,
    /// End of the first backward pass.
    pub first_backward_end: Vec<Seconds>,
    /// Start of the last backward pass (including its recompute), with which the gradient reduction can
    /// overlap.
    pub last_backward_start: Vec<Seconds>,
    /// End of the last backward pass.
    pub last_backward_end: Vec<Seconds>,
    /// Completion of all weight gradients: the end of the last backward pass, or of a later pass of weight
    /// gradients alone.
    pub gradients_end: Vec<Seconds>,
    /// Completion of the weight gradients of each chunk: stage-major, chunks in the order of
    /// `Schedule::local_chunks`.
    pub gradients_ready: Vec<Seconds>,
    /// Micro-batches in flight at the peak.
    pub in_flight: Vec<InFlight>,
}

/// Compiled schedules and buffers, reused between evaluations. Without it each evaluation compiles again.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    programs: Vec<Program>,
    /// Index of the program for a compiled shape.
    index: BTreeMap<Key, usize>,
    /// Total number of cached entries; the cache is emptied above a limit.
    kept: usize,
    recurrence: Recurrence,
    summary: PipelineSummary,
}

/// Maximum number of cached entries, 24 MiB.
const MOST_KEPT: usize = 1 << 21;

/// Evaluates a pipeline. For many pipelines, keep a [`Workspace`] and use [`Workspace::summarize`].
pub fn summarize(pipeline: &Pipeline) -> Result<PipelineSummary, Problem> {
    Workspace::default().summarize(pipeline).cloned()
}

impl Workspace {
    /// Evaluates a pipeline.
    pub fn summarize(&mut self, pipeline: &Pipeline) -> Result<&PipelineSummary, Problem> {
        pipeline.check()?;
        let program = self.program(&Shape::of(pipeline))?;
        self.recurrence.run(&self.programs[program], pipeline);
        self.read_off(program, pipeline);
        Ok(&self.summary)
    }

    fn program(&mut self, shape: &Shape) -> Result<usize, Problem> {
        let wanted = reduced(shape);
        let known = |shape: &Shape| self.index.get(&shape.key()).copied();
        if let Some(found) = known(&wanted)
            && (wanted == *shape || !self.programs[found].bodies.is_empty())
        {
            return Ok(found);
        }
        if let Some(found) = known(shape) {
            return Ok(found);
        }
        let mut program = compile(wanted)?;
        if wanted != *shape && program.bodies.is_empty() {
            program = compile(*shape)?;
        }
        if self.kept + program.entries.len() > MOST_KEPT {
            self.programs.clear();
            self.index.clear();
            self.kept = 0;
        }
        self.kept += program.entries.len();
        self.index.insert(program.compiled.key(), self.programs.len());
        self.programs.push(program);
        Ok(self.programs.len() - 1)
    }

    fn read_off(&mut self, program: usize, pipeline: &Pipeline) {
        let program = &self.programs[program];
        let block = if pipeline.overlap_transfer { 0.0 } else { pipeline.transfer.get() };
        let at = |place: u32, last: bool| self.recurrence.end(place, last);
        let duration = |place: u32| {
            let entry = program.entries[place as usize - 1];
            time(&program.codes[entry.code as usize], pipeline)
        };
        let moment = |m: &Moment| Seconds::new(at(m.entry, true) + after(&m.after, pipeline, block));
        let beyond = pipeline.micro_batches - program.shape.micro_batches;
        let out = &mut self.summary;
        clear(out);
        out.in_flight.resize_with(program.stages.len(), InFlight::default);
        let mut longest = Seconds::ZERO;
        for (stage, marks) in program.stages.iter().enumerate() {
            let (start, end) = (at(marks.first, false) - duration(marks.first), moment(&marks.end));
            out.start.push(Seconds::new(start));
            out.end.push(end);
            out.cycle = out.cycle.max(end - Seconds::new(start));
            longest = longest.max(end);
            out.first_backward_end.push(Seconds::new(at(marks.first_backward, false)));
            out.last_backward_end.push(Seconds::new(at(marks.last_backward, true)));
            let last = at(marks.last_backward, true) - duration(marks.last_backward);
            out.last_backward_start.push(Seconds::new(last));
            let weights = marks.gradients.iter().map(moment);
            let backward_end = Seconds::new(at(marks.last_backward, true));
            out.gradients_end.push(weights.clone().fold(backward_end, Seconds::max));
            out.gradients_ready.extend(weights);
            in_flight(&mut out.in_flight[stage], &marks.in_flight, pipeline);
            let (busy, transfers) = work(program, pipeline, stage, beyond);
            out.busy.push(busy);
            out.transfer.push(Seconds::new(transfers * block));
        }
        out.duration = longest;
        for (busy, transfer) in out.busy.iter().zip(&out.transfer) {
            out.bubble.push((longest - *busy - *transfer).max(Seconds::ZERO));
        }
    }
}

/// Copies live data into existing buffers, without allocation.
fn in_flight(out: &mut InFlight, compiled: &InFlight, pipeline: &Pipeline) {
    out.peak = compiled.peak;
    out.awaiting_weight = compiled.awaiting_weight;
    out.per_chunk.clone_from(&compiled.per_chunk);
    if rules(pipeline.schedule).repeats_apart() {
        // Activations grow with the micro-batches.
        out.per_chunk.fill(pipeline.micro_batches);
        out.peak = out.per_chunk.iter().sum();
    }
}

/// Time in passes on a stage, and its blocking transfers.
fn work(program: &Program, pipeline: &Pipeline, stage: usize, beyond: u64) -> (Seconds, f64) {
    let shape = &program.shape;
    let periods = beyond / period(shape);
    let marks = &program.stages[stage];
    let local = &marks.local;
    let mut busy = 0.0;
    for &chunk in local {
        let passes = if shape.schedule.has_two_directions() && local.len() == 2 {
            // Each chunk runs the half of the micro-batches that enters at its end.
            let first = pipeline.micro_batches.div_ceil(2);
            if chunk == stage as u64 { first } else { pipeline.micro_batches - first }
        } else {
            pipeline.micro_batches
        };
        busy += passes as f64 * pipeline.chunks[chunk as usize].total().get();
    }
    for fused in &marks.fused {
        let count = fused.count + periods * fused.per_period;
        let saving = pipeline.chunks[fused.forward as usize].fused_saving
            + pipeline.chunks[fused.backward as usize].fused_saving;
        busy -= count as f64 * saving.get();
    }
    let transfers = marks.transfers + periods * marks.transfers_per_period;
    (Seconds::new(busy), transfers as f64)
}

fn clear(out: &mut PipelineSummary) {
    out.cycle = Seconds::ZERO;
    for times in [
        &mut out.busy,
        &mut out.transfer,
        &mut out.bubble,
        &mut out.start,
        &mut out.end,
        &mut out.first_backward_end,
        &mut out.last_backward_start,
        &mut out.last_backward_end,
        &mut out.gradients_end,
        &mut out.gradients_ready,
    ] {
        times.clear();
    }
}
