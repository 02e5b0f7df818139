//! Collectives within the steps.
//!
//! Responsible for: the parts of collectives between the start of the first step and the end of the last one.
//! Drops collectives outside.

use super::rows::{CollectiveRow, PartRow, part_row};
use crate::occupancy::Occupancy;

/// The rows within `[from, to]`. Times of parts that cross a boundary end there.
pub(super) fn clipped(
    rows: &[CollectiveRow],
    (from, to): (i64, i64),
    occupancies: &[Occupancy],
) -> Vec<CollectiveRow> {
    let within = |part: &PartRow| part.start < to && part.start + part.duration > from;
    let clip = |part: &PartRow| {
        let (start, end) = (part.start.max(from), (part.start + part.duration).min(to));
        let wait = (part.start + part.wait - start).clamp(0, end - start);
        part_row(part.at, part.rank, start, end, wait, &occupancies[part.at.member as usize])
    };
    rows.iter()
        .filter(|row| row.parts.iter().any(within))
        .map(|row| CollectiveRow {
            parts: row.parts.iter().filter(|part| within(part)).map(clip).collect(),
            ..row.clone()
        })
        .collect()
}
