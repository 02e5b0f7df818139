//! Orders of hosts with little traffic above leaves.
//!
//! Responsible for: hosts sorted by the network, and swaps of two hosts while they reduce the bytes above
//! leaves. Excludes the gain of an order: that is simulated.
//!
//! The measure is `sum over pairs of hosts of bytes x weight`, with the weight of [`Tree::weight`]: a
//! quadratic assignment, in which hosts of one domain are equivalent. Swaps of pairs are the descent of B.
//! Kernighan and S. Lin (Bell System Technical Journal 49, 1970) for partitions. It ends in a local minimum.

use super::{Allocation, Spot, Tree};
use crate::traffic::Matrix;
use std::ops::ControlFlow;

/// Maximum number of hosts for swaps: the number of pairs is its square.
pub const MOST_HOSTS: usize = 4096;
/// Terms of a sweep up to which swaps are tried: pairs of hosts times the hosts that both talk to. A second
/// or so.
const MOST_TERMS: f64 = 4e8;
/// Sweeps over all pairs; most orders are settled after three.
const MOST_SWEEPS: usize = 16;

/// Bytes of a step between hosts, by their index in the order of ranks; sum of both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    rows: Vec<Vec<(usize, f64)>>,
}

impl Between {
    /// Bytes of a step's traffic between the hosts of an allocation.
    pub fn new(matrix: &Matrix, allocation: &Allocation) -> Self {
        let host_of: Vec<usize> = allocation
            .hosts
            .iter()
            .enumerate()
            .flat_map(|(place, host)| std::iter::repeat_n(place, host.devices.len()))
            .collect();
        let mut rows = vec![std::collections::BTreeMap::new(); allocation.hosts.len()];
        matrix.for_each(|from, to, bytes| {
            if let (Some(&a), Some(&b)) = (host_of.get(from as usize), host_of.get(to as usize))
                && a != b
            {
                *rows[a].entry(b).or_insert(0.0) += bytes;
                *rows[b].entry(a).or_insert(0.0) += bytes;
            }
        });
        Self { rows: rows.into_iter().map(|row| row.into_iter().collect()).collect() }
    }

    /// Terms that the gains of all swaps of two hosts have together.
    fn terms(&self) -> f64 {
        let talking: usize = self.rows.iter().map(Vec::len).sum();
        self.rows.len() as f64 * talking as f64
    }

    /// Weighted bytes outside domains under an order.
    pub fn cost(&self, spots: &[Spot], tree: &Tree, order: &[usize]) -> f64 {
        let at = |place: usize| spots[order[place]];
        let sum = |place: usize| -> f64 {
            self.rows[place].iter().map(|(other, bytes)| bytes * tree.weight(at(place), at(*other))).sum()
        };
        (0..order.len()).map(sum).sum::<f64>() / 2.0
    }
}

/// Position of each host in the tree: pod, leaf group and domain.
pub fn spots(allocation: &Allocation, tree: &Tree) -> Vec<Spot> {
    allocation.hosts.iter().map(|host| tree.spot(host.devices.first().copied().unwrap_or(0))).collect()
}

/// Hosts sorted by pod, leaf group, domain and device.
pub fn by_network(allocation: &Allocation, tree: &Tree) -> Vec<usize> {
    let spots = spots(allocation, tree);
    let mut order: Vec<usize> = (0..allocation.hosts.len()).collect();
    order.sort_by_key(|place| (spots[*place], allocation.hosts[*place].devices.first().copied()));
    order
}

/// An order after swaps of two hosts with equal numbers of ranks, while a swap reduces the weighted bytes.
/// `None` for too many hosts, or after cancellation.
pub fn refined(
    allocation: &Allocation,
    tree: &Tree,
    between: &Between,
    start: &[usize],
    watch: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<Vec<usize>> {
    if start.len() > MOST_HOSTS || between.terms() > MOST_TERMS {
        return None;
    }
    let spots = spots(allocation, tree);
    let size = |host: usize| allocation.hosts[host].devices.len();
    let mut order = start.to_vec();
    // Rounding is not a gain.
    let least = between.cost(&spots, tree, &order) * 1e-9;
    for _ in 0..MOST_SWEEPS {
        let mut is_better = false;
        for a in 0..order.len() {
            if watch().is_break() {
                return None;
            }
            let others = (a + 1..order.len()).filter(|b| {
                let (one, other) = (order[a], order[*b]);
                size(one) == size(other) && spots[one].domain != spots[other].domain
            });
            let gains = others.map(|b| (gain(between, &spots, tree, &order, (a, b)), b));
            let best = gains.reduce(|best, next| if next.0 > best.0 { next } else { best });
            if let Some((_, b)) = best.filter(|(gain, _)| *gain > least) {
                order.swap(a, b);
                is_better = true;
            }
        }
        if !is_better {
            break;
        }
    }
    Some(order)
}

/// Weighted bytes that a swap of two hosts saves.
fn gain(between: &Between, spots: &[Spot], tree: &Tree, order: &[usize], (a, b): (usize, usize)) -> f64 {
    let (here, there) = (spots[order[a]], spots[order[b]]);
    let of = |place: usize, partner: usize, from: Spot, to: Spot| -> f64 {
        let others = between.rows[place].iter().filter(|(other, _)| *other != partner);
        others
            .map(|(other, bytes)| {
                let at = spots[order[*other]];
                bytes * (tree.weight(from, at) - tree.weight(to, at))
            })
            .sum()
    };
    of(a, b, here, there) + of(b, a, there, here)
}
