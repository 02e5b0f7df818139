//! The fast path: how long a pipeline takes and what search needs to know about it, without a timeline.
//!
//! Responsible for: keeping compiled schedules, and reading the answer off the recurrence. Agrees with [`super::simulate`] to
//! rounding. Refuses approximations.

use super::Pipeline;
use super::in_flight::InFlight;
use super::list::rules;
use super::program::{Moment, Program, compile, period, reduced};
use super::recurrence::{Recurrence, after, time};
use super::slot::{Key, Shape};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

/// What a pipeline comes to. Vectors are by stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineSummary {
    /// From the first pass's start to the last stage's end.
    pub duration: Seconds,
    /// The longest that any one stage takes from its first pass to its end. Steps follow each other at this pace when a
    /// stage may start the next step while others finish this one (zero bubble's post-validated optimizer).
    pub cycle: Seconds,
    /// Time in passes.
    pub busy: Vec<Seconds>,
    /// Time blocked in transfers that are not overlapped.
    pub transfer: Vec<Seconds>,
    /// The rest of `duration`.
    pub bubble: Vec<Seconds>,
    /// When the first pass starts.
    pub start: Vec<Seconds>,
    /// When everything is done, weight gradients and transfers included.
    pub end: Vec<Seconds>,
    /// When the first backward pass ends.
    pub first_backward_end: Vec<Seconds>,
    /// When the last backward pass (its recompute included) starts: gradients can be reduced behind it.
    pub last_backward_start: Vec<Seconds>,
    /// When the last backward pass ends.
    pub last_backward_end: Vec<Seconds>,
    /// When the weight gradients of each chunk are complete: stage-major, chunks as `Schedule::local_chunks` orders them.
    pub gradients_ready: Vec<Seconds>,
    /// The activations alive at the fullest moment.
    pub in_flight: Vec<InFlight>,
}

/// Compiled schedules and buffers, kept from one evaluation to the next. Without it each evaluation compiles
/// again.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    programs: Vec<Program>,
    /// Where the program for a compiled shape is.
    index: BTreeMap<Key, usize>,
    /// Compiled entries kept in all, to know when to start over.
    kept: usize,
    recurrence: Recurrence,
    summary: PipelineSummary,
}

/// More compiled entries than this, 24 MiB of them, are not kept.
const MOST_KEPT: usize = 1 << 21;

/// What a pipeline comes to. For many pipelines, keep a [`Workspace`] and use [`Workspace::summarize`].
pub fn summarize(pipeline: &Pipeline) -> Result<PipelineSummary, Problem> {
    Workspace::default().summarize(pipeline).cloned()
}

impl Workspace {
    /// What a pipeline comes to.
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
            out.gradients_ready.extend(marks.gradients.iter().map(moment));
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
        // Activations grow with the micro batches.
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
            // Each chunk sees the half of the micro batches that comes from its end.
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
        &mut out.gradients_ready,
    ] {
        times.clear();
    }
}
