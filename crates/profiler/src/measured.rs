//! A measured step in the representation of modelled steps.
//!
//! Responsible for: one step of a job as a [`Step`], for every analysis of steps (breakdown, exposure,
//! imbalance, comparison, diagrams). Overlapping compute is shortened as in the waterfall, so that both
//! agree. A wait for other ranks is a span before the transfer; within pipeline messages it stays empty,
//! because it is bubble. Micro-batches and layers are set only if the trace names them.

use crate::causes::Idle;
use crate::joined::Joined;
use crate::view::{Role, Tables, View};
use crate::waterfall::{Exchange, Exchanges, Piece, sweep};
use crate::windows::Windows;
use crate::{Job, NameId};
use railwright_spec::quantity::{Bytes, Rank, Stage};
use railwright_step::{
    Activity, Collective, CollectiveId, Dimension, OperatorFamily, Origin, Phase, Span, Step, StreamKind,
    Time,
};
use std::collections::BTreeMap;

/// One step of a job with aligned clocks, by its index; `None` if there is no such step.
pub fn step(job: &Job, joined: &Joined, tables: &Tables, windows: &Windows, at: usize) -> Option<Step> {
    let window = windows.steps.get(at)?;
    let mut step = Step::new(format!("measured step {}", windows.name(at)));
    step.origin = Origin::Measured;
    step.end = Time::from_nanos(window.duration());
    for (place, member) in job.members.iter().enumerate() {
        let view = View::new(&member.trace, tables);
        let exchanges = Exchanges::of(joined, place, &view);
        let rank = step.add_rank(Rank(member.rank), Stage(stage(joined, member.rank)));
        let writer = Writer {
            view: &view,
            whole: windows.whole(),
            start: window.start,
            end: window.end,
            rank,
            names: BTreeMap::new(),
            descriptions: descriptions(&mut step, joined, place),
        };
        writer.write(&mut step, &exchanges);
    }
    Some(step)
}

/// Pipeline stage of a rank: its index in its pipeline group; 0 without one.
pub(crate) fn stage(joined: &Joined, rank: u32) -> u32 {
    let pipelines = joined.groups.groups.iter().filter(|g| g.dimension.dimension == Dimension::Pipeline);
    pipelines
        .filter_map(|group| group.ranks.as_ref())
        .filter(|ranks| ranks.len() > 1)
        .find_map(|ranks| ranks.ranks().iter().position(|&other| other == rank))
        .unwrap_or(0) as u32
}

/// Communication of a member, by device row.
fn descriptions(step: &mut Step, joined: &Joined, member: usize) -> BTreeMap<u32, CollectiveId> {
    let mut known: BTreeMap<(railwright_step::CollectiveKind, u32, u64, Option<u32>), CollectiveId> =
        BTreeMap::new();
    let mut rows = BTreeMap::new();
    for part in joined.matching.parts.get(member).map_or(&[][..], Vec::as_slice) {
        let kind = part.operation.and_then(railwright_step::CollectiveKind::in_plan);
        let group = part.group.and_then(|group| joined.groups.groups.get(group.0 as usize));
        let ranks = group.and_then(|group| group.ranks.as_ref());
        let (Some(kind), Some(ranks), Some(id)) = (kind, ranks, part.group) else { continue };
        let key = (kind, id.0, part.bytes.unwrap_or(0), part.peer);
        let collective = *known.entry(key).or_insert_with(|| {
            let ranks: Vec<Rank> = ranks.ranks().iter().map(|&rank| Rank(rank)).collect();
            let group = step.group(&ranks);
            let bytes = Bytes::new(key.2 as f64);
            step.add_collective(Collective { kind, group, bytes, peer: part.peer.map(Rank) })
        });
        rows.insert(part.row, collective);
    }
    rows
}

/// Writes one rank.
struct Writer<'a> {
    view: &'a View<'a>,
    /// Whole time range: idle intervals are classified as a whole, as in the waterfall, and then cut.
    whole: (i64, i64),
    start: i64,
    end: i64,
    rank: usize,
    names: BTreeMap<NameId, railwright_step::NameId>,
    descriptions: BTreeMap<u32, CollectiveId>,
}

