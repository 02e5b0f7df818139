//! Parts without counterpart: their peers were not traced.
//!
//! Responsible for: a lower bound on their waits: the excess over the fastest part of the same operation,
//! size and group. The bound is not reported as a measurement.

use super::rows::{CollectiveRow, part_row};
use crate::Job;
use crate::joined::Joined;
use crate::matching::PartRef;
use crate::occupancy::Occupancy;
use railwright_step::CollectiveKind;

/// Rows of unmatched parts, by member and start. Also applies the fastest part of every kind to estimated
/// rows.
pub(super) fn solo_rows(
    job: &Job,
    joined: &Joined,
    rows: &mut Vec<CollectiveRow>,
    occupancies: &[Occupancy],
) {
    let matching = &joined.matching;
    let all = (0..job.members.len() as u32).flat_map(|member| {
        (0..matching.parts[member as usize].len() as u32).map(move |part| PartRef { member, part })
    });
    // Parts of unknown size have no bound.
    let bound = |at: PartRef| {
        let part = matching.part(at);
        joined.alike.shortest(part).map_or(0, |shortest| part.duration() - shortest)
    };
    for row in rows.iter_mut().filter(|row| row.estimate) {
        for part in &mut row.parts {
            // The traced ranks give a bound, too; the larger one counts.
            let wait = part.wait.max(bound(part.at));
            *part = part_row(
                part.at,
                part.rank,
                part.start,
                part.start + part.duration,
                wait,
                &occupancies[part.at.member as usize],
            );
        }
    }
    for at in all.filter(|at| matching.of[at.member as usize][at.part as usize].is_none()) {
        let part = matching.part(at);
        let rank = job.members[at.member as usize].rank;
        let wait = if part.operation == Some(CollectiveKind::Copy) { 0 } else { bound(at) };
        let row = part_row(at, rank, part.start, part.end, wait, &occupancies[at.member as usize]);
        rows.push(CollectiveRow {
            communicator: None,
            label: String::new(),
            index: at.part,
            operation: part.operation,
            bytes: part.bytes,
            last_start: part.start + wait,
            last_rank: None,
            start_spread: 0,
            end_spread: 0,
            shortest: part.duration() - wait,
            complete: false,
            estimate: true,
            parts: vec![row],
        });
    }
}
