//! Parts that found no counterpart: of ranks whose peers were not traced.
//!
//! Responsible for: a lower bound of their waits: what they took longer than the fastest of the same operation, size and group. Refuses to
//! call it a measurement.

use super::rows::{CollectiveRow, part_row};
use crate::Job;
use crate::communication::Operation;
use crate::joined::Joined;
use crate::matching::PartRef;
use crate::occupancy::Occupancy;
use std::collections::BTreeMap;

type Kind = (Option<u32>, Option<Operation>, Option<u64>);

/// Rows of unmatched parts, by member and start, and the fastest part of every kind applied to rows that are estimates.
pub(super) fn solo_rows(
    job: &Job,
    joined: &Joined,
    rows: &mut Vec<CollectiveRow>,
    occupancies: &[Occupancy],
) {
    let matching = &joined.matching;
    let mut fastest: BTreeMap<Kind, i64> = BTreeMap::new();
    let kind = |at: PartRef| -> Kind {
        let part = matching.part(at);
        (part.group.map(|group| group.0), part.operation, part.bytes)
    };
    let all = (0..job.members.len() as u32).flat_map(|member| {
        (0..matching.parts[member as usize].len() as u32).map(move |part| PartRef { member, part })
    });
    for at in all.clone() {
        let duration = matching.part(at).duration();
        fastest.entry(kind(at)).and_modify(|known| *known = (*known).min(duration)).or_insert(duration);
    }
    let bound = |at: PartRef| {
        let part = matching.part(at);
        if part.bytes.is_none() {
            // The shortest of unknown sizes bounds nothing.
            return 0;
        }
        part.duration() - fastest.get(&kind(at)).copied().unwrap_or(0)
    };
    for row in rows.iter_mut().filter(|row| row.estimate) {
        for part in &mut row.parts {
            // The traced ranks give a bound too; the better of both.
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
        let wait = if part.operation == Some(Operation::Copy) { 0 } else { bound(at) };
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