impl Writer<'_> {
    fn write(mut self, step: &mut Step, exchanges: &Exchanges) {
        let mut idle = Idle::new(self.view);
        for piece in sweep(self.view, self.whole) {
            if piece.end <= self.start || piece.start >= self.end {
                continue;
            }
            match piece.role {
                Role::Compute => {
                    let (start, end) = (piece.start.max(self.start), piece.end.min(self.end));
                    let piece = Piece { start, end, ..piece };
                    let span = self.span(step, piece, Activity::Compute);
                    step.push(self.rank, StreamKind::Compute, span);
                }
                Role::None => self.idle(step, &mut idle, piece),
                Role::Communication | Role::Copy => {}
            }
        }
        self.beside(step, Role::Communication, exchanges);
        self.beside(step, Role::Copy, exchanges);
    }

    /// Adds rows overlapped with compute: complete, one stream for each device stream and dimension.
    fn beside(&mut self, step: &mut Step, role: Role, exchanges: &Exchanges) {
        // Device streams found so far, and the end of each stream of the step.
        let mut seen: Vec<u32> = Vec::new();
        let mut taken: BTreeMap<StreamKind, i64> = BTreeMap::new();
        let starts = self.view.gpu.starts();
        let until = starts.partition_point(|start| *start < self.end);
        for row in (0..until).filter(|&row| self.view.role[row] == role) {
            let exchange = exchanges.get(row as u32);
            let mut start = starts[row];
            if let Exchange { dimension: Dimension::Pipeline, transfer_from: Some(from), .. } = exchange {
                start = start.max(from);
            }
            let stream = self.view.gpu.streams()[row];
            let number = seen.iter().position(|known| *known == stream).unwrap_or_else(|| {
                // Streams above the limit are merged.
                if u8::try_from(seen.len()).is_ok() {
                    seen.push(stream);
                }
                seen.len() - 1
            });
            let number = u8::try_from(number).unwrap_or(u8::MAX);
            let (kind, activity) = if role == Role::Copy {
                (StreamKind::Copy(number), Activity::Copy)
            } else {
                let dimension = exchange.dimension;
                (StreamKind::Communication(dimension, number), Activity::Communication(dimension))
            };
            let free = taken.entry(kind).or_insert(self.start);
            let (start, end) = (start.max(*free), self.view.gpu.ends()[row].min(self.end));
            if start < end {
                *free = end;
                // No transfer occurs before the last rank enters: otherwise a model of transfers would be
                // compared with waits.
                let moves = match role {
                    Role::Communication if exchange.dimension != Dimension::Pipeline => {
                        exchange.waits_until.map_or(start, |until| until.clamp(start, end))
                    }
                    _ => start,
                };
                let piece = |start, end| Piece { start, end, role, row: row as u32 };
                if start < moves {
                    let wait = self.span(step, piece(start, moves), Activity::Wait);
                    step.push(self.rank, kind, Span { bytes: 0, collective: None, ..wait });
                }
                if moves < end {
                    let span = self.span(step, piece(moves, end), activity);
                    step.push(self.rank, kind, span);
                }
            }
        }
    }

    /// Adds idle time: time limited by the host is host work, unexplained time is idle.
    fn idle(&mut self, step: &mut Step, idle: &mut Idle, piece: Piece) {
        let mut start = piece.start;
        for (label, end) in idle.labels(self.view, piece) {
            let (from, to) = (start.max(self.start), end.min(self.end));
            if from < to && label.group() == crate::waterfall::Group::Host {
                let name = step.names.intern(&label.name());
                let span = Span {
                    start: self.time(from),
                    end: self.time(to),
                    activity: Activity::Host,
                    name,
                    ..Span::default()
                };
                step.push(self.rank, StreamKind::Host(0), span);
            }
            start = end;
        }
    }

    fn time(&self, nanoseconds: i64) -> Time {
        Time::from_nanos(nanoseconds - self.start)
    }

    fn span(&mut self, step: &mut Step, piece: Piece, activity: Activity) -> Span {
        let row = piece.row as usize;
        let id = self.view.gpu.names()[row];
        let name = *self.names.entry(id).or_insert_with(|| step.names.intern(self.view.trace.names.get(id)));
        let bytes = self.view.gpu.get(row).map_or(0, |row| row.bytes);
        Span {
            start: self.time(piece.start),
            end: self.time(piece.end),
            activity,
            phase: self.view.phase.get(row).copied().unwrap_or(Phase::Other),
            operator: self.view.family.get(row).copied().unwrap_or(OperatorFamily::Other),
            name,
            bytes,
            collective: self.descriptions.get(&piece.row).copied(),
            ..Span::default()
        }
    }
}
