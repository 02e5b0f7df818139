//! Evaluation of a compiled schedule.
//!
//! Responsible for: the recurrence, and skipping the steady state once it repeats exactly. Then every end
//! that a later entry can refer to has moved by the same time, so the result is exact. Independent of the use
//! of the ends.

use super::Pipeline;
use super::engine::{duration, fused_duration};
use super::program::{Before, Body, Code, Entry, Program, period};
use super::slot::Pass;

/// The ends of a program's entries. Buffers are reused between runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Recurrence {
    /// `ends[0]` is the start of time; the first entry of the program is at 1. Longer than `used`.
    ends: Vec<f64>,
    used: usize,
    times: Vec<Times>,
    skips: Vec<Skip>,
}

/// Time from the end of the stage's previous entry, and from the end of the input's, to this entry's end.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    from_own: f64,
    from_input: f64,
}

/// Skipped repetitions of a body. Entries after `end` are `entries` later than compiled, and ran `time` later
/// than written. Those from `start` to `end` are the body: its last repetition has the same shift, its first
/// one is where it was compiled.
#[derive(Clone, Copy, Debug)]
struct Skip {
    start: usize,
    end: usize,
    entries: usize,
    time: f64,
}

impl Recurrence {
    /// Runs a program with a pipeline's costs.
    pub(super) fn run(&mut self, program: &Program, pipeline: &Pipeline) {
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
        self.used = 0;
        self.reserve(1);
        self.ends[0] = 0.0;
        self.used = 1;
        let mut done = 0;
        if repeats > 0 {
            for body in &program.bodies {
                let end = body.start + body.len;
                self.advance(&program.entries[done..end]);
                let skip = self.repeat(program, body, repeats);
                self.skips.push(skip);
                done = end;
            }
        }
        self.advance(&program.entries[done..]);
    }

    /// End time of a compiled entry; entries are counted from 1. In a body, the last entry of a kind refers
    /// to the last repetition, any other to the first.
    pub(super) fn end(&self, place: u32, last: bool) -> f64 {
        let place = place as usize;
        let (mut shift, mut time) = (0, 0.0);
        for skip in self.skips.iter().filter(|skip| place > if last { skip.start } else { skip.end }) {
            shift += skip.entries;
            time += skip.time;
        }
        self.ends[place + shift] + time
    }

    fn reserve(&mut self, more: usize) {
        if self.ends.len() < self.used + more {
            self.ends.resize(self.used + more, 0.0);
        }
    }

    /// Runs some entries.
    fn advance(&mut self, entries: &[Entry]) {
        self.reserve(entries.len());
        let (first, ends, times) = (self.used, self.ends.as_mut_slice(), self.times.as_slice());
        for (i, entry) in (first..).zip(entries) {
            let time = times[entry.code as usize];
            let own = ends[i - entry.own as usize] + time.from_own;
            let input = ends[i - entry.input as usize] + time.from_input;
            // Not `f64::max`, whose NaN handling costs a third of the loop; there is no NaN here.
            ends[i] = if own > input { own } else { input };
        }
        self.used += entries.len();
    }

    /// Runs a body `repeats` times more, or until all relevant ends have moved by the same time over a number
    /// of periods. From then on the ends move by that time per the same number of periods, which are
    /// skipped.
    fn repeat(&mut self, program: &Program, body: &Body, repeats: usize) -> Skip {
        let entries = &program.entries[body.start..body.start + body.len];
        let stages = program.shape.stages as usize;
        // Even stages with slow transfers repeat with the number of micro-batches between them.
        let rhythms = [1, 2, stages.div_ceil(2), stages];
        let (mut run, mut left, mut time) = (0, repeats, 0.0);
        while left > 0 {
            if time == 0.0 {
                let ends = &self.ends[..self.used];
                let steps = rhythms.iter().filter(|&&rhythm| rhythm <= left);
                let found = steps.map(|&rhythm| (rhythm, settled(ends, rhythm * body.len, body.reach)));
                if let Some((rhythm, Some(step))) = found.into_iter().find(|(_, step)| step.is_some()) {
                    time = (left / rhythm) as f64 * step;
                    left %= rhythm;
                    continue;
                }
            }
            self.advance(entries);
            run += 1;
            left -= 1;
        }
        Skip { start: body.start, end: body.start + body.len, entries: run * body.len, time }
    }
}

/// The time between two entries.
pub(super) fn after(before: &Before, pipeline: &Pipeline, block: f64) -> f64 {
    let weights = before
        .weights
        .iter()
        .map(|&(chunk, count)| f64::from(count) * pipeline.chunks[chunk as usize].backward_weight.get());
    f64::from(before.transfers) * block + weights.sum::<f64>()
}

/// The time of an entry itself.
pub(super) fn time(code: &Code, pipeline: &Pipeline) -> f64 {
    let chunk = &pipeline.chunks[code.chunk as usize];
    match code.pass {
        Pass::FusedForward => 0.0,
        Pass::FusedBackward => fused_duration(&pipeline.chunks[code.fused_with as usize], chunk),
        pass => duration(pass, chunk),
    }
}

/// The time by which all of the last `window` ends have moved since `len` entries ago. `None` if it differs.
fn settled(ends: &[f64], len: usize, window: usize) -> Option<f64> {
    let now = ends.get(ends.len().checked_sub(window)?..)?;
    let then = ends.get(ends.len().checked_sub(window + len)?..ends.len() - len)?;
    let step = now.last()? - then.last()?;
    // Rounding of long sums, far below the required accuracy.
    let slack = 1e-12 * now.last()?.abs();
    now.iter().zip(then).all(|(now, then)| (now - then - step).abs() <= slack).then_some(step)
}
