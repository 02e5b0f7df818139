//! The way from one command to any other.

use crate::args::Command;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;

/// Runs any command. Commands that run others receive it, because it runs them too.
pub(crate) type Runner = fn(&Command, &Printer) -> Result<Outcome, Failure>;
