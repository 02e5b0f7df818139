//! Positions of a rank's program that recur in each step.
//!
//! Responsible for: a key for every interval that is equal in all steps of one rank: the communications at
//! its ends, by communicator and by number within their step. Ranks without enough peers of the same program
//! are compared with themselves in other steps. Excludes ranks without recorded launches, because only
//! launches have the number of their step.

use super::event::Chains;
use super::stretch::Stretch;
use crate::joined::Joined;
use std::collections::BTreeMap;

/// A communication within its step: communicator, and number in the order of launch.
type Within = (u32, u32);

/// Position of an interval in each step: the communications at its start and at its end, and the number of
/// steps between them.
pub(super) type Place = (Within, Within, u64);

/// Numbers of one member's communications within their steps.
pub(super) struct Repeats {
    /// By part: its number within the step, and the step. `None` without a counterpart.
    numbers: Vec<Option<(Within, u64)>>,
}

impl Repeats {
    /// Numbers the communications of a member; `None` if launches are not recorded.
    pub(super) fn of(chains: &Chains, joined: &Joined, member: usize) -> Option<Self> {
        let launches = chains.launches.get(member)?.as_ref()?;
        let matching = &joined.matching;
        let of = matching.of.get(member)?;
        let mut order: Vec<usize> = (0..launches.len()).collect();
        order.sort_by_key(|&at| (launches.get(at).map(|launch| launch.time), at));
        let mut next: BTreeMap<(u32, u64), u32> = BTreeMap::new();
        let mut numbers = vec![None; launches.len()];
        for at in order {
            let collective = of.get(at).copied().flatten();
            let collective = collective.and_then(|of| matching.collectives.get(of as usize));
            let Some((collective, launch)) = collective.zip(launches.get(at)) else { continue };
            let number = next.entry((collective.communicator, launch.step)).or_default();
            if let Some(cell) = numbers.get_mut(at) {
                *cell = Some(((collective.communicator, *number), launch.step));
            }
            *number += 1;
        }
        Some(Self { numbers })
    }

    /// Position of an interval in its step. `None` at the edges of the steps.
    pub(super) fn place(&self, chains: &Chains, stretch: &Stretch) -> Option<Place> {
        let events = chains.events.get(stretch.member as usize)?;
        let at = |event: u32| {
            let part = events.get(event as usize)?.part?;
            *self.numbers.get(part as usize)?
        };
        let ((start, first), (end, last)) = at(stretch.events.0).zip(at(stretch.events.1))?;
        Some((start, end, last.checked_sub(first)?))
    }
}

/// Intervals that occupy the same position in different steps, as (member, index): `columns` joined by the
/// position of their first interval. Those without a position stay alone.
pub(super) fn joined_by_step(
    chains: &Chains,
    joined: &Joined,
    lists: &[Vec<Stretch>],
    columns: Vec<Vec<(u32, u32)>>,
) -> Vec<Vec<(u32, u32)>> {
    let mut repeats: BTreeMap<u32, Option<Repeats>> = BTreeMap::new();
    let mut alike: BTreeMap<(u32, Place), Vec<(u32, u32)>> = BTreeMap::new();
    let mut found = Vec::new();
    for column in columns {
        let Some(&(member, place)) = column.first() else { continue };
        let own = repeats.entry(member).or_insert_with(|| Repeats::of(chains, joined, member as usize));
        let stretch = lists.get(member as usize).and_then(|list| list.get(place as usize));
        match own.as_ref().zip(stretch).and_then(|(own, stretch)| own.place(chains, stretch)) {
            Some(place) => alike.entry((member, place)).or_default().extend(column),
            None => found.push(column),
        }
    }
    found.extend(alike.into_values());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::peers::Stretches;
    use crate::attribution::tests::chains_of;
    use crate::testing::Synthetic;

    /// Two ranks of one program, each with a single peer.
    #[test]
    fn a_position_recurs_once_per_step() {
        let plan = Synthetic { tensor: 2, data: 1, ..Synthetic::default() };
        let (_, joined, chains) = chains_of(plan.job());
        let stretches = Stretches::of(&chains, &joined);
        for member in 0..2 {
            let repeats = Repeats::of(&chains, &joined, member).expect("launches are recorded");
            let mut counts: BTreeMap<Place, u32> = BTreeMap::new();
            for place in stretches.lists[member].iter().filter_map(|own| repeats.place(&chains, own)) {
                *counts.entry(place).or_default() += 1;
            }
            // One all-reduce per layer: intervals between them, and one from the last to the first of the
            // next step.
            let (across, within): (Vec<_>, Vec<_>) = counts.iter().partition(|(place, _)| place.2 > 0);
            assert!(within.len() as u32 >= plan.layers - 1, "{counts:?}");
            assert!(within.iter().all(|(_, count)| **count == plan.steps), "{counts:?}");
            assert!(across.iter().all(|(place, count)| place.2 == 1 && **count == plan.steps - 1));
        }
        // The pairs of all steps are compared with each other.
        let inner = stretches.columns.iter().filter(|column| column.len() as u32 == 2 * plan.steps).count();
        assert!(inner as u32 >= plan.layers - 1, "{:?}", stretches.columns);
    }
}
