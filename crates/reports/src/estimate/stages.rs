//! The stages of a pipeline in a report: their passes and their memory.

use crate::stage_memory::{self, Row};
use railwright_calculator::estimate::Estimate;
use railwright_report::document::{Cell, Column, Document, Table};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Stages shown if there are many: the ends, the middle, and the relevant ones.
fn shown(estimate: &Estimate) -> Vec<usize> {
    let n = estimate.stages.len();
    if n <= 8 {
        return (0..n).collect();
    }
    let critical = estimate.stages.iter().find(|s| s.critical).map_or(0, |s| s.stage);
    let mut list = vec![0, 1, n / 2, n - 2, n - 1, critical, estimate.memory.worst.min(n - 1)];
    list.sort_unstable();
    list.dedup();
    list
}

/// Both tables.
pub(super) fn stages(document: &mut Document, estimate: &Estimate) {
    let shown = shown(estimate);
    let left_out = estimate.stages.len() - shown.len();
    let more = if left_out > 0 {
        format!("; `railwright memory` shows the other {left_out} stages")
    } else {
        String::new()
    };
    if estimate.stages.len() > 1 {
        let sums = if estimate.plan.schedule.has_two_directions() {
            "forward and backward of one micro-batch; busy, exposed and idle over the step, where passes of both directions are fused"
        } else {
            "forward and backward of one micro-batch; busy, exposed and idle over the step"
        };
        document.heading_with("pipeline stages", sums);
        document.table(passes(estimate, &shown));
    }
    document.heading_with(
        "memory",
        format!("one rank of each stage at its peak, GiB; activations include the working set{more}"),
    );
    document.table(memory(estimate, &shown));
}

/// The column of recompute, which is a part of the backward pass in front of it.
const RECOMPUTE: usize = 5;

fn passes(estimate: &Estimate, shown: &[usize]) -> Table {
    let columns = vec![
        Column::numbers("stage"),
        Column::numbers("layers"),
        Column::words("remark").expendable(1),
        Column::numbers("forward"),
        Column::numbers("backward"),
        Column::numbers("recompute (in backward)").expendable(4),
        Column::numbers("busy").expendable(1),
        Column::numbers("exposed").expendable(2),
        Column::numbers("idle").expendable(1),
    ];
    let time = |time: Seconds| {
        let text = if time == Seconds::ZERO { String::new() } else { human::seconds(time) };
        Cell::number(text, time.get())
    };
    let rows = shown.iter().filter_map(|&s| estimate.stages.get(s)).map(|stage| {
        let also: Vec<&str> =
            [(stage.embedding, "embedding"), (stage.head, "head"), (stage.critical, "critical")]
                .into_iter()
                .filter_map(|(is, name)| is.then_some(name))
                .collect();
        vec![
            Cell::number(stage.stage.to_string(), stage.stage as f64),
            Cell::number(stage.layers.to_string(), stage.layers as f64),
            also.join(", ").into(),
            time(stage.forward),
            time(stage.backward),
            time(stage.recompute),
            time(stage.busy),
            time(stage.exposed),
            time(stage.bubble),
        ]
    });
    let mut table = Table { columns, rows: rows.collect() };
    if estimate.stages.iter().all(|stage| stage.recompute == Seconds::ZERO) {
        table.columns.remove(RECOMPUTE);
        table.rows.iter_mut().for_each(|row| drop(row.remove(RECOMPUTE)));
    }
    table
}

fn memory(estimate: &Estimate, shown: &[usize]) -> Table {
    let rows = shown.iter().filter_map(|&s| estimate.memory.stages.get(s)).map(|stage| Row {
        stage: stage.stage,
        kinds: stage.kinds.iter().map(|k| (k.kind, k.bytes)).collect(),
        device: stage.device,
        available: stage.available,
        moment: stage.moment,
    });
    stage_memory::table(rows)
}
