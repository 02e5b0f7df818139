//! `size`: cluster size for a deadline or a budget, and the marginal efficiency of more machines.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::open_run;
use crate::printer::{Printer, check_format};
use railwright_answers::{SizeOptions, size};
use railwright_reports::size::Answered;

/// Sizes a cluster. The outcome is `No` if no number of devices meets the deadline or the budget.
pub(crate) fn run(arguments: &args::Size, printer: &Printer) -> Result<Outcome, Failure> {
    check_format(&arguments.output)?;
    let wanted = SizeOptions {
        deadline: arguments.deadline.clone(),
        budget: arguments.budget.clone(),
        growing_batch: arguments.growing_batch,
        worth: Some(arguments.worth),
        effort: arguments.effort.wanted(),
    };
    wanted.check()?;
    let asked = open_run::ask(&arguments.run)?;
    open_run::report_launch(&arguments.run, printer)?;
    let answer = Answered(size(&asked, &wanted, &arguments.pricing.wanted(), &printer.watched())?);
    printer.answer(&answer, &arguments.output)?;
    Ok(if !answer.is_complete {
        Outcome::Interrupted
    } else if answer.is_no() {
        Outcome::No
    } else {
        Outcome::Yes
    })
}
