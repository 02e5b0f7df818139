//! A row of the pipeline view in the columns of a terminal.
//!
//! Responsible for: the pass or the cause that fills most of each column. Glyphs are chosen by the terminal.

use super::{Cause, Row};
use crate::passes::PassKind;

/// Content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A pass: its kind, its micro-batch, and whether it is a stall.
    Pass(PassKind, Option<u32>, bool),
    /// No pass, with the cause.
    Bubble(Cause),
    /// After the end of the step.
    Nothing,
}

/// A row in `width` columns over the time from 0 to `until`, in nanoseconds.
pub fn strip(row: &Row, until: i64, width: usize) -> Vec<Column> {
    let mut columns = vec![(0_i64, Column::Nothing); width];
    let passes =
        row.boxes.iter().map(|b| (b.start, b.end, Column::Pass(b.kind, b.micro_batch, b.stall.is_some())));
    let bubbles = row.bubbles.iter().map(|b| (b.start, b.end, Column::Bubble(b.cause)));
    let place = |time: i64| i128::from(time.clamp(0, until)) * width as i128;
    let total = i128::from(until.max(1));
    for (start, end, shows) in passes.chain(bubbles) {
        let (first, last) = (place(start) / total, (place(end) + total - 1) / total);
        for at in first..last {
            // Covered part of the column; a full column is `total`.
            let (left, right) = (at * total, (at + 1) * total);
            let fills = (place(end).min(right) - place(start).max(left)) as i64;
            if let Some(column) = columns.get_mut(at as usize).filter(|c| fills > c.0) {
                *column = (fills, shows);
            }
        }
    }
    columns.into_iter().map(|(_, shows)| shows).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Bubble, PassBox};
    use super::*;

    #[test]
    fn what_fills_most_of_a_column_is_shown() {
        use Column::{Bubble as B, Nothing, Pass};
        let pass = |start, end, stall| PassBox {
            kind: PassKind::Forward,
            micro_batch: Some(3),
            chunk: 0,
            start,
            end,
            stall,
        };
        let row = Row {
            boxes: vec![pass(0, 14, None), pass(40, 60, Some(0))],
            bubbles: vec![Bubble { start: 14, end: 40, cause: Cause::Schedule, awaited: None }],
            ..Row::default()
        };
        let drawn = strip(&row, 80, 8);
        let (pass, wait, stall) = (
            Pass(PassKind::Forward, Some(3), false),
            B(Cause::Schedule),
            Pass(PassKind::Forward, Some(3), true),
        );
        assert_eq!(drawn, [pass, wait, wait, wait, stall, stall, Nothing, Nothing]);
        assert!(strip(&row, 0, 3).len() == 3 && strip(&row, 80, 0).is_empty());
    }
}
