//! Prediction and measurement of the log.

use railwright_calculator::estimate::Estimate;
use railwright_calculator::model_flop::Convention;
use railwright_launch::{Comparison, Measured, Predicted};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, Seconds};

/// Comparison of every figure of the log.
pub fn compare(measured: &Measured, estimate: &Estimate) -> Vec<Comparison> {
    let interval = &estimate.step_time_interval;
    let full =
        estimate.efficiency.model_flop.iter().find(|flop| flop.convention == Convention::FullAttention);
    let most = |of: fn(&railwright_calculator::estimate::StageMemory) -> Bytes| {
        estimate.memory.stages.iter().map(|stage| of(stage).get()).fold(0.0, f64::max)
    };
    measured.compare(&Predicted {
        step_time: estimate.step_time.get(),
        interval: (interval.low.get(), interval.high.get()),
        tokens_per_step: estimate.throughput.tokens_per_step as f64,
        tflops_per_device: full.map(|flop| flop.rate.get() / 1e12),
        allocated: most(|stage| stage.allocated),
        reserved: most(|stage| stage.reserved),
        devices: estimate.plan.world_size() as f64,
    })
}

/// A section of the report.
pub(super) fn section(document: &mut Document, comparisons: &[Comparison], estimate: &Estimate) {
    let coverage = estimate.step_time_interval.coverage * 100.0;
    document.heading_with("measured vs. predicted", format!("inside: within the {coverage:.0}% interval"));
    let columns = vec![
        Column::words("figure"),
        Column::numbers("measured"),
        Column::numbers("predicted"),
        Column::numbers("difference"),
        Column::words(""),
    ];
    let rows = comparisons.iter().map(|row| {
        let (title, shown): (&str, fn(f64) -> String) = match row.figure {
            "step_time" => ("step time", |x| human::seconds(Seconds::new(x))),
            "tokens_per_second_per_device" => ("tokens/s/GPU", |x| human::whole(x.round() as u64)),
            "tflops_per_device" => ("model TFLOP/s/GPU", |x| format!("{x:.1}")),
            "allocated" => ("memory allocated", |x| human::bytes(Bytes::new(x))),
            _ => ("memory reserved", |x| human::bytes(Bytes::new(x))),
        };
        let verdict = match row.inside {
            Some(true) => Cell::new("inside", Tone::Good),
            Some(false) => Cell::new("outside", Tone::Doubtful),
            None => "".into(),
        };
        vec![
            title.into(),
            Cell::number(shown(row.measured), row.measured),
            Cell::number(shown(row.predicted), row.predicted),
            Cell::number(format!("{:+.1}%", row.difference * 100.0), row.difference),
            verdict,
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}
