//! One sweep over a rank's rows: every nanosecond of a window belongs to exactly one row, or to none.
//!
//! Responsible for: the priority of rows. Compute comes first, then communication (so its remaining time is
//! exposed), then copies; of two rows of one kind the earlier one comes first. Does not label the time.

use crate::trace::NONE;
use crate::view::{Role, View};

/// An interval of a rank's time, with the row that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Start time.
    pub start: i64,
    /// End time: at least `start`, and the start of the next piece.
    pub end: i64,
    /// Role of the row; [`Role::None`] if the device is idle.
    pub role: Role,
    /// Index of the row; for idle time, the row that ends it, or [`NONE`].
    pub row: u32,
}

/// Cuts a window into consecutive pieces.
pub fn sweep(view: &View<'_>, window: (i64, i64)) -> Vec<Piece> {
    let compute = own(view, window, Role::Compute);
    let communication = own(view, window, Role::Communication);
    let copies = own(view, window, Role::Copy);
    let exposed = without(&communication, &compute);
    let busy = merged(compute, exposed);
    let copies = without(&copies, &busy);
    tiled(merged(busy, copies), window, next(view, window.1))
}

/// The first row that occupies the device from a time on.
fn next(view: &View<'_>, from: i64) -> u32 {
    let first = view.gpu.starts().partition_point(|start| *start < from);
    let found = view.role[first..].iter().position(|role| *role != Role::None);
    found.map_or(NONE, |at| (first + at) as u32)
}

/// Rows of a role within the window, each shortened by the previous ones.
fn own(view: &View<'_>, window: (i64, i64), role: Role) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut until = window.0;
    // Rows are in order of start, but the pieces must be in order even for a damaged trace.
    let rows = view.gpu.starts().iter().zip(view.gpu.ends()).zip(&view.role).enumerate();
    for (row, ((&start, &end), _)) in rows.filter(|(_, (_, own))| **own == role) {
        let (start, end) = (start.max(until), end.min(window.1));
        if start < end {
            pieces.push(Piece { start, end, role, row: row as u32 });
            until = end;
        }
    }
    pieces
}

/// Removes the time of others from pieces; both lists are in order and disjoint.
fn without(pieces: &[Piece], others: &[Piece]) -> Vec<Piece> {
    let mut left = Vec::with_capacity(pieces.len());
    let mut first = 0;
    for piece in pieces {
        while others.get(first).is_some_and(|other| other.end <= piece.start) {
            first += 1;
        }
        let mut start = piece.start;
        for other in others[first..].iter().take_while(|other| other.start < piece.end) {
            if start < other.start {
                left.push(Piece { start, end: other.start, ..*piece });
            }
            start = start.max(other.end);
        }
        if start < piece.end {
            left.push(Piece { start, ..*piece });
        }
    }
    left
}

/// Merges two lists in order.
fn merged(a: Vec<Piece>, b: Vec<Piece>) -> Vec<Piece> {
    if a.is_empty() {
        return b;
    }
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let from = if x.start <= y.start { &mut a } else { &mut b };
        all.extend(from.next());
    }
    all.extend(a);
    all.extend(b);
    all
}

/// Adds idle time between the pieces.
fn tiled(pieces: Vec<Piece>, window: (i64, i64), next: u32) -> Vec<Piece> {
    let mut all = Vec::with_capacity(pieces.len() * 2 + 1);
    let mut until = window.0;
    for piece in pieces {
        if until < piece.start {
            all.push(Piece { start: until, end: piece.start, role: Role::None, row: piece.row });
        }
        until = piece.end;
        all.push(piece);
    }
    if until < window.1 {
        all.push(Piece { start: until, end: window.1, role: Role::None, row: next });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RankTrace;
    use crate::trace::{GpuActivity, GpuKind};
    use crate::view::Tables;
    use proptest::prelude::*;

    fn trace(rows: &[(i64, i64, u8)]) -> RankTrace {
        let mut trace = RankTrace::default();
        for &(start, length, kind) in rows {
            let name = trace
                .names
                .intern(["gemm", "ncclDevKernel_AllReduce", "Memcpy DtoH", "note"][usize::from(kind)]);
            let kind =
                [GpuKind::Kernel, GpuKind::Kernel, GpuKind::Copy, GpuKind::Annotation][usize::from(kind)];
            trace.gpu.push(GpuActivity { start, end: start + length, name, kind, ..GpuActivity::default() });
        }
        trace.gpu.sort();
        trace
    }

    /// Role of every nanosecond, by examining all rows for each.
    fn by_looking(view: &View<'_>, window: (i64, i64)) -> Vec<Role> {
        let at = |time: i64| {
            let has = |role| {
                view.gpu
                    .iter()
                    .zip(&view.role)
                    .any(|(row, own)| *own == role && row.start <= time && time < row.end)
            };
            [Role::Compute, Role::Communication, Role::Copy]
                .into_iter()
                .find(|role| has(*role))
                .unwrap_or(Role::None)
        };
        (window.0..window.1).map(at).collect()
    }

    proptest! {
        #[test]
        fn every_nanosecond_belongs_to_one_piece(
            rows in prop::collection::vec((0i64..60, 0i64..20, 0u8..4), 0..40),
            from in -5i64..30,
            length in 0i64..70,
        ) {
            let trace = trace(&rows);
            let view = View::new(&trace, &Tables::shipped());
            let window = (from, from + length);
            let pieces = sweep(&view, window);
            let mut until = window.0;
            let mut roles = Vec::new();
            for piece in &pieces {
                prop_assert_eq!(piece.start, until);
                prop_assert!(piece.end > piece.start);
                roles.extend(std::iter::repeat_n(piece.role, (piece.end - piece.start) as usize));
                until = piece.end;
            }
            prop_assert_eq!(until, window.1);
            prop_assert_eq!(roles, by_looking(&view, window));
        }
    }

    #[test]
    fn idle_time_names_the_row_that_ends_it() {
        let trace = trace(&[(10, 5, 0), (20, 5, 0)]);
        let view = View::new(&trace, &Tables::shipped());
        let pieces = sweep(&view, (0, 30));
        let idle: Vec<u32> = pieces.iter().filter(|p| p.role == Role::None).map(|p| p.row).collect();
        assert_eq!(idle, [0, 1, NONE]);
        assert_eq!(sweep(&view, (0, 18)).last().map(|p| (p.end, p.row)), Some((18, 1)));
    }
}
