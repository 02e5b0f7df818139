//! Exit codes and their conditions.
//!
//! Scripts rely on these numbers; they are part of the interface and do not change within a major version.

use railwright_answers::Refused;
use railwright_calculator::memory::Fit;
use railwright_spec::problem::Problem;
use std::process::ExitCode;

/// The command did what it was asked. A reader that stops listening (a broken pipe) counts as this.
pub(crate) const OK: u8 = 0;
/// The question has an answer, and the answer is no: the plan does not fit the devices, a limit is exceeded.
pub(crate) const NO: u8 = 1;
/// The input is wrong: an unknown flag or name, a file that cannot be read, a plan that is impossible.
pub(crate) const BAD_INPUT: u8 = 2;
/// The program is wrong. Please report it.
pub(crate) const INTERNAL: u8 = 3;
/// The answer is neither yes nor no: the plan may fit the devices, with a probability below the one that counts as fitting.
pub(crate) const AT_RISK: u8 = 4;
/// Inconclusive: the recording does not determine the result.
pub(crate) const CANNOT_TELL: u8 = 5;
/// The user stopped a search (Ctrl-C); what it had found is printed and marked as incomplete. Shells use this number for SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// The answer of a command that worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Yes, or there was no question.
    Yes,
    /// No.
    No,
    /// Neither: it may fit.
    AtRisk,
    /// Neither: the evidence does not carry an answer.
    CannotTell,
    /// A part of the input is wrong; the answer lists it together with the valid parts.
    Invalid,
    /// Not all of it, because the user stopped the work.
    Interrupted,
}

impl From<Outcome> for railwright_server::Outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Yes => Self::Yes,
            Outcome::No => Self::No,
            Outcome::Invalid => Self::Invalid,
            Outcome::AtRisk => Self::AtRisk,
            Outcome::CannotTell => Self::CannotTell,
            Outcome::Interrupted => Self::Interrupted,
        }
    }
}

impl From<Fit> for Outcome {
    fn from(fit: Fit) -> Self {
        match fit {
            Fit::Fits => Self::Yes,
            Fit::AtRisk => Self::AtRisk,
            Fit::DoesNotFit => Self::No,
        }
    }
}

/// Reason why a command did not work.
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
    /// A reader of a question never prints, so that a closed output is no failure of one.
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(problems) => Self(problems),
            Failure::BrokenPipe => Self(Vec::new()),
        }
    }
}

/// The exit code of a command's end.
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

/// Ends the program from a thread that is not the command's own. What was half written is removed.
#[expect(clippy::exit, reason = "no other thread can be made to return")]
pub(crate) fn at_once(code: u8) -> ! {
    crate::input::writing::remove_unfinished();
    std::process::exit(i32::from(code))
}
