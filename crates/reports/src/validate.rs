//! `validate`: prediction of a table of measured runs, and its errors.

pub mod network;
pub mod regret;

use railwright_calculator::validation::Validation;
use railwright_calculator::validation::report::{Errors, RowResult, Used};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::{Portable as _, human};

/// Number of predicted rows, and the sign of errors.
fn counted(rows: usize, predicted: usize) -> String {
    format!(
        "{} rows: {} predicted, {} skipped; error = predicted / measured - 1",
        human::whole(rows as u64),
        human::whole(predicted as u64),
        human::whole((rows - predicted) as u64)
    )
}

/// Numbers of rows without a prediction, by reason.
fn skipped_rows<'a>(reasons: impl IntoIterator<Item = (&'a String, &'a usize)>) -> Table {
    let line =
        |(reason, n): (&String, &usize)| vec![Cell::number(n.to_string(), *n as f64), reason.as_str().into()];
    Table {
        columns: vec![Column::numbers("rows"), Column::prose("reason")],
        rows: reasons.into_iter().map(line).collect(),
    }
}

/// Predictions of a table of measured runs.
pub struct Validated(pub Validation);

impl Answer for Validated {
    const KIND: &'static str = "validation";

    type Json<'a> = &'a Validation;

    fn json(&self) -> &Validation {
        &self.0
    }

    /// The rows; the summary is only in the report and JSON.
    fn csv(&self) -> String {
        let mut document = Document::default();
        document.table(rows(&self.0.rows, false, self.0.calibration.is_some()));
        railwright_report::csv(&document)
    }

    fn document(&self, _: Terminal) -> Document {
        let Validation { rows: all, summary, .. } = &self.0;
        let mut document = Document::default();
        let predicted = all.iter().filter(|row| row.skipped.is_none()).count();
        if let Some(errors) = &summary.overall.step_time {
            document.verdict(format!(
                "step time: median error {}, 90% of runs within {}",
                human::percent(errors.median_absolute),
                human::percent(errors.p90_absolute)
            ));
        }
        let timed = all.iter().filter(|row| row.step_time_error.is_some()).count();
        let counted = counted(all.len(), predicted);
        let of_step = if timed == predicted {
            counted
        } else {
            format!("{counted}; {} have a measured step time", human::whole(timed as u64))
        };
        document.heading_with("errors by group of sources", of_step);
        document.table(errors(summary.groups.iter(), Some(&summary.overall)));
        document.paragraph(Cell::new(
            "for runs of `catalog/evidence`, these are errors of the fit; the README lists those of unseen publications",
            Tone::Faint,
        ));
        if let Some(used) = &self.0.calibration {
            calibration(&mut document, used);
        }
        let mut sources: Vec<(&String, &Errors)> = summary.sources.iter().collect();
        sources.sort_by(|a, b| b.1.rows.cmp(&a.1.rows).then(a.0.cmp(b.0)));
        let more = if sources.len() > MOST_SOURCES {
            format!("the {MOST_SOURCES} largest of {}; --json has all", sources.len())
        } else {
            String::new()
        };
        sources.truncate(MOST_SOURCES);
        document.detail("errors by source", more, errors(sources.into_iter(), None));
        if let Some(verdicts) = &summary.out_of_memory {
            document.heading("out-of-memory predictions");
            let recall = verdicts.recall.map_or_else(
                || "n/a (no run in the table is labelled as out of memory)".to_owned(),
                |recall| {
                    format!(
                        "{} ({} of {} runs out of memory were predicted not to fit)",
                        human::percent(recall),
                        verdicts.found,
                        verdicts.out_of_memory
                    )
                },
            );
            document.paragraph(format!(
                "recall: {recall}; false alarms: {} of {} runs without out-of-memory error",
                verdicts.false_alarms, verdicts.ran
            ));
        }
        let mut worst: Vec<RowResult> =
            all.iter().filter(|row| row.step_time_error.is_some()).cloned().collect();
        worst.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.id.cmp(&b.id)));
        worst.truncate(WORST);
        if !worst.is_empty() {
            document.heading("largest errors");
            document.table(rows(&worst, true, self.0.calibration.is_some()));
        }
        if !summary.skipped.is_empty() {
            let mut reasons: Vec<(&String, &usize)> = summary.skipped.iter().collect();
            reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            document.detail("skipped", "", skipped_rows(reasons));
        }
        document.next_step("`railwright calibrate` fits the cost model to your own measurements");
        document
    }
}

/// Rows that used the calibration, and its effect.
fn calibration(document: &mut Document, used: &Used) {
    document.heading("the calibration");
    if used.rows == 0 && used.unchanged > 0 {
        document.paragraph(format!(
            "{} rows ran on the accelerator of {} ({}), but the calibration changes none of them",
            human::whole(used.unchanged as u64),
            used.file,
            used.accelerator
        ));
        return;
    }
    if used.rows == 0 {
        document.paragraph(format!(
            "no row ran on the accelerator of {} ({}): no prediction changes",
            used.file, used.accelerator
        ));
        return;
    }
    document.paragraph(format!(
        "{} of {} rows on {} change with {}; all others are unchanged",
        human::whole(used.rows as u64),
        human::whole((used.rows + used.unchanged) as u64),
        used.accelerator,
        used.file
    ));
    let names = ["these rows, without calibration".to_owned(), "these rows, with calibration".to_owned()];
    document.table(errors(names.iter().zip([&used.without, &used.with]), None));
}

