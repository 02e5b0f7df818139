//! The report of an estimate: headline, step breakdown, stages, cost, warnings, provenance.

mod foundation;
pub mod measured;
pub mod picture;
mod stages;
pub mod why;

use crate::cells::{grouped, ranks};
use crate::stage_memory::verdict;
use railwright_answers::OpenFeature;
use railwright_calculator::estimate::{CommunicationRow, Estimate, Part};
use railwright_calculator::memory::{Fit, chance};
use railwright_calculator::model_flop::Convention;
use railwright_launch::{Comparison, Measured};
use railwright_report::document::{Bar, Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::plan::Recompute;
use railwright_spec::quantity::Seconds;
use serde::Serialize;
use std::fmt::Write as _;

/// An estimate with the defaults chosen for it.
pub struct Estimated {
    /// The estimate.
    pub estimate: Estimate,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// True if the software generation is inferred.
    pub software_is_inferred: bool,
    /// Features of the software that were assumed.
    pub open_features: Vec<OpenFeature>,
    /// Requested explanations, instead of a report.
    pub why: Option<Vec<why::Item>>,
    /// The command that searches layouts of this run.
    pub search: String,
    /// Measurements of the log, with predictions.
    pub measured: Option<(Measured, Vec<Comparison>)>,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateFields<'a> {
    #[serde(flatten)]
    estimate: &'a Estimate,
    /// Settings that were not specified.
    chosen: &'a [String],
    software_is_inferred: bool,
    /// Features of the software that were assumed, those that change the step most.
    open_features: &'a [OpenFeature],
    /// Measurements of the run's log; absent without a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparisons: Option<&'a [Comparison]>,
    /// Terms of the report, with `--explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<&'a [why::Item]>,
}

impl Answer for Estimated {
    const KIND: &'static str = "estimate";

    type Json<'a> = EstimateFields<'a>;

    fn json(&self) -> EstimateFields<'_> {
        EstimateFields {
            estimate: &self.estimate,
            chosen: &self.chosen,
            software_is_inferred: self.software_is_inferred,
            open_features: &self.open_features,
            measured: self.measured.as_ref().map(|(measured, _)| measured),
            comparisons: self.measured.as_ref().map(|(_, comparisons)| comparisons.as_slice()),
            explained: self.why.as_deref(),
        }
    }

    fn document(&self, _: Terminal) -> Document {
        crate::estimate::document(self)
    }

    /// Every number of the JSON, one per line: `path,value`.
    fn csv(&self) -> String {
        let mut rows = Vec::new();
        // Structures with text keys always serialize.
        let fields = serde_json::to_value(self.json()).unwrap_or_default();
        for (key, value) in fields.as_object().into_iter().flatten() {
            railwright_report::delimited::flatten(key, value, &mut rows);
        }
        railwright_report::csv_lines(&["path".to_owned(), "value".to_owned()], rows)
    }
}

/// The whole report.
fn document(estimated: &Estimated) -> Document {
    if let Some(parts) = &estimated.why {
        return why::document(&estimated.estimate, parts);
    }
    let estimate = &estimated.estimate;
    let mut document = Document::default();
    document.verdict(result(estimate));
    title(&mut document, estimated);
    headline(&mut document, estimate);
    document.details(|details| open_features(details, &estimated.open_features));
    if let Some((_, comparisons)) = &estimated.measured {
        measured::section(&mut document, comparisons, estimate);
    }
    time(&mut document, estimate);
    document.details(|details| {
        communication(details, estimate);
        stages::stages(details, estimate);
    });
    if let Some(bill) = &estimate.money {
        foundation::money(&mut document, bill);
    }
    if !estimate.warnings.is_empty() {
        document.heading("warnings");
        let bullets =
            estimate.warnings.iter().map(|w| Cell::new(format!("{} [{}]", w.message, w.id), Tone::Doubtful));
        document.blocks.push(Block::Bullets(bullets.collect()));
    }
    document.details(|details| foundation::provenance(details, estimate));
    let (search, worst) = (&estimated.search, estimate.memory.worst);
    document.next_step(if estimate.memory.fit == Fit::Fits {
        format!("{search} finds faster layouts; `railwright sensitivity` ranks parameters by their effect on step time")
    } else {
        format!("`railwright memory` breaks down stage {worst}; {search} finds layouts that fit")
    });
    document
}

/// Step time, memory verdict and the largest part of the step that is not useful work.
fn result(estimate: &Estimate) -> String {
    let lost = estimate.time.largest_loss().filter(|(_, share)| *share >= SMALL);
    let largest = lost.map_or_else(String::new, |(title, share)| {
        format!("; largest loss: {title}, {} of the step", human::percent(share))
    });
    let fit = verdict(estimate.memory.fit).text;
    format!("{} per step, {fit}{largest}", human::seconds(estimate.step_time))
}

