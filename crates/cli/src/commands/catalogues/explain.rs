//! `explain`: meaning of a number, a warning or a convention, its computation, and its source.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_reports::explain::{Explained, Generations, Topics, all, find};

/// Explains.
pub(crate) fn run(arguments: &args::Explain, printer: &Printer) -> Result<Outcome, Failure> {
    let output = &arguments.output;
    match arguments.id.as_deref() {
        None => printer.answer(&Topics(all()), output)?,
        Some("software") => printer.answer(&Generations, output)?,
        Some(id) => printer.answer(&Explained(find(id)?), output)?,
    }
    Ok(Outcome::Yes)
}
