//! Rates of active flows, with those of earlier sets of flows.
//!
//! Responsible for: recognizing a set of active flows that was active before, and its rates. Flows of one
//! *kind* have the same route, and kinds that begin together are one *group*. Groups that share no link with
//! each other, directly or over other active groups, do not affect each other: each connected set of groups
//! has its own rates. Max-min fair rates depend on the number of active flows of each kind alone, so an equal
//! set has equal rates except for rounding. A pipeline repeats the same sets with every micro-batch. Networks
//! without kinds use the [`Allocator`] alone. Does not compute rates.
//!
//! A set is recognized by a sum of 128-bit hashes, one for each flow. Two different sets of a program with a
//! million sets have the same sum with a probability of 10^-27.

use super::allocator::{Allocator, Slot};
use crate::topology::mix;
use std::collections::BTreeMap;

/// Maximum number of rates of one generation of sets. Older ones are dropped, so that a program without
/// repetition does not fill the memory.
const MOST_RATES: usize = 1 << 21;

/// A sender with a single route.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    /// Senders that usually begin together.
    pub group: u32,
    /// Links of its messages, as in `Wires::route`.
    pub route: &'a [(u32, f64)],
}

/// Rates of active flows.
pub(super) struct Rates {
    allocator: Allocator,
    kinds: Option<Kinds>,
}

/// Active flows by kind. Slots are those of this structure, not of the allocator.
struct Kinds {
    of: Vec<Kind>,
    groups: Vec<Group>,
    /// By slot: its kind, its position in the list of the kind, and its rate in bytes per second.
    slots: Vec<(u32, u32, f64)>,
    free: Vec<u32>,
    /// Groups with other flows than in the last solution.
    changed: Vec<u32>,
    known: Known,
    /// Number of solutions.
    solution: u64,
    /// A connected set of groups.
    set: Vec<u32>,
}

struct Kind {
    group: u32,
    route: Vec<(u32, f64)>,
    active: Vec<u32>,
    /// Position in the list of live kinds.
    at: u32,
    /// Its flow in the allocator, and the number of flows that it represents.
    held: Option<(Slot, usize)>,
    is_stale: bool,
}

#[derive(Clone, Default)]
struct Group {
    /// Groups with a common link, itself excluded.
    neighbours: Vec<u32>,
    /// Kinds with active flows.
    live: Vec<u32>,
    /// Sum of the hashes of all active flows.
    sum: u128,
    /// Kinds with another number of flows in the allocator.
    stale: Vec<u32>,
    is_changed: bool,
    /// The solution that last visited it.
    seen: u64,
}

/// Rates by kind for each set, in two generations.
#[derive(Default)]
struct Known {
    now: BTreeMap<u128, Box<[(u32, f64)]>>,
    before: BTreeMap<u128, Box<[(u32, f64)]>>,
    size: usize,
}

impl Known {
    fn of(&mut self, sum: u128) -> Option<&[(u32, f64)]> {
        if let Some(rates) = self.before.remove(&sum) {
            self.add(sum, rates);
        }
        self.now.get(&sum).map(AsRef::as_ref)
    }

    fn add(&mut self, sum: u128, rates: Box<[(u32, f64)]>) {
        if self.size + rates.len() > MOST_RATES {
            self.before = std::mem::take(&mut self.now);
            self.size = 0;
        }
        self.size += rates.len();
        self.now.insert(sum, rates);
    }
}

fn hash(kind: u32) -> u128 {
    let low = mix(u64::from(kind));
    u128::from(mix(low ^ u64::MAX)) << 64 | u128::from(low)
}

impl Rates {
    /// A network without flows; capacities in bytes per second. `senders` are all senders if each has a
    /// single route, otherwise none.
    pub(super) fn new(capacities: Vec<f64>, senders: &[Sender<'_>]) -> Self {
        let kinds = (!senders.is_empty()).then(|| Kinds::new(capacities.len(), senders));
        Self { allocator: Allocator::new(capacities), kinds }
    }

    /// Adds a flow of a sender.
    pub(super) fn insert(&mut self, route: &[(u32, f64)], sender: u32) -> Slot {
        match &mut self.kinds {
            None => self.allocator.insert(route),
            Some(kinds) => kinds.insert(sender),
        }
    }

    /// Removes a flow.
    pub(super) fn remove(&mut self, slot: Slot) {
        match &mut self.kinds {
            None => self.allocator.remove(slot),
            Some(kinds) => kinds.remove(slot),
        }
    }

    /// Calls `changed` for all flows with another rate than after the last solution.
    pub(super) fn solve(&mut self, mut changed: impl FnMut(Slot, f64)) {
        match &mut self.kinds {
            None => self.allocator.solve(changed),
            Some(kinds) => kinds.solve(&mut self.allocator, &mut changed),
        }
    }
}

impl Kinds {
    fn new(links: usize, senders: &[Sender<'_>]) -> Self {
        let count = senders.iter().map(|sender| sender.group as usize + 1).max().unwrap_or(0);
        let mut passing: Vec<Vec<u32>> = vec![Vec::new(); links];
        for sender in senders {
            for &(link, _) in sender.route {
                passing[link as usize].push(sender.group);
            }
        }
        let mut groups = vec![Group::default(); count];
        for mut all in passing {
            all.sort_unstable();
            all.dedup();
            for &group in &all {
                groups[group as usize].neighbours.extend(all.iter().filter(|other| **other != group));
            }
        }
        for group in &mut groups {
            group.neighbours.sort_unstable();
            group.neighbours.dedup();
        }
        let kind = |sender: &Sender<'_>| Kind {
            group: sender.group,
            route: sender.route.to_vec(),
            active: Vec::new(),
            at: 0,
            held: None,
            is_stale: false,
        };
        Self {
            of: senders.iter().map(kind).collect(),
            groups,
            slots: Vec::new(),
            free: Vec::new(),
            changed: Vec::new(),
            known: Known::default(),
            solution: 0,
            set: Vec::new(),
        }
    }

