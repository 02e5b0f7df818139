//! The report of an estimate: headline, where the time goes, stages, cost, warnings, provenance.

use super::{Estimated, why};
use crate::commands::stage_memory::{self, Row, probability, verdict};
use crate::printer::document::{Bar, Block, Cell, Column, Document, Table, Tone};
use railwright_calculator::estimate::{CommunicationRow, Estimate, Part};
use railwright_calculator::model_flop::Convention;
use railwright_calculator::money::Bill;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use std::fmt::Write as _;

/// The whole report.
pub(super) fn document(estimated: &Estimated) -> Document {
    if let Some(parts) = &estimated.why {
        return why::document(&estimated.estimate, parts);
    }
    let estimate = &estimated.estimate;
    let mut document = Document::default();
    title(&mut document, estimated);
    headline(&mut document, estimate);
    time(&mut document, estimate);
    communication(&mut document, &estimate.communication);
    stages(&mut document, estimate);
    if let Some(bill) = &estimate.money {
        money(&mut document, bill);
    }
    if !estimate.warnings.is_empty() {
        document.heading("warnings");
        let told =
            estimate.warnings.iter().map(|w| Cell::new(format!("{} [{}]", w.message, w.id), Tone::Doubtful));
        document.blocks.push(Block::Bullets(told.collect()));
    }
    provenance(&mut document, estimate);
    document
}

fn title(document: &mut Document, estimated: &Estimated) {
    let Estimate { model, cluster, plan_summary, .. } = &estimated.estimate;
    document.spans(vec![
        Cell::new(model.name.as_str(), Tone::Strong),
        format!(" ({} parameters) on ", human::count(model.parameters.total as f64)).into(),
        Cell::new(format!("{} x {}", human::whole(cluster.devices), cluster.accelerator_name), Tone::Strong),
        format!(" ({})", cluster.name).into(),
    ]);
    document.paragraph(plan_summary.as_str());
    if !estimated.chosen.is_empty() {
        document.paragraph(Cell::new(
            format!("not said, so chosen: {}", estimated.chosen.join("; ")),
            Tone::Faint,
        ));
    }
}

fn headline(document: &mut Document, estimate: &Estimate) {
    let interval = &estimate.step_time_interval;
    let throughput = &estimate.throughput;
    let strong = |text: String| Cell::new(text, Tone::Strong);
    let mut pairs = vec![
        (
            "step time".to_owned(),
            vec![
                strong(human::seconds(estimate.step_time)),
                format!(
                    "  {:.0}% of runs like this take {} to {}",
                    interval.coverage * 100.0,
                    human::seconds(interval.low),
                    human::seconds(interval.high)
                )
                .into(),
            ],
        ),
        (
            "throughput".to_owned(),
            vec![
                strong(format!("{} tokens/s/GPU", grouped(throughput.tokens_per_second_per_device))),
                format!(
                    "  {} tokens/s, {} tokens a step",
                    human::count(throughput.tokens_per_second),
                    human::count(throughput.tokens_per_step as f64)
                )
                .into(),
            ],
        ),
    ];
    pairs.extend(utilisation(estimate));
    let memory = &estimate.memory;
    let room = if memory.margin.get() < 0.0 {
        format!("{} too much", human::bytes(memory.margin * -1.0))
    } else {
        format!("{} free", human::bytes(memory.margin))
    };
    pairs.push((
        "memory".to_owned(),
        vec![
            verdict(memory.fits, memory.near_limit),
            format!(
                "  {} of {} on stage {}, {room}; chance to fit {}",
                human::bytes(memory.peak),
                human::bytes(memory.device_memory),
                memory.worst,
                probability(memory.probability_of_fitting)
            )
            .into(),
        ],
    ));
    document.blocks.push(Block::Pairs(pairs));
}

