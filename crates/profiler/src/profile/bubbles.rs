//! Composition of the bubbles in a job's pipeline.
//!
//! Responsible for: causes of each rank's waits in each step by replay of the pipeline, and dividing the
//! waterfall's bubble in that proportion. Without a replay of the step or rank, the bubble stays undivided.

use crate::Job;
use crate::joined::Joined;
use crate::pipeline::{Causes, Question, from_job, page};
use crate::waterfall::{Bubble, Label, Parts, Waterfall};
use crate::windows::Windows;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of replays, one for each step and replica: more take too long.
const MOST_REPLAYS: usize = 64;

/// Divides the bubbles of all ranks in the pipeline's replay.
pub(super) fn divide(job: &Job, joined: &Joined, windows: &Windows, waterfall: &mut Waterfall) {
    let undivided = Label::Bubble(Bubble::Undivided);
    if waterfall.total.get(undivided) == 0 {
        return;
    }
    let Ok(passes) = from_job::passes_in(job, joined, windows) else { return };
    let replicas: BTreeSet<u32> = passes.passes.iter().map(|pass| pass.replica).collect();
    if replicas.len() * windows.steps.len() > MOST_REPLAYS {
        return;
    }
    let mut of_stage: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for pass in &passes.passes {
        of_stage.entry((pass.stage, pass.replica)).or_default().insert(pass.rank);
    }
    for (at, step) in windows.steps.iter().enumerate() {
        let number = step
            .number
            .and_then(|number| u32::try_from(number).ok())
            .unwrap_or((at + windows.warm_up.len()) as u32);
        for &replica in &replicas {
            let question = Question { step: Some(number), replica: Some(replica), ..Question::default() };
            let Ok(page) = page(passes.clone(), &question) else { continue };
            for row in &page.shown.rows {
                // The shards of a stage wait together with its displayed rank.
                let ranks = of_stage.get(&(row.stage, replica)).into_iter().flatten();
                for &rank in ranks {
                    let rank = waterfall.ranks.iter_mut().find(|known| known.rank == rank);
                    if let Some(parts) = rank.and_then(|rank| rank.steps.get_mut(at)) {
                        share(parts, row.causes);
                    }
                }
            }
        }
    }
    waterfall.sum();
}

/// Divides the bubble of one rank and step in proportion to its causes.
fn share(parts: &mut Parts, causes: Causes) {
    let undivided = Label::Bubble(Bubble::Undivided);
    let kinds = [
        (Bubble::Schedule, causes.schedule),
        (Bubble::Imbalance, causes.imbalance),
        (Bubble::Message, causes.message + causes.launch),
        (Bubble::Stall, causes.stall + causes.jitter),
    ];
    let all: i64 = kinds.iter().map(|kind| kind.1.max(0)).sum();
    let whole = parts.get(undivided);
    if all == 0 {
        return;
    }
    let mut left = whole;
    for (place, (bubble, time)) in kinds.into_iter().enumerate() {
        let part = (i128::from(whole) * i128::from(time.max(0)) / i128::from(all)) as i64;
        // The last part absorbs the rounding error.
        let part = if place + 1 == kinds.len() && time > 0 { left } else { part };
        left -= parts.shift(undivided, Label::Bubble(bubble), part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bubble_divides_as_its_causes_do() {
        let mut parts = Parts::default();
        parts.add(Label::Bubble(Bubble::Undivided), 1001);
        share(
            &mut parts,
            Causes { schedule: 30, imbalance: 10, message: 5, launch: 5, stall: 50, ..Causes::default() },
        );
        let get = |bubble| parts.get(Label::Bubble(bubble));
        assert_eq!(
            [Bubble::Schedule, Bubble::Imbalance, Bubble::Message, Bubble::Stall].map(get),
            [300, 100, 100, 501]
        );
        assert_eq!(parts.total(), 1001);
    }
}
