//! Progress of long work, and whether it goes on: what a front end shows and decides.

use railwright_spec::quantity::Seconds;

/// A part of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Bounds of a search's pieces, by which they are ordered.
    Ordering,
    /// Pieces of a search.
    Searching,
    /// Layouts priced by simulated flows.
    Simulating,
}

/// Progress of one part of long work.
pub trait Progress: Sync {
    /// Reports completed units and, if known, the number of `evaluated` strategies so far.
    fn advance(&self, _units: u64, _evaluated: Option<u64>) {}

    /// A strategy was found whose step takes so long.
    fn found(&self, _step_time: Seconds) {}

    /// The part has ended.
    fn finish(&self) {}
}

/// A front end that watches long work.
pub trait Watch: Sync {
    /// Whether the work is to stop.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Starts a part with a number of units.
    fn begin(&self, _stage: Stage, _units: u64) -> Box<dyn Progress + '_> {
        Box::new(Unwatched)
    }

    /// Nothing fits: reports the number of remedies to try, until `enough` of them work.
    fn remedies(&self, _most: usize, _enough: usize) {}
}

/// Work that is neither shown nor stopped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {}
impl Watch for Unwatched {}
