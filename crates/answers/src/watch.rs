//! Progress and cancellation of long work, for front ends.

use railwright_spec::quantity::Seconds;

/// A part of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Computation of bounds, by which the pieces of a search are ordered.
    Ordering,
    /// Search of the pieces.
    Searching,
    /// Pricing of layouts by simulated flows.
    Simulating,
}

/// Progress of one part of long work.
pub trait Progress: Sync {
    /// Reports completed units and, if known, the number of `evaluated` strategies so far.
    fn advance(&self, _units: u64, _evaluated: Option<u64>) {}

    /// Reports a strategy with its step time.
    fn found(&self, _step_time: Seconds) {}

    /// Ends the part.
    fn finish(&self) {}
}

/// A front end that shows and may cancel long work.
pub trait Watch: Sync {
    /// True to cancel the work.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Starts a part with a number of units.
    fn begin(&self, _stage: Stage, _units: u64) -> Box<dyn Progress + '_> {
        Box::new(Unmonitored)
    }

    /// Reports, if nothing fits, the number of remedies to try, until `enough` of them work.
    fn remedies(&self, _most: usize, _enough: usize) {}
}

/// Work without display and cancellation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unmonitored;

impl Progress for Unmonitored {}
impl Watch for Unmonitored {}
