//! The map of TP x PP as a table: step times, or the missing memory if nothing fits.

use railwright_answers::{MapCell, MapOutcome};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_spec::human;

/// One table for each cluster and number of devices.
pub(super) fn tables(cells: &[MapCell], document: &mut Document) {
    for same in cells.chunk_by(|a, b| (&a.cluster, a.devices) == (&b.cluster, b.devices)) {
        let Some(first) = same.first() else { continue };
        document.heading(format!(
            "step time by TP and PP on {} GPUs of {}",
            human::whole(first.devices),
            first.cluster
        ));
        let sorted = |of: fn(&MapCell) -> u64| {
            let mut sizes: Vec<u64> = same.iter().map(of).collect();
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        };
        let (tensors, pipelines) = (sorted(|cell| cell.tensor), sorted(|cell| cell.pipeline));
        let mut columns = vec![Column::numbers("PP")];
        columns.extend(tensors.iter().map(|tensor| Column::numbers(&format!("TP{tensor}"))));
        let rows = pipelines.iter().map(|&pipeline| {
            let mut row = vec![Cell::number(pipeline.to_string(), pipeline as f64)];
            row.extend(tensors.iter().map(|&tensor| {
                let of = same.iter().find(|cell| (cell.tensor, cell.pipeline) == (tensor, pipeline));
                written(of.map(|cell| &cell.outcome))
            }));
            row
        });
        document.table(Table { rows: rows.collect(), columns });
        document.paragraph(Cell::new(
            "OOM: memory per device missing in the smallest layout for the required fit probability; -: no valid layout",
            Tone::Faint,
        ));
    }
}

fn written(outcome: Option<&MapOutcome>) -> Cell {
    match outcome {
        Some(MapOutcome::Fits { step_time, .. }) => Cell::number(human::seconds(*step_time), step_time.get()),
        Some(MapOutcome::OutOfMemory { lacks, .. }) => {
            Cell::new(format!("OOM +{}", human::bytes(*lacks)), Tone::Bad)
        }
        Some(MapOutcome::Unsearched) => Cell::new("?", Tone::Doubtful),
        Some(MapOutcome::Invalid) | None => Cell::new("-", Tone::Faint),
    }
}
