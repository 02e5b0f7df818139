//! `values`: valid values of each setting of a plan while the rest of the run stays. The web UI's controls offer these.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::document::{Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use crate::run;
use crate::run::spelled::called_by_key;
use railwright_calculator::valid_values::Valid;
use serde::Serialize;

pub(crate) struct Values(Vec<Valid>);

/// Lists valid values. The outcome is `No` if a setting has none: then others must change first.
pub(crate) fn run(arguments: &args::Values, printer: &Printer) -> Result<Outcome, Failure> {
    let answer = Values(run::valid_values_of(&arguments.run)?);
    printer.answer(&answer, &arguments.output)?;
    Ok(if answer.0.iter().any(|one| one.values.is_empty()) { Outcome::No } else { Outcome::Yes })
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ValuesField<'a> {
    values: Vec<ValidField<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ValidField<'a> {
    /// Key of a run file.
    key: &'a str,
    /// The same as a flag.
    flag: Option<String>,
    /// Values that are valid with the other settings unchanged.
    values: &'a [String],
}

impl Answer for Values {
    const KIND: &'static str = "values";

    type Json<'a> = ValuesField<'a>;

    fn json(&self) -> ValuesField<'_> {
        let values = self.0.iter();
        let of =
            values.map(|one| ValidField { key: one.key, flag: called_by_key(one.key), values: &one.values });
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
