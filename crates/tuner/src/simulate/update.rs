//! Tasks around the pipeline: gradient reductions at the ends of backward passes, the optimizer, and gathers
//! of parameters.
//!
//! Responsible for: the earliest start of each of these, as in `railwright_calculator::sharding`. Does not
//! price them.

use super::classes::{Classes, Dim, When};
use super::passes::{Backward, StageEnds, exchange};
use super::staged::Staged;
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::{Evaluation, local_chunks};
use railwright_calculator::sharding::StageUpdate;
use railwright_calculator::update::reductions_per_step;
use railwright_network::simulate::{Doing, Work};
use railwright_spec::quantity::Seconds;

/// The time of an exchange around the optimizer, as `railwright_calculator::sharding` divides it.
#[derive(Clone, Copy)]
struct Divided {
    /// The part overlapped with compute.
    hidden: Seconds,
    /// The part without overlap.
    left: Seconds,
    /// Slowdown of compute by overlapped communication: `exposed - left`.
    slowed: Seconds,
}

impl Divided {
    fn new(all: Seconds, hidden: Seconds, exposed: Seconds) -> Self {
        // A remainder of rounding is not an exchange.
        let least = all * 1e-12;
        let (hidden, left) = match all - hidden {
            left if left <= least => (all, Seconds::ZERO),
            left if hidden <= least => (Seconds::ZERO, left + hidden),
            left => (hidden, left),
        };
        Self { hidden, left, slowed: (exposed - left).max(Seconds::ZERO) }
    }

    fn gradients(update: &StageUpdate) -> Self {
        Self::new(update.gradient_reduce, update.gradient_hidden, update.gradient_exposed)
    }

    fn parameters(update: &StageUpdate) -> Self {
        Self::new(update.parameter_gather, update.parameter_hidden, update.parameter_exposed)
    }
}

/// Writes all of it. Returns the task that ends the step, except for jitter.
pub(super) fn write(
    staged: &mut Staged,
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    classes: &Classes,
    ends: &[StageEnds],
) -> u32 {
    let mut reduced = Vec::new();
    let start = staged.script.add(Work::Pause(Seconds::ZERO), []);
    for (stage, (update, own)) in evaluation.updates.iter().zip(ends).enumerate() {
        let chunks = local_chunks(costing.plan, stage).into_iter().filter_map(|c| evaluation.chunks.get(c));
        let passes: Seconds = chunks
            .map(|chunk| &chunk.time)
            .map(|time| time.forward + time.recompute + time.backward_input + time.backward_weight)
            .sum();
        // Number of micro-batches between two reductions.
        let micro_batches = costing.plan.micro_batches().max(1);
        let room = passes * (micro_batches as f64 / reductions_per_step(costing, micro_batches).max(1.0));
        let own_reduced = reduce(staged, costing, classes, stage as u32, (update, room), own);
        // Stages exchange one matrix or their shards, at the closed form's time.
        let doing = Dim::Data.doing(stage as u32);
        reduced.extend(own_reduced.map(|end| staged.pause(update.between_stages, doing, [end])));
        // Parameters of the previous step arrive during the first forward pass of each chunk, and the next
        // pass waits for them.
        let Divided { hidden, .. } = Divided::parameters(update);
        let parameters = classes.of(Dim::Data, stage as u32, When::Parameters);
        let whole: Seconds = own.firsts.iter().map(|(first, _)| *first).sum();
        let mut chain = start;
        for &(first, behind) in &own.firsts {
            let Some(task) =
                exchange(staged, parameters, (Dim::Data, stage as u32), hidden * (first / whole), chain)
            else {
                continue;
            };
            staged.script.follow(task, behind);
            chain = task;
        }
    }
    let optimizer = evaluation.updates.iter().map(|u| u.optimizer).fold(Seconds::ZERO, Seconds::max);
    let stepped = staged.pause(optimizer, Doing::After("optimizer"), reduced);
    let mut gathered = vec![stepped];
    for (stage, update) in evaluation.updates.iter().enumerate() {
        let Divided { left, slowed, .. } = Divided::parameters(update);
        let slowed = staged.pause(slowed, Dim::Data.doing(stage as u32), [stepped]);
        let parameters = classes.of(Dim::Data, stage as u32, When::Parameters);
        gathered
            .push(exchange(staged, parameters, (Dim::Data, stage as u32), left, slowed).unwrap_or(slowed));
    }
    staged.pause(evaluation.time.fixed, Doing::After("host"), gathered)
}

