//! The section of a profile on operators against the roofline.

use crate::profile::{Shown, time};
use railwright_profiler::roofline::{Bound, RooflineRow};
use railwright_report::Terminal;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_spec::human;

/// Maximum number of operators, each with a saving of at least this share of the step.
const MOST: usize = 8;
const LEAST: f64 = 0.001;

impl Shown {
    pub(super) fn roofline(&self, document: &mut Document, terminal: Terminal) {
        let Some(roofline) = &self.report.roofline else { return };
        let step = self.report.step_time.max(1.0);
        let shown: Vec<&RooflineRow> =
            roofline.rows.iter().filter(|row| row.saving_ns >= LEAST * step).take(MOST).collect();
        if shown.is_empty() {
            return;
        }
        document.heading_with(
            "roofline by operator",
            format!(
                "{} of compute time has recorded shapes; saving: at {} of the roofline of {}{}",
                human::percent(roofline.covered_share),
                human::percent(roofline.target_share),
                roofline.accelerator,
                if roofline.compute_target_share < roofline.target_share {
                    format!(", {} in compute", human::percent(roofline.compute_target_share))
                } else {
                    String::new()
                }
            ),
        );
        let columns = vec![
            Column::numbers("saving"),
            Column::numbers("time"),
            Column::numbers("rate"),
            Column::numbers("share of roofline"),
            Column::words("bound").expendable(2),
            Column::words("operator"),
            Column::words("shapes").expendable(1),
        ];
        let room = terminal.width.saturating_sub(70).clamp(20, 60);
        let rows = shown.into_iter().map(|row| {
            let (reached, bound) = match row.bound {
                Bound::Compute => (
                    Cell::number(format!("{:.1} TFLOP/s", row.flop_per_s * 1e-12), row.flop_per_s),
                    "compute",
                ),
                Bound::Memory => {
                    (Cell::number(format!("{:.0} GB/s", row.bytes_per_s * 1e-9), row.bytes_per_s), "memory")
                }
            };
            vec![
                Cell::number(time(row.saving_ns), row.saving_ns * 1e-9),
                Cell::number(time(row.mean_ns), row.mean_ns * 1e-9),
                reached,
                Cell::percent(row.share_of_roofline),
                Cell::from(bound),
                Cell::from(row.operator.clone()),
                Cell {
                    text: crate::profile::tables::cut(&row.shapes, room, terminal),
                    tone: Tone::Plain,
                    raw: Some(row.shapes.clone()),
                },
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
    }
}
