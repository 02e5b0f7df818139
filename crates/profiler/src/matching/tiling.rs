//! Which ranks share a communicator that no trace describes.
//!
//! Responsible for: trying every way in which sets of one size and one stride tile the world, and taking the largest sets whose collectives end
//! together as well as in any other way: nobody leaves a collective before all have come, so ends within a group differ by microseconds, while groups that
//! merely run alike drift apart between the collectives that they share. Sets of all ranks beside smaller ones are taken for the sets across
//! them, which end as well together (the small ones enter them as one). Refuses lanes with too few collectives to compare, worlds of which ranks were not
//! recorded (sets may have others), and lanes of messages.

use super::line;
use super::shift::{self, Scratch};
use super::ties::Ties;
use super::{Lane, Part};
use crate::Job;
use crate::communication::Operation;
use crate::groups::{Group, Layout, RankSet, described};
use railwright_step::Dimension;
use serde::Serialize;
use std::collections::BTreeMap;

/// Sets of ranks with one size and one stride, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Tiling {
    /// How many ranks a set has.
    pub size: u32,
    /// From one rank of a set to the next.
    pub stride: u32,
}

impl Tiling {
    /// The set of a rank, by its first rank.
    pub fn first(self, rank: u32) -> u32 {
        let block = self.size.saturating_mul(self.stride).max(1);
        rank / block * block + rank % self.stride.max(1)
    }

    /// The ranks of the set that begins with a rank.
    pub fn ranks(self, first: u32) -> RankSet {
        RankSet::new(&(0..self.size).map(|k| first + k * self.stride).collect::<Vec<u32>>())
    }

    /// That of a group whose ranks are known, unless it is a pipeline's.
    pub(super) fn of(group: &Group) -> Option<Self> {
        let ranks = group.ranks.as_ref()?;
        let dimension = group.description.as_deref().and_then(described).flatten();
        let stride = ranks.stride().filter(|_| dimension != Some(Dimension::Pipeline))?;
        Some(Self { size: ranks.len(), stride })
    }

    /// That of one dimension of a layout.
    pub(super) fn of_dimension(layout: &Layout, dimension: Dimension) -> Option<Self> {
        let (size, stride) = layout.place(dimension)?;
        Some(Self { size, stride })
    }

    /// All ways to tile a world, small sets first.
    fn all(world: u32) -> Vec<Self> {
        let divides = |n: u32| world.is_multiple_of(n);
        let sizes = (2..=world).filter(|&size| divides(size));
        sizes
            .flat_map(|size| {
                let strides = (1..=world / size).filter(move |&stride| (world / size).is_multiple_of(stride));
                strides.map(move |stride| Self { size, stride })
            })
            .collect()
    }

    /// Those that the sizes of dimensions allow: neighbouring dimensions together.
    fn of_layout(layout: &Layout) -> Vec<Self> {
        let sizes = layout.sizes();
        let mut tilings: Vec<Self> = Vec::new();
        let mut stride = 1_u32;
        for from in 0..sizes.len() {
            let mut size = 1_u32;
            for width in &sizes[from..] {
                size = size.saturating_mul(*width);
                if size > 1 {
                    tilings.push(Self { size, stride });
                }
            }
            stride = stride.saturating_mul(sizes[from]);
        }
        tilings.sort_unstable();
        tilings.dedup();
        tilings
    }
}

/// The sets of a lane, and how well its collectives end together in them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The lane.
    #[serde(skip)]
    pub lane: Lane,
    /// The sets.
    pub tiling: Tiling,
    /// How far ends lie apart within sets, in nanoseconds: the median over ranks of the median over collectives, clocks aside.
    pub apart: f64,
    /// The best of the sets that were refused, and the same of them.
    pub next: Option<(Tiling, f64)>,
    /// The set of all ranks, where its ends lie apart as little and the sets across smaller groups were taken.
    pub or: Option<(Tiling, f64)>,
}

/// A communicator needs so many collectives to be compared: a line of clocks takes two.
const FEWEST: usize = 6;

/// So many sets of a tiling are looked at, spread over the world, and so many ranks of each.
const SAMPLED: (usize, usize) = (8, 4);

