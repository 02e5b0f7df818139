//! Time of a late rank and of its peers.
//!
//! Responsible for: sums over the intervals in which the rank delayed others, and over whole steps. Does not
//! decide the cause.

use super::event::Chains;
use super::peers::Stretches;
use super::stretch::Stretch;
use crate::occupancy::{Occupancy, Spent};
use crate::windows::{StepWindow, Windows};
use std::collections::{BTreeMap, BTreeSet};

/// Sums over intervals, of a rank and of its peers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Compared {
    pub own: Spent,
    pub peers: Spent,
    /// Number of intervals with peers.
    pub stretches: u32,
    /// Excess of the rank's intervals over its peers, in nanoseconds. A cause must explain it.
    pub excess: i64,
}

/// Time of an interval by activity, without waits.
fn spent(chains: &Chains, occupancies: &[Occupancy], stretch: &Stretch) -> Spent {
    let mut sum = Spent::default();
    for (from, to) in stretch.parts(chains) {
        add(&mut sum, &occupancies[stretch.member as usize].spent(from, to));
    }
    sum
}

/// Sums the selected intervals of a member and those of its peers.
pub(super) fn compared(
    member: usize,
    chains: &Chains,
    stretches: &Stretches,
    occupancies: &[Occupancy],
    wanted: &dyn Fn(&Stretch) -> bool,
) -> Compared {
    let mut sum = Compared::default();
    for stretch in stretches.lists[member].iter().filter(|stretch| wanted(stretch)) {
        let own = spent(chains, occupancies, stretch);
        let others: Vec<Spent> =
            stretches.others(stretch, 16).map(|peer| spent(chains, occupancies, peer)).collect();
        let Some(peers) = middle(&others) else { continue };
        add(&mut sum.own, &own);
        add(&mut sum.peers, &peers);
        sum.stretches += 1;
        sum.excess += stretch.own - stretch.usual;
    }
    sum
}

/// Lower median of each part; `None` without peers.
fn middle(others: &[Spent]) -> Option<Spent> {
    let at = others.len().checked_sub(1)? / 2;
    let of = |get: fn(&Spent) -> i64| {
        let mut values: Vec<i64> = others.iter().map(get).collect();
        *values.select_nth_unstable(at).1
    };
    Some(Spent {
        compute: of(|s| s.compute),
        exposed: of(|s| s.exposed),
        copy: of(|s| s.copy),
        host: of(|s| s.host),
        late: of(|s| s.late),
        idle: of(|s| s.idle),
        kernels: of(|s| s.kernels),
    })
}

/// A comparison of whole steps.
pub(super) struct Whole {
    pub compared: Compared,
    pub steps: usize,
}

/// Comparison by whole steps. Selects steps in which the given intervals of a member exceed those of its
/// peers by at least a quarter of the worst step. The peers contribute the same steps.
pub(super) fn compared_steps(
    member: usize,
    stretches: &Stretches,
    occupancies: &[Occupancy],
    windows: &Windows,
    wanted: &dyn Fn(&Stretch) -> bool,
) -> Whole {
    let mut peers: BTreeSet<usize> = BTreeSet::new();
    let mut excess: BTreeMap<usize, i64> = BTreeMap::new();
    for stretch in stretches.lists[member].iter().filter(|stretch| wanted(stretch)) {
        let Some(column) = stretch.column else { continue };
        if peers.len() < 16 {
            let others = stretches.columns[column as usize].iter().map(|at| at.0 as usize);
            peers.extend(others.filter(|&other| other != member).take(16));
        }
        // The end of a step belongs to the step.
        let step = windows.steps.partition_point(|step| step.end < stretch.to);
        if step < windows.steps.len() {
            *excess.entry(step).or_default() += stretch.own - stretch.usual;
        }
    }
    let worst = excess.values().copied().max().unwrap_or(0);
    let mut whole = Whole { compared: Compared::default(), steps: 0 };
    for (step, excess) in excess.into_iter().filter(|&(_, excess)| excess.saturating_mul(4) >= worst) {
        let window = &windows.steps[step];
        let spent = |member: usize, window: &StepWindow| occupancies[member].spent(window.start, window.end);
        let others: Vec<Spent> =
            peers.iter().filter(|&&peer| window.holds(peer)).map(|&peer| spent(peer, window)).collect();
        let Some(usual) = middle(&others).filter(|_| window.holds(member)) else { continue };
        add(&mut whole.compared.own, &spent(member, window));
        add(&mut whole.compared.peers, &usual);
        whole.compared.stretches += 1;
        whole.steps += 1;
        whole.compared.excess += excess;
    }
    whole
}

fn add(sum: &mut Spent, other: &Spent) {
    sum.compute += other.compute;
    sum.exposed += other.exposed;
    sum.copy += other.copy;
    sum.host += other.host;
    sum.late += other.late;
    sum.idle += other.idle;
    sum.kernels += other.kernels;
}
