//! `--why`: how a number of the report came about: its formula, what went into it here, and where that is from.

use super::report::ranks;
use crate::commands::explain::{Topic, paragraphs, topic, topics};
use crate::printer::document::{Block, Cell, Column, Document, Table, Tone};
use crate::printer::words;
use railwright_calculator::estimate::{Estimate, Part};
use railwright_calculator::software::{self, Software};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;

/// Something to explain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Item {
    /// As the report or `railwright explain` names it.
    id: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<Topic>,
    /// Its value here.
    value: String,
    /// What went into it here.
    inputs: Vec<(String, String)>,
}

/// Headline figures, beside the parts of the time.
const FIGURES: [&str; 6] = ["mfu", "hfu", "interval", "memory", "probability", "cost"];

/// The items for a word: all that matter if it is empty.
pub(super) fn items(estimate: &Estimate, wanted: &str) -> Result<Vec<Item>, Problem> {
    let mut parts = Vec::new();
    walk(&estimate.time, 0, &mut parts);
    if wanted.is_empty() {
        let large = parts.iter().filter(|(depth, part)| *depth < 3 && part.share >= 0.005);
        let times = large.map(|(_, part)| of_part(estimate, part));
        let figures = FIGURES.iter().filter(|id| **id != "cost" || estimate.money.is_some());
        return Ok(times.chain(figures.map(|id| of_figure(estimate, id))).collect());
    }
    if let Some((_, part)) = parts.iter().find(|(_, part)| part.id == wanted) {
        return Ok(vec![of_part(estimate, part)]);
    }
    if FIGURES.contains(&wanted) || topics().iter().any(|t| t.id == wanted) {
        return Ok(vec![of_figure(estimate, wanted)]);
    }
    let names: Vec<&str> =
        parts.iter().filter(|(depth, _)| *depth < 3).map(|(_, p)| p.id.as_str()).chain(FIGURES).collect();
    let otherwise = format!("this estimate has {}", names.join(", "));
    Err(Problem::new(format!("no part of this estimate is called `{}`", human::shorten(wanted)))
        .in_file("--why")
        .hint(did_you_mean(wanted, names.iter().copied(), &otherwise)))
}

fn walk<'a>(part: &'a Part, depth: usize, list: &mut Vec<(usize, &'a Part)>) {
    list.push((depth, part));
    part.children.iter().for_each(|child| walk(child, depth + 1, list));
}

fn of_part(estimate: &Estimate, part: &Part) -> Item {
    let mut inputs: Vec<(String, String)> = part
        .children
        .iter()
        .map(|c| (c.title.clone(), format!("{}, {}", human::seconds(c.time), human::percent(c.share))))
        .collect();
    inputs.extend(constants(estimate, &part.id));
    for row in estimate.communication.iter().filter(|row| belongs(row.dimension, &part.id)) {
        inputs.push((
            format!("{} {}", row.title, row.operation.replace('_', "-")),
            format!(
                "{} x {} of {} among {} ranks: {} each at {} bus bandwidth ({}, {})",
                human::count(row.count),
                row.operation.replace('_', "-"),
                human::bytes_decimal(row.bytes),
                ranks(row).text,
                human::seconds(row.time_each),
                human::bandwidth(row.bus_bandwidth),
                row.algorithm,
                words(row.source)
            ),
        ));
    }
    Item {
        id: part.id.clone(),
        topic: topic(&part.id),
        value: format!(
            "{}: {}, {} of the step",
            part.title,
            human::seconds(part.time),
            human::percent(part.share)
        ),
        inputs,
    }
}

/// Whether a dimension's collectives make up a part of the time.
fn belongs(dimension: &str, id: &str) -> bool {
    match dimension {
        "data" => id == "data_parallel",
        "pipeline" => id == "bubble",
        _ => id.strip_prefix("exposed.") == Some(dimension),
    }
}

/// Constants and counts behind a part.
fn constants(estimate: &Estimate, id: &str) -> Vec<(String, String)> {
    let plan = &estimate.plan;
    let Ok(generation) = software::by_id(&estimate.software.id) else { return Vec::new() };
    let architecture = estimate.cluster.architecture.as_str();
    let constant = |name: &str, value: String| (name.to_owned(), format!("{value} ({})", generation.id));
    let tokens = plan.micro_batch * plan.sequence_length / plan.context_parallel.max(1);
    match id {
        "step" => vec![("devices".to_owned(), human::whole(estimate.cluster.devices))],
        "compute" => vec![
            ("tokens per micro batch and rank".to_owned(), human::whole(tokens)),
            ("micro batches".to_owned(), human::whole(plan.micro_batches())),
            constant(
                "matmul, sustained share",
                Software::rate(&generation.matmul, architecture, plan.precision.compute.name()).to_string(),
            ),
            constant(
                "attention_rate",
                Software::rate(&generation.attention_rate, architecture, plan.precision.activations.name())
                    .to_string(),
            ),
        ],
        "compute.loss" => vec![constant("loss_bytes_per_logit", generation.loss_bytes_per_logit.to_string())],
        "compute.residual" => vec![constant("elementwise_passes", generation.elementwise_passes.to_string())],
        "exposed.tensor" if plan.overlap.tensor => {
            vec![constant("tensor_overlap_exposed", generation.tensor_overlap_exposed.to_string())]
        }
        "exposed.expert" if plan.overlap.expert => {
            vec![constant("expert_overlap_exposed", generation.expert_overlap_exposed.to_string())]
        }
        "host" => vec![
            constant("host_us_per_kernel", generation.host_us_per_kernel.to_string()),
            constant("host_us_per_micro_batch", generation.host_us_per_micro_batch.to_string()),
        ],
        "bubble" => vec![
            (
                "stages x virtual stages".to_owned(),
                format!("{} x {}", plan.pipeline_parallel, plan.virtual_stages),
            ),
            ("micro batches".to_owned(), human::whole(plan.micro_batches())),
            ("schedule".to_owned(), words(plan.schedule)),
        ],
        "data_parallel" => vec![constant("overlap_slowdown", generation.overlap_slowdown.to_string())],
        "optimizer" => {
            vec![constant(
                "optimizer_bytes_per_parameter",
                generation.optimizer_bytes_per_parameter.to_string(),
            )]
        }
        "fixed" => vec![constant("host_ms_per_step", generation.host_ms_per_step.to_string())],
        "jitter" => vec![constant("jitter_per_doubling", generation.jitter_per_doubling.to_string())],
        _ => Vec::new(),
    }
}