/// Ends lie apart as well as in the best tiling up to twice that and this many nanoseconds: recorders round to a microsecond.
const ALIKE: f64 = 500.0;

/// No two clocks drift apart faster, in nanoseconds for a nanosecond; what a fit explains by more than that counts as lying apart.
const FASTEST: f64 = 100e-6;

/// The parts of one lane, by member.
pub(super) type Lists = BTreeMap<u32, Vec<u32>>;

/// What one lane's ends say of a tiling.
#[derive(Clone, Copy, Debug)]
struct Score {
    tiling: Tiling,
    apart: f64,
}

/// What one lane's ends say of all of them, the best first.
struct Scored<'a> {
    lane: Lane,
    lists: &'a Lists,
    scores: Vec<Score>,
}

/// Finds the sets of lanes of which no trace says the group, those with most collectives first, and ties the clocks of their ranks.
pub(super) fn told(
    job: &Job,
    parts: &[Vec<Part>],
    lanes: &[(Lane, &Lists)],
    layout: Option<&Layout>,
    ties: &mut Ties,
    scratch: &mut Scratch,
) -> Vec<Told> {
    let world = job.world_size;
    if job.members.len() != world as usize || world < 2 || lanes.is_empty() {
        return Vec::new();
    }
    let fitting = layout.filter(|layout| layout.world() == u64::from(world));
    let tilings = fitting.map_or_else(|| Tiling::all(world), Tiling::of_layout);
    let mut order: Vec<&(Lane, &Lists)> = lanes.iter().collect();
    order.sort_by_key(|(lane, lists)| (std::cmp::Reverse(length(lists)), *lane));
    let mut all: Vec<Scored<'_>> = Vec::new();
    let mut told: Vec<Told> = Vec::new();
    for &&(lane, lists) in &order {
        let mut ends = Ends { job, parts, lists, known: BTreeMap::new() };
        let mut scores: Vec<Score> = Vec::new();
        for &tiling in &tilings {
            let apart = ends.apart(tiling, &mut ties.clone(), scratch);
            scores.extend(apart.map(|apart| Score { tiling, apart }));
        }
        scores.sort_by(|a, b| a.apart.total_cmp(&b.apart).then(a.tiling.cmp(&b.tiling)));
        let scored = Scored { lane, lists, scores };
        if let Some(choice) = choose(&scored) {
            // Only what is clear tells clocks: sets of all ranks may be smaller ones that run alike.
            if choice.tiling.size < world || world == 2 {
                ends.apart(choice.tiling, ties, scratch);
            }
            told.push(choice);
        }
        all.push(scored);
    }
    across(world, parts, &all, &mut told);
    told
}

/// How many parts a member of a lane has, in the middle.
pub(super) fn length(lists: &Lists) -> usize {
    let mut lengths: Vec<usize> = lists.values().map(Vec::len).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or(0)
}

/// How far ends of a lane lie apart.
struct Ends<'a> {
    job: &'a Job,
    parts: &'a [Vec<Part>],
    lists: &'a Lists,
    /// For pairs of members that were compared: how far their ends lie apart and by how much the second clock is ahead, if their lists fit each other.
    known: BTreeMap<(u32, u32), Option<(f64, f64)>>,
}

