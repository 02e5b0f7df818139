//! Routes through a third group of a dragonfly, or through a third router of the same group: Valiant's
//! routing.
//!
//! Responsible for: a message's packets evenly over all thirds, minimally into each and minimally on.
//! Independent of load: `simulate` chooses between these routes and the minimal ones.
//!
//! J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008), section 4.1: Valiant's
//! algorithm at the level of groups. Within a group: local misrouting, as in M. García et al., "On-the-Fly
//! Adaptive Routing in High-Radix Hierarchical Networks" (ICPP 2012). By minimal routes alone, `p` hosts of a
//! router that send to one other router share a single link. The draw of each packet is an even share here.

use super::super::build::{Crossing, DragonflyLayout, DragonflyPlusLayout};
use super::super::dragonfly::{Dragonfly, DragonflyPlus};
use super::super::graph::LinkId;
use super::super::route::Route;
use super::Message;
use super::grouped::merged;

/// Number of routes for the packets of one message, unless there are more groups: then one through each. The
/// limit keeps a job of tens of thousands of ranks within the memory of a computer. Messages of neighbouring
/// devices use the adjacent routes.
const PATHS: u64 = 64;

/// Links of a network of groups between two switches.
struct Groups<'a> {
    count: u64,
    between: &'a dyn Fn(u64, u64) -> &'a [Crossing],
    /// The link of each position: within the first group, into the third, within it (one link or two), out
    /// of it, within the last.
    path: &'a dyn Fn(u64, Crossing, Crossing) -> [Option<LinkId>; 6],
}

impl Groups<'_> {
    /// Adds the links between both ends of a message from one group to another. Excludes routes with a broken
    /// link. False if no route is left.
    fn spread(
        &self,
        (here, there): (u64, u64),
        start: u64,
        is_alive: &dyn Fn(LinkId) -> bool,
        route: &mut Route,
    ) -> bool {
        let thirds = (0..self.count).filter(|third| *third != here && *third != there);
        let each = (PATHS / self.count.saturating_sub(2).max(1)).max(1);
        let mut of_groups: Vec<Vec<[Option<LinkId>; 6]>> = Vec::new();
        for third in thirds {
            let (into, out) = ((self.between)(here, third), (self.between)(third, there));
            if into.is_empty() || out.is_empty() {
                continue;
            }
            let link_paths = each.min(into.len().max(out.len()) as u64);
            // Adjacent routes, starting at the device's number.
            let numbers = (0..link_paths).map(|link_path| (start * link_paths + link_path) as usize);
            let paths = numbers.map(|n| (self.path)(third, into[n % into.len()], out[n % out.len()]));
            let whole: Vec<_> =
                paths.filter(|path| path.iter().flatten().all(|link| is_alive(*link))).collect();
            if !whole.is_empty() {
                of_groups.push(whole);
            }
        }
        let by_group = 1.0 / of_groups.len() as f64;
        for position in 0..6 {
            let links = of_groups.iter().flat_map(|link_paths| {
                let share = by_group / link_paths.len() as f64;
                link_paths.iter().filter_map(move |link_path| link_path[position].map(|link| (link, share)))
            });
            let links = merged(links.collect());
            if !links.is_empty() {
                route.side_by_side(links);
            }
        }
        !of_groups.is_empty()
    }
}

/// Routes through third groups of a dragonfly, or through third routers of a common group. False if no third
/// has a route.
pub(super) fn route(
    dragonfly: &Dragonfly,
    layout: &DragonflyLayout,
    message: Message,
    is_alive: &dyn Fn(LinkId) -> bool,
    route: &mut Route,
) -> bool {
    let place = |device: u64| {
        let router = device / dragonfly.hosts;
        (router / dragonfly.routers, router % dragonfly.routers)
    };
    let ((here, from), (there, to)) = (place(message.from), place(message.to));
    if here == there {
        return within_group(dragonfly, layout, here, (from, to), is_alive, route);
    }
    let path = |third: u64, into: Crossing, out: Crossing| {
        [
            layout.local(dragonfly, here, from, into.0),
            Some(into.1),
            layout.local(dragonfly, third, into.2, out.0),
            None,
            Some(out.1),
            layout.local(dragonfly, there, out.2, to),
        ]
    };
    let between = |a: u64, b: u64| layout.between(a, b);
    Groups { count: dragonfly.groups, between: &between, path: &path }.spread(
        (here, there),
        message.from,
        is_alive,
        route,
    )
}

/// Evenly through all other routers of the group. False if both ends are at one router, or no other router
/// has a route.
fn within_group(
    dragonfly: &Dragonfly,
    layout: &DragonflyLayout,
    group: u64,
    (from, to): (u64, u64),
    is_alive: &dyn Fn(LinkId) -> bool,
    route: &mut Route,
) -> bool {
    if from == to {
        return false;
    }
    let thirds = (0..dragonfly.routers).filter(|third| *third != from && *third != to);
    let both = |third| {
        let (into, out) =
            (layout.local(dragonfly, group, from, third)?, layout.local(dragonfly, group, third, to)?);
        (is_alive(into) && is_alive(out)).then_some((into, out))
    };
    let paths: Vec<(LinkId, LinkId)> = thirds.filter_map(both).collect();
    let share = 1.0 / paths.len() as f64;
    if !paths.is_empty() {
        route.side_by_side(paths.iter().map(|path| (path.0, share)));
        route.side_by_side(paths.iter().map(|path| (path.1, share)));
    }
    !paths.is_empty()
}

/// The same for a dragonfly+, whose groups have equal minimal routes over all spines, so that messages within
/// one group need no detour: a third group's spines are joined by its leaves, which such packets use in turn.
pub(super) fn route_plus(
    plus: &DragonflyPlus,
    layout: &DragonflyPlusLayout,
    message: Message,
    is_alive: &dyn Fn(LinkId) -> bool,
    route: &mut Route,
) -> bool {
    let (from, to) = (message.from / plus.hosts, message.to / plus.hosts);
    let (here, there) = (from / plus.leaves, to / plus.leaves);
    if here == there {
        return false;
    }
    let path = |third: u64, into: Crossing, out: Crossing| {
        let leaf = third * plus.leaves + (message.from + into.2 + out.0) % plus.leaves;
        let (down, up) = if into.2 == out.0 {
            (None, None)
        } else {
            (Some(layout.local(plus, leaf, into.2).reverse()), Some(layout.local(plus, leaf, out.0)))
        };
        [
            Some(layout.local(plus, from, into.0)),
            Some(into.1),
            down,
            up,
            Some(out.1),
            Some(layout.local(plus, to, out.2).reverse()),
        ]
    };
    let between = |a: u64, b: u64| layout.between(a, b);
    Groups { count: plus.groups, between: &between, path: &path }.spread(
        (here, there),
        message.from,
        is_alive,
        route,
    )
}
