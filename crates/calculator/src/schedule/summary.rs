//! The fast path: how long a pipeline takes and what search needs to know about it, without a timeline.
//!
//! Responsible for: running the compiled recurrence, and stepping over the steady state once it has truly repeated (every end
//! that a later pass can still look at has moved by the same time), which loses nothing. Agrees with [`super::simulate`] to
//! rounding. Refuses approximations.

use super::engine::{duration, fused_duration};
use super::in_flight::InFlight;
use super::order::{Pass, Shape};
use super::program::{Before, Body, Code, Entry, Moment, Program, compile, period, reduced};
use super::{Pipeline, local_chunks};
use railwright_spec::plan::Schedule;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;

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
    /// When the weight gradients of each chunk are complete: stage-major, chunks as [`super::local_chunks`] orders them.
    pub gradients_ready: Vec<Seconds>,
    /// The activations alive at the fullest moment.
    pub in_flight: Vec<InFlight>,
}

/// Compiled schedules and buffers, kept from one evaluation to the next. Without it each evaluation compiles anew.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    programs: Vec<Program>,
    /// Compiled entries kept in all, to know when to start over.
    kept: usize,
    ends: Vec<f64>,
    times: Vec<Times>,
    /// From compiled place to evaluated place and time.
    skips: Vec<Skip>,
    summary: PipelineSummary,
}

/// From the end of the stage's previous entry, and from the end of the input's, to this entry's end.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    from_own: f64,
    from_input: f64,
}

/// Entries after `end` stand `entries` later than compiled, and ran `time` later than written. Those from `start` to `end` are
/// the body: so does the last of its repetitions, while the first one stands where it was compiled.
#[derive(Clone, Copy, Debug)]
struct Skip {
    start: usize,
    end: usize,
    entries: usize,
    time: f64,
}

/// More compiled entries than this are not kept.
const MOST_KEPT: usize = 1 << 24;

/// What a pipeline comes to. For many pipelines, keep a [`Workspace`] and use [`Workspace::summarize`].
pub fn summarize(pipeline: &Pipeline) -> Result<PipelineSummary, Problem> {
    Workspace::default().summarize(pipeline).cloned()
}

impl Workspace {
    /// What a pipeline comes to.
    pub fn summarize(&mut self, pipeline: &Pipeline) -> Result<&PipelineSummary, Problem> {
        pipeline.check()?;
        let program = self.program(&Shape::of(pipeline))?;
        self.run(program, pipeline);
        self.read_off(program, pipeline);
        Ok(&self.summary)
    }

    fn program(&mut self, shape: &Shape) -> Result<usize, Problem> {
        let wanted = reduced(shape);
        let fits = |p: &Program| p.compiled == wanted && (wanted == *shape || !p.bodies.is_empty());
        if let Some(found) = self.programs.iter().position(fits) {
            return Ok(found);
        }
        let mut program = compile(wanted)?;
        if wanted != *shape && program.bodies.is_empty() {
            if let Some(found) = self.programs.iter().position(|p| p.compiled == *shape) {
                return Ok(found);
            }
            program = compile(*shape)?;
        }
        if self.kept + program.entries.len() > MOST_KEPT {
            self.programs.clear();
            self.kept = 0;
        }
        self.kept += program.entries.len();
        self.programs.push(program);
        Ok(self.programs.len() - 1)
    }

    /// Evaluates the recurrence. `ends[0]` is the start of time; entry `i` of the program is at `i + 1`.
    fn run(&mut self, program: usize, pipeline: &Pipeline) {
        let program = &self.programs[program];
        let transfer = pipeline.transfer.get();
        let block = if pipeline.overlap_transfer { 0.0 } else { transfer };
        self.times.clear();
        self.times.extend(program.codes.iter().map(|code| {
            let duration = time(code, pipeline);
            let latency = if code.receives { transfer } else { f64::NEG_INFINITY };
            Times {
                from_own: after(&code.before, pipeline, block) + duration,
                from_input: latency + duration,
            }
        }));
        let beyond = pipeline.micro_batches - program.shape.micro_batches;
        let repeats = (beyond / period(&program.shape)) as usize;
        self.skips.clear();
        self.ends.clear();
        self.ends.push(0.0);
        let mut done = 0;
        if repeats > 0 {
            for body in &program.bodies {
                let end = body.start + body.len;
                advance(&mut self.ends, &program.entries[done..end], &self.times);
                self.skips.push(repeat(&mut self.ends, program, body, &self.times, repeats));
                done = end;
            }
        }
        advance(&mut self.ends, &program.entries[done..], &self.times);
    }