fn of_figure(estimate: &Estimate, id: &str) -> Item {
    let efficiency = &estimate.efficiency;
    let memory = &estimate.memory;
    let pair = |name: &str, value: String| (name.to_owned(), value);
    let common = || {
        vec![
            pair("tokens per step", human::whole(estimate.throughput.tokens_per_step)),
            pair("step time", human::seconds(estimate.step_time)),
            pair("devices", human::whole(estimate.cluster.devices)),
        ]
    };
    let (value, inputs) = match id {
        "mfu" => {
            let mut inputs = common();
            let mut values = Vec::new();
            for flop in &efficiency.model_flop {
                let name = words(flop.convention);
                inputs.push(pair(&format!("FLOP per token, {name}"), human::flop(flop.per_token)));
                for share in &flop.utilisation {
                    let format = share.peak_format.name();
                    inputs.push(pair(&format!("dense {format} peak"), human::flop_rate(share.peak)));
                    values.push(format!("{} ({name}, {format} peak)", human::percent(share.share)));
                }
            }
            inputs.dedup();
            (values.join(", "), inputs)
        }
        "hfu" => {
            let mut inputs = common();
            inputs.push(pair("FLOP executed per step, all devices", human::flop(efficiency.hardware_flop)));
            (efficiency.hfu().map(human::percent).unwrap_or_default(), inputs)
        }
        "interval" => {
            let interval = &estimate.step_time_interval;
            let value = format!("{} to {}", human::seconds(interval.low), human::seconds(interval.high));
            (
                value,
                vec![
                    pair("coverage", human::percent(interval.coverage)),
                    pair("width", interval.source.clone()),
                ],
            )
        }
        "memory" => {
            let top = memory.top.iter().map(|item| {
                let module = item.module.map(|m| format!(" of {}", words(m))).unwrap_or_default();
                (format!("{}{module}", words(item.kind)), human::bytes(item.bytes))
            });
            (format!("{} on stage {}", human::bytes(memory.peak), memory.worst), top.collect())
        }
        "probability" => (
            human::percent(memory.probability_of_fitting),
            vec![
                pair("device memory", human::bytes(memory.device_memory)),
                pair("predicted peak", human::bytes(memory.peak)),
            ],
        ),
        "cost" => estimate.money.as_ref().map_or_else(
            || ("no token budget: give one with --tokens".to_owned(), Vec::new()),
            |bill| {
                let mut inputs = vec![
                    pair("tokens", human::count(bill.tokens)),
                    pair("steps", human::count(bill.steps)),
                    pair("calendar", human::seconds(bill.calendar)),
                    pair("power at the meter", human::watts(bill.power)),
                    pair("electricity", bill.electricity_price.source.clone()),
                ];
                if let Some(price) = &bill.device_price {
                    inputs.push(pair(
                        "price per device-hour",
                        format!("{} ({})", human::dollars(price.amount), price.source),
                    ));
                }
                (bill.rent.map(human::dollars).unwrap_or_default(), inputs)
            },
        ),
        _ => (String::new(), Vec::new()),
    };
    Item { id: id.to_owned(), topic: topic(id), value, inputs }
}

/// The items as a report.
pub(super) fn document(estimate: &Estimate, items: &[Item]) -> Document {
    let mut document = Document::default();
    document.spans(vec![
        Cell::new(estimate.model.name.as_str(), Tone::Strong),
        format!(
            " on {} x {}, {}",
            human::whole(estimate.cluster.devices),
            estimate.cluster.accelerator_name,
            estimate.plan_summary
        )
        .into(),
    ]);
    for item in items {
        document.heading_with(item.id.clone(), item.value.clone());
        if let Some(topic) = &item.topic {
            paragraphs(&mut document, topic.text);
        }
        if !item.inputs.is_empty() {
            document.blocks.push(Block::Pairs(
                item.inputs.iter().map(|(name, value)| (name.clone(), vec![value.as_str().into()])).collect(),
            ));
        }
    }
    if items.len() > 1 {
        document.heading("what the step time rests on");
        let rows = estimate.provenance.iter().map(|f| {
            vec![
                f.title.as_str().into(),
                Cell::number(human::percent(f.share), f.share),
                Cell::new(f.id.as_str(), Tone::Name),
            ]
        });
        document.table(Table {
            columns: vec![Column::prose("foundation"), Column::numbers("share"), Column::words("explain")],
            rows: rows.collect(),
        });
    }
    document
}
