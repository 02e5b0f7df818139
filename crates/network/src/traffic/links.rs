//! Bytes of a step on every link of a network.
//!
//! Responsible for: adding each pair's bytes to the links of its route, and sums by layer. Excludes times and
//! dependencies ([`crate::flow`]).

use super::{Matrix, Place};
use crate::topology::{Graph, Layer, LinkId, NodeId, Topology};
use railwright_spec::human;
use railwright_spec::problem::{ALWAYS, Problem, Wanted};
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// Direction of the links of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Direction from devices upwards.
    Up,
    /// Down towards devices.
    Down,
    /// Among equals: within and between groups of a dragonfly, in a torus.
    Either,
}

/// Links of one layer and direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkRow {
    /// Layer.
    pub layer: Layer,
    /// Direction.
    pub direction: Direction,
    /// Links.
    pub links: u64,
    /// Number of these links with traffic.
    pub used: u64,
    /// Bytes of all links per step.
    pub bytes: Bytes,
    /// Bytes of one, mean over all.
    pub mean: Bytes,
    /// Bytes of the busiest.
    pub most: Bytes,
    /// Time of the busiest at its bandwidth, a lower bound on the step.
    pub busy: Seconds,
    /// The busiest link; a printer names its ends.
    #[serde(skip)]
    pub busiest: Option<BusiestLink>,
}

/// The ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusiestLink {
    /// Its number.
    pub link: LinkId,
    /// Node at its start.
    pub from: NodeId,
    /// Node at its end.
    pub to: NodeId,
}

/// Bytes on links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads {
    /// Bytes by link number.
    pub bytes: Vec<f64>,
    /// Bytes between pairs without a route.
    pub unjoined: f64,
}

/// Maximum number of pairs whose routes are computed: some 5 seconds.
const MOST_PAIRS: u64 = 100_000_000;
/// Pairs between two checks for cancellation: some milliseconds.
const PAIRS_AT_ONCE: u64 = 1 << 16;

impl Loads {
    /// A problem if the number of pairs exceeds the limit.
    pub fn check(matrix: &Matrix) -> Result<(), Problem> {
        let pairs = matrix.pairs();
        if pairs <= MOST_PAIRS {
            return Ok(());
        }
        Err(Problem::new(format!(
            "{} pairs of ranks communicate over separate routes, more than the limit of {}",
            human::whole(pairs),
            human::whole(MOST_PAIRS)
        ))
        .hint("rings have few pairs (`--algorithm ring`); `--by domain` and `--by rail` need no routes"))
    }

    /// Loads of a step: one flow for each pair, on the route from the routing. O(pairs with traffic).
    pub fn new(matrix: &Matrix, place: &Place, topology: &Topology) -> Self {
        let Ok(loads) = Self::watched(matrix, place, topology, ALWAYS);
        loads
    }

    /// Cancellable variant: `wanted` is called periodically.
    pub fn watched<E>(
        matrix: &Matrix,
        place: &Place,
        topology: &Topology,
        wanted: Wanted<'_, E>,
    ) -> Result<Self, E> {
        let mut loads = Self { bytes: vec![0.0; topology.graph.link_count()], unjoined: 0.0 };
        let (mut pairs, mut end) = (0_u64, Ok(()));
        matrix.for_each(|from, to, bytes| {
            if pairs.is_multiple_of(PAIRS_AT_ONCE) && end.is_ok() {
                end = wanted();
            }
            pairs += 1;
            if end.is_err() {
                // No more routes are computed, so the rest of the walk is short.
                return;
            }
            match topology.route(place.device(from), place.device(to), 0) {
                Some(route) => {
                    for hop in &route.hops {
                        loads.bytes[hop.link.index()] += bytes * hop.share;
                    }
                }
                None => loads.unjoined += bytes,
            }
        });
        end.map(|()| loads)
    }

    /// Rows by layer and direction, from the devices upwards. Layers without links are omitted.
    pub fn rows(&self, graph: &Graph) -> Vec<LinkRow> {
        let mut rows: Vec<LinkRow> = Vec::new();
        for (index, bytes) in self.bytes.iter().enumerate() {
            let link = LinkId(index as u32);
            let layer = graph.class(link).layer;
            let direction = direction(layer, link);
            let place = rows.iter().position(|row| (row.layer, row.direction) == (layer, direction));
            let place = place.unwrap_or_else(|| {
                rows.push(LinkRow::empty(layer, direction));
                rows.len() - 1
            });
            let row = &mut rows[place];
            row.links += 1;
            row.bytes += Bytes::new(*bytes);
            if *bytes > 0.0 {
                row.used += 1;
                row.busy = row.busy.max(Bytes::new(*bytes) / graph.capacity(link));
            }
            if *bytes > row.most.get() {
                row.most = Bytes::new(*bytes);
                row.busiest = Some(BusiestLink { link, from: graph.from(link), to: graph.to(link) });
            }
        }
        for row in &mut rows {
            row.mean = row.bytes / row.links as f64;
        }
        rows.sort_by_key(|row| (row.layer, row.direction));
        rows
    }
}

impl LinkRow {
    const fn empty(layer: Layer, direction: Direction) -> Self {
        Self {
            layer,
            direction,
            links: 0,
            used: 0,
            bytes: Bytes::ZERO,
            mean: Bytes::ZERO,
            most: Bytes::ZERO,
            busy: Seconds::ZERO,
            busiest: None,
        }
    }
}

/// Cables point upwards: of their two links the first leads up.
const fn direction(layer: Layer, link: LinkId) -> Direction {
    match layer {
        Layer::Local | Layer::Global | Layer::Torus => Direction::Either,
        _ if link.0.is_multiple_of(2) => Direction::Up,
        _ => Direction::Down,
    }
}
