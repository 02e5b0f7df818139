//! Cells that several reports share: ranks, times and numbers.

use railwright_calculator::estimate::CommunicationRow;
use railwright_profiler::job::extent;
use railwright_report::document::Cell;
use railwright_spec::human;
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

/// `8`, or `16 over 2 domains`.
pub(super) fn ranks(row: &CommunicationRow) -> Cell {
    let over =
        if row.domains > 1 { format!("{} over {}", row.ranks, row.domains) } else { row.ranks.to_string() };
    Cell::number(over, row.ranks as f64)
}

/// A number of three digits or more with commas.
pub(super) fn grouped(x: f64) -> String {
    if x.abs() >= 100.0 { human::whole(x.round() as u64) } else { human::count(x) }
}
