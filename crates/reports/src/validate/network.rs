//! `validate --network`: published collectives of clusters, predicted, with the errors.
//!
//! Responsible for: the views of [`NetworkValidation`]. Does not predict.

use crate::validate::{counted, percentage, share, skipped_rows};
use railwright_calculator::validation::statistics::ErrorSummary;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::BytesPerSecond;
use railwright_tuner::collective::{Errors, MeasuredCollective, NetworkValidation, Prediction, Predictor};

/// Predictions of measured collectives.
pub struct Measured(pub NetworkValidation);

impl Answer for Measured {
    const KIND: &'static str = "network_validation";

    type Json<'a> = &'a NetworkValidation;

    fn json(&self) -> &NetworkValidation {
        &self.0
    }

    /// The rows; errors of groups are only in the report and JSON.
    fn csv(&self) -> String {
        let mut document = Document::default();
        document.table(rows(&self.0.rows));
        railwright_report::csv(&document)
    }

    fn document(&self, _: Terminal) -> Document {
        let NetworkValidation { rows: all, groups, overall, sources, skipped, .. } = &self.0;
        let has_flow = self.0.predictor == Predictor::Flow;
        let predicted = all.iter().filter(|row| row.skipped.is_none()).count();
        let mut document = Document::default();
        if let Some(errors) = overall.flow.as_ref().or(overall.closed_form.as_ref()) {
            document.verdict(format!(
                "bus bandwidth: median error {}, 90% of rows within {}",
                human::percent(errors.median_absolute),
                human::percent(errors.p90_absolute)
            ));
        }
        document.heading_with(
            "errors of bus bandwidth by fabric",
            format!("{}, positive: predicted bandwidth too high", counted(all.len(), predicted)),
        );
        let names = groups.iter().map(|group| format!("{}, {}", group.name(), group.fabric));
        let of_groups = names.zip(groups.iter().map(|group| &group.errors));
        document.table(errors("fabric", of_groups, Some(overall), has_flow));
        document.heading("errors by source");
        let of_sources = sources.iter().map(|(source, errors)| (source.clone(), errors));
        document.table(errors("source", of_sources, None, has_flow));
        for group in groups {
            let assumed = group.rows.first().and_then(|&row| all.get(row)?.assumed.as_deref());
            let remark = match assumed {
                Some(assumed) => format!("{}; topology not published, assumed: {assumed}", group.fabric),
                None => group.fabric.clone(),
            };
            document.detail(
                group.name(),
                remark,
                sizes(group.rows.iter().filter_map(|&row| all.get(row)), has_flow),
            );
        }
        if !skipped.is_empty() {
            document.detail("skipped", "", skipped_rows(skipped));
        }
        document.next_step("`railwright network collective` predicts a collective on a network of your own");
        document
    }
}

fn errors<'a>(
    name: &str,
    sets: impl Iterator<Item = (String, &'a Errors)>,
    overall: Option<&Errors>,
    has_flow: bool,
) -> Table {
    let mut columns = vec![
        Column::prose(name),
        Column::numbers("rows"),
        Column::numbers("closed form"),
        Column::numbers("bias").expendable(1),
    ];
    if has_flow {
        columns.extend([
            Column::numbers("flows"),
            Column::numbers("bias").expendable(2),
            Column::numbers("with ecmp"),
            Column::numbers("bias").expendable(3),
        ]);
    }
    let both = |summary: Option<&ErrorSummary>| {
        [
            share(summary.map(|s| s.median_absolute)),
            summary.map_or_else(Cell::default, |s| percentage(s.bias)),
        ]
    };
    let line = |name: String, set: &Errors, tone: Tone| {
        let mut cells = vec![Cell::new(name, tone), Cell::number(set.rows.to_string(), set.rows as f64)];
        cells.extend(both(set.closed_form.as_ref()));
        if has_flow {
            cells.extend(both(set.flow.as_ref()));
            cells.extend(both(set.hashed.as_ref()));
        }
        cells
    };
    let mut rows: Vec<Vec<Cell>> = sets.map(|(name, set)| line(name, set, Tone::Plain)).collect();
    rows.extend(overall.map(|set| line("all".to_owned(), set, Tone::Strong)));
    Table { columns, rows }
}

fn gigabytes(rate: BytesPerSecond) -> Cell {
    Cell::number(format!("{:.1}", rate.gb()), rate.gb())
}

fn both(prediction: Option<Prediction>) -> [Cell; 2] {
    match prediction {
        Some(prediction) => [gigabytes(prediction.bus_bandwidth), percentage(prediction.error)],
        None => [Cell::default(), Cell::default()],
    }
}

fn sizes<'a>(rows: impl Iterator<Item = &'a MeasuredCollective>, has_flow: bool) -> Table {
    let mut columns = vec![
        Column::numbers("size"),
        Column::numbers("measured GB/s"),
        Column::words("algorithm").expendable(1),
        Column::numbers("closed form"),
        Column::numbers("error"),
    ];
    if has_flow {
        columns.extend([
            Column::numbers("flows"),
            Column::numbers("error"),
            Column::numbers("with ecmp").expendable(2),
            Column::numbers("error").expendable(3),
        ]);
    }
    let line = |row: &MeasuredCollective| {
        let mut cells = vec![
            row.bytes.map_or_else(Cell::default, |size| Cell::number(human::bytes(size), size.get())),
            row.measured.map_or_else(Cell::default, gigabytes),
            row.closed_form.map_or("", |prediction| prediction.algorithm).into(),
        ];
        cells.extend(both(row.closed_form));
        if has_flow {
            cells.extend(both(row.flow));
            cells.extend(both(row.hashed));
        }
        cells
    };
    Table { columns, rows: rows.map(line).collect() }
}

fn rows(list: &[MeasuredCollective]) -> Table {
    let columns = vec![
        Column::numbers("line"),
        Column::prose("source"),
        Column::words("gpu"),
        Column::numbers("ranks"),
        Column::prose("fabric"),
        Column::words("operation"),
        Column::numbers("bytes"),
        Column::numbers("measured_bus_gbps"),
        Column::numbers("closed_form_bus_gbps"),
        Column::numbers("closed_form_error"),
        Column::numbers("flow_bus_gbps"),
        Column::numbers("flow_error"),
        Column::numbers("ecmp_bus_gbps"),
        Column::numbers("ecmp_error"),
        Column::prose("assumed"),
        Column::prose("skipped"),
    ];
    let line = |row: &MeasuredCollective| {
        let mut cells: Vec<Cell> = vec![
            Cell::number(row.line.to_string(), row.line as f64),
            row.source.as_str().into(),
            row.gpu.clone().unwrap_or_default().into(),
            row.ranks.map_or_else(Cell::default, Cell::whole),
            row.fabric.as_str().into(),
            row.operation.as_str().into(),
            row.bytes.map_or_else(Cell::default, |size| Cell::number(human::bytes(size), size.get())),
            row.measured.map_or_else(Cell::default, gigabytes),
        ];
        cells.extend(both(row.closed_form));
        cells.extend(both(row.flow));
        cells.extend(both(row.hashed));
        cells.push(row.assumed.clone().unwrap_or_default().into());
        cells.push(row.skipped.clone().unwrap_or_default().into());
        cells
    };
    Table { columns, rows: list.iter().map(line).collect() }
}