/// The reductions of a stage's gradients. Overlapped reductions run during passes, chunk by chunk after the
/// backward passes of their gradients, from the end of the first layer on. These are the last passes, or
/// those of every micro-batch if each is reduced. Exposed ones run after the last pass. Returns the task at
/// whose end the gradients are complete.
///
/// If the schedule has less time than the calculator assumes, a reduction starts earlier, so that it is fully
/// overlapped without contention; any remaining loss is caused by the network.
fn reduce(
    staged: &mut Staged,
    costing: &Costing<'_>,
    classes: &Classes,
    stage: u32,
    (update, room): (&StageUpdate, Seconds),
    own: &StageEnds,
) -> Option<u32> {
    let last = own.last?;
    let all = update.gradient_reduce;
    if all <= Seconds::ZERO {
        return Some(last);
    }
    let times = reductions_per_step(costing, costing.plan.micro_batches().max(1)).max(1.0);
    let gradients = classes.of(Dim::Data, stage, When::Gradients);
    let Divided { hidden, left, slowed } = Divided::gradients(update);
    let pieces = pieces(&own.backward, hidden, all / times, room, times);
    // Latest start of each, from the last to the first.
    let mut starts = Vec::with_capacity(pieces.len());
    let mut latest = own.last_end;
    for (pass, time) in pieces.iter().rev() {
        latest -= *time;
        let ready = pass.duration / pass.layers.max(1) as f64;
        let at = latest.max(Seconds::ZERO);
        starts.push(if pass.start + ready <= at { (pass.begin, ready) } else { anchor(own, at) });
    }
    let mut chain: Option<u32> = None;
    for ((_, time), (begin, wait)) in pieces.iter().zip(starts.into_iter().rev()) {
        let mut ready = staged.pause(wait, Dim::Data.doing(stage), [begin]);
        if let Some(before) = chain {
            ready = staged.script.add(Work::Pause(Seconds::ZERO), [ready, before]);
        }
        chain = exchange(staged, gradients, (Dim::Data, stage), *time, ready).or(chain);
    }
    let mut end = staged.pause(slowed, Dim::Data.doing(stage), chain.into_iter().chain([last]));
    // The remainder of the last reduction, and that of each before it.
    let rest = left / times;
    for _ in 0..times as usize {
        end = exchange(staged, gradients, (Dim::Data, stage), rest, end).unwrap_or(end);
    }
    Some(end)
}

/// Hidden parts by the pass with which they overlap. Each reduction except the last hides as much as fits
/// into the `room` of the passes between two of them; the last hides the rest, from the first chunk on.
fn pieces(
    backward: &[Backward],
    hidden: Seconds,
    once: Seconds,
    room: Seconds,
    times: f64,
) -> Vec<(&Backward, Seconds)> {
    let lasts = backward.iter().filter(|pass| pass.is_last).count();
    let earlier = backward.len() - lasts;
    let before =
        if times > 1.0 && earlier > 0 { hidden.min(once.min(room) * (times - 1.0)) } else { Seconds::ZERO };
    let mut rest = hidden - before;
    let mut pieces = Vec::new();
    let mut open = lasts;
    for pass in backward {
        let time = if pass.is_last {
            open -= 1;
            let own = if open == 0 { rest } else { rest.min(once / lasts as f64) };
            rest -= own;
            own
        } else {
            before / earlier as f64
        };
        if time > Seconds::ZERO {
            pieces.push((pass, time));
        }
    }
    pieces
}

/// A time of the closed form, as a pass of the stage and the time after its start.
fn anchor(own: &StageEnds, at: Seconds) -> (u32, Seconds) {
    let behind = own.begins.partition_point(|(start, _)| *start <= at).saturating_sub(1);
    own.begins.get(behind).map_or((0, at), |&(start, begin)| (begin, (at - start).max(Seconds::ZERO)))
}
