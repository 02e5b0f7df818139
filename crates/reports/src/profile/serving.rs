//! The section of a profile on steps of an inference server.

use crate::profile::{Shown, time};
use railwright_report::document::{Cell, Column, Document, Table};
use railwright_spec::human;

impl Shown {
    pub(super) fn serving(&self, document: &mut Document) {
        let Some(serving) = &self.report.serving else { return };
        document.heading_with(
            "steps by mode",
            format!(
                "annotated by {}; time: from the first kernel of a step to that of the next",
                serving.server.name()
            ),
        );
        let columns = vec![
            Column::words("mode"),
            Column::numbers("steps"),
            Column::numbers("median"),
            Column::numbers("longest"),
            Column::numbers("prompt tokens"),
            Column::numbers("decode tokens"),
            Column::numbers("tokens/s"),
            Column::numbers("graphs").expendable(1),
        ];
        let count = |value: Option<f64>| {
            value.map_or_else(
                || Cell::from("unknown"),
                |value| Cell::number(human::whole(value.round() as u64), value),
            )
        };
        let rows = serving.modes.iter().map(|row| {
            vec![
                Cell::from(row.mode.name()),
                Cell::number(human::whole(row.steps as u64), row.steps as f64),
                Cell::number(time(row.median_ns as f64), row.median_ns as f64 * 1e-9),
                Cell::number(time(row.longest_ns as f64), row.longest_ns as f64 * 1e-9),
                count(row.context_tokens),
                count(row.generation_tokens),
                count(row.tokens_per_s),
                Cell::percent(row.graph_share),
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
    }
}
