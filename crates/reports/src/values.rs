//! `values`: valid values of each setting of a plan while the rest of the run stays. The web UI's controls
//! offer these.

use railwright_answers::called_by_key;
use railwright_calculator::valid_values::Valid;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use serde::Serialize;

/// Valid values of every setting.
pub struct Values(pub Vec<Valid>);

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValuesField<'a> {
    values: Vec<ValidField<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ValidField<'a> {
    /// Key of a run file.
    key: &'a str,
    /// The same as a flag.
    flag: Option<String>,
    /// Values that are valid with the other settings unchanged.
    values: &'a [String],
    /// True if the run is valid without the setting.
    open: bool,
}

impl Answer for Values {
    const KIND: &'static str = "values";

    type Json<'a> = ValuesField<'a>;

    fn json(&self) -> ValuesField<'_> {
        let values = self.0.iter();
        let of = values.map(|one| ValidField {
            key: one.key,
            flag: called_by_key(one.key),
            values: &one.values,
            open: one.open,
        });
        ValuesField { values: of.collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let rows = self.0.iter();
        document.table(Table {
            columns: vec![Column::words("key"), Column::prose("valid values")],
            rows: rows.map(|one| vec![Cell::new(one.key, Tone::Name), one.values.join(" ").into()]).collect(),
        });
        document
    }
}
