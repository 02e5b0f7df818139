//! The fit of a run, for commands with figures other than its memory.

use railwright_answers::memory_report;
use railwright_calculator::memory::Fit;
use railwright_inputs::Caller;
use railwright_reports::stage_memory::reason;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::Run;

/// Warns of a run that may not fit, and returns its fit.
///
/// # Errors
///
/// A run without a memory report.
pub fn warn_of_fit(run: &Run, caller: &dyn Caller) -> Result<Fit, Problem> {
    let memory = memory_report(run)?;
    if memory.fit != Fit::Fits {
        let words = format!("{}{}", memory.fit.words(), reason(&memory));
        caller.warnings(&[Warning::new("memory-does-not-fit", words)]);
    }
    Ok(memory.fit)
}
