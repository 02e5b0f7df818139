//! The front end of a command: notes, progress, cancellation, and texts that a command writes.

use railwright_inputs::{Caller, Refused};
use railwright_spec::problem::Problem;
use std::ops::ControlFlow;

/// Receiver of everything in addition to a report.
pub trait Front: Caller {
    /// Begins work with a number of units that is known later: a template of a bar, and a word for the work.
    fn work(&self, template: &str, doing: &str) -> Box<dyn Work + '_>;

    /// Writes a text to a path, `-` being standard output.
    ///
    /// # Errors
    ///
    /// A path that cannot be written.
    fn write(&self, path: &str, text: &str) -> Result<(), Ended>;
}

/// Progress and cancellation of work.
pub trait Work {
    /// Sets completed and total units; returns cancellation.
    fn advance(&self, done: usize, total: usize) -> ControlFlow<()>;

    /// Tests whether the work was cancelled.
    fn is_stopped(&self) -> bool;

    /// The work has ended.
    fn finish(&self);
}

/// The end of a command without a report.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The request or a file is at fault; all problems that were found.
    Refused(Vec<Problem>),
    /// Cancelled before a result.
    Stopped(Problem),
    /// The reader closed the output.
    Closed,
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Self {
        Self::Refused(vec![problem])
    }
}

impl From<Vec<Problem>> for Ended {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Refused(problems)
    }
}

impl From<Refused> for Ended {
    fn from(Refused(problems): Refused) -> Self {
        Self::Refused(problems)
    }
}
