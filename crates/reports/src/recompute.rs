//! The report of `recompute`.

use crate::stage_memory::fits;
use railwright_answers::{Recomputed, search_command};
use railwright_calculator::memory::unless_it_fits;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal, words};
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_tuner::recompute::{self, Flags, LayerTable, Variant};

/// A recompute policy with the question.
pub struct Recompute {
    /// The solution.
    pub solved: Recomputed,
    /// True for one policy on all layers.
    pub uniform: bool,
}

fn gib(bytes: Bytes) -> Cell {
    Cell::number(format!("{:.1}", bytes.gib()), bytes.get())
}

impl Answer for Recompute {
    const KIND: &'static str = "recompute";

    type Json<'a> = &'a Recomputed;

    fn json(&self) -> &Recomputed {
        &self.solved
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        self.verdict(&mut document);
        document.spans(vec![Cell::new(self.solved.title.as_str(), Tone::Strong)]);
        document.chosen(&self.solved.chosen);
        self.variants(&mut document);
        document.details(|details| {
            for layer in &self.solved.answer.layers {
                self.layer(details, layer);
            }
            self.memory(details);
        });
        self.stages(&mut document);
        framework_flags(&mut document, &self.solved.flags);
        if let Some(flags) = self.solved.uniform_flags() {
            document.heading(format!("best uniform policy for {}", flags.framework));
            document.blocks.push(Block::Verbatim(flags.lines.join("\n")));
        }
        let search = search_command(&self.solved.spec, &self.solved.run);
        document.next_step(format!("{search} compares this layout with others"));
        document
    }

    /// The stages, for spreadsheets.
    fn csv(&self) -> String {
        let mut document = Document::default();
        self.stages(&mut document);
        if document.blocks.is_empty() {
            self.variants(&mut document);
        }
        railwright_report::csv(&document)
    }
}

impl Recompute {
    fn verdict(&self, document: &mut Document) {
        let recompute::Answer { best, full, none, limit, device_memory, .. } = &self.solved.answer;
        let Some(best) = best else {
            document.spans(vec![
                Cell::new(format!("nothing {}", self.solved.fit().none()), Tone::Bad),
                format!(
                    ": with full recompute, the fullest stage uses {} of {} (limit for a fit probability of {}: {})",
                    human::bytes(full.memory),
                    human::bytes(*device_memory),
                    human::percent(self.solved.answer.probability),
                    human::bytes(*limit)
                )
                .into(),
            ]);
            if self.solved.answer.remedies.is_empty() {
                document.paragraph("none of the changes that were tried makes the run fit: use more devices");
            } else {
                document.paragraph("each of these changes alone makes the run fit:");
                let list = self.solved.answer.remedies.iter().map(|r| Cell::from(r.change.as_str()));
                document.blocks.push(Block::Bullets(list.collect()));
            }
            return;
        };
        let optimal = if self.uniform {
            self.best_of_flags()
        } else if self.solved.answer.gap < 5e-6 {
            "; no faster policy fits".to_owned()
        } else {
            format!("; within {} of the optimum", human::percent(self.solved.answer.gap))
        };
        // As a change of the step time, as in every report; the solver returns the gain of speed.
        let gain = self.solved.answer.gain_over_full.map_or(0.0, |gain| gain / (1.0 + gain));
        let lost = match best.step_time / none.step_time - 1.0 {
            lost if lost < 5e-4 => "the same as without recompute".to_owned(),
            lost => format!("{} longer than without recompute", human::percent(lost)),
        };
        document.spans(vec![
            Cell::new(format!("step {}", human::seconds(best.step_time)), Tone::Good),
            format!(": {} shorter than with full recompute", human::percent(gain)).into(),
        ]);
        let none_fits = unless_it_fits(none.probability_of_fitting, self.solved.answer.probability);
        let remark = if best.what == "none" { "; no recompute needed".to_owned() } else { optimal };
        document.paragraph(format!("{lost}{none_fits}{remark}"));
    }

    /// Describes the scope of the best choice if every stage must use the same one, and the faster choice
    /// without the limits of launch flags.
    fn best_of_flags(&self) -> String {
        let framework = recompute::framework_name(&self.solved.answer.none.plan.software);
        let claim = format!(", the fastest uniform policy that {framework} flags can express");
        let (any, best) = (&self.solved.answer.uniform_any, &self.solved.answer.best);
        match any.as_ref().zip(best.as_ref()).filter(|(any, best)| any.step_time < best.step_time) {
            Some((any, _)) => format!(
                "{claim}; a uniform policy without this limit reaches {} ({})",
                human::seconds(any.step_time),
                any.what
            ),
            None => format!("{claim}; no other uniform policy is faster"),
        }
    }

    fn variants(&self, document: &mut Document) {
        let answer = &self.solved.answer;
        document.heading_with(
            "recompute policies",
            format!(
                "memory of the fullest stage; limit for a fit probability of {}: {}",
                human::percent(answer.probability),
                human::bytes(answer.limit)
            ),
        );
        let rows = [
            Some(("none", &answer.none)),
            Some(("full, all layers", &answer.full)),
            answer.given.as_ref().map(|v| ("as given", v)),
            answer.uniform.as_ref().map(|v| ("best uniform, as flags", v)),
            answer
                .uniform_any
                .as_ref()
                .filter(|any| answer.uniform.as_ref() != Some(any))
                .map(|v| ("best uniform", v)),
            answer.best.as_ref().map(|v| ("best per stage", v)),
        ];
        let row = |(name, v): (&str, &Variant)| {
            vec![
                Cell::from(name),
                Cell::from(v.what.as_str()),
                Cell::seconds(v.step_time),
                Cell::percent(v.step_time / answer.full.step_time - 1.0),
                gib(v.memory),
                fits(v.probability_of_fitting, answer.probability),
            ]
        };
        document.table(Table {
            columns: vec![
                Column::words("policy"),
                Column::prose("recomputed"),
                Column::numbers("step"),
                Column::numbers("step vs. full").expendable(1),
                Column::numbers("memory, GiB"),
                Column::words("fits"),
            ],
            rows: rows.into_iter().flatten().map(row).collect(),
        });
    }

