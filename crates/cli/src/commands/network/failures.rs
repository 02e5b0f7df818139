//! `network failures`: what one failed part takes away, class by class.

use super::{design, placed};
use crate::args::network::Failures;
use crate::exit::{Failure, Outcome};
use crate::printer::document::{Block, Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use railwright_network::failures::{Class, classes};
use railwright_network::topology::Design;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use serde_json::{Map, Value, json};

struct Failing {
    design: Design,
    classes: Vec<Class>,
    exposed_share: Option<f64>,
}

/// Tells what failures do.
pub(crate) fn run(arguments: &Failures, printer: &Printer) -> Result<Outcome, Failure> {
    let exposed_share = arguments.exposed_share;
    if let Some(share) = exposed_share.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(Problem::new(format!("{share} is not a share from 0 to 1"))
            .in_file("--exposed-share")
            .hint("0.2 means a fifth of the step")
            .into());
    }
    let sheet = design(arguments.design.as_deref(), &arguments.flags)?;
    let design = sheet.spec.resolve().map_err(|problem| placed(&sheet, problem))?;
    let answer = Failing { classes: classes(&design), design, exposed_share };
    printer.answer(&answer, &arguments.output)?;
    Ok(Outcome::Yes)
}

impl Answer for Failing {
    const KIND: &'static str = "network_failures";

    fn json(&self) -> Map<String, Value> {
        let classes: Vec<Value> = self
            .classes
            .iter()
            .map(|class| {
                let mut value = json!(class);
                if let (Some(map), Some(share)) = (value.as_object_mut(), self.exposed_share) {
                    map.insert("step_slowdown".to_owned(), json!(class.slowdown(share)));
                }
                value
            })
            .collect();
        Map::from_iter([
            ("design".to_owned(), json!(self.design)),
            ("exposed_share".to_owned(), json!(self.exposed_share)),
            ("classes".to_owned(), json!(classes)),
        ])
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        document.heading_with(
            format!("failures of {}", self.design.name),
            format!(
                "{} devices in domains of {}; one part fails",
                human::whole(self.design.devices),
                self.design.domain.size
            ),
        );
        let mut columns = vec![
            Column::words("part"),
            Column::numbers("there are").expendable(3),
            Column::numbers("cut off"),
            Column::numbers("stranded"),
            Column::numbers("slowed").expendable(2),
            Column::numbers("kept alone").expendable(1),
            Column::numbers("kept spread"),
        ];
        if self.exposed_share.is_some() {
            columns.push(Column::numbers("step"));
        }
        let number = |n: u64| Cell::number(human::whole(n), n as f64);
        let share = |share: f64| Cell::number(human::percent(share), share);
        let rows = self.classes.iter().map(|class| {
            let stranded = number(class.stranded);
            let mut row = vec![
                class.part.into(),
                number(class.count),
                number(class.cut_off),
                if class.stranded > 0 { stranded.toned(Tone::Bad) } else { stranded },
                number(class.slowed),
                share(class.kept_alone),
                share(class.kept_spread),
            ];
            if let Some(exposed) = self.exposed_share {
                row.push(class.slowdown(exposed).map_or_else(
                    || Cell::new("stops", Tone::Bad),
                    |factor| Cell::number(format!("+{:.2}%", (factor - 1.0) * 100.0), factor),
                ));
            }
            row
        });
        document.table(Table { columns, rows: rows.collect() });
        let mut remarks = vec![
            Cell::from(
                "cut off: devices whose own NIC reaches nobody; stranded: not even through their domain, so the step cannot finish",
            ),
            Cell::from(
                "kept: of network bandwidth, by the most affected device on its own NIC (alone), or its domain over all NICs it has left (spread)",
            ),
        ];
        remarks.extend(
            self.classes
                .iter()
                .filter(|class| !class.remark.is_empty())
                .map(|class| Cell::from(format!("{}: {}", class.part, class.remark))),
        );
        if self.exposed_share.is_some() {
            remarks
                .push(Cell::from("step: exposed network time grows by what is lost, spread over the domain"));
        }
        document.blocks.push(Block::Bullets(remarks));
        document
    }
}
