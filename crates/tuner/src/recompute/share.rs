//! The best recompute of virtual stages that share a device's memory, with optional offload.

use super::group::{Group, Solution};
use super::lay;
use super::trial::is_bidirectional;
use railwright_calculator::choices::{Choices, Treatment};
use railwright_calculator::memory::StageRoom;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute, StageRecompute};
use railwright_spec::quantity::{Bytes, Seconds};

/// Number of steps of the share of activations in host memory: sixteenths.
const SHARES: u32 = 16;

pub(crate) fn treatments(policies: &[Recompute], offload: bool) -> Vec<Treatment> {
    let shares = (0..=if offload { SHARES } else { 0 }).map(|i| f64::from(i) / f64::from(SHARES));
    shares
        .flat_map(|offload| policies.iter().map(move |p| Treatment { recompute: p.clone(), offload }))
        .collect()
}

/// Recompute of virtual stages that share a device's memory.
pub(crate) struct Choice {
    /// The entry of each virtual stage, with its place in the pipeline.
    pub(crate) entries: Vec<(usize, StageRecompute)>,
    /// Time of the passes of one micro-batch.
    pub(super) time: Seconds,
    /// Lower bound on the time of any choice.
    pub(super) bound: Seconds,
}

/// The best choice for virtual stages that share a device's memory. `None` if none fits.
pub(crate) fn best_of_group(
    choices: &Choices<'_>,
    model: &Model,
    room: &StageRoom,
    chunks: usize,
    limit: Bytes,
) -> Option<Choice> {
    let group = Group::new(room, &model.layers, chunks, model.multi_token_prediction.is_some());
    let solution = solve_group(choices, &group, limit)?;
    let entries = lay::entries(model, choices.treatments(), &group, &solution);
    Some(Choice { entries, time: solution.time, bound: solution.bound })
}

fn solve_group(choices: &Choices<'_>, group: &Group<'_>, limit: Bytes) -> Option<Solution> {
    let mut best = None;
    let treatments = choices.treatments();
    let mut start = 0;
    // One share of offload per stage: a longer list of treatments is divided into one list per share.
    while start < treatments.len() {
        let share = treatments[start].offload;
        let end = (start..treatments.len()).find(|&t| treatments[t].offload != share);
        let end = end.unwrap_or(treatments.len());
        let own: Vec<usize> = (start..end).collect();
        best = group.solve(choices, limit, &own, best);
        start = end;
    }
    best
}

/// The groups of stages that select independently: `DualPipe` holds each virtual stage twice, on mirrored
/// stages.
pub(crate) fn groups<'r>(plan: &Plan, rooms: &'r [StageRoom]) -> &'r [StageRoom] {
    if is_bidirectional(plan) { &rooms[..rooms.len().div_ceil(2)] } else { rooms }
}
