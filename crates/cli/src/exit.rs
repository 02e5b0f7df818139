//! Exit codes and their conditions.
//!
//! Scripts rely on these numbers; they are part of the interface and do not change within a major version.

use railwright_answers::Refused;
use railwright_calculator::memory::Fit;
pub(crate) use railwright_server::Outcome;
use railwright_spec::problem::Problem;
use std::process::ExitCode;

/// Success. A closed output (a broken pipe) counts as success.
pub(crate) const OK: u8 = 0;
/// A negative result: the plan does not fit the devices, a limit is exceeded.
pub(crate) const NO: u8 = 1;
/// The input is wrong: an unknown flag or name, a file that cannot be read, a plan that is impossible.
pub(crate) const BAD_INPUT: u8 = 2;
/// The program is wrong. Please report it.
pub(crate) const INTERNAL: u8 = 3;
/// An uncertain result: the plan may fit the devices, with a probability below the one that counts as
/// fitting.
pub(crate) const AT_RISK: u8 = 4;
/// Inconclusive: the recording does not determine the result.
pub(crate) const CANNOT_TELL: u8 = 5;
/// The user stopped a search (Ctrl-C); its results so far are printed and marked as incomplete. Shells use
/// this number for SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// The outcome of a prediction of memory.
pub(crate) const fn of_fit(fit: Fit) -> Outcome {
    match fit {
        Fit::Fits => Outcome::Yes,
        Fit::AtRisk => Outcome::AtRisk,
        Fit::DoesNotFit => Outcome::No,
    }
}

/// Reason why a command failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The input is at fault; all problems that were found, at least one.
    Input(Vec<Problem>),
    /// The reader closed the output.
    BrokenPipe,
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Input(vec![problem])
    }
}

/// The failure of a program that was built without a part that a command needs.
pub(crate) fn without(what: &str, hint: &str) -> Failure {
    Problem::new(what).hint(hint).into()
}

/// The failure of a program without readers at a command about files.
pub(crate) fn does_not_read() -> Failure {
    without("this program does not read files", "load the program with readers")
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Input(problems)
    }
}

impl From<Refused> for Failure {
    fn from(Refused(problems): Refused) -> Self {
        Self::Input(problems)
    }
}

impl From<Failure> for Refused {
    /// Reading never prints, so a closed output is not a failure of it.
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(problems) => Self(problems),
            Failure::BrokenPipe => Self(Vec::new()),
        }
    }
}

/// The exit code of a command's result.
pub(crate) fn code(end: &Result<Outcome, Failure>) -> ExitCode {
    ExitCode::from(match end {
        Ok(Outcome::Yes) | Err(Failure::BrokenPipe) => OK,
        Ok(Outcome::No) => NO,
        Ok(Outcome::AtRisk) => AT_RISK,
        Ok(Outcome::CannotTell) => CANNOT_TELL,
        Ok(Outcome::Interrupted) => INTERRUPTED,
        Ok(Outcome::Invalid) | Err(Failure::Input(_)) => BAD_INPUT,
    })
}

/// Ends the program from another thread than the command's own. Partly written files are removed.
#[expect(clippy::exit, reason = "no other thread can be made to return")]
pub(crate) fn at_once(code: u8) -> ! {
    crate::input::writing::remove_unfinished();
    std::process::exit(i32::from(code))
}
