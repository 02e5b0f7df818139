//! Arrows of a measured step: messages, launches, collectives, and causes of waits and bubbles.
//!
//! Responsible for: positions of trace rows in the view, and an arrow for each pair with both ends in it. The
//! last rank to enter a collective comes from matching, launches from correlation identifiers.

use super::rows::{Drawn, Of, Source};
use crate::joined::Joined;
use crate::matching::{Lane, PartRef};
use crate::trace::NONE;
use railwright_step::CollectiveKind;
use railwright_step::columns::{ArrowKind, Columns};
use std::collections::BTreeMap;

/// Maximum number of arrows; launches are dropped first.
const MOST: usize = 400_000;

/// Indices of a track and of a span on it.
type Place = (u32, u32);

/// A wait or a bubble: its position, start and end in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Gap {
    place: Place,
    start: i64,
    end: i64,
}

/// Positions of trace rows in the view, by member.
#[derive(Default)]
pub(super) struct Places {
    rows: BTreeMap<(usize, Source), Place>,
    waits: BTreeMap<(usize, Source), Vec<Gap>>,
    hosts: BTreeMap<(usize, u32), Place>,
    launches: Vec<((usize, u32), Place)>,
    passes: BTreeMap<usize, Vec<Gap>>,
    bubbles: BTreeMap<usize, Vec<Gap>>,
}

impl Places {
    /// Adds the rows of a member's track; `went` is the position of each.
    pub(super) fn take(&mut self, member: usize, drawn: &Drawn, track: u32, went: &[Option<u32>]) {
        for ((of, row), span) in drawn.shown().iter().zip(&drawn.rows).zip(went) {
            let Some(span) = span else { continue };
            let place = (track, *span);
            let gap = Gap { place, start: row.start, end: row.end };
            match *of {
                Of::Nothing => {}
                Of::Device(row, launch) => {
                    self.rows.entry((member, row)).or_insert(place);
                    if launch != NONE {
                        self.launches.push(((member, launch), place));
                    }
                }
                Of::Wait(row) => self.waits.entry((member, row)).or_default().push(gap),
                Of::Host(row) => {
                    self.hosts.entry((member, row)).or_insert(place);
                }
                Of::Pass => self.passes.entry(member).or_default().push(gap),
                Of::Bubble => self.bubbles.entry(member).or_default().push(gap),
            }
        }
    }

    /// Adds all arrows to the columns.
    pub(super) fn draw(&self, columns: &mut Columns, joined: &Joined) {
        let matching = &joined.matching;
        // By member: end of every wait, with the row and the member that entered last.
        let mut ends: BTreeMap<usize, Vec<(i64, usize, Source)>> = BTreeMap::new();
        for collective in &matching.collectives {
            let members: Vec<PartRef> = matching.members(collective).to_vec();
            if members.len() < 2 {
                continue;
            }
            let last =
                members.iter().max_by_key(|at| (matching.part(**at).start, std::cmp::Reverse(at.member)));
            let Some(last) = last else { continue };
            let row = |at: &PartRef| {
                let part = matching.part(*at);
                (at.member as usize, Source { on_host: part.lane == Lane::Host, row: part.row })
            };
            for at in members.iter().filter(|at| *at != last) {
                for gap in self.waits.get(&row(at)).into_iter().flatten() {
                    let (member, row) = row(last);
                    ends.entry(at.member as usize).or_default().push((gap.end, member, row));
                    if let Some(from) = self.before(member, row, columns) {
                        columns.arrows.push(ArrowKind::Awaited, from, gap.place);
                    }
                }
            }
            if let Some((from, to)) = message(&members, joined) {
                if let (Some(from), Some(to)) = (self.rows.get(&row(&from)), self.rows.get(&row(&to))) {
                    columns.arrows.push(ArrowKind::Message, *from, *to);
                }
                continue;
            }
            let Some(from) = self.rows.get(&row(last)) else { continue };
            for at in members.iter().filter(|at| *at != last) {
                if let Some(to) = self.rows.get(&row(at)) {
                    columns.arrows.push(ArrowKind::Collective, *from, *to);
                }
            }
        }
        self.bubbles(columns, ends);
        for (call, to) in &self.launches {
            if columns.arrows.kind.len() >= MOST {
                break;
            }
            if let Some(from) = self.hosts.get(call) {
                columns.arrows.push(ArrowKind::Launch, *from, *to);
            }
        }
    }

    /// Adds an arrow for each bubble between passes, from the last wait for another rank that ended in it.
    fn bubbles(&self, columns: &mut Columns, mut ends: BTreeMap<usize, Vec<(i64, usize, Source)>>) {
        for (member, bubbles) in &self.bubbles {
            let Some(ends) = ends.get_mut(member) else { continue };
            ends.sort_unstable();
            for bubble in bubbles {
                let until = ends.partition_point(|(end, ..)| *end <= bubble.end);
                let Some(&(end, other, row)) = until.checked_sub(1).and_then(|at| ends.get(at)) else {
                    continue;
                };
                if end <= bubble.start {
                    continue;
                }
                if let Some(from) = self.before(other, row, columns) {
                    columns.arrows.push(ArrowKind::Awaited, from, bubble.place);
                }
            }
        }
    }

    /// Origin of an arrow to a row that waits for this one: the previous pass if passes are in the view,
    /// otherwise the row.
    fn before(&self, member: usize, row: Source, columns: &Columns) -> Option<Place> {
        let own = *self.rows.get(&(member, row))?;
        let start = columns.tracks.get(own.0 as usize)?.starts.get(own.1 as usize)?;
        let pass = self.passes.get(&member).and_then(|passes| {
            let at = passes.partition_point(|pass| pass.start < *start).checked_sub(1)?;
            passes.get(at).map(|pass| pass.place)
        });
        Some(pass.unwrap_or(own))
    }
}

/// The sender and the receiver of a message.
fn message(members: &[PartRef], joined: &Joined) -> Option<(PartRef, PartRef)> {
    let kind =
        |at: &PartRef| joined.matching.part(*at).operation.and_then(railwright_step::CollectiveKind::in_plan);
    let [a, b] = members else { return None };
    match (kind(a), kind(b)) {
        (Some(CollectiveKind::Send), Some(CollectiveKind::Receive)) => Some((*a, *b)),
        (Some(CollectiveKind::Receive), Some(CollectiveKind::Send)) => Some((*b, *a)),
        _ => None,
    }
}
