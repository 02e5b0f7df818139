//! Reports independent of their format: headings, pairs, tables, bars. Terminal, Markdown and CSV are
//! renderings.
//!
//! Responsible for: the elements of all reports. Does not compute: commands fill it with finished numbers.

use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{Dollars, Seconds};

/// Emphasis of a text, never the only carrier of meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Normal.
    #[default]
    Plain,
    /// Most important.
    Strong,
    /// Least important.
    Faint,
    /// Name that can be typed.
    Name,
    /// Good result.
    Good,
    /// Doubtful result.
    Doubtful,
    /// Bad result.
    Bad,
}

/// A text with its emphasis, and its exact value for CSV.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Text for reading.
    pub text: String,
    /// Emphasis.
    pub tone: Tone,
    /// Value without unit and rounding, for CSV; `None`: the text.
    pub raw: Option<String>,
}

impl Cell {
    /// Cell with an emphasis.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, raw: None }
    }

    /// Cell with the exact number of the text.
    pub fn number(text: impl Into<String>, value: f64) -> Self {
        Self { text: text.into(), tone: Tone::Plain, raw: Some(format!("{value}")) }
    }

    /// A share in percent.
    pub fn percent(share: f64) -> Self {
        Self::number(human::percent(share), share)
    }

    /// A duration.
    pub fn seconds(time: Seconds) -> Self {
        Self::number(human::seconds(time), time.get())
    }

    /// An amount of money.
    pub fn dollars(amount: Dollars) -> Self {
        Self::number(human::dollars(amount), amount.get())
    }

    /// A count.
    pub fn whole(count: u64) -> Self {
        Self::number(human::whole(count), count as f64)
    }

    /// Sets the emphasis.
    #[must_use]
    pub fn toned(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// Text for CSV.
    pub fn for_machines(&self) -> &str {
        self.raw.as_deref().unwrap_or(&self.text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text, Tone::Plain)
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Header.
    pub name: String,
    /// True to align cells to the right, as for numbers.
    pub right: bool,
    /// True if cells may be wrapped.
    pub prose: bool,
    /// Priority of removal on a narrow terminal, highest first; 0: never.
    pub expendable: u8,
    /// True if cells may be drawn below their row on a narrow terminal.
    pub below: bool,
    /// Unit of the exact values, for the header of a CSV: `s`, `bytes`, `usd`; empty for words and counts.
    pub unit: &'static str,
}

impl Column {
    /// A column of words.
    pub fn words(name: &str) -> Self {
        Self { name: name.to_owned(), right: false, prose: false, expendable: 0, below: false, unit: "" }
    }

    /// A column of sentences.
    pub fn prose(name: &str) -> Self {
        Self { prose: true, ..Self::words(name) }
    }

    /// A column of numbers.
    pub fn numbers(name: &str) -> Self {
        Self { right: true, ..Self::words(name) }
    }

    /// Sets the unit of the exact values.
    #[must_use]
    pub fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Allows cells to move below their row on a narrow terminal.
    #[must_use]
    pub fn below(mut self) -> Self {
        self.below = true;
        self
    }

    /// Header for CSV: the name, with the unit of its values as in `closed_form_s`.
    pub fn for_machines(&self) -> String {
        if self.unit.is_empty() {
            return self.name.clone();
        }
        format!("{}_{}", self.name.replace(' ', "_").replace('\'', ""), self.unit)
    }

    /// Sets the priority of removal on a narrow terminal, highest first.
    #[must_use]
    pub fn expendable(mut self, rank: u8) -> Self {
        self.expendable = rank;
        self
    }
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Columns, from the left.
    pub columns: Vec<Column>,
    /// Rows, with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

/// One line of a bar chart or of a tree with shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Depth in the tree; 0 at the top.
    pub depth: usize,
    /// Label.
    pub label: String,
    /// Value with its unit, as text.
    pub value: String,
    /// Length of the bar, from 0 to 1.
    pub share: f64,
    /// Emphasis.
    pub tone: Tone,
}

/// An element of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Heading of a section with its remark.
    Heading(String, String),
    /// A paragraph, wrapped to the width.
    Paragraph(Vec<Cell>),
    /// Labels with their values, aligned.
    Pairs(Vec<(String, Vec<Cell>)>),
    /// A table.
    Table(Table),
    /// A tree of shares with bars.
    Bars(Vec<Bar>),
    /// Verbatim text.
    Verbatim(String),
    /// A blank line.
    Gap,
    /// Bullet points.
    Bullets(Vec<Cell>),
    /// The next step for the user, at the end of a report.
    Next(String),
    /// Sections that a terminal omits by default. Every other format has them.
    Details(Vec<Block>),
}