    fn layer(&self, document: &mut Document, layer: &LayerTable) {
        let which = if self.solved.answer.layers.len() == 1 {
            "one layer".to_owned()
        } else {
            format!("layer {}, as one of {} identical layers", layer.first, layer.layers)
        };
        document.heading_with(
            which,
            format!(
                "one micro-batch: {} of activations, {} of compute",
                human::bytes(layer.kept),
                human::seconds(layer.time)
            ),
        );
        let rows = layer.rows.iter().map(|row| {
            vec![
                Cell::from(row.policy.as_str()),
                Cell::number(format!("{:.1}", row.saved.gib() * 1024.0), row.saved.get()),
                Cell::percent(row.share),
                Cell::seconds(row.cost),
                Cell::percent(row.cost_share),
                row.seconds_per_gib.map_or_else(Cell::default, |s| Cell::seconds(Seconds::new(s))),
            ]
        });
        document.table(Table {
            columns: vec![
                Column::words("recomputed"),
                Column::numbers("saved, MiB"),
                Column::numbers("share of layer"),
                Column::numbers("cost"),
                Column::numbers("share of compute").expendable(1),
                Column::numbers("cost per GiB"),
            ],
            rows: rows.collect(),
        });
    }

    fn memory(&self, document: &mut Document) {
        let answer = &self.solved.answer;
        document
            .heading_with("memory without recompute", format!("of stage {}, the fullest", answer.fullest));
        let shown = answer.kinds.iter().filter(|kind| kind.share >= 0.005);
        let bars = shown.map(|kind| railwright_report::document::Bar {
            depth: 1,
            label: words(kind.kind),
            value: human::bytes(kind.bytes),
            share: kind.share,
            tone: Tone::Plain,
        });
        document.blocks.push(Block::Bars(bars.collect()));
    }

    fn stages(&self, document: &mut Document) {
        let answer = &self.solved.answer;
        if answer.stages.is_empty() {
            return;
        }
        document.heading_with(
            "stages",
            format!(
                "memory in GiB; device: {}; limit for a fit probability of {}: {}",
                human::bytes(answer.device_memory),
                human::percent(answer.probability),
                human::bytes(answer.limit)
            ),
        );
        let rows = answer.stages.iter().map(|row| {
            let over = row.memory_none > answer.limit;
            vec![
                Cell::number(row.stage.to_string(), row.stage as f64),
                Cell::number(row.layers.to_string(), row.layers as f64),
                gib(row.memory_none).toned(if over { Tone::Bad } else { Tone::Plain }),
                gib(row.memory_full),
                gib(row.memory).toned(Tone::Strong),
                Cell::seconds(row.recompute),
                Cell::percent(if row.time > Seconds::ZERO { row.recompute / row.time } else { 0.0 }),
                Cell::from(choices(&row.choice)),
            ]
        });
        document.table(Table {
            columns: vec![
                Column::numbers("stage"),
                Column::numbers("layers").expendable(3),
                Column::numbers("none"),
                Column::numbers("full").expendable(2),
                Column::numbers("chosen"),
                Column::numbers("recompute"),
                Column::numbers("share of pass").expendable(1),
                Column::prose("policy").below(),
            ],
            rows: rows.collect(),
        });
    }
}

/// Framework flags, and settings that they cannot express.
pub(crate) fn framework_flags(document: &mut Document, list: &[Flags]) {
    for flags in list {
        document.heading(format!("for {}", flags.framework));
        if !flags.lines.is_empty() {
            let lines: Vec<String> =
                flags.lines.iter().map(|line| railwright_report::text::folded(line)).collect();
            document.blocks.push(Block::Verbatim(lines.join("\n")));
        }
        if !flags.cannot.is_empty() {
            document.paragraph("not expressible:");
            let bullets = flags.cannot.iter().map(|c| Cell::from(c.as_str())).collect();
            document.blocks.push(Block::Bullets(bullets));
        }
    }
}

/// Recompute of the virtual stages of a stage, with equal ones merged: `2 x full, 1 x mlp + norm`.
pub(crate) fn choices(list: &[String]) -> String {
    let spelled: Vec<String> = list.iter().map(|choice| spaced(choice)).collect();
    match spelled.as_slice() {
        [first, rest @ ..] if rest.iter().all(|c| c == first) => first.clone(),
        list => list.join(" | "),
    }
}

/// A stage's entry of a plan with line breaks allowed.
fn spaced(choice: &str) -> String {
    let part = |part: &str| match part.split_once(':') {
        Some(("offload", share)) => format!("{share} in host memory"),
        Some((modules, count)) => format!("{count} x {}", modules.replace('+', " + ")),
        None => part.replace('+', " + "),
    };
    choice.split(' ').map(part).collect::<Vec<_>>().join(", ")
}
