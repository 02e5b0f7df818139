//! `values`: valid values of each setting of a plan while the rest of the run stays. The web UI's controls
//! offer these.

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::{args, run};
use railwright_reports::values::Values;

/// Lists valid values. The outcome is `No` if a setting has none: then others must change first.
pub(crate) fn run(arguments: &args::Values, printer: &Printer) -> Result<Outcome, Failure> {
    let answer = Values(run::valid_values_of(&arguments.run)?);
    printer.answer(&answer, &arguments.output)?;
    Ok(if answer.0.iter().any(|one| one.values.is_empty()) { Outcome::No } else { Outcome::Yes })
}
