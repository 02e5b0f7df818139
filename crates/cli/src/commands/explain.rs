//! `explain`: what a number, a warning or a convention means, how it is computed, and where that is from.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::document::{Block, Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use railwright_calculator::software;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A topic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Topic {
    /// As reports and warnings name it.
    pub(crate) id: &'static str,
    /// In a few words.
    pub(crate) title: &'static str,
    /// Paragraphs.
    pub(crate) text: &'static str,
}

const TEXT: &str = include_str!("explain/topics.md");

/// Every topic, in the order of the text: `## id: title`, then paragraphs.
pub(crate) fn topics() -> Vec<Topic> {
    TEXT.split("\n## ")
        .skip(1)
        .filter_map(|chunk| {
            let (head, text) = chunk.split_once('\n')?;
            let (id, title) = head.split_once(": ")?;
            Some(Topic { id, title, text: text.trim_matches('\n') })
        })
        .collect()
}

/// The topic of an identifier; of `compute.mlp.forward` that of the nearest parent that has one.
pub(crate) fn topic(id: &str) -> Option<Topic> {
    let all = topics();
    let mut id = id;
    loop {
        if let Some(found) = all.iter().find(|topic| topic.id == id) {
            return Some(found.clone());
        }
        id = id.rsplit_once('.')?.0;
    }
}

struct Explained(Topic);
struct Topics(Vec<Topic>);
struct Generations;

/// Explains.
pub(crate) fn run(arguments: &args::Explain, printer: &Printer) -> Result<Outcome, Failure> {
    let output = &arguments.output;
    match arguments.id.as_deref() {
        None => printer.answer(&Topics(topics()), output)?,
        Some("software") => printer.answer(&Generations, output)?,
        Some(id) => {
            let found = topic(id).ok_or_else(|| {
                let all = topics();
                let names = all.iter().map(|t| t.id).chain(["software"]);
                let hint = did_you_mean(id, names, "`railwright explain` lists the topics");
                Problem::new(format!("there is no topic `{id}`")).hint(hint)
            })?;
            printer.answer(&Explained(found), output)?;
        }
    }
    Ok(Outcome::Yes)
}

/// The paragraphs of a text; lines that are indented are kept as they are.
pub(crate) fn paragraphs(document: &mut Document, text: &str) {
    for paragraph in text.split("\n\n") {
        if paragraph.starts_with("    ") {
            document.blocks.push(Block::Verbatim(format!("{paragraph}\n")));
        } else {
            document.blocks.push(Block::Gap);
            document.paragraph(paragraph.replace('\n', " "));
        }
    }
}

impl Answer for Explained {
    const KIND: &'static str = "explanation";

    fn json(&self) -> Map<String, Value> {
        Map::from_iter([("topic".to_owned(), json!(self.0))])
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        document.heading_with(self.0.id, self.0.title);
        paragraphs(&mut document, self.0.text);
        document
    }
}

impl Answer for Topics {
    const KIND: &'static str = "topics";

    fn json(&self) -> Map<String, Value> {
        Map::from_iter([("topics".to_owned(), json!(self.0))])
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let columns = vec![Column::words("topic"), Column::prose("about")];
        let mut rows: Vec<Vec<Cell>> =
            self.0.iter().map(|t| vec![Cell::new(t.id, Tone::Name), t.title.into()]).collect();
        rows.push(vec![
            Cell::new("software", Tone::Name),
            "the software generations and their constants' sources".into(),
        ]);
        document.table(Table { columns, rows });
        document
    }
}

impl Answer for Generations {
    const KIND: &'static str = "software";

    fn json(&self) -> Map<String, Value> {
        let list = software::generations()
            .iter()
            .map(|g| json!({ "id": g.id, "name": g.name, "source": g.source, "matches": g.matches }));
        Map::from_iter([("software".to_owned(), Value::Array(list.collect()))])
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let columns = vec![
            Column::words("software"),
            Column::prose("what it is"),
            Column::prose("its constants").expendable(1),
        ];
        let rows = software::generations().iter().map(|g| {
            vec![Cell::new(g.id.as_str(), Tone::Name), g.name.as_str().into(), g.source.as_str().into()]
        });
        document.table(Table { columns, rows: rows.collect() });
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_well_formed_and_found_by_their_children() {
        let all = topics();
        assert!(all.len() > 40, "{}", all.len());
        assert_eq!(all.len(), TEXT.matches("\n## ").count(), "a heading without `: `");
        for (n, topic) in all.iter().enumerate() {
            assert!(topic.text.len() > 20, "{}", topic.id);
            let widest = topic.text.lines().filter(|line| line.starts_with("    ")).map(str::len).max();
            assert!(widest.is_none_or(|n| n <= 100), "{} does not fit a terminal", topic.id);
            assert!(all[..n].iter().all(|other| other.id != topic.id), "{} stands twice", topic.id);
        }
        assert_eq!(topic("compute.mlp.forward").map(|t| t.id), Some("compute.mlp"));
        assert_eq!(topic("nothing"), None);
    }
}
