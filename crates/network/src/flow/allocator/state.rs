//! Rates of all active flows, and the links that they pass.

use super::level::Level;
use super::order::Order;
use super::queue::Queue;
use super::routes::Routes;

/// The other link of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series {
    /// [`NONE`] without one.
    pub(super) mate: u32,
    /// True if the other one precedes it on routes.
    pub(super) is_second: bool,
    /// True if a flow has ever passed.
    pub(super) is_used: bool,
    /// True if only the other one has flows.
    pub(super) is_left_out: bool,
}

impl Default for Series {
    fn default() -> Self {
        Self { mate: NONE, is_second: false, is_used: false, is_left_out: false }
    }
}

/// An active flow; its number is used again after it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Marks no link.
pub(super) const NONE: u32 = u32::MAX;

/// State of a flow in a solution, except its rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Bytes per second before the solution.
    pub(super) before: f64,
    /// The link at which it is frozen.
    pub(super) bottleneck: u32,
    /// The solution that last chose it.
    pub(super) chosen: u32,
}

pub(super) const FRESH: State = State { before: 0.0, bottleneck: NONE, chosen: 0 };

/// A flow on a link: the flow, the hop of its route that this link is, and its share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) slot: u32,
    pub(super) hop: u32,
    pub(super) share: f64,
}

/// One link.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    /// Bytes per second.
    pub(super) capacity: f64,
    /// Flows that pass.
    pub(super) passes: Vec<Pass>,
    /// True if flows were added or removed since the last solution.
    pub(super) dirty: bool,
    /// The insertion that came here last.
    pub(super) inserted: u64,
    pub(super) series: Series,
}

/// Rates of all active flows.
#[derive(Clone, Debug)]
pub struct Allocator {
    pub(super) links: Vec<Link>,
    /// By link.
    pub(super) levels: Vec<Level>,
    pub(super) routes: Routes,
    pub(super) states: Vec<State>,
    /// Bytes per second by flow. Filling reads these and `open` at random, so they are stored separately.
    pub(super) rates: Vec<f64>,
    /// The filling in which a flow has no rate yet.
    pub(super) open: Vec<u32>,
    /// Bytes per second that each flow has at most: `capacity / share` of its narrowest link.
    pub(super) alone: Vec<f64>,
    pub(super) free: Vec<u32>,
    pub(super) dirty: Vec<u32>,
    pub(super) insertions: u64,
    pub(super) solution: u32,
    pub(super) filling: u32,
    /// Flows that this solution gives rates, and the links that they pass.
    pub(super) chosen: Vec<u32>,
    pub(super) touched: Vec<u32>,
    /// The lowest rate of the flows that left since the last solution.
    pub(super) left_at: f64,
    /// Remaining solutions that fill in order without selection, because the last changes were far-reaching.
    pub(super) far: u32,
    /// Flows whose rate was unchanged by the last solutions.
    pub(super) wasted: usize,
    pub(super) order: Order,
    pub(super) queue: Queue,
}