    fn insert(&mut self, number: u32) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, 0, 0.0));
            self.slots.len() as u32 - 1
        });
        let kind = &mut self.of[number as usize];
        let group = &mut self.groups[kind.group as usize];
        self.slots[slot as usize] = (number, kind.active.len() as u32, 0.0);
        if kind.active.is_empty() {
            kind.at = group.live.len() as u32;
            group.live.push(number);
        }
        kind.active.push(slot);
        group.sum = group.sum.wrapping_add(hash(number));
        self.changes(number);
        Slot(slot)
    }

    fn remove(&mut self, Slot(slot): Slot) {
        let (number, place, _) = self.slots[slot as usize];
        let kind = &mut self.of[number as usize];
        let group = &mut self.groups[kind.group as usize];
        kind.active.swap_remove(place as usize);
        if let Some(moved) = kind.active.get(place as usize) {
            self.slots[*moved as usize].1 = place;
        }
        group.sum = group.sum.wrapping_sub(hash(number));
        if kind.active.is_empty() {
            let at = kind.at;
            group.live.swap_remove(at as usize);
            if let Some(&moved) = group.live.get(at as usize) {
                self.of[moved as usize].at = at;
            }
        }
        self.free.push(slot);
        self.changes(number);
    }

    fn changes(&mut self, number: u32) {
        let kind = &mut self.of[number as usize];
        let group = &mut self.groups[kind.group as usize];
        if !kind.is_stale {
            kind.is_stale = true;
            group.stale.push(number);
        }
        if !group.is_changed {
            group.is_changed = true;
            self.changed.push(kind.group);
        }
    }

    fn solve(&mut self, allocator: &mut Allocator, changed: &mut impl FnMut(Slot, f64)) {
        self.solution += 1;
        let mut groups = std::mem::take(&mut self.changed);
        for group in groups.drain(..) {
            self.groups[group as usize].is_changed = false;
            if !self.groups[group as usize].live.is_empty() {
                self.solve_set(group, allocator, changed);
                continue;
            }
            // The groups that it connected may be separate now.
            for at in 0..self.groups[group as usize].neighbours.len() {
                self.solve_set(self.groups[group as usize].neighbours[at], allocator, changed);
            }
        }
        self.changed = groups;
    }

    /// Sets the rates of a live group and of all that are connected with it, once in a solution.
    fn solve_set(&mut self, first: u32, allocator: &mut Allocator, changed: &mut impl FnMut(Slot, f64)) {
        let Self { groups, set, solution, .. } = self;
        set.clear();
        let add = |groups: &mut [Group], set: &mut Vec<u32>, number: u32| {
            let group = &mut groups[number as usize];
            if group.seen < *solution && !group.live.is_empty() {
                group.seen = *solution;
                set.push(number);
            }
        };
        add(groups, set, first);
        let (mut sum, mut at) = (0_u128, 0);
        while let Some(&number) = set.get(at) {
            at += 1;
            sum = sum.wrapping_add(groups[number as usize].sum);
            let neighbours = std::mem::take(&mut groups[number as usize].neighbours);
            for &other in &neighbours {
                add(groups, set, other);
            }
            groups[number as usize].neighbours = neighbours;
        }
        if set.is_empty() {
            return;
        }
        if self.known.of(sum).is_none() {
            let rates = self.rates(allocator);
            self.known.add(sum, rates);
        }
        for &(number, rate) in self.known.of(sum).unwrap_or_default() {
            for &slot in &self.of[number as usize].active {
                let own = &mut self.slots[slot as usize].2;
                if *own != rate {
                    *own = rate;
                    changed(Slot(slot), rate);
                }
            }
        }
    }

    /// Rates of the active kinds of the set, computed by the allocator after all changes of flows that share
    /// a link with them. Such flows are in the set, or have ended.
    fn rates(&mut self, allocator: &mut Allocator) -> Box<[(u32, f64)]> {
        let Self { of, groups, set, .. } = self;
        for &number in set.iter() {
            let neighbours = std::mem::take(&mut groups[number as usize].neighbours);
            for &group in std::iter::once(&number).chain(&neighbours) {
                for kind in groups[group as usize].stale.drain(..) {
                    of[kind as usize].hold(allocator);
                }
            }
            groups[number as usize].neighbours = neighbours;
        }
        allocator.solve(|_, _| ());
        let live = set.iter().flat_map(|&group| &groups[group as usize].live);
        let rate = |kind: &Kind| kind.held.map_or(0.0, |(slot, _)| allocator.rate(slot));
        live.map(|&number| (number, rate(&of[number as usize]))).collect()
    }
}

