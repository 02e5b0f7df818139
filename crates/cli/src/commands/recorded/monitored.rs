//! Communication of a job as recorded by monitors: `comm` and `stragglers` on NCCL Inspector's lines and XPUTimer's metrics.

use crate::args::Output;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_profiler::attribution::Verdict;
use railwright_reports::monitored::{Communication, Monitored, Stragglers};

/// Question.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Communication,
    Stragglers,
}

/// Prints the result; for `stragglers`, the exit code is 1 with a straggler or a slow link.
pub(crate) fn answer(
    seen: Monitored,
    question: Question,
    output: &Output,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    if let Some(inspected) = &seen.inspected {
        printer.warnings(&inspected.warnings);
    }
    let verdict = seen.verdict().0;
    match question {
        Question::Communication => printer.answer(&Communication(seen), output)?,
        Question::Stragglers => printer.answer(&Stragglers(seen), output)?,
    }
    Ok(match (question, verdict) {
        (Question::Communication, _) | (_, Verdict::None) => Outcome::Yes,
        (_, Verdict::CannotTell) => Outcome::CannotTell,
        (_, Verdict::Straggler | Verdict::SlowLink | Verdict::Imbalance) => Outcome::No,
    })
}