fn utilisation(estimate: &Estimate) -> Vec<(String, Vec<Cell>)> {
    let efficiency = &estimate.efficiency;
    let mut pairs = Vec::new();
    let of = |convention| efficiency.model_flop.iter().find(|m| m.convention == convention);
    if let (Some(full), Some(causal)) = (of(Convention::FullAttention), of(Convention::CausalAttention))
        && let (Some(first), Some(second)) = (full.utilisation.first(), causal.utilisation.first())
    {
        let mut remark = format!(
            "  of {} dense {}, full attention; {} counting causal attention",
            human::flop_rate(first.peak),
            first.peak_format.name(),
            human::percent(second.share)
        );
        if let Some(wide) = full.utilisation.get(1) {
            // Writing to a String cannot fail.
            let _ =
                write!(remark, "; {} of the {} peak", human::percent(wide.share), wide.peak_format.name());
        }
        pairs.push((
            "MFU".to_owned(),
            vec![Cell::new(human::percent(first.share), Tone::Strong), remark.into()],
        ));
        if let Some(hardware) = efficiency.hardware.first() {
            pairs.push((
                "HFU".to_owned(),
                vec![
                    human::percent(hardware.share).into(),
                    format!(
                        "  of the same peak: {}/GPU executed, recompute included",
                        human::flop_rate(efficiency.hardware_flop_rate)
                    )
                    .into(),
                ],
            ));
        }
    }
    pairs
}

/// Shares below this are not worth a line.
const SMALL: f64 = 0.002;

fn time(document: &mut Document, estimate: &Estimate) {
    let critical = estimate.stages.iter().find(|stage| stage.critical).map_or(0, |stage| stage.stage);
    let remark = match estimate.stages.len() {
        0 | 1 => String::new(),
        n => format!("on stage {critical} of {n} (from 0), which the others wait for"),
    };
    document.heading_with("where the time goes", remark);
    let mut bars = Vec::new();
    collect(&estimate.time, 0, &mut bars);
    document.blocks.push(Block::Bars(bars));
}

fn collect(part: &Part, depth: usize, bars: &mut Vec<Bar>) {
    if depth > 2 || (depth > 0 && part.share < SMALL) {
        return;
    }
    bars.push(Bar {
        depth,
        label: part.title.clone(),
        value: human::seconds(part.time),
        share: part.share,
        tone: if depth > 1 { Tone::Faint } else { Tone::Plain },
    });
    let mut children: Vec<&Part> = part.children.iter().collect();
    if depth > 0 {
        children.sort_by(|a, b| b.time.get().total_cmp(&a.time.get()));
    }
    for child in children {
        collect(child, depth + 1, bars);
    }
}

/// Collectives that are shown; the rest is small.
const MOST_COLLECTIVES: usize = 10;

