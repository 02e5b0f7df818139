//! The section of a profile on idle time: by cause and frame of the host.

use crate::profile::{Shown, time};
use railwright_profiler::causes::CauseRow;
use railwright_report::Terminal;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_spec::human;

/// Maximum number of rows, each of at least this share of the step.
const MOST: usize = 10;
const LEAST: f64 = 0.005;

/// Enclosing events of a frame, nearest first.
fn held(row: &CauseRow) -> String {
    let held = [&row.operator, &row.module, &row.python, &row.annotation];
    held.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
}

impl Shown {
    /// Steps before the steady state: their one-time cost, and the causes of device idle time.
    fn warm_up(&self, document: &mut Document) {
        const CAUSES: usize = 3;
        let Some(warm_up) = &self.report.warm_up else { return };
        let steps = warm_up.steps.len() as f64;
        document.heading_with("one-off costs", "of steps before the steady state, which the means exclude");
        let mut lines = vec![Cell::from(format!(
            "excluded {} {}: {}, of which {} exceed the median step",
            if warm_up.steps.len() == 1 { "step" } else { "steps" },
            warm_up.steps.join(", "),
            time(warm_up.time_ns),
            time(warm_up.one_off_ns)
        ))];
        lines.extend(warm_up.causes.iter().filter(|row| row.share_of_step >= LEAST).take(CAUSES).map(
            |row| {
                let frame = row.frame.as_deref().unwrap_or("no recorded frame");
                Cell::from(format!("idle {}: {}, {frame}", time(row.mean_ns * steps), row.cause.name()))
            },
        ));
        document.blocks.push(Block::Bullets(lines));
    }

    pub(super) fn causes(&self, document: &mut Document, terminal: Terminal) {
        let all = &self.report.causes;
        let shown: Vec<&CauseRow> = all.iter().filter(|row| row.share_of_step >= LEAST).take(MOST).collect();
        if shown.is_empty() {
            self.warm_up(document);
            return;
        }
        let idle: f64 = all.iter().map(|row| row.share_of_step).sum();
        document.heading_with(
            "idle time by cause",
            format!(
                "{} of the step in total; frame: innermost one of the launching thread",
                human::percent(idle)
            ),
        );
        let columns = vec![
            Column::numbers("time"),
            Column::numbers("share"),
            Column::words("cause"),
            Column::words("frame"),
            Column::words("context").expendable(1),
        ];
        let room = (terminal.width.saturating_sub(40) / 2).clamp(20, 60);
        let name = |text: String| {
            let cut = crate::profile::tables::cut(&text, room, terminal);
            Cell { text: cut, tone: Tone::Plain, raw: Some(text) }
        };
        let rows = shown.into_iter().map(|row| {
            let frame = match &row.frame {
                Some(frame) => frame.clone(),
                None if row.rest => "other frames".to_owned(),
                None => "none recorded".to_owned(),
            };
            vec![
                Cell::number(time(row.mean_ns), row.mean_ns * 1e-9),
                Cell::percent(row.share_of_step),
                Cell::from(row.cause.name()),
                name(frame),
                name(held(row)),
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
        self.warm_up(document);
    }
}