impl Kind {
    /// Gives the allocator the active flows. They have equal rates, so one flow represents them, with the sum
    /// of their shares on each link.
    fn hold(&mut self, allocator: &mut Allocator) {
        self.is_stale = false;
        let count = self.active.len();
        if self.held.is_some_and(|(_, held)| held == count) {
            return;
        }
        if let Some((slot, _)) = self.held.take() {
            allocator.remove(slot);
        }
        if count > 0 {
            let route: Vec<(u32, f64)> =
                self.route.iter().map(|&(link, share)| (link, share * count as f64)).collect();
            self.held = Some((allocator.insert(&route), count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: u32 = 12;
    const LINKS: u32 = 12;

    proptest! {
        /// Rates of repeated sets are those of the allocator alone, flow by flow.
        #[test]
        fn repeated_sets_have_the_rates_of_the_allocator(
            routes in proptest::collection::vec(proptest::collection::vec(0_u32..LINKS, 1..3), KINDS as usize),
            groups in proptest::collection::vec(0_u32..6, KINDS as usize),
            batches in proptest::collection::vec(proptest::collection::vec((0_u32..KINDS, any::<bool>()), 1..4), 1..60),
        ) {
            let capacities: Vec<f64> = (0..LINKS).map(|n| 10.0 + f64::from(n)).collect();
            let routes: Vec<Vec<(u32, f64)>> = routes
                .into_iter()
                .map(|mut links| {
                    links.sort_unstable();
                    links.dedup();
                    links.into_iter().map(|link| (link, 1.0)).collect()
                })
                .collect();
            let mut alone = Allocator::new(capacities.clone());
            let senders: Vec<Sender<'_>> =
                routes.iter().zip(&groups).map(|(route, &group)| Sender { group, route }).collect();
            let mut rates = Rates::new(capacities, &senders);
            let mut active: Vec<(u32, Slot, Slot)> = Vec::new();
            let mut own: Vec<f64> = Vec::new();
            for batch in batches {
                for (kind, begins) in batch {
                    let route = &routes[kind as usize];
                    if begins {
                        active.push((kind, rates.insert(route, kind), alone.insert(route)));
                    } else if let Some(at) = active.iter().position(|one| one.0 == kind) {
                        let (_, here, there) = active.swap_remove(at);
                        rates.remove(here);
                        alone.remove(there);
                    }
                }
                alone.solve(|_, _| ());
                rates.solve(|slot, rate| {
                    if own.len() <= slot.0 as usize {
                        own.resize(slot.0 as usize + 1, 0.0);
                    }
                    own[slot.0 as usize] = rate;
                });
                for (_, here, there) in &active {
                    let (here, there) = (own[here.0 as usize], alone.rate(*there));
                    prop_assert!((here / there - 1.0).abs() < 1e-9, "{} {}", here, there);
                }
            }
        }
    }

    /// A set that was active before needs no solution, also after others: the allocator still has the flows
    /// of its last solution. A group on another link is a set of its own.
    #[test]
    fn a_repeated_set_is_not_solved_again() {
        let (route, other) = ([(0, 1.0)], [(1, 1.0)]);
        let sender = |group, route| Sender { group, route };
        let mut rates =
            Rates::new(vec![6.0, 2.0], &[sender(0, &route), sender(1, &route), sender(2, &other)]);
        let mut seen = Vec::new();
        let mut slots = Vec::new();
        for round in 0..4 {
            if round == 3 {
                rates.insert(&other, 2);
                rates.solve(|_, rate| assert_eq!(rate, 2.0));
            }
            for kind in [0, 1] {
                slots.push(rates.insert(&route, kind));
                rates.solve(|slot, rate| seen.push((slot, rate)));
            }
            for slot in slots.drain(..) {
                rates.remove(slot);
                rates.solve(|slot, rate| seen.push((slot, rate)));
            }
        }
        let kinds = rates.kinds.as_ref().expect("kinds");
        assert_eq!(kinds.known.now.len(), 4, "both on a link, each alone, and the other link");
        let each: Vec<f64> = seen.iter().map(|(_, rate)| *rate).collect();
        assert_eq!(each, [[6.0, 3.0, 3.0, 6.0]; 4].concat());
    }
}
