//! The table of memory by stage that `estimate` and `memory` share.

use railwright_calculator::memory::{Fit, Kind, MemoryReport, Moment, chance};
use railwright_report::document::{Cell, Column, Table, Tone};
use railwright_report::words;
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
    pub(super) available: Bytes,
    pub(super) moment: Moment,
}

/// The table, in GiB.
pub(super) fn table(rows: impl Iterator<Item = Row>) -> Table {
    let rows: Vec<Row> = rows.collect();
    let sum = |row: &Row, kinds: &[Kind]| -> Bytes {
        row.kinds.iter().filter(|k| kinds.contains(&k.0)).map(|k| k.1).sum()
    };
    // A row must sum to its peak, so its parts are hidden last: the smallest first, except those that no
    // stage has.
    let most = |kinds| rows.iter().map(|row| sum(row, kinds).get()).fold(0.0, f64::max);
    let sizes = KINDS.map(|(_, kinds)| most(kinds));
    let mut columns = vec![Column::numbers("stage")];
    columns.extend(KINDS.iter().zip(sizes).map(|((name, _), size)| {
        let larger = sizes.iter().filter(|other| **other > size).count() as u8;
        Column::numbers(name).expendable(if size > 0.0 { larger + 1 } else { 10 })
    }));
    columns.push(Column::numbers("peak"));
    columns.push(Column::numbers("free").expendable(8));
    columns.push(Column::words("when").expendable(9));
    let rows = rows.iter().map(|row| {
        let free = row.available - row.device;
        let mut cells = vec![Cell::number(row.stage.to_string(), row.stage as f64)];
        cells.extend(KINDS.iter().map(|(_, kinds)| gib(sum(row, kinds))));
        cells.push(gib(row.device).toned(if free.get() < 0.0 { Tone::Bad } else { Tone::Strong }));
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

fn tone(fit: Fit) -> Tone {
    match fit {
        Fit::DoesNotFit => Tone::Bad,
        Fit::AtRisk => Tone::Doubtful,
        Fit::Fits => Tone::Good,
    }
}

/// Description of the fit as a cell.
pub(super) fn verdict(fit: Fit) -> Cell {
    Cell::new(fit.words(), tone(fit))
}

/// Cell of a column `fits`: `98%`, `at risk, 57%` or `no, under 1%`.
pub(super) fn fits(probability: f64, required: f64) -> Cell {
    let (fit, likely) = (Fit::required(probability, required), chance(probability));
    let text = match fit {
        Fit::Fits => likely,
        Fit::AtRisk => format!("{}, {likely}", fit.words()),
        Fit::DoesNotFit => format!("no, {likely}"),
    };
    Cell::number(text, probability).toned(tone(fit))
}

/// Figures behind the verdict of a run.
pub fn reason(report: &MemoryReport) -> String {
    format!(
        ": {} of {} on stage {}; {} likely to fit",
        human::bytes(report.device_memory - report.margin),
        human::bytes(report.device_memory),
        report.worst,
        chance(report.probability_of_fitting)
    )
}