fn title(document: &mut Document, estimated: &Estimated) {
    let Estimate { model, cluster, software, plan_summary, .. } = &estimated.estimate;
    document.spans(vec![
        Cell::new(model.name.as_str(), Tone::Strong),
        format!(" ({} parameters) on ", human::count(model.parameters.total as f64)).into(),
        Cell::new(cluster.devices_by_kind(), Tone::Strong),
        format!(" ({}), software ", cluster.name).into(),
        Cell::new(software.id.as_str(), Tone::Strong),
        (if estimated.software_is_inferred { " (inferred)" } else { " (specified)" }).into(),
    ]);
    document.paragraph(plan_summary.as_str());
    document.chosen(&estimated.chosen);
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
                    "  50% interval {} to {}; {:.0}%: {} to {}",
                    human::seconds(interval.half_low),
                    human::seconds(interval.half_high),
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
                    "  {} tokens/s, {} tokens per step",
                    human::count(throughput.tokens_per_second),
                    human::count(throughput.tokens_per_step as f64)
                )
                .into(),
            ],
        ),
    ];
    pairs.extend(utilisation(estimate));
    let memory = &estimate.memory;
    let room = if memory.margin.get() < 0.0 && memory.least <= memory.device_memory {
        format!("{} once the allocator releases unused memory", human::bytes(memory.least))
    } else if memory.margin.get() < 0.0 {
        format!("{} over", human::bytes(memory.margin * -1.0))
    } else {
        format!("{} free", human::bytes(memory.margin))
    };
    let stage = if estimate.stages.len() > 1 { format!(" on stage {}", memory.worst) } else { String::new() };
    pairs.push((
        "memory".to_owned(),
        vec![
            verdict(memory.fit),
            format!(
                "  {} of {}{stage}, {room}; {} likely to fit",
                human::bytes(memory.peak),
                human::bytes(memory.device_memory),
                chance(memory.probability_of_fitting)
            )
            .into(),
        ],
    ));
    document.blocks.push(Block::Pairs(pairs));
}

/// Assumed software features and their effect.
fn open_features(document: &mut Document, features: &[OpenFeature]) {
    if features.is_empty() {
        return;
    }
    document.heading_with("assumptions", "software features; change of the step time with the alternative");
    let columns = vec![
        Column::words("feature"),
        Column::numbers("step time"),
        Column::prose("assumed").expendable(3),
        Column::prose("alternative").expendable(2),
        Column::prose("option"),
    ];
    let row = |feature: &OpenFeature| {
        vec![
            feature.title.as_str().into(),
            Cell::number(format!("{:+.0}%", feature.change * 100.0), feature.change).toned(Tone::Strong),
            feature.assumed.as_str().into(),
            feature.alternative.as_str().into(),
            Cell::new(feature.remedy.as_str(), Tone::Faint),
        ]
    };
    document.table(Table { columns, rows: features.iter().map(row).collect() });
}

fn utilisation(estimate: &Estimate) -> Vec<(String, Vec<Cell>)> {
    let efficiency = &estimate.efficiency;
    let mut pairs = Vec::new();
    let reported = efficiency.model_flop.iter().find(|m| m.convention == Convention::REPORTED);
    if let Some(model) = reported
        && let Some(first) = model.utilisation.first()
    {
        // Without a causal mask the conventions are equal.
        let is_full = efficiency.model_flop.iter().all(|m| m.per_token == model.per_token);
        let mut remark = format!(
            "  of {} dense {}{}",
            human::flop_rate(first.peak),
            first.peak_format.name(),
            if is_full { "" } else { ", causal attention" }
        );
        if let Some(wide) = model.utilisation.get(1) {
            // Writing to a String cannot fail.
            let _ =
                write!(remark, "; {} of the {} peak", human::percent(wide.share), wide.peak_format.name());
        }
        pairs.push((
            "MFU".to_owned(),
            vec![Cell::new(human::percent(first.share), Tone::Strong), remark.into()],
        ));
        if let Some(hardware) = efficiency.hfu() {
            pairs.push((
                "HFU".to_owned(),
                vec![
                    human::percent(hardware).into(),
                    format!(
                        "  of the same peak: {}/GPU executed, with {}",
                        human::flop_rate(efficiency.hardware_flop_rate),
                        if estimate.plan.recompute == Recompute::None {
                            "the recompute of attention's backward pass"
                        } else {
                            "recompute"
                        }
                    )
                    .into(),
                ],
            ));
        }
    }
    pairs
}

/// Minimum share of a part for its own line.
const SMALL: f64 = 0.002;

fn time(document: &mut Document, estimate: &Estimate) {
    let critical = estimate.stages.iter().find(|stage| stage.critical).map_or(0, |stage| stage.stage);
    let remark = match estimate.stages.len() {
        0 | 1 => String::new(),
        n => format!("on the critical stage, {critical} of 0-{}", n - 1),
    };
    document.heading_with("step breakdown", remark);
    let mut bars = Vec::new();
    collect(&estimate.time, 0, &mut bars);
    let mut recompute = Vec::new();
    collect(&estimate.time.recompute(), 2, &mut recompute);
    let compute = bars.iter().position(|bar| bar.label == "compute").map_or(0, |at| at + 1);
    bars.splice(compute..compute, recompute);
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

fn communication(document: &mut Document, estimate: &Estimate) {
    let mut rows: Vec<&CommunicationRow> =
        estimate.communication.iter().filter(|row| row.time > Seconds::ZERO).collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|a, b| b.time.get().total_cmp(&a.time.get()));
    rows.truncate(MOST_COLLECTIVES);
    let who = if estimate.stages.len() > 1 { "one rank of the critical stage" } else { "one rank" };
    let is_over = rows.iter().any(|row| row.domains > 1);
    let over = if is_over { "; `2 over 2`: 2 ranks over 2 scale-up domains" } else { "" };
    let remark = format!("{who}, per step; busbw as in nccl-tests{over}");
    document.heading_with("communication", remark);
    let columns = vec![
        Column::words("kind"),
        Column::words("operation"),
        Column::numbers("ranks").expendable(2),
        Column::numbers("bytes per call").expendable(5),
        Column::numbers("calls").expendable(4),
        Column::numbers("time"),
        Column::numbers("exposed"),
        Column::numbers("busbw").expendable(1),
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
