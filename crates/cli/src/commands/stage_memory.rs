//! The table of memory by stage that `estimate` and `memory` share.

use crate::printer::document::{Cell, Column, Table, Tone};
use crate::printer::words;
use railwright_answers::fit_words;
use railwright_calculator::memory::{Fit, Kind, MemoryReport, Moment};
use railwright_spec::human;
use railwright_spec::quantity::Bytes;

/// Columns, with the kinds of memory that each sums up.
const KINDS: [(&str, &[Kind]); 6] = [
    ("weights", &[Kind::Parameters, Kind::NarrowWeights]),
    ("gradients", &[Kind::Gradients]),
    ("optimizer", &[Kind::MasterWeights, Kind::OptimizerMoments, Kind::OptimizerTemporaries]),
    ("activations", &[Kind::Activations, Kind::WorkingSet]),
    ("logits", &[Kind::Logits]),
    ("other", &[Kind::CommunicationBuffers, Kind::Workspace, Kind::Fragmentation, Kind::Context]),
];

/// One stage.
pub(super) struct Row {
    pub(super) stage: usize,
    pub(super) kinds: Vec<(Kind, Bytes)>,
    pub(super) device: Bytes,
    pub(super) moment: Moment,
}

/// The table, in GiB.
pub(super) fn table(device_memory: Bytes, rows: impl Iterator<Item = Row>) -> Table {
    let rows: Vec<Row> = rows.collect();
    let sum = |row: &Row, kinds: &[Kind]| -> Bytes {
        row.kinds.iter().filter(|k| kinds.contains(&k.0)).map(|k| k.1).sum()
    };
    // The largest parts explain the peak, so the smallest are hidden first.
    let mut by_size: Vec<(usize, f64)> = KINDS
        .iter()
        .enumerate()
        .map(|(at, (_, kinds))| (at, rows.iter().map(|row| sum(row, kinds).get()).fold(0.0, f64::max)))
        .collect();
    by_size.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut columns = vec![Column::numbers("stage")];
    for (position, (name, _)) in KINDS.iter().enumerate() {
        let place = by_size.iter().position(|(at, _)| *at == position).unwrap_or(0) as u8;
        // 2 is the free memory.
        columns.push(Column::numbers(name).expendable(if place == 0 { 1 } else { place + 2 }));
    }
    columns.push(Column::numbers("peak"));
    columns.push(Column::numbers("free").expendable(2));
    columns.push(Column::words("when").expendable(8));
    let rows = rows.iter().map(|row| {
        let free = device_memory - row.device;
        let mut cells = vec![Cell::number(row.stage.to_string(), row.stage as f64)];
        cells.extend(KINDS.iter().map(|(_, kinds)| gib(sum(row, kinds))));
        cells.push(gib(row.device).toned(Tone::Strong));
        cells.push(gib(free).toned(if free.get() < 0.0 { Tone::Bad } else { Tone::Plain }));
        cells.push(words(row.moment).into());
        cells
    });
    Table { columns, rows: rows.collect() }
}

/// GiB with one decimal; empty for zero.
fn gib(bytes: Bytes) -> Cell {
    // An empty sum is -0.
    let text = if bytes.get() == 0.0 { String::new() } else { format!("{:.1}", bytes.gib()) };
    Cell::number(text, bytes.get() + 0.0)
}

/// A probability within its resolution: 99.5% and certainty are indistinguishable.
pub(super) fn probability(p: f64) -> String {
    if p > 0.995 {
        "over 99%".to_owned()
    } else if p < 0.005 {
        "under 1%".to_owned()
    } else {
        format!("{:.0}%", p * 100.0)
    }
}

/// Description of the fit as a cell.
pub(super) fn verdict(fit: Fit) -> Cell {
    let tone = match fit {
        Fit::DoesNotFit => Tone::Bad,
        Fit::AtRisk => Tone::Doubtful,
        Fit::Fits => Tone::Good,
    };
    Cell::new(fit_words(fit), tone)
}

/// Figures behind the verdict of a run.
pub(super) fn reason(report: &MemoryReport) -> String {
    format!(
        ": {} of {} on stage {}; {} likely to fit",
        human::bytes(report.device_memory - report.margin),
        human::bytes(report.device_memory),
        report.worst,
        probability(report.probability_of_fitting)
    )
}
