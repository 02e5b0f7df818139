//! `memory`: memory of each stage by kind, module or layer, and over the step.

use crate::stage_memory::{self, Row, verdict};
use railwright_answers as answers;
use railwright_calculator::memory::{Fit, Item, Kind, StageReport};
use railwright_report::document::{Bar, Block, Cell, Document, Tone};
use railwright_report::{Answer, Terminal, chart, words};
use railwright_spec::human;
use railwright_spec::quantity::Bytes;
use std::collections::BTreeMap;

/// Key of the sums.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Kind of memory.
    Kind,
    /// Module of a layer.
    Module,
    /// Layer.
    Layer,
}

/// Memory of each stage, with the key of its sums.
pub struct Memory {
    /// Memory of every stage.
    pub answer: answers::Memory,
    /// Key of the sums.
    pub by: By,
}

/// Items summed by the requested key, largest first; layers in order.
fn summed(stage: &StageReport, by: By) -> Vec<(String, Bytes)> {
    let mut sums: BTreeMap<(u32, String), Bytes> = BTreeMap::new();
    let outside = || "outside layers".to_owned();
    for item in &stage.items {
        let key = match by {
            By::Kind => (0, words(item.kind)),
            By::Module => (0, item.module.map_or_else(|| words(item.kind), words)),
            By::Layer => item.layer.map_or_else(|| (u32::MAX, outside()), |n| (n, format!("layer {n}"))),
        };
        *sums.entry(key).or_default() += item.bytes;
    }
    let mut list: Vec<(String, Bytes)> = sums.into_iter().map(|((_, name), bytes)| (name, bytes)).collect();
    if by != By::Layer {
        list.sort_by(|a, b| b.1.get().total_cmp(&a.1.get()));
    }
    list
}

fn kinds(items: &[Item]) -> Vec<(Kind, Bytes)> {
    items.iter().map(|item| (item.kind, item.bytes)).collect()
}

impl Answer for Memory {
    const KIND: &'static str = "memory";

    type Json<'a> = &'a answers::Memory;

    fn json(&self) -> &answers::Memory {
        &self.answer
    }

    fn document(&self, terminal: Terminal) -> Document {
        let report = &self.answer.report;
        let mut document = Document::default();
        document.spans(vec![verdict(report.fit), stage_memory::reason(report).into()]);
        document.spans(vec![Cell::new(self.answer.title.as_str(), Tone::Strong)]);
        document.chosen(&self.answer.chosen);
        document.heading_with(
            "memory",
            "one rank of each stage at its peak, GiB; activations include the working set",
        );
        let rows = report.stages.iter().map(|stage| Row {
            stage: stage.stage,
            kinds: kinds(&stage.items),
            device: stage.device,
            available: stage.available,
            moment: stage.moment,
        });
        document.table(stage_memory::table(rows));
        if let Some(stage) = report.stages.get(self.answer.stage) {
            self.contents(&mut document, stage);
        }
        self.over_time(&mut document, terminal);
        document.next_step(if report.fit == Fit::Fits {
            "`railwright search` finds faster layouts that fit in memory"
        } else {
            "`railwright recompute` finds the cheapest recompute policy that fits; `railwright search` finds other layouts"
        });
        document
    }
}

impl Memory {
    fn contents(&self, document: &mut Document, stage: &StageReport) {
        let alive: Vec<String> = stage
            .in_flight
            .iter()
            .map(|n| format!("{n:.4}").trim_end_matches('0').trim_end_matches('.').to_owned())
            .collect();
        document.heading_with(
            format!("stage {} at its peak", self.answer.stage),
            format!(
                "allocated {}, reserved {}, in use on the device {}; micro-batches in flight per chunk: {}",
                human::bytes(stage.allocated),
                human::bytes(stage.reserved),
                human::bytes(stage.device),
                alive.join(", ")
            ),
        );
        let bars = summed(stage, self.by).into_iter().map(|(label, bytes)| Bar {
            depth: 1,
            label,
            value: human::bytes(bytes),
            share: bytes / stage.device,
            tone: Tone::Plain,
        });
        document.blocks.push(Block::Bars(bars.collect()));
    }

    fn over_time(&self, document: &mut Document, terminal: Terminal) {
        if self.answer.over_time.curve.is_empty() {
            return;
        }
        let when = self.answer.over_time.peak.as_ref().map_or_else(String::new, |peak| {
            format!("; peak {} at {}", human::bytes(Bytes::new(peak.bytes as f64)), human::seconds(peak.time))
        });
        document.heading_with(
            format!("stage {} over a step", self.answer.stage),
            format!("step time {}{when}", human::seconds(self.answer.over_time.end)),
        );
        let width = terminal.prose().saturating_sub(16).max(20);
        let values =
            chart::columns(&self.answer.over_time.curve, 0.0, self.answer.over_time.end.get(), width);
        let top = values.iter().copied().fold(self.answer.report.device_memory.get(), f64::max);
        document.blocks.push(Block::Verbatim(chart::area(
            &values,
            top,
            10,
            |value| human::bytes(Bytes::new(value)),
            terminal,
        )));
    }
}
