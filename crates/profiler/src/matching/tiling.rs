//! Ranks of an unrecorded communicator.
//!
//! Responsible for: testing all tilings of the world by sets of one size and one stride. The largest sets
//! whose collectives end as close together as in any other tiling are selected. No rank leaves a collective
//! before all have entered, so ends within a group differ by microseconds. Groups that merely have equal
//! timing drift apart between the collectives that they share. Sets of all ranks next to smaller ones are
//! taken for the sets across them. Their ends are as close, because the small ones enter them as one.
//! Excludes lanes with too few collectives, worlds with unrecorded ranks (sets may include them), and lanes
//! of messages.

use super::across::Crossing;
use super::assign::Lists;
use super::inferred::{Inferred, NOT_ONE, ONE, Score, Scored, Tiling, times};
use super::shift::{self, Scratch};
use super::ties::Ties;
use super::{Lane, Part};
use crate::Job;
use crate::groups::Layout;
use railwright_spec::median;
use std::collections::BTreeMap;

/// Minimum number of collectives of a lane: a line of clocks needs two, and one of the many tilings fits a
/// few by chance.
const FEWEST: usize = 12;

/// Minimum number if clock offsets are known.
const FEWEST_OF_KNOWN: usize = 2;

/// Minimum number if other groups leave only one tiling.
const FEWEST_ACROSS: usize = 4;

/// Maximum number of examined sets per tiling, spread over the world, and of examined ranks per set.
const SAMPLED: (usize, usize) = (8, 4);

/// Maximum drift between two clocks, in nanoseconds per nanosecond; a larger fitted drift counts as distance.
const FASTEST: f64 = 100e-6;

/// Finds the sets of streams without a recorded group, those with most collectives first, and ties the clocks
/// of their ranks.
pub(super) fn inferred(
    job: &Job,
    parts: &[Vec<Part>],
    lanes: &[(Lane, &Lists)],
    layout: Option<&Layout>,
    ties: &mut Ties,
    scratch: &mut Scratch,
) -> Vec<Inferred> {
    let world = job.world_size;
    let recorded = job.members.len();
    let most = job.world_size_known && recorded * 2 > world as usize;
    if world < 2 || recorded < 2 || lanes.is_empty() || !(most || recorded == world as usize) {
        return Vec::new();
    }
    let fitting = layout.filter(|layout| layout.world() == u64::from(world));
    let tilings = fitting.map_or_else(|| Tiling::all(world), Tiling::of_layout);
    let mut order: Vec<&(Lane, &Lists)> = lanes.iter().collect();
    order.sort_by_key(|(lane, lists)| (std::cmp::Reverse(length(lists)), *lane));
    let mut all: Vec<Scored<'_>> = Vec::new();
    let mut inferred: Vec<Inferred> = Vec::new();
    // If the user leaves only a few tilings, none fits by chance.
    let stated = fitting.is_some();
    let fewest = if stated { FEWEST_ACROSS } else { FEWEST };
    for &&(lane, lists) in &order {
        let mut ends = Ends { job, parts, lists, fewest, known: BTreeMap::new() };
        let mut scores: Vec<Score> = Vec::new();
        // A few collectives suffice only if the clocks of all ranks are known. Otherwise only sets of ranks
        // with known clocks could be compared.
        let members: Vec<u32> = lists.keys().copied().collect();
        let known = members.windows(2).all(|pair| ties.between(pair[0], pair[1]).is_some());
        let enough = known || length(lists) >= fewest;
        for &tiling in tilings.iter().filter(|_| enough) {
            scores.extend(ends.apart(tiling, &mut ties.clone(), scratch));
        }
        scores.sort_by(|a, b| a.apart.total_cmp(&b.apart).then(a.tiling.cmp(&b.tiling)));
        let scored = Scored { lane, lists, scores };
        if let Some(choice) = choose(&scored, world, stated) {
            // Only clear results determine clocks: a set of all ranks may be several smaller ones with equal
            // collectives.
            if choice.tiling.size < world || world == 2 {
                ends.apart(choice.tiling, ties, scratch);
            }
            inferred.push(choice);
        }
        all.push(scored);
    }
    let crossing = Crossing::of(world, parts, &all, &inferred);
    for scored in all.iter_mut().filter(|scored| scored.scores.is_empty()) {
        // With a single tiling, fewer collectives suffice.
        let fewest = FEWEST_ACROSS;
        let mut ends = Ends { job, parts, lists: scored.lists, fewest, known: BTreeMap::new() };
        for &tiling in tilings.iter().filter(|tiling| crossing.holds(**tiling)) {
            scored.scores.extend(ends.apart(tiling, &mut ties.clone(), scratch));
        }
    }
    crossing.take(parts, &all, &mut inferred);
    inferred
}

/// Median number of parts of a lane's members.
pub(super) fn length(lists: &Lists) -> usize {
    let mut lengths: Vec<usize> = lists.values().map(Vec::len).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or(0)
}

