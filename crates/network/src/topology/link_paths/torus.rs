//! Shortest routes through a torus, one dimension after the other.
//!
//! Responsible for: the order of dimensions (fixed, by hash, or all orders with equal shares) and the nearer
//! side of each ring. Excludes adaptive detours.

use super::super::graph::LinkId;
use super::super::hash::Choices;
use super::super::kind::Routing;
use super::super::route::Route;
use super::super::torus::Torus;
use super::Message;
use crate::topology::graph::nth;
use std::collections::BTreeMap;

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

pub(super) fn route(
    torus: &Torus,
    first: [LinkId; 3],
    message: Message,
    routing: Routing,
    choices: &mut Choices,
    route: &mut Route,
) {
    // One bit per dimension selects the direction at equal distance.
    let sides = |n: usize| [n & 1 == 1, n & 2 == 2, n & 4 == 4];
    let link_paths: Vec<([usize; 3], [bool; 3])> = match routing {
        Routing::Static => vec![(ORDERS[0], [false; 3])],
        Routing::Ecmp => vec![(ORDERS[choices.below(6) as usize], sides(choices.below(8) as usize))],
        Routing::Spray | Routing::Valiant | Routing::Adaptive => {
            ORDERS.iter().flat_map(|order| (0..8).map(|n| (*order, sides(n)))).collect()
        }
    };
    let share = 1.0 / link_paths.len() as f64;
    let mut shares: BTreeMap<(usize, LinkId), f64> = BTreeMap::new();
    for (order, side) in &link_paths {
        for (position, link) in walk(torus, first, message, *order, *side).into_iter().enumerate() {
            *shares.entry((position, link)).or_default() += share;
        }
    }
    let mut layer = Vec::new();
    let mut at = 0;
    for ((position, link), share) in shares {
        if position != at {
            route.side_by_side(std::mem::take(&mut layer));
            at = position;
        }
        layer.push((link, share));
    }
    if !layer.is_empty() {
        route.side_by_side(layer);
    }
}

fn walk(
    torus: &Torus,
    first: [LinkId; 3],
    message: Message,
    order: [usize; 3],
    back: [bool; 3],
) -> Vec<LinkId> {
    let mut place = torus.place(message.from);
    let goal = torus.place(message.to);
    let mut links = Vec::new();
    for dimension in order {
        let Some(&size) = torus.dimensions.get(dimension) else { continue };
        let ahead = (goal[dimension] + size - place[dimension]) % size;
        let behind = (size - ahead) % size;
        let backwards = behind < ahead || (behind == ahead && back[dimension]);
        for _ in 0..ahead.min(behind) {
            let step = if backwards { size - 1 } else { 1 };
            let here = torus.device(place);
            place[dimension] = (place[dimension] + step) % size;
            // A device's link along a dimension leads to its next neighbour; the reverse link belongs to that
            // neighbour.
            links.push(if backwards {
                nth(first[dimension], torus.device(place)).reverse()
            } else {
                nth(first[dimension], here)
            });
        }
    }
    links
}
