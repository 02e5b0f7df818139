//! The critical path of a measured step, over all ranks of the job.
//!
//! Responsible for: walking back from the end of the last rank along its device's activities. At a wait for
//! other ranks, the path continues on the last one to enter, from its entry on. Every moment of the step is
//! on the path once; time on ranks outside the view is labelled as such. A wait whose last rank was not
//! recorded is itself on the path.

use super::rows::Drawn;
use crate::joined::Joined;
use crate::waterfall::Label;
use railwright_step::columns::{Class, Columns, Elsewhere, Part};
use std::collections::{BTreeMap, BTreeSet};

/// Activities of a member's device, every moment once.
pub(super) struct RankTrack<'a> {
    /// Index of the member in the job.
    pub(super) member: usize,
    pub(super) rank: u32,
    pub(super) drawn: &'a Drawn,
    /// The track, and the positions of its rows; `None` for a rank outside the view.
    pub(super) place: Option<(u32, Vec<Option<u32>>)>,
}

/// By member and entry time of the last rank: the member that entered the collective last.
fn last_ones(joined: &Joined) -> BTreeMap<(u32, i64), u32> {
    let matching = &joined.matching;
    let mut all = BTreeMap::new();
    for collective in &matching.collectives {
        let members = matching.members(collective);
        let late = members.iter().map(|&at| (matching.part(at).start, std::cmp::Reverse(at.member))).max();
        let Some((moment, std::cmp::Reverse(late))) = late else { continue };
        for at in members.iter().filter(|at| at.member != late) {
            all.insert((at.member, moment), late);
        }
    }
    all
}

/// Kind of a device row on the path.
fn kind(class: Class, name: &str, idle: &BTreeSet<String>) -> &'static str {
    if idle.contains(name) {
        return match class {
            Class::Host => "host",
            Class::Bubble => "waiting",
            _ => "idle",
        };
    }
    match class {
        Class::Waiting | Class::Bubble => "waiting",
        Class::Copy => "copies",
        Class::Tensor
        | Class::Context
        | Class::Data
        | Class::Pipeline
        | Class::Expert
        | Class::Communication => "communication",
        _ => "compute",
    }
}

/// Adds the critical path to the columns. `start` is the start of the step in nanoseconds.
pub(super) fn mark(columns: &mut Columns, rank_tracks: &[RankTrack<'_>], joined: &Joined, start: i64) {
    let idle: BTreeSet<String> = Label::all().filter(|label| label.is_idle()).map(Label::name).collect();
    let late = last_ones(joined);
    let is_busy = |rank_track: &RankTrack<'_>, row: usize| {
        !matches!(
            kind(rank_track.drawn.rows[row].class, rank_track.drawn.text(row), &idle),
            "host" | "idle" | "waiting"
        )
    };
    let busy_until = |rank_track: &RankTrack<'_>| {
        (0..rank_track.drawn.rows.len())
            .rev()
            .find(|&row| is_busy(rank_track, row))
            .map(|row| rank_track.drawn.rows[row].end)
    };
    let last = (0..rank_tracks.len()).max_by_key(|&at| (busy_until(&rank_tracks[at]), std::cmp::Reverse(at)));
    let Some(mut here) = last else { return };
    // By rank, visibility and kind: time on the path, in nanoseconds.
    let mut parts: BTreeMap<(u32, bool, &'static str), i64> = BTreeMap::new();
    let mut elsewhere: Vec<Elsewhere> = Vec::new();
    let mut path: Vec<[u32; 2]> = Vec::new();
    let mut now = columns.duration_ns;
    // Ranks that were left at this moment: prevents cycles of waits.
    let mut left: BTreeSet<usize> = BTreeSet::new();
    while now > 0 {
        let rank_track = &rank_tracks[here];
        let rows = &rank_track.drawn.rows;
        let shown = rank_track.place.is_some();
        let mut hide = |from: i64, until: i64| {
            if shown {
                return;
            }
            match elsewhere.last_mut() {
                Some(last) if last.rank == rank_track.rank && last.at == until => {
                    last.length += until - from;
                    last.at = from;
                }
                _ => elsewhere.push(Elsewhere { rank: rank_track.rank, at: from, length: until - from }),
            }
        };
        let Some(at) = rows.partition_point(|row| row.start < now).checked_sub(1) else {
            *parts.entry((rank_track.rank, shown, "idle")).or_default() += now;
            hide(0, now);
            break;
        };
        let row = rows[at];
        if row.end < now {
            *parts.entry((rank_track.rank, shown, "idle")).or_default() += now - row.end;
            hide(row.end, now);
            now = row.end;
            left.clear();
            continue;
        }
        let what = kind(row.class, rank_track.drawn.text(at), &idle);
        if what == "waiting"
            && let Some(other) = late.get(&(rank_track.member as u32, row.end + start))
            && let Some(other) =
                rank_tracks.iter().position(|rank_track| rank_track.member == *other as usize)
            && left.insert(here)
            && !left.contains(&other)
        {
            // The path after the wait is on this rank; before the wait, the other rank delayed both.
            now = row.end.min(now);
            here = other;
            continue;
        }
        *parts.entry((rank_track.rank, shown, what)).or_default() += now - row.start;
        hide(row.start, now);
        if let Some((track, span)) = rank_track
            .place
            .as_ref()
            .and_then(|(track, went)| Some((*track, went.get(at).copied().flatten()?)))
        {
            path.push([track, span]);
        }
        now = row.start;
        left.clear();
    }
    path.dedup();
    path.reverse();
    columns.critical = path;
    let mut parts: Vec<Part> = parts
        .into_iter()
        .map(|((rank, shown, what), time_ns)| {
            let hidden = if shown { "" } else { ", not shown" };
            Part { name: format!("rank {rank}{hidden}: {what}"), time_ns }
        })
        .collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.time_ns));
    columns.critical_parts = parts;
    elsewhere.reverse();
    columns.critical_elsewhere = elsewhere;
}
