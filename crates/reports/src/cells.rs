//! TODO

use railwright_profiler::job::extent;
use railwright_report::document::Cell;
use railwright_spec::quantity::Seconds;

/// `8 ranks`, or the number of traced ranks and the world size.
pub(crate) fn from_ranks(traced: u32, world: u32, world_known: bool) -> String {
    let extent = extent(traced as usize, world, world_known);
    if traced == world { extent } else { format!("from {extent}") }
}

/// A time in nanoseconds as a cell.
pub(crate) fn time(ns: f64) -> Cell {
    Cell::seconds(Seconds::new(ns * 1e-9))
}
