//! Groups across other groups.
//!
//! Responsible for: data-parallel groups next to tensor parallel ones. They enter and leave their collectives
//! together with the smaller groups, so their ends are as close as those of one group of all ranks. If both
//! fit, the sets across the smaller ones are used: each shares one rank with each of those. Excludes
//! all-to-alls, whose groups lie within data parallel ones.

use super::Part;
use super::inferred::{Inferred, NOT_ONE, Scored, Tiling, times};
use railwright_step::CollectiveKind;

/// Groups across inferred ones.
pub(super) struct Crossing {
    world: u32,
    /// Tilings of groups that reduce or gather, smaller than the world.
    within: Vec<Tiling>,
    /// Number of ranks in all inner sets together.
    inner: u32,
}

fn exchanges(lane: &Scored<'_>, parts: &[Vec<Part>]) -> bool {
    let one = lane.lists.iter().next();
    let parts = one.map(|(member, list)| list.iter().map(|&part| &parts[*member as usize][part as usize]));
    parts
        .into_iter()
        .flatten()
        .any(|part| part.operation.is_some_and(|o| o.may_be_message() || o == CollectiveKind::AllToAll))
}

impl Crossing {
    pub(super) fn of(world: u32, parts: &[Vec<Part>], all: &[Scored<'_>], inferred: &[Inferred]) -> Self {
        let reduces = |inferred: &&Inferred| {
            all.iter().any(|lane| lane.lane == inferred.lane && !exchanges(lane, parts))
        };
        let mut within: Vec<Tiling> =
            inferred.iter().filter(reduces).map(|inferred| inferred.tiling).collect();
        within.retain(|tiling| tiling.size < world);
        within.sort_unstable();
        within.dedup();
        let inner = within.iter().fold(1_u32, |all, tiling| all.saturating_mul(tiling.size));
        Self { world, within, inner }
    }

    /// Tests whether sets are across the inferred ones and form the world with them.
    pub(super) fn holds(&self, tiling: Tiling) -> bool {
        let fits = self.inner > 1
            && self.inner < self.world
            && self.world.is_multiple_of(self.inner)
            && tiling.size == self.world / self.inner;
        let own = fits.then(|| tiling.ranks(0));
        own.is_some_and(|own| {
            self.within.iter().all(|known| {
                let theirs = known.ranks(0);
                own.ranks().iter().filter(|rank| theirs.ranks().contains(rank)).count() == 1
            })
        })
    }

    /// Assigns the sets across to streams identified as all ranks. No change if none fits.
    pub(super) fn take(&self, parts: &[Vec<Part>], all: &[Scored<'_>], inferred: &mut Vec<Inferred>) {
        for lane in all.iter().filter(|lane| !exchanges(lane, parts)) {
            let known = inferred.iter().position(|inferred| inferred.lane == lane.lane);
            if known.is_some_and(|at| inferred[at].tiling.size < self.world) {
                continue;
            }
            let Some(score) = lane.scores.iter().find(|score| self.holds(score.tiling)) else { continue };
            if times(score.apart, lane.scores[0].apart) > NOT_ONE {
                continue;
            }
            let across = Inferred {
                lane: lane.lane,
                tiling: score.tiling,
                apart: score.apart,
                next: known.and_then(|at| inferred[at].next),
                or: known.map(|at| (inferred[at].tiling, inferred[at].apart)),
            };
            match known {
                Some(at) => inferred[at] = across,
                None => inferred.push(across),
            }
        }
    }
}
