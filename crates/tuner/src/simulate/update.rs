//! What stands around the pipeline: gradients that are reduced as backward passes end, the optimizer, parameters that are gathered.
//!
//! Responsible for: when each of these may start, as `railwright_calculator::sharding` counts it. Refuses to price it.

use super::Staged;
use super::classes::{Classes, Dim};
use super::passes::{StageEnds, exchange};
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::Evaluation;
use railwright_calculator::sharding::StageUpdate;
use railwright_network::simulate::Work;
use railwright_spec::quantity::Seconds;

/// Time that runs beside compute, and time that does not, of an exchange of which `exposed` was told: what hides slows compute by
/// `slowdown`, so `exposed = left + (all - left) slowdown`.
fn split(all: Seconds, exposed: Seconds, slowdown: f64) -> (Seconds, Seconds) {
    if slowdown >= 1.0 {
        return (Seconds::ZERO, all);
    }
    let left = ((exposed - all * slowdown) / (1.0 - slowdown)).max(Seconds::ZERO).min(all);
    (all - left, left)
}

/// Writes all of it, and gives the task at whose end the step ends but for jitter.
pub(super) fn write(
    staged: &mut Staged,
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    classes: &Classes,
    ends: &[StageEnds],
) -> u32 {
    let slowdown = costing.software.overlap_slowdown;
    let mut reduced = Vec::new();
    let start = staged.script.add(Work::Pause(Seconds::ZERO), []);
    for (stage, (update, own)) in evaluation.updates.iter().zip(ends).enumerate() {
        reduced.extend(reduce(staged, costing, classes, stage as u32, update, own));
        // The last step's parameters arrive beside the first forward pass.
        let (hidden, _) = split(update.parameter_gather, update.parameter_exposed, slowdown);
        if let (Some(task), Some(second)) =
            (exchange(staged, classes, Dim::Data, stage as u32, hidden, start), own.second)
        {
            staged.script.follow(task, second);
        }
    }
    let optimizer = evaluation.updates.iter().map(|u| u.optimizer).fold(Seconds::ZERO, Seconds::max);
    let stepped = staged.script.add(Work::Pause(optimizer), reduced);
    let mut gathered = vec![stepped];
    for (stage, update) in evaluation.updates.iter().enumerate() {
        let (hidden, left) = split(update.parameter_gather, update.parameter_exposed, slowdown);
        let slowed = staged.script.add(Work::Pause(hidden * slowdown), [stepped]);
        gathered.push(exchange(staged, classes, Dim::Data, stage as u32, left, slowed).unwrap_or(slowed));
    }
    staged.script.add(Work::Pause(evaluation.time.fixed), gathered)
}

/// The reduction of a stage's gradients: chunk by chunk behind their last backward passes, the first bucket when its share of layers has
/// passed, the last when the pass has ended; or all at the end. Gives the task at whose end the stage has its gradients.
fn reduce(
    staged: &mut Staged,
    costing: &Costing<'_>,
    classes: &Classes,
    stage: u32,
    update: &StageUpdate,
    own: &StageEnds,
) -> Option<u32> {
    let last = own.last?;
    let data = classes.of(Dim::Data, stage);
    // Where every micro batch reduces, all but the last are told with the step's exposed time.
    let times = data.count.max(1.0);
    let once = update.gradient_reduce / times;
    if once <= Seconds::ZERO {
        return Some(last);
    }
    let slowdown = costing.software.overlap_slowdown;
    let exposed = update.gradient_exposed.min(once);
    let (hidden, _) = split(once, exposed, slowdown);
    let more = (update.gradient_exposed - exposed).max(Seconds::ZERO);
    let mut end = last;
    if costing.plan.overlap.gradient_reduce && !own.backward.is_empty() {
        let share = once / own.backward.len() as f64;
        let mut chain: Option<u32> = None;
        for &(begin, done, duration, layers) in &own.backward {
            let first = 1.0 / layers.max(1) as f64;
            let mut ready = staged.script.add(Work::Pause(duration * first), [begin]);
            if let Some(before) = chain {
                ready = staged.script.add(Work::Pause(Seconds::ZERO), [ready, before]);
            }
            let body =
                exchange(staged, classes, Dim::Data, stage, share * (1.0 - first), ready).unwrap_or(ready);
            let tail = staged.script.add(Work::Pause(Seconds::ZERO), [body, done]);
            chain = exchange(staged, classes, Dim::Data, stage, share * first, tail).or(Some(tail));
        }
        end = staged.script.add(Work::Pause(hidden * slowdown), chain.into_iter().chain([last]));
    } else if let Some(task) = exchange(staged, classes, Dim::Data, stage, once, last) {
        end = task;
    }
    if more > Seconds::ZERO {
        end = exchange(staged, classes, Dim::Data, stage, more, end).unwrap_or(end);
    }
    Some(end)
}
