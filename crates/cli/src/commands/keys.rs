//! `keys` and `schema`: keys and values of a run file.

use crate::args::Listing;
use crate::exit::{Failure, Outcome};
use crate::input::Pattern;
use crate::printer::document::{Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use railwright_spec::run::{Key, keys};
use railwright_tuner::search::DIMENSIONS;
use serde::Serialize;

pub(crate) struct Keys(Vec<Key>);

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct KeysField<'a> {
    keys: Vec<KeyField<'a>>,
}

/// One key of a run file.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Key"))]
pub(crate) struct KeyField<'a> {
    #[serde(flatten)]
    key: &'a Key,
    /// True if `search` varies it and `--space` restricts it.
    is_searched: bool,
}

impl Answer for Keys {
    const KIND: &'static str = "keys";

    type Json<'a> = KeysField<'a>;

    fn json(&self) -> KeysField<'_> {
        let is_searched = |key: &Key| key.section == "plan" && DIMENSIONS.contains(&key.name);
        let of = |key| KeyField { key, is_searched: is_searched(key) };
        KeysField { keys: self.0.iter().map(of).collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let mut table = Table {
            columns: vec![
                Column::words("key"),
                Column::prose("meaning"),
                Column::prose("default").expendable(1),
                Column::prose("expects").expendable(2),
            ],
            rows: Vec::new(),
        };
        for key in &self.0 {
            table.rows.push(vec![
                Cell::new(key.path(), Tone::Name),
                key.doc.trim().trim_end_matches('.').into(),
                key.default.into(),
                key.kind.expects().into(),
            ]);
        }
        if table.rows.is_empty() {
            document.paragraph("no key matches; `railwright keys` lists all");
        } else {
            document.table(table);
        }
        document
    }
}

/// Lists the keys.
pub(crate) fn list(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let patterns: Vec<Pattern> = listing.patterns.iter().map(|p| Pattern::new(p)).collect();
    let chosen = keys().into_iter().filter(|key| {
        patterns.is_empty() || patterns.iter().any(|p| p.matches(&key.path()) || p.matches(key.doc))
    });
    let answer = Keys(chosen.collect());
    printer.answer(&answer, &listing.output)?;
    Ok(if answer.0.is_empty() { Outcome::No } else { Outcome::Yes })
}

/// Prints the schema of a run file.
pub(crate) fn schema(path: Option<&str>, printer: &Printer) -> Result<Outcome, Failure> {
    let mut text = serde_json::to_string_pretty(&railwright_spec::run::schema()).unwrap_or_default();
    text.push('\n');
    printer.data(&text, path)?;
    Ok(Outcome::Yes)
}
