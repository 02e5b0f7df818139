//! The section of a profile on time by module or by line of Python.

use crate::profile::{Shown, time};
use railwright_profiler::origins::{By, OriginRow};
use railwright_report::Terminal;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_spec::human;

/// Maximum number of rows, each of at least this share of the step.
const MOST: usize = 30;
const LEAST: f64 = 0.001;

impl Shown {
    pub(super) fn origins(&self, document: &mut Document, terminal: Terminal) {
        let Some(origins) = &self.report.origins else { return };
        let (title, what) = match (origins.by, origins.annotations) {
            (By::Module, false) => ("time by module", "module"),
            (By::Module, true) => ("time by annotation", "annotation"),
            (By::Source, _) => ("time by Python line", "line"),
        };
        let remark = format!(
            "mean over ranks and steps; {} of the step has a recorded {what}",
            human::percent(origins.covered_share)
        );
        document.heading_with(title, remark);
        let columns = vec![
            Column::numbers("time"),
            Column::numbers("share"),
            Column::numbers("compute"),
            Column::numbers("exposed"),
            Column::numbers("waits"),
            Column::numbers("idle"),
            Column::words(what),
        ];
        let room = terminal.width.saturating_sub(70).clamp(24, 100);
        let rows = origins.rows.iter().filter(|row| row.share_of_step >= LEAST).take(MOST).map(|row| {
            let name = named(row, what);
            let cell = |value: f64| Cell::number(time(value), value * 1e-9);
            vec![
                cell(row.mean_ns),
                Cell::percent(row.share_of_step),
                cell(row.compute_ns),
                cell(row.transfer_ns + row.undivided_ns + row.copy_ns),
                cell(row.wait_ns),
                cell(row.idle_ns),
                Cell { text: tail(&name, room), tone: Tone::Plain, raw: Some(name) },
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
        if origins.covered_share == 0.0 {
            let how = if origins.by == By::Module {
                "`with_stack=True` or `with_modules=True`"
            } else {
                "`with_stack=True`"
            };
            document.paragraph(format!("no {what} was recorded: record with {how}"));
        }
    }
}

/// Title of a row: instances of a module are counted, because layers share a path.
fn named(row: &OriginRow, what: &str) -> String {
    match (&row.place, row.phase, row.instances) {
        (Some(place), _, count) if count > 1 => format!("{place} ({count} instances)"),
        (Some(place), ..) => place.clone(),
        (None, Some(phase), _) => format!("no {what} recorded, phase {}", phase.name().replace('_', " ")),
        (None, None, _) => "all others".to_owned(),
    }
}

/// The innermost end of a path that is too long.
fn tail(name: &str, room: usize) -> String {
    let count = name.chars().count();
    if count <= room {
        return name.to_owned();
    }
    let kept: String = name.chars().skip(count - room.saturating_sub(3)).collect();
    format!("...{kept}")
}
