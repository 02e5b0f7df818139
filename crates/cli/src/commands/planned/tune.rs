//! `tune`: a faster version of the user's launch file.

use crate::args::{self, Output};
use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::Printer;
use railwright_commands::{Tune, tune, write_tuned};

/// Tunes a file.
pub(crate) fn run(arguments: &args::tune::Tune, printer: &Printer) -> Result<Outcome, Failure> {
    let request = Tune {
        run: (&arguments.run).into(),
        keep: arguments.keep.clone(),
        free: arguments.free.clone(),
        measured: arguments.measured.clone(),
        effort: arguments.effort.wanted(),
        top: arguments.top,
        pick: arguments.pick,
        diff: arguments.diff,
        in_place: arguments.in_place,
        output: arguments.output.clone(),
    };
    let answer = match tune(&request, &printer.watched(), printer) {
        Ok(Some(answer)) => answer,
        Ok(None) => return Ok(Outcome::Interrupted),
        Err(ended) => return printer.ended(ended),
    };
    if !arguments.diff {
        let output = Output { json: arguments.json, verbose: arguments.verbose, ..Output::default() };
        printer.answer(&answer, &output)?;
    }
    if let Err(ended) = write_tuned(&request, &answer, printer) {
        return printer.ended(ended);
    }
    Ok(match (answer.is_complete, answer.rows.is_empty()) {
        (false, _) => Outcome::Interrupted,
        // The current layout fits and flags fix it: nothing is wrong.
        (true, true) if !answer.pinned.is_empty() && !answer.is_at_risk() => Outcome::Yes,
        (true, true) if !answer.is_at_risk() => Outcome::No,
        (true, _) => of_fit(answer.fit()),
    })
}
