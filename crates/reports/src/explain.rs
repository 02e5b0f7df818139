//! `explain`: meaning of a number, a warning or a convention, its computation, and its source.

use railwright_calculator::estimate::{Topic, topic, topics};
use railwright_calculator::software;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::topic::is_same_name;
use serde::Serialize;

/// One topic.
pub struct Explained(pub Topic);

/// All topics.
pub struct Topics(pub Vec<Topic>);

/// Software generations with their constants.
pub struct Generations;

/// The topics of all crates.
pub fn all() -> Vec<Topic> {
    let mut all = topics();
    all.extend(railwright_profiler::topics());
    all.extend(terms());
    all
}

/// Terms of the glossary. The title has all names of a term, the identifier is the first.
fn terms() -> impl Iterator<Item = Topic> {
    railwright_catalog::GLOSSARY.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let (names, definition) = (cells.next()?, cells.next()?);
        let id = names.split(", ").next().unwrap_or(names).to_owned();
        let is_term = names != "term" && !names.starts_with("---");
        is_term.then(|| Topic { id, group: "term", title: names.to_owned(), text: format!("{definition}.") })
    })
}

/// Tests whether a term has a name.
fn has_name(term: &Topic, name: &str) -> bool {
    term.title.split(", ").any(|own| is_same_name(own, name))
}

/// A topic of any desk by its identifier.
pub fn find(id: &str) -> Result<Topic, Problem> {
    topic(id).or_else(|problem| {
        let all = all();
        let is_term = |t: &&Topic| t.group == "term" && has_name(t, id);
        if let Some(found) = all.iter().find(|t| t.id == id.trim()).or_else(|| all.iter().find(is_term)) {
            return Ok(found.clone());
        }
        let names = all.iter().map(|t| t.id.as_str());
        Err(Problem { hint: None, ..problem }.hint(did_you_mean(
            id,
            names,
            "`railwright explain` lists everything that can be explained",
        )))
    })
}

/// The paragraphs of a text. Indented lines are kept; lines after dashes become a list.
pub(crate) fn paragraphs(document: &mut Document, text: &str) {
    for paragraph in text.split("\n\n") {
        if paragraph.starts_with("    ") {
            document.blocks.push(Block::Verbatim(format!("{paragraph}\n")));
        } else if let Some(list) = paragraph.strip_prefix("- ") {
            document.blocks.push(Block::Bullets(list.split("\n- ").map(Cell::from).collect()));
        } else {
            document.blocks.push(Block::Gap);
            document.paragraph(paragraph.replace('\n', " "));
        }
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopicField<'a> {
    topic: &'a Topic,
}

impl Answer for Explained {
    const KIND: &'static str = "explanation";

    type Json<'a> = TopicField<'a>;

    fn json(&self) -> TopicField<'_> {
        TopicField { topic: &self.0 }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        document.heading_with(self.0.id.as_str(), self.0.title.as_str());
        paragraphs(&mut document, &self.0.text);
        document
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopicsField<'a> {
    topics: &'a [Topic],
}

impl Answer for Topics {
    const KIND: &'static str = "topics";

    type Json<'a> = TopicsField<'a>;

    fn json(&self) -> TopicsField<'_> {
        TopicsField { topics: &self.0 }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let columns =
            vec![Column::words("topic"), Column::words("kind").expendable(1), Column::prose("about")];
        let rows = self
            .0
            .iter()
            .map(|t| vec![Cell::new(t.id.as_str(), Tone::Name), t.group.into(), t.title.as_str().into()]);
        document.table(Table { columns, rows: rows.collect() });
        document
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationsFields {
    /// Software generations.
    software: Vec<GenerationField>,
    /// Features of a software stack.
    features: Vec<GenerationField>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct GenerationField {
    id: &'static str,
    name: &'static str,
    /// Origin of its constants.
    source: &'static str,
    /// Words in the name of a framework that select it.
    matches: &'static [String],
}

impl Answer for Generations {
    const KIND: &'static str = "software";

    type Json<'a> = GenerationsFields;

    fn json(&self) -> GenerationsFields {
        let software = software::generations().iter().map(|g| GenerationField {
            id: &g.id,
            name: &g.name,
            source: &g.source,
            matches: &g.matches,
        });
        let features = software::features().iter().map(|f| GenerationField {
            id: &f.id,
            name: &f.name,
            source: &f.source,
            matches: &f.words,
        });
        GenerationsFields { software: software.collect(), features: features.collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let columns = vec![
            Column::words("software"),
            Column::prose("description"),
            Column::prose("constants").expendable(1),
        ];
        let rows = software::generations().iter().map(|g| {
            vec![Cell::new(g.id.as_str(), Tone::Name), g.name.as_str().into(), g.source.as_str().into()]
        });
        document.table(Table { columns, rows: rows.collect() });
        let columns = vec![
            Column::words("feature"),
            Column::prose("meaning"),
            Column::prose("source of the effect").expendable(1),
        ];
        let rows = software::features().iter().map(|f| {
            let id = format!("+{}", f.id);
            vec![Cell::new(id, Tone::Name), f.name.as_str().into(), f.source.as_str().into()]
        });
        document.table(Table { columns, rows: rows.collect() });
        document
    }
}