    fn read_off(&mut self, program: usize, pipeline: &Pipeline) {
        let program = &self.programs[program];
        let block = if pipeline.overlap_transfer { 0.0 } else { pipeline.transfer.get() };
        let ends = &self.ends;
        // Places are compiled ones, from 1. What is the last of its kind is in a body's last repetition.
        let at = |place: u32, last: bool| {
            let place = place as usize;
            let (mut shift, mut time) = (0, 0.0);
            for skip in self.skips.iter().filter(|skip| place > if last { skip.start } else { skip.end }) {
                shift += skip.entries;
                time += skip.time;
            }
            ends[place + shift] + time
        };
        let duration = |place: u32| {
            let entry = program.entries[place as usize - 1];
            time(&program.codes[entry.code as usize], pipeline)
        };
        let moment = |m: &Moment| Seconds::new(at(m.entry, true) + after(&m.after, pipeline, block));
        let beyond = pipeline.micro_batches - program.shape.micro_batches;
        let out = &mut self.summary;
        clear(out);
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
            out.in_flight.push(marks.in_flight.clone());
            if pipeline.schedule == Schedule::Gpipe
                && let Some(all) = out.in_flight.last_mut()
            {
                // The one schedule whose activations grow with the micro batches.
                all.per_chunk.fill(pipeline.micro_batches);
                all.peak = all.per_chunk.iter().sum();
            }
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

/// The time of what lies between two entries.
fn after(before: &Before, pipeline: &Pipeline, block: f64) -> f64 {
    let weights = before
        .weights
        .iter()
        .map(|&(chunk, count)| f64::from(count) * pipeline.chunks[chunk as usize].backward_weight.get());
    f64::from(before.transfers) * block + weights.sum::<f64>()
}

/// The time of an entry itself.
fn time(code: &Code, pipeline: &Pipeline) -> f64 {
    let chunk = &pipeline.chunks[code.chunk as usize];
    match code.pass {
        Pass::FusedForward => 0.0,
        Pass::FusedBackward => fused_duration(&pipeline.chunks[code.fused_with as usize], chunk),
        pass => duration(pass, chunk),
    }
}

/// Runs the recurrence over some entries.
fn advance(ends: &mut Vec<f64>, entries: &[Entry], times: &[Times]) {
    let first = ends.len();
    ends.resize(first + entries.len(), 0.0);
    let ends = ends.as_mut_slice();
    for (i, entry) in (first..ends.len()).zip(entries) {
        let time = times[entry.code as usize];
        let own = ends[i - entry.own as usize] + time.from_own;
        let input = ends[i - entry.input as usize] + time.from_input;
        // Not `f64::max`, whose care for NaN costs a third of the loop; there is none here.
        ends[i] = if own > input { own } else { input };
    }
}

/// Runs a body `repeats` times more, or until every end that a later entry can look back at has moved by one and the same time
/// since some periods ago; from there on every so many periods move by that time, and are not run.
fn repeat(ends: &mut Vec<f64>, program: &Program, body: &Body, times: &[Times], repeats: usize) -> Skip {
    let entries = &program.entries[body.start..body.start + body.len];
    let stages = program.shape.stages as usize;
    // Even stages with slow transfers move in a rhythm of as many micro batches as are between them.
    let rhythms = [1, 2, stages.div_ceil(2), stages];
    let (mut run, mut left, mut time) = (0, repeats, 0.0);
    while left > 0 {
        if time == 0.0 {
            let steps = rhythms.iter().filter(|&&rhythm| rhythm <= left);
            let found = steps.map(|&rhythm| (rhythm, settled(ends, rhythm * body.len, body.reach)));
            if let Some((rhythm, Some(step))) = found.into_iter().find(|(_, step)| step.is_some()) {
                time = (left / rhythm) as f64 * step;
                left %= rhythm;
                continue;
            }
        }
        advance(ends, entries, times);
        run += 1;
        left -= 1;
    }
    Skip { start: body.start, end: body.start + body.len, entries: run * body.len, time }
}

/// The time by which all of the last `window` ends have moved since `len` entries ago, if it is the same for all.
fn settled(ends: &[f64], len: usize, window: usize) -> Option<f64> {
    let now = ends.get(ends.len().checked_sub(window)?..)?;
    let then = ends.get(ends.len().checked_sub(window + len)?..ends.len() - len)?;
    let step = now.last()? - then.last()?;
    // Rounding of sums of many terms, far below what anyone asks of the result.
    let slack = 1e-12 * now.last()?.abs();
    now.iter().zip(then).all(|(now, then)| (now - then - step).abs() <= slack).then_some(step)
}

/// Time in passes on a stage, and its blocking transfers.
fn work(program: &Program, pipeline: &Pipeline, stage: usize, beyond: u64) -> (Seconds, f64) {
    let shape = &program.shape;
    let periods = beyond / period(shape);
    let marks = &program.stages[stage];
    let local = local_chunks(shape.schedule, shape.stages, shape.virtual_stages, stage as u64);
    let mut busy = 0.0;
    for &chunk in &local {
        let passes = if local.len() == 2
            && local[0] + local[1] == shape.stages - 1
            && shape.chunks() == shape.stages
        {
            // DualPipe: each chunk sees the half of the micro batches that comes from its end.
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
    out.in_flight.clear();
}
