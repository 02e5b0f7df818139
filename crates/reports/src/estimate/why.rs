//! `--why`: derivation of a number of the report: its formula, its inputs, and their origin.
//!
//! Responsible for: selecting items to explain by identifier or title. The equations and their inputs are the
//! calculator's.

use crate::cells::ranks;
use crate::explain::paragraphs;
use railwright_calculator::estimate::{CommunicationRow, Estimate, Explanation, Part, Topic, topic};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::words;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;

/// Something to explain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    /// Identifier, as in the report or `railwright explain`.
    id: String,
    /// Meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<Topic>,
    /// Value in this run.
    value: String,
    /// The equation, in the inputs' names.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<String>,
    /// Inputs: name, value, source.
    inputs: Vec<(String, String, String)>,
    /// Basis of the equation.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// Title of a value that consists of several explained numbers.
const GROUPS: &[(&str, &[&str])] = &[
    ("step", &["step_time"]),
    ("throughput", &["tokens_per_second", "tokens_per_second_per_device"]),
    ("mfu", &["mfu.full_attention", "mfu.causal_attention"]),
    ("probability", &["memory.probability_of_fitting"]),
    ("cost", &["device_hours", "rent", "energy"]),
];

/// Shares of the step below this are explained only on request.
const SMALL: f64 = 0.005;

/// The items for a word, an identifier or a title of the report: all that matter if it is empty.
pub fn items(estimate: &Estimate, wanted: &str) -> Result<Vec<Item>, Problem> {
    let mut parts = Vec::new();
    walk(&estimate.time, &mut parts);
    let wanted = wanted.trim();
    if wanted.is_empty() {
        let is_small =
            |id: &str| parts.iter().any(|part| part.id == id && part.share < SMALL && id != "step");
        let large = estimate.why().iter().filter(|e| !is_small(&e.id));
        return Ok(large.map(|e| of(estimate, e)).chain([interval(estimate)]).collect());
    }
    if wanted.eq_ignore_ascii_case("interval") {
        return Ok(vec![interval(estimate)]);
    }
    let group = GROUPS.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, ids)| *ids);
    let is_meant = |e: &&Explanation| {
        group.is_some_and(|ids| ids.contains(&e.id.as_str()))
            || e.id.eq_ignore_ascii_case(wanted)
            || e.title.eq_ignore_ascii_case(wanted)
            || (["memory", "operator"].contains(&wanted) && e.id.starts_with(&format!("{wanted}.")))
    };
    let meant: Vec<Item> = estimate.why().iter().filter(is_meant).map(|e| of(estimate, e)).collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let is_part = |part: &&&Part| part.id == wanted || part.title.eq_ignore_ascii_case(wanted);
    if let Some(part) = parts.iter().find(is_part) {
        return Ok(vec![of_part(part)]);
    }
    if let Ok(topic) = topic(wanted) {
        let value = "not in this estimate".to_owned();
        let (id, inputs) = (topic.id.clone(), Vec::new());
        return Ok(vec![Item { id, topic: Some(topic), value, formula: None, inputs, source: None }]);
    }
    let names: Vec<&str> = (estimate.why().iter().map(|e| e.id.as_str()))
        .chain(GROUPS.iter().map(|(name, _)| *name))
        .chain(["interval", "memory"])
        .collect();
    let otherwise = "parts are, for example, step_time, compute, compute.mlp, bubble, mfu, memory and cost; `--why` without a part explains all";
    Err(Problem::new(format!("unknown part of the estimate: `{}`", human::shorten(wanted)))
        .in_file("--why")
        .hint(did_you_mean(wanted, names.iter().copied(), otherwise)))
}

fn walk<'a>(part: &'a Part, list: &mut Vec<&'a Part>) {
    list.push(part);
    part.children.iter().for_each(|child| walk(child, list));
}

/// A number with its equation.
fn of(estimate: &Estimate, explanation: &Explanation) -> Item {
    let mut inputs: Vec<_> = explanation
        .inputs
        .iter()
        .map(|input| {
            let source = if input.source == input.name { String::new() } else { input.source.clone() };
            (input.name.clone(), input.text(), source)
        })
        .collect();
    let rows = estimate.communication.iter().filter(|row| belongs(row.dimension, &explanation.id));
    inputs.extend(rows.map(collective));
    let share = estimate.time.find(&explanation.id).filter(|part| part.id != "step");
    let share = share.map_or(String::new(), |part| format!(", {} of the step", human::percent(part.share)));
    Item {
        id: explanation.id.clone(),
        topic: topic(&explanation.id).ok(),
        value: format!("{}: {}{share}", explanation.title, explanation.text),
        formula: Some(explanation.formula.clone()),
        inputs,
        source: Some(explanation.source.clone()),
    }
}