/// A report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Elements in order.
    pub blocks: Vec<Block>,
}

impl Document {
    /// Adds the heading of a section.
    pub fn heading(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Heading(title.into(), String::new()));
    }

    /// Adds the heading of a section with a remark.
    pub fn heading_with(&mut self, title: impl Into<String>, remark: impl Into<String>) {
        self.blocks.push(Block::Heading(title.into(), remark.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl Into<Cell>) {
        self.blocks.push(Block::Paragraph(vec![text.into()]));
    }

    /// Adds warnings with their identifiers, as bullets.
    pub fn warnings(&mut self, warnings: &[Warning]) {
        let line = |warning: &Warning| Cell::from(format!("{} [{}]", warning.message, warning.id));
        self.blocks.push(Block::Bullets(warnings.iter().map(line).collect()));
    }

    /// Adds a paragraph with several emphases.
    pub fn spans(&mut self, spans: Vec<Cell>) {
        self.blocks.push(Block::Paragraph(spans));
    }

    /// Adds labels with their values, without empty values.
    pub fn pairs(&mut self, pairs: Vec<(&str, Cell)>) {
        let pairs = pairs.into_iter().filter(|(_, value)| !value.text.is_empty());
        self.blocks.push(Block::Pairs(pairs.map(|(k, v)| (k.to_owned(), vec![v])).collect()));
    }

    /// Adds the defaults; nothing if everything is set.
    pub fn chosen(&mut self, chosen: &[String]) {
        if !chosen.is_empty() {
            let text = format!("defaults: {}", chosen.join("; "));
            self.paragraph(Cell::new(text, Tone::Faint));
        }
    }

    /// Adds the result in one line, at the start of a report.
    pub fn verdict(&mut self, text: impl Into<String>) {
        self.paragraph(Cell::new(text, Tone::Strong));
    }

    /// Adds the next step for the user, at the end of a report.
    pub fn next_step(&mut self, text: impl AsRef<str>) {
        self.blocks.push(Block::Next(format!("next: {}", text.as_ref())));
    }

    /// Adds sections that a terminal omits by default.
    pub fn details(&mut self, fill: impl FnOnce(&mut Self)) {
        let mut details = Self::default();
        fill(&mut details);
        if !details.blocks.is_empty() {
            self.blocks.push(Block::Details(details.blocks));
        }
    }

    /// Adds a table with its heading that a terminal omits by default.
    pub fn detail(&mut self, title: impl Into<String>, remark: impl Into<String>, table: Table) {
        self.details(|details| {
            details.heading_with(title, remark);
            details.table(table);
        });
    }

    /// All blocks in order, with those of details in their place.
    pub fn all(&self) -> impl Iterator<Item = &Block> {
        fn flat(block: &Block) -> Vec<&Block> {
            match block {
                Block::Details(blocks) => blocks.iter().flat_map(flat).collect(),
                other => vec![other],
            }
        }
        self.blocks.iter().flat_map(flat)
    }

    /// Titles of the sections within details.
    pub fn titles_of_details(&self) -> Vec<&str> {
        let details = self.blocks.iter().filter_map(|block| match block {
            Block::Details(blocks) => Some(blocks),
            _ => None,
        });
        let titles = details.flatten().filter_map(|block| match block {
            Block::Heading(title, _) => Some(title.as_str()),
            _ => None,
        });
        let mut found: Vec<&str> = Vec::new();
        titles.for_each(|title| {
            if !found.contains(&title) {
                found.push(title);
            }
        });
        found
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }
}
