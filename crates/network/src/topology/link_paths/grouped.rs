//! Shortest routes through dragonflies: within the group, over one global link, within the other group.
//!
//! Responsible for: the links between the routers of both ends. Excludes detours through third groups, which
//! are in `valiant`.

use super::super::build::{DragonflyLayout, DragonflyPlusLayout};
use super::super::dragonfly::{Dragonfly, DragonflyPlus};
use super::super::graph::LinkId;
use super::super::hash::Choices;
use super::super::kind::Routing;
use super::super::route::Route;
use super::Message;

/// All of the ways, or the one that hash or destination choose.
fn chosen<'a, T>(
    link_paths: &'a [T],
    routing: Routing,
    by_destination: u64,
    choices: &mut Choices,
) -> &'a [T] {
    let n = link_paths.len() as u64;
    match routing {
        _ if n < 2 => link_paths,
        Routing::Spray | Routing::Valiant | Routing::Adaptive => link_paths,
        Routing::Ecmp => std::slice::from_ref(&link_paths[choices.below(n) as usize]),
        Routing::Static => std::slice::from_ref(&link_paths[(by_destination % n) as usize]),
    }
}

/// Merges equal links, in the order of their numbers.
pub(super) fn merged(mut links: Vec<(LinkId, f64)>) -> Vec<(LinkId, f64)> {
    links.sort_by_key(|(link, _)| *link);
    let mut out: Vec<(LinkId, f64)> = Vec::with_capacity(links.len());
    for (link, share) in links {
        match out.last_mut() {
            Some(last) if last.0 == link => last.1 += share,
            _ => out.push((link, share)),
        }
    }
    out
}

pub(super) fn route(
    dragonfly: &Dragonfly,
    layout: &DragonflyLayout,
    message: Message,
    routing: Routing,
    choices: &mut Choices,
    route: &mut Route,
) {
    let place = |device: u64| {
        let router = device / dragonfly.hosts;
        (router / dragonfly.routers, router % dragonfly.routers)
    };
    let ((group, from), (other, to)) = (place(message.from), place(message.to));
    if group == other {
        if let Some(link) = layout.local(dragonfly, group, from, to) {
            route.push(link);
        }
        return;
    }
    let link_paths = chosen(layout.between(group, other), routing, message.to, choices);
    let share = 1.0 / link_paths.len().max(1) as f64;
    let local = |group: u64, a: u64, b: u64| layout.local(dragonfly, group, a, b).map(|link| (link, share));
    let first: Vec<_> = link_paths.iter().filter_map(|(near, ..)| local(group, from, *near)).collect();
    let last: Vec<_> = link_paths.iter().filter_map(|(.., far)| local(other, *far, to)).collect();
    for links in [first, link_paths.iter().map(|(_, link, _)| (*link, share)).collect(), last] {
        if !links.is_empty() {
            route.side_by_side(merged(links));
        }
    }
}

pub(super) fn route_plus(
    plus: &DragonflyPlus,
    layout: &DragonflyPlusLayout,
    message: Message,
    routing: Routing,
    choices: &mut Choices,
    route: &mut Route,
) {
    let (from, to) = (message.from / plus.hosts, message.to / plus.hosts);
    if from == to {
        return;
    }
    let (group, other) = (from / plus.leaves, to / plus.leaves);
    if group == other {
        let all: Vec<u64> = (0..plus.spines).collect();
        let spines = chosen(&all, routing, message.to, choices);
        let share = 1.0 / spines.len().max(1) as f64;
        route.side_by_side(spines.iter().map(|spine| (layout.local(plus, from, *spine), share)));
        route.side_by_side(spines.iter().map(|spine| (layout.local(plus, to, *spine).reverse(), share)));
        return;
    }
    let link_paths = chosen(layout.between(group, other), routing, message.to, choices);
    let share = 1.0 / link_paths.len().max(1) as f64;
    let up = link_paths.iter().map(|(near, ..)| (layout.local(plus, from, *near), share)).collect();
    let down = link_paths.iter().map(|(.., far)| (layout.local(plus, to, *far).reverse(), share)).collect();
    route.side_by_side(merged(up));
    route.side_by_side(merged(link_paths.iter().map(|(_, link, _)| (*link, share)).collect()));
    route.side_by_side(merged(down));
}