impl Ends<'_> {
    /// The median over ranks, and what contradicts known clocks; none if no two ranks of a set can be compared or if more than a quarter of the lists do not fit.
    fn apart(&mut self, tiling: Tiling, ties: &mut Ties, scratch: &mut Scratch) -> Option<f64> {
        let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (member, list) in self.lists {
            if list.len() >= FEWEST {
                let rank = self.job.members[*member as usize].rank;
                sets.entry(tiling.first(rank)).or_default().push(*member);
            }
        }
        let sets: Vec<Vec<u32>> = sets.into_values().filter(|set| set.len() > 1).collect();
        let mut values: Vec<f64> = Vec::new();
        let mut contradicts: Vec<f64> = Vec::new();
        let (mut pairs, mut unfit) = (0, 0);
        for set in spread(&sets, SAMPLED.0) {
            for &member in spread(&set[1..], SAMPLED.1) {
                pairs += 1;
                match self.pair(set[0], member, scratch) {
                    Some((apart, ahead)) => {
                        contradicts.push(ties.tie(set[0], member, ahead));
                        values.push(apart);
                    }
                    None => unfit += 1,
                }
            }
        }
        let against = contradicts.iter().sum::<f64>() / contradicts.len().max(1) as f64;
        (!values.is_empty() && unfit * 4 <= pairs).then(|| line::median(&mut values) + against)
    }

    fn pair(&mut self, first: u32, second: u32, scratch: &mut Scratch) -> Option<(f64, f64)> {
        if let Some(&known) = self.known.get(&(first, second)) {
            return known;
        }
        let parts = |member: u32| -> Vec<&Part> {
            self.lists[&member].iter().map(|&part| &self.parts[member as usize][part as usize]).collect()
        };
        let (one, other) = (parts(first), parts(second));
        let interval = shift::usual_interval(&one, scratch);
        let fit = shift::near(&one, &other, scratch).filter(|fit| fit.is_good(interval));
        // Points spread evenly along a slope lie a quarter of its rise from their middle.
        let apart = fit.map(|fit| {
            let excess = (fit.line.drift.abs() - FASTEST).max(0.0);
            (fit.line.scatter + excess * fit.line.span as f64 / 4.0, fit.line.offset)
        });
        self.known.insert((first, second), apart);
        apart
    }
}

/// Some of a list, spread evenly, the first among them.
fn spread<T>(list: &[T], most: usize) -> impl Iterator<Item = &T> {
    let step = list.len().div_ceil(most).max(1);
    list.iter().step_by(step)
}

/// Whether ends lie apart as little as the best do.
fn as_well(apart: f64, best: f64) -> bool {
    apart <= 2.0 * best + ALIKE
}

/// The largest sets whose ends lie apart as little as in the best; of several of one size the best, then the smallest stride.
fn choose(lane: &Scored<'_>) -> Option<Told> {
    let best = lane.scores.first()?;
    let (good, poor): (Vec<&Score>, Vec<&Score>) =
        lane.scores.iter().partition(|score| as_well(score.apart, best.apart));
    let size = good.iter().map(|score| score.tiling.size).max()?;
    let chosen = good.iter().find(|score| score.tiling.size == size)?;
    let next = poor.first().map(|score| (score.tiling, score.apart));
    Some(Told { lane: lane.lane, tiling: chosen.tiling, apart: chosen.apart, next, or: None })
}

/// Where collectives that reduce or gather go on in sets that tile a part of the world from stride 1 upwards, sets of all ranks (and lanes with
/// too few collectives to tell) are the sets across them: what is data parallel beside tensor parallel sets.
fn across(world: u32, parts: &[Vec<Part>], all: &[Scored<'_>], told: &mut [Told]) {
    let exchanges = |lane: &Scored<'_>| {
        let one = lane.lists.iter().next();
        let parts =
            one.map(|(member, list)| list.iter().map(|&part| &parts[*member as usize][part as usize]));
        parts.into_iter().flatten().any(|part| {
            part.operation
                .is_some_and(|o| o.is_message() || matches!(o, Operation::AllToAll | Operation::SendReceive))
        })
    };
    let plain: Vec<Tiling> = told
        .iter()
        .filter(|told| all.iter().any(|lane| lane.lane == told.lane && !exchanges(lane)))
        .map(|told| told.tiling)
        .filter(|tiling| tiling.size < world)
        .collect();
    let mut inner = 1;
    while let Some(next) = plain.iter().filter(|tiling| tiling.stride == inner).map(|t| t.size).min() {
        inner *= next;
    }
    if inner == 1 || inner >= world {
        return;
    }
    let outer = Tiling { size: world / inner, stride: inner };
    for lane in all.iter().filter(|lane| !exchanges(lane)) {
        let known = told.iter().position(|told| told.lane == lane.lane);
        let Some(score) = lane.scores.iter().find(|score| score.tiling == outer) else { continue };
        let best = lane.scores[0].apart;
        if let Some(at) = known
            && told[at].tiling.size == world
            && as_well(score.apart, best)
        {
            let all_ranks = Some((told[at].tiling, told[at].apart));
            told[at] = Told {
                lane: lane.lane,
                tiling: outer,
                apart: score.apart,
                next: told[at].next,
                or: all_ranks,
            };
        }
    }
}