/// A part of the time that is the sum of its subparts.
fn of_part(part: &Part) -> Item {
    let inputs = part.children.iter().map(|c| (c.title.clone(), human::seconds(c.time), c.id.clone()));
    let value =
        format!("{}: {}, {} of the step", part.title, human::seconds(part.time), human::percent(part.share));
    let formula = (!part.children.is_empty()).then(|| "total".to_owned());
    Item {
        id: part.id.clone(),
        topic: topic(&part.id).ok(),
        value,
        formula,
        inputs: inputs.collect(),
        source: None,
    }
}

fn interval(estimate: &Estimate) -> Item {
    let interval = &estimate.step_time_interval;
    let share = human::percent(interval.coverage);
    let half = format!("{} to {}", human::seconds(interval.half_low), human::seconds(interval.half_high));
    Item {
        id: "interval".to_owned(),
        topic: topic("interval").ok(),
        value: format!("{} to {}", human::seconds(interval.low), human::seconds(interval.high)),
        formula: None,
        inputs: vec![
            ("coverage".to_owned(), share, interval.source.clone()),
            ("50% interval".to_owned(), half, "the same errors, middle 50%".to_owned()),
        ],
        source: None,
    }
}

/// Tests whether a dimension's collectives contribute to a part of the time.
fn belongs(dimension: &str, id: &str) -> bool {
    match dimension {
        "data" => id == "data_parallel",
        "pipeline" => id == "bubble",
        // Collectives of the other parts are inputs of their equations.
        _ => false,
    }
}

fn collective(row: &CommunicationRow) -> (String, String, String) {
    let operation = row.operation.replace('_', "-");
    let what = format!(
        "{} x {} between {} ranks at a bus bandwidth of {}",
        human::count(row.count),
        human::bytes_decimal(row.bytes),
        ranks(row).text,
        human::bandwidth(row.bus_bandwidth),
    );
    (
        format!("{} {operation}", row.title),
        format!("{} each", human::seconds(row.time_each)),
        format!("{what}; {}, {}", row.algorithm, words(row.source)),
    )
}

/// The items as a report.
pub(super) fn document(estimate: &Estimate, items: &[Item]) -> Document {
    let mut document = Document::default();
    document.spans(vec![
        Cell::new(estimate.model.name.as_str(), Tone::Strong),
        format!(" on {}, {}", estimate.cluster.devices_by_kind(), estimate.plan_summary).into(),
    ]);
    let mut shown = Vec::new();
    for item in items {
        document.heading_with(item.id.clone(), item.value.clone());
        if let Some(formula) = &item.formula {
            document.blocks.push(Block::Pairs(vec![("=".to_owned(), vec![formula.as_str().into()])]));
        }
        if !item.inputs.is_empty() {
            let pairs = item.inputs.iter().map(|(name, value, source)| {
                let source = if source.is_empty() { String::new() } else { format!("  {source}") };
                (name.clone(), vec![value.as_str().into(), Cell::new(source, Tone::Faint)])
            });
            document.blocks.push(Block::Pairs(pairs.collect()));
        }
        if let Some(source) = item.source.as_ref().filter(|source| *source != "definition") {
            document.paragraph(Cell::new(source.as_str(), Tone::Faint));
        }
        // Several numbers may share a topic.
        if let Some(topic) = item.topic.as_ref().filter(|topic| !shown.contains(&topic.id.as_str())) {
            shown.push(&topic.id);
            paragraphs(&mut document, &topic.text);
        }
    }
    if items.len() > 1 && items.iter().any(|item| item.id == "step_time") {
        document.heading("evidence for the step time");
        let rows = estimate.provenance.iter().map(|f| {
            vec![f.title.as_str().into(), Cell::percent(f.share), Cell::new(f.id.as_str(), Tone::Name)]
        });
        document.table(Table {
            columns: vec![Column::prose("foundation"), Column::numbers("share"), Column::words("explain")],
            rows: rows.collect(),
        });
    }
    document
}
