//! Time of a pipeline stage without compute, by its cause.
//!
//! Responsible for: the tasks that released each compute task of a stage, back to the end of its compute task
//! before, and the end of the step. The tasks in a gap follow each other without a pause, so their times add
//! up to the gap. Does not price tasks.

use super::script::{Played, Script};
use railwright_spec::quantity::Seconds;
use serde::Serialize;
use std::collections::BTreeMap;

/// Work of a task, for waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doing {
    /// Compute of a stage.
    Compute(u32),
    /// Communication of a dimension on a stage; of messages, the sender.
    Communication(&'static str, u32),
    /// Work after the pipeline, for all stages together.
    After(&'static str),
}

/// Time that a stage waits for one kind of work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wait {
    /// Work that the stage waits for: `compute` of another stage, a dimension, `optimizer` or `host`.
    pub waits_for: &'static str,
    /// Stage of that work; for messages, the sender. `None` for work of all stages.
    pub of_stage: Option<u32>,
    /// Time without compute on the waiting stage.
    pub time: Seconds,
}

/// Compute of a stage, and its waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageWaits {
    /// The stage.
    pub stage: u32,
    /// Time of its compute, with communication that overlaps it.
    pub compute: Seconds,
    /// Time without compute until the end of the step, without the jitter allowance.
    pub waiting: Seconds,
    /// Parts of it, longest first.
    pub waits: Vec<Wait>,
}

/// Waits of all stages. `works` has the tasks with a duration and their work; `end` is the task that ends the
/// step.
///
/// A gap of a stage ends when the last predecessor of its next compute task ends. That predecessor accounts
/// for the time since its own start, and so on backwards until the gap begins.
pub fn waits(script: &Script, played: &Played, works: &[(u32, Doing)], end: u32) -> Vec<StageWaits> {
    let released = script.released_by(played);
    let labels: BTreeMap<u32, Doing> = works.iter().copied().collect();
    let mut stages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (task, doing) in &labels {
        if let Doing::Compute(stage) = doing {
            stages.entry(*stage).or_default().push(*task);
        }
    }
    let time_of = |task: u32| {
        let at = |times: &[Seconds]| times.get(task as usize).copied().unwrap_or(Seconds::ZERO);
        (at(&played.starts), at(&played.ends))
    };
    stages
        .into_iter()
        .map(|(stage, tasks)| of_stage(stage, tasks, (&released, &labels), &time_of, end))
        .collect()
}

fn of_stage(
    stage: u32,
    mut tasks: Vec<u32>,
    (released, labels): (&[Option<u32>], &BTreeMap<u32, Doing>),
    time_of: &dyn Fn(u32) -> (Seconds, Seconds),
    end: u32,
) -> StageWaits {
    tasks.sort_by(|a, b| time_of(*a).0.get().total_cmp(&time_of(*b).0.get()).then(a.cmp(b)));
    let (mut compute, mut waiting) = (Seconds::ZERO, Seconds::ZERO);
    let mut sums: BTreeMap<Doing, Seconds> = BTreeMap::new();
    let mut add = |task: u32, from: Seconds, to: Seconds| {
        // Pauses of no kind are those of no duration.
        let doing = labels.get(&task).copied().unwrap_or(Doing::After("host"));
        if to > from {
            *sums.entry(doing).or_default() += to - from;
        }
    };
    let mut before = Seconds::ZERO;
    for task in tasks.iter().copied().chain([end]) {
        let (start, ended) = time_of(task);
        // The task that ends the step is itself a wait.
        let gap_end = if task == end { ended } else { start };
        waiting += (gap_end - before).max(Seconds::ZERO);
        let mut at = if task == end { Some(end) } else { released.get(task as usize).copied().flatten() };
        while let Some(cause) = at {
            let (from, to) = time_of(cause);
            add(cause, from.max(before), to.min(gap_end));
            if from <= before {
                break;
            }
            at = released.get(cause as usize).copied().flatten();
        }
        if task != end {
            compute += ended - start;
            before = before.max(ended);
        }
    }
    let mut waits: Vec<Wait> = sums
        .into_iter()
        .map(|(doing, time)| {
            let (waits_for, of_stage) = match doing {
                Doing::Compute(of) => ("compute", Some(of)),
                Doing::Communication(dimension, of) => (dimension, Some(of)),
                Doing::After(what) => (what, None),
            };
            Wait { waits_for, of_stage, time }
        })
        .collect();
    waits.sort_by(|a, b| b.time.get().total_cmp(&a.time.get()));
    StageWaits { stage, compute, waiting, waits }
}

#[cfg(test)]
mod tests {
    use super::super::bundle::Bundle;
    use super::super::script::Work;
    use super::*;

    /// Two stages with one micro-batch: the second waits for compute of the first and its message, the first
    /// for all of the second.
    #[test]
    fn gaps_of_two_stages_are_those_counted_by_hand() {
        let mut script = Script::default();
        let pause = |seconds: f64| Work::Pause(Seconds::new(seconds));
        let first = script.add(pause(3.0), []);
        let message = script.add(pause(0.5), [first]);
        let second = script.add(pause(4.0), [message]);
        let tensor = script.add(pause(1.0), [second]);
        let back = script.add(pause(0.25), [tensor]);
        let last = script.add(pause(6.0), [back]);
        let end = script.add(pause(2.0), [last]);
        let of = Doing::Communication;
        let works = [
            (first, Doing::Compute(0)),
            (message, of("pipeline", 0)),
            (second, Doing::Compute(1)),
            (tensor, of("tensor", 1)),
            (back, of("pipeline", 1)),
            (last, Doing::Compute(0)),
            (end, Doing::After("optimizer")),
        ];
        let played = script.play(&Bundle::free(1)).expect("played");
        let found = waits(&script, &played, &works, end);
        let list = |stage: &StageWaits| -> Vec<(&'static str, Option<u32>, f64)> {
            stage.waits.iter().map(|wait| (wait.waits_for, wait.of_stage, wait.time.get())).collect()
        };
        assert_eq!((found[0].compute.get(), found[0].waiting.get()), (9.0, 7.75));
        assert_eq!(
            list(&found[0]),
            [
                ("compute", Some(1), 4.0),
                ("optimizer", None, 2.0),
                ("tensor", Some(1), 1.0),
                ("pipeline", Some(0), 0.5),
                ("pipeline", Some(1), 0.25)
            ]
        );
        assert_eq!((found[1].compute.get(), found[1].waiting.get()), (4.0, 12.75));
        assert_eq!(list(&found[1])[0], ("compute", Some(0), 9.0));
    }
}