fn communication(document: &mut Document, rows: &[CommunicationRow]) {
    let mut rows: Vec<&CommunicationRow> = rows.iter().filter(|row| row.time > Seconds::ZERO).collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|a, b| b.time.get().total_cmp(&a.time.get()));
    rows.truncate(MOST_COLLECTIVES);
    document.heading_with(
        "communication",
        "one rank of that stage, over the step; ranks over domains, bus as in nccl-tests",
    );
    let columns = vec![
        Column::words("what"),
        Column::words("operation"),
        Column::numbers("ranks").expendable(4),
        Column::numbers("bytes").expendable(3),
        Column::numbers("times").expendable(5),
        Column::numbers("time"),
        Column::numbers("exposed"),
        Column::numbers("bus").expendable(2),
    ];
    let rows = rows.into_iter().map(|row| {
        vec![
            row.title.as_str().into(),
            row.operation.replace('_', "-").into(),
            ranks(row),
            Cell::number(human::bytes_decimal(row.bytes), row.bytes.get()),
            Cell::number(human::count(row.count), row.count),
            Cell::number(human::seconds(row.time), row.time.get()),
            row.exposed.map_or_else(
                || "in bubble".into(),
                |t| {
                    Cell::number(
                        if t == Seconds::ZERO { "hidden".to_owned() } else { human::seconds(t) },
                        t.get(),
                    )
                },
            ),
            Cell::number(human::bandwidth(row.bus_bandwidth), row.bus_bandwidth.get()),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

/// `8`, or `16 over 2 domains`.
pub(super) fn ranks(row: &CommunicationRow) -> Cell {
    let over =
        if row.domains > 1 { format!("{} over {}", row.ranks, row.domains) } else { row.ranks.to_string() };
    Cell::number(over, row.ranks as f64)
}

/// Stages that are shown when there are many: the ends, the middle, and those that matter.
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

fn stages(document: &mut Document, estimate: &Estimate) {
    let shown = shown(estimate);
    let left_out = estimate.stages.len() - shown.len();
    let more =
        if left_out > 0 { format!("; {left_out} more stages by `railwright memory`") } else { String::new() };
    if estimate.stages.len() > 1 {
        document.heading_with("pipeline stages", "passes of one micro batch, then sums over the step");
        document.table(passes(estimate, &shown));
    }
    document.heading_with("memory", format!("of one rank at its stage's peak, in GiB{more}"));
    document.table(memory(estimate, &shown));
}

/// The column of recompute, which is a part of the backward pass in front of it.
const RECOMPUTE: usize = 5;

fn passes(estimate: &Estimate, shown: &[usize]) -> Table {
    let columns = vec![
        Column::numbers("stage"),
        Column::numbers("layers"),
        Column::words("also").expendable(3),
        Column::numbers("forward"),
        Column::numbers("backward"),
        Column::numbers("of it recompute").expendable(4),
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
            [(stage.embedding, "embedding"), (stage.head, "head"), (stage.critical, "slowest")]
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
        moment: stage.moment,
    });
    stage_memory::table(estimate.memory.device_memory, rows)
}

fn money(document: &mut Document, bill: &Bill) {
    document.heading_with(
        "cost",
        format!("of {} tokens in {} steps", human::count(bill.tokens), grouped(bill.steps)),
    );
    let mut pairs = vec![
        ("calendar", Cell::new(human::seconds(bill.calendar), Tone::Strong)),
        ("GPU-hours", human::count(bill.device_hours.0).into()),
    ];
    let mut sources = Vec::new();
    if let (Some(rent), Some(price)) = (bill.rent, &bill.device_price) {
        let range = price.range.map_or_else(String::new, |(low, high)| {
            format!(
                " ({} to {} at {} to {})",
                human::dollars(low * bill.device_hours.0),
                human::dollars(high * bill.device_hours.0),
                human::dollars(low),
                human::dollars(high)
            )
        });
        let text =
            format!("{} at {} per GPU-hour{range}", human::dollars(rent), human::dollars(price.amount));
        pairs.push(("rent", text.into()));
        sources.push(format!("GPU-hour, {}", first_source(&price.source)));
    }
    let electricity = &bill.electricity_price;
    pairs.push((
        "energy",
        format!(
            "{} at {}: {} at ${:.3} per kWh, part of most rents",
            human::energy(bill.energy),
            human::watts(bill.power),
            human::dollars(bill.electricity),
            electricity.amount.get(),
        )
        .into(),
    ));
    sources.push(format!("kWh, {}", first_source(&electricity.source)));
    pairs.push(("prices", Cell::new(sources.join("; "), Tone::Faint)));
    document.pairs(pairs);
}

/// The first of several sources; `--why cost` has all.
fn first_source(source: &str) -> &str {
    let first = source.split("; ").next().unwrap_or(source);
    first.trim_end_matches(", read")
}

fn provenance(document: &mut Document, estimate: &Estimate) {
    let rests_on: Vec<String> = estimate
        .provenance
        .iter()
        .filter(|foundation| foundation.share >= 0.01)
        .map(|foundation| format!("{:.0}% {}", foundation.share * 100.0, foundation.title))
        .collect();
    let software = &estimate.software;
    let faint = |text: String| Cell::new(text, Tone::Faint);
    document.heading_with("what this rests on", "`--why` shows formulas, inputs and sources");
    document.pairs(vec![
        ("time", faint(rests_on.join("; "))),
        ("constants", faint(format!("{}: {}", software.id, software.source))),
        ("interval", faint(estimate.step_time_interval.source.clone())),
        ("version", faint(format!("railwright {}", env!("CARGO_PKG_VERSION")))),
    ]);
}

/// A number of three digits or more with commas.
fn grouped(x: f64) -> String {
    if x.abs() >= 100.0 { human::whole(x.round() as u64) } else { human::count(x) }
}