/// Number of rows in the report: the largest errors.
const WORST: usize = 10;
/// Number of sources in the report.
const MOST_SOURCES: usize = 16;

fn size(row: &RowResult) -> f64 {
    // An error of a factor counts the same in both directions.
    row.step_time_error.map_or(0.0, |e| (1.0 + e).max(1e-9).portable_ln().abs())
}

/// A signed percentage.
fn percentage(x: f64) -> Cell {
    Cell::number(format!("{:+.1}%", x * 100.0), x)
}

fn share(x: Option<f64>) -> Cell {
    x.map_or_else(Cell::default, Cell::percent)
}

fn errors<'a>(sets: impl Iterator<Item = (&'a String, &'a Errors)>, overall: Option<&Errors>) -> Table {
    let columns = vec![
        Column::prose(if overall.is_some() { "group" } else { "source" }),
        Column::numbers("rows"),
        Column::numbers("predicted").expendable(3),
        Column::numbers("median"),
        Column::numbers("mean").expendable(6),
        Column::numbers("p90").expendable(1),
        Column::numbers("bias").expendable(2),
        Column::numbers("in 90%").expendable(5),
        Column::numbers("rank").expendable(7),
        Column::numbers("memory").expendable(4),
        Column::numbers("mem p90").expendable(8),
    ];
    let line = |name: &str, set: &Errors, tone: Tone| {
        let time = set.step_time.as_ref();
        let memory = set.peak_memory.as_ref();
        vec![
            Cell::new(name, tone),
            Cell::number(set.rows.to_string(), set.rows as f64),
            Cell::number(set.predicted.to_string(), set.predicted as f64),
            share(time.map(|t| t.median_absolute)),
            share(time.map(|t| t.mean_absolute)),
            share(time.map(|t| t.p90_absolute)),
            time.map_or_else(Cell::default, |t| percentage(t.bias)),
            share(set.interval_coverage),
            set.rank_correlation.map_or_else(Cell::default, |r| Cell::number(format!("{r:.3}"), r)),
            share(memory.map(|m| m.median_absolute)),
            share(memory.map(|m| m.p90_absolute)),
        ]
    };
    let mut rows: Vec<Vec<Cell>> =
        sets.map(|(name, set)| line(&human::shorten(name), set, Tone::Plain)).collect();
    rows.extend(overall.map(|set| line("all", set, Tone::Strong)));
    Table { columns, rows }
}

fn rows(list: &[RowResult], for_people: bool, has_calibration: bool) -> Table {
    let mut columns = vec![
        Column::prose("id"),
        Column::numbers("predicted_step_time_s"),
        Column::numbers("measured_step_time_s"),
        Column::numbers("step_time_error"),
        Column::numbers("predicted_peak_memory_bytes"),
        Column::numbers("measured_peak_memory_bytes"),
        Column::numbers("peak_memory_error"),
        Column::words("predicted_fits"),
        Column::words("skipped"),
    ];
    let short = ["run", "predicted", "measured", "error", "memory", "measured", "error", "fits"];
    if for_people {
        for (column, name) in columns.iter_mut().zip(short) {
            name.clone_into(&mut column.name);
        }
        columns.truncate(short.len());
        for (column, rank) in columns.iter_mut().zip([0, 0, 0, 0, 2, 3, 4, 5]) {
            column.expendable = rank;
        }
    }
    if has_calibration {
        columns.push(Column::words("calibrated"));
    }
    let time = |s: Option<f64>| {
        s.map_or_else(Cell::default, |s| {
            Cell::number(human::seconds(railwright_spec::quantity::Seconds::new(s)), s)
        })
    };
    let bytes = |b: Option<f64>| {
        b.map_or_else(Cell::default, |b| {
            Cell::number(human::bytes(railwright_spec::quantity::Bytes::new(b)), b)
        })
    };
    let lines = list.iter().map(|row| {
        let mut cells: Vec<Cell> = vec![
            row.id.as_str().into(),
            time(row.predicted_step_time_s),
            time(row.measured_step_time_s),
            row.step_time_error.map_or_else(Cell::default, percentage),
            bytes(row.predicted_peak_memory_bytes),
            bytes(row.measured_peak_memory_bytes),
            row.peak_memory_error.map_or_else(Cell::default, percentage),
            match row.predicted_fits {
                None => "",
                Some(true) => "yes",
                Some(false) => "no",
            }
            .into(),
            row.skipped.clone().unwrap_or_default().into(),
        ];
        if for_people {
            cells.truncate(short.len());
        }
        if has_calibration {
            cells.push(if row.calibrated { "yes" } else { "no" }.into());
        }
        cells
    });
    let rows = lines.collect();
    Table { columns, rows }
}
