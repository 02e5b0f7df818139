//! `whatif`: effect of changes on a run, each alone and all combined.

mod report;

use super::network::simulate::on_topology;
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::printer::document::Document;
use crate::printer::{Answer, Printer, Terminal};
use crate::run;
use railwright_answers::{changes, whatif};

/// Printable what-if results.
pub(crate) struct Rehearsed(railwright_answers::Rehearsed);

/// Applies the changes. The outcome is `No` if the run with all changes is impossible or does not fit.
pub(crate) fn run(arguments: &args::WhatIf, printer: &Printer) -> Result<Outcome, Failure> {
    let launch = run::launch::find(&arguments.run)?;
    let resolved = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let changes = changes(&arguments.change)?;
    let network = on_topology(&arguments.pricing, &resolved.run.cluster)?;
    let answer = whatif(resolved, &changes, &input::Disk, network)?;
    let fit = answer.answer.fit();
    printer.answer(&Rehearsed(answer), &arguments.output)?;
    Ok(fit.into())
}

impl Answer for Rehearsed {
    const KIND: &'static str = "whatif";

    type Json<'a> = &'a railwright_answers::Rehearsed;

    fn json(&self) -> &railwright_answers::Rehearsed {
        &self.0
    }

    fn document(&self, _: Terminal) -> Document {
        report::document(&self.0)
    }
}
