//! `keys` and `schema`: keys and values of a run file.

use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::run::Key;
use railwright_tuner::search::DIMENSIONS;
use serde::Serialize;

/// Keys of a run file.
pub struct Keys(pub Vec<Key>);

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeysField<'a> {
    keys: Vec<KeyField<'a>>,
}

/// One key of a run file.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Key"))]
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
