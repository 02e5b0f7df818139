//! The table of memory by stage that `estimate` and `memory` share.

use crate::printer::Printer;
use railwright_answers::memory_report;
use railwright_calculator::memory::Fit;
use railwright_reports::stage_memory::reason;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::Run;

/// Warns of a run that is not sure to fit. For commands with other figures of the run than its memory.
pub(crate) fn warn(run: &Run, printer: &Printer) -> Result<Fit, Problem> {
    let memory = memory_report(run)?;
    if memory.fit != Fit::Fits {
        let words = format!("{}{}", memory.fit.words(), reason(&memory));
        printer.warnings(&[Warning::new("memory-does-not-fit", words)]);
    }
    Ok(memory.fit)
}
