//! `memory`: what fills each stage's memory, by kind, module or layer, and over the step.

use super::stage_memory::{self, Row, probability, verdict};
use crate::args::{self, By};
use crate::exit::{Failure, Outcome};
use crate::printer::document::{Bar, Block, Cell, Document, Tone};
use crate::printer::{Answer, Printer, Terminal, chart, words};
use crate::run::{self, Resolved};
use railwright_calculator::memory::{
    Item, Kind, MemoryInput, MemoryReport, SoftwareCatalogue, StageReport, report,
};
use railwright_calculator::timeline::{Detail, timeline_with};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_step::Step;
use railwright_step::memory::{Held, MemoryKind, Peak, curve, fullest, peaks};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Into how many pieces of time JSON cuts a step.
const PIECES: usize = 256;

struct Memory {
    title: String,
    report: MemoryReport,
    stage: usize,
    by: By,
    /// Seconds and bytes, over the step on the stage.
    curve: Vec<(f64, f64)>,
    /// The same in pieces, by kind.
    pieces: Vec<Held>,
    end: Seconds,
    peak: Option<Peak>,
}

/// Reports memory. The answer is no when the plan does not fit, and has a code of its own when that is at risk.
pub(crate) fn run(arguments: &args::Memory, printer: &Printer) -> Result<Outcome, Failure> {
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, warnings, .. } = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::tell(launch, printer);
    }
    let catalogue = SoftwareCatalogue::shared()?;
    // An unknown generation must not be priced as another.
    railwright_calculator::software::by_id(&run.plan.software)?;
    let report = report(&MemoryInput {
        model: &run.model,
        cluster: &run.cluster,
        plan: &run.plan,
        software: catalogue.get(&run.plan.software),
        in_flight: None,
    });
    let stage = arguments.stage.unwrap_or(report.worst);
    if stage >= report.stages.len() {
        let problem = Problem::new(format!("there is no stage {stage}")).in_file("--stage");
        return Err(problem
            .hint(format!("stages go from 0 to {}", report.stages.len().saturating_sub(1)))
            .into());
    }
    // A step of millions of passes has a report, but nobody can draw it.
    let step = timeline_with(&run.model, &run.cluster, &run.plan, Detail::Passes).unwrap_or_else(|problem| {
        printer.note(&format!("memory over the step is left out: {}", problem.message));
        Step::new("")
    });
    let rank = step.ranks.get(stage);
    let points = rank.map(|rank| curve(&rank.memory)).unwrap_or_default();
    let until = step.start + step.duration();
    let pieces = rank.map(|rank| fullest(&rank.memory, step.start, until, PIECES)).unwrap_or_default();
    let peak = rank.and_then(|rank| peaks(&step).into_iter().find(|peak| peak.rank == rank.rank));
    printer.warnings(&warnings);
    let fit = report.fit;
    let answer = Memory {
        title: format!(
            "{} on {} x {}, {}",
            run::describe(&run.model),
            human::whole(run.cluster.devices),
            run.cluster.accelerator.name,
            railwright_calculator::estimate::plan_summary(&run.plan)
        ),
        report,
        stage,
        by: arguments.by,
        curve: points.iter().map(|&(t, b)| ((t - step.start).seconds().get(), b as f64)).collect(),
        pieces,
        end: step.duration().seconds(),
        peak,
    };
    printer.answer(&answer, &arguments.output)?;
    Ok(fit.into())
}

/// Items summed by what the user asked for, the largest first; layers in their order.
fn summed(stage: &StageReport, by: By) -> Vec<(String, Bytes)> {
    let mut sums: BTreeMap<(u32, String), Bytes> = BTreeMap::new();
    let outside = || "not of a layer".to_owned();
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

    fn json(&self) -> Map<String, Value> {
        let highest: Vec<i64> = self.pieces.iter().map(|held| held.iter().sum()).collect();
        let parts: Vec<Value> = MemoryKind::ALL
            .into_iter()
            .map(|kind| (kind, self.pieces.iter().map(|held| held[kind as usize]).collect::<Vec<i64>>()))
            .filter(|(_, bytes)| bytes.iter().any(|n| *n != 0))
            .map(|(kind, bytes)| json!({ "kind": kind, "bytes": bytes }))
            .collect();
        Map::from_iter([
            ("title".to_owned(), json!(self.title)),
            ("memory".to_owned(), json!(self.report)),
            ("stage".to_owned(), json!(self.stage)),
            (
                "over_time".to_owned(),
                json!({ "duration": self.end, "highest_bytes": highest, "parts": parts, "peak": self.peak }),
            ),
        ])
    }

    fn document(&self, terminal: Terminal) -> Document {
        let Self { report, .. } = self;
        let mut document = Document::default();
        document.spans(vec![Cell::new(self.title.as_str(), Tone::Strong)]);
        let need = report.device_memory - report.margin;
        document.spans(vec![
            verdict(report.fit),
            format!(
                ": {} of {} on stage {}; {} likely to fit",
                human::bytes(need),
                human::bytes(report.device_memory),
                report.worst,
                probability(report.probability_of_fitting)
            )
            .into(),
        ]);
        document.heading_with("memory", "of one rank at the peak of its stage, in GiB");
        let rows = report.stages.iter().map(|stage| Row {
            stage: stage.stage,
            kinds: kinds(&stage.items),
            device: stage.device,
            moment: stage.moment,
        });
        document.table(stage_memory::table(report.device_memory, rows));
        if let Some(stage) = report.stages.get(self.stage) {
            self.contents(&mut document, stage);
        }
        self.over_time(&mut document, terminal);
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
            format!("stage {} at its peak", self.stage),
            format!(
                "allocated {}, reserved {}, device {}; micro batches alive: {}",
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
        if self.curve.is_empty() {
            return;
        }
        let when = self.peak.as_ref().map_or_else(String::new, |peak| {
            format!(
                "; fullest at {} with {}",
                human::seconds(peak.time.seconds()),
                human::bytes(Bytes::new(peak.bytes as f64))
            )
        });
        document.heading_with(
            format!("stage {} over one step", self.stage),
            format!("of {}{when}", human::seconds(self.end)),
        );
        let width = terminal.prose().saturating_sub(16).max(20);
        let values = chart::columns(&self.curve, 0.0, self.end.get(), width);
        let top = values.iter().copied().fold(self.report.device_memory.get(), f64::max);
        document.blocks.push(Block::Verbatim(chart::area(
            &values,
            top,
            10,
            |value| human::bytes(Bytes::new(value)),
            terminal,
        )));
    }
}
