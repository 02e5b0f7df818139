//! `validate --regret`: quality of the calculator's choice among measured layouts.

use crate::args::Output;
use crate::exit::Failure;
use crate::printer::Printer;
use railwright_calculator::validation::{Validation, regret};
use railwright_reports::validate::regret::Judged;

/// Prints the regrets of a validated table.
pub(crate) fn print(validation: &Validation, printer: &Printer, output: &Output) -> Result<(), Failure> {
    printer.answer(&Judged(regret(validation)), output)
}
