//! Route of a message, as a value.
//!
//! Responsible for: the links that a message uses, with its share on each. Does not simulate transfers.

use super::graph::{Graph, LinkId};
use railwright_spec::quantity::Seconds;

/// A link that a message uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// Share of the message on the link: 1 on the only route, 1/n if packets are sprayed over n routes.
    pub share: f64,
    /// Position along the route: links with the same position are alternatives or parallel.
    pub position: u32,
}

/// The route of a message between two devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// The links, sorted by position.
    pub hops: Vec<Hop>,
}

impl Route {
    /// Adds the only link of the next position.
    pub fn push(&mut self, link: LinkId) {
        let position = self.next_position();
        self.hops.push(Hop { link, share: 1.0, position });
    }

    /// Adds the links of the next position, each with its share.
    pub fn side_by_side(&mut self, links: impl IntoIterator<Item = (LinkId, f64)>) {
        let position = self.next_position();
        self.hops.extend(links.into_iter().map(|(link, share)| Hop { link, share, position }));
    }

    /// Continues with another route.
    pub fn append(&mut self, other: Self) {
        let position = self.next_position();
        self.hops.extend(other.hops.into_iter().map(|hop| Hop { position: hop.position + position, ..hop }));
    }

    /// Several routes, each with the same share of a message.
    pub(crate) fn evenly(routes: Vec<Self>) -> Self {
        let share = 1.0 / routes.len() as f64;
        let mut all = Self::default();
        for hop in routes.into_iter().flat_map(|route| route.hops) {
            let is_same = |known: &&mut Hop| known.link == hop.link && known.position == hop.position;
            match all.hops.iter_mut().find(is_same) {
                Some(known) => known.share += hop.share * share,
                None => all.hops.push(Hop { share: hop.share * share, ..hop }),
            }
        }
        all.hops.sort_by_key(|hop| hop.position);
        all
    }

    fn next_position(&self) -> u32 {
        self.hops.last().map_or(0, |hop| hop.position + 1)
    }

    /// Positions, which is the number of links that each packet passes.
    pub fn length(&self) -> usize {
        self.hops.last().map_or(0, |hop| hop.position as usize + 1)
    }

    /// Time until the first byte arrives: `sum of latencies along the way`; that of the slowest route if
    /// packets are sprayed.
    pub fn latency(&self, graph: &Graph) -> Seconds {
        let mut total = Seconds::ZERO;
        for side_by_side in self.hops.chunk_by(|a, b| a.position == b.position) {
            total += side_by_side.iter().map(|h| graph.latency(h.link)).fold(Seconds::ZERO, Seconds::max);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_appended_route_follows_the_first() {
        let mut route = Route::default();
        route.push(LinkId(0));
        let mut rest = Route::default();
        rest.push(LinkId(1));
        rest.side_by_side([(LinkId(2), 0.5), (LinkId(3), 0.5)]);
        route.append(rest);
        let positions: Vec<(LinkId, u32)> = route.hops.iter().map(|hop| (hop.link, hop.position)).collect();
        assert_eq!(positions, [(LinkId(0), 0), (LinkId(1), 1), (LinkId(2), 2), (LinkId(3), 2)]);
        assert_eq!(route.length(), 3);
    }
}