/// Distances between ends of a lane.
struct Ends<'a> {
    job: &'a Job,
    parts: &'a [Vec<Part>],
    lists: &'a Lists,
    /// Minimum number of collectives if clock offsets are unknown.
    fewest: usize,
    /// By pair of compared members: distance of their ends and lead of the second clock, in nanoseconds;
    /// `None` if their lists do not fit.
    known: BTreeMap<(u32, u32), Option<(f64, f64)>>,
}

impl Ends<'_> {
    /// Median distance over ranks plus the contradiction to known clocks. `None` if no two ranks of a set can
    /// be compared, or if more than a quarter of the lists do not fit.
    fn apart(&mut self, tiling: Tiling, ties: &mut Ties, scratch: &mut Scratch) -> Option<Score> {
        let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (member, list) in self.lists {
            if !list.is_empty() {
                let rank = self.job.members[*member as usize].rank;
                sets.entry(tiling.first(rank)).or_default().push(*member);
            }
        }
        let sets: Vec<Vec<u32>> = sets.into_values().filter(|set| set.len() > 1).collect();
        let rank = |member: u32| self.job.members[member as usize].rank;
        let mut pairs: Vec<(u32, u32, f64)> = Vec::new();
        let mut contradicts: Vec<f64> = Vec::new();
        let mut unfit = 0;
        for set in spread(&sets, SAMPLED.0) {
            for &member in spread(&set[1..], SAMPLED.1) {
                let clock = ties.between(set[0], member);
                let fewest = self.lists[&set[0]].len().min(self.lists[&member].len());
                if fewest < if clock.is_some() { FEWEST_OF_KNOWN } else { self.fewest } {
                    continue;
                }
                match self.pair(set[0], member, clock, scratch) {
                    Some((apart, ahead)) => {
                        contradicts.push(ties.tie(set[0], member, ahead));
                        pairs.push((rank(set[0]), rank(member), apart));
                    }
                    None => unfit += 1,
                }
            }
        }
        // A single wrong shift does not refute all pairs.
        contradicts.sort_by(f64::total_cmp);
        let against = contradicts.get(contradicts.len() * 3 / 4).copied().unwrap_or(0.0);
        let mut values: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
        let fits = !values.is_empty() && unfit * 3 <= values.len();
        fits.then(|| Score { tiling, apart: median(&mut values) + against, against, pairs })
    }

    fn pair(
        &mut self,
        first: u32,
        second: u32,
        clock: Option<f64>,
        scratch: &mut Scratch,
    ) -> Option<(f64, f64)> {
        if let Some(&known) = self.known.get(&(first, second)).filter(|_| clock.is_none()) {
            return known;
        }
        let parts = |member: u32| -> Vec<&Part> {
            self.lists[&member].iter().map(|&part| &self.parts[member as usize][part as usize]).collect()
        };
        let (one, other) = (parts(first), parts(second));
        let interval = shift::usual_interval(&one, scratch);
        let fit = shift::near(&one, &other, clock, scratch).filter(|fit| fit.is_good(interval));
        // Points spread evenly along a slope have a median distance of a quarter of its rise from their
        // middle.
        let apart = fit.map(|fit| {
            let excess = (fit.line.drift.abs() - FASTEST).max(0.0);
            (fit.line.scatter + excess * fit.line.span as f64 / 4.0, fit.line.offset)
        });
        if clock.is_none() {
            self.known.insert((first, second), apart);
        }
        apart
    }
}

/// A selection from a list, evenly spread, including the first item.
fn spread<T>(list: &[T], most: usize) -> impl Iterator<Item = &T> {
    let step = list.len().div_ceil(most).max(1);
    list.iter().step_by(step)
}

/// The best sets, or the largest ones that contain them whole. Larger sets are chosen if the ends of ranks
/// that only they join are equally close. `None` if that is undecided, unless the user specified the possible
/// sizes.
fn choose(lane: &Scored<'_>, world: u32, stated: bool) -> Option<Inferred> {
    let base = lane.scores.first()?;
    let holds = |tiling: Tiling| {
        tiling.size > base.tiling.size
            && (0..world).all(|rank| tiling.first(rank) == tiling.first(base.tiling.first(rank)))
    };
    let mut chosen = base;
    let mut next: Option<(Tiling, f64)> = None;
    let mut unclear = false;
    for score in lane.scores.iter().filter(|score| holds(score.tiling)) {
        let across = score.pairs.iter().filter(|(a, b, _)| base.tiling.first(*a) != base.tiling.first(*b));
        let mut across: Vec<f64> = across.map(|pair| pair.2).collect();
        if across.is_empty() {
            continue;
        }
        let apart = median(&mut across) + score.against;
        let more = times(apart, base.apart);
        if more <= ONE {
            if score.tiling.size > chosen.tiling.size {
                chosen = score;
            }
        } else if next.is_none_or(|(_, known)| apart < known) {
            next = Some((score.tiling, apart));
            unclear = more < NOT_ONE;
        }
    }
    // Only sets larger than the chosen ones matter.
    let matters = next.is_some_and(|(tiling, _)| tiling.size > chosen.tiling.size);
    (stated || !unclear || !matters).then_some(Inferred {
        lane: lane.lane,
        tiling: chosen.tiling,
        apart: chosen.apart,
        next: next.filter(|_| matters),
        or: None,
    })
}
