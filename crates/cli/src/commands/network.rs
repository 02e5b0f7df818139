//! `network`: questions about networks, a file each.

mod rail_only;

use crate::args::Network;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;

/// Answers one of them.
pub(crate) fn run(question: &Network, printer: &Printer) -> Result<Outcome, Failure> {
    match question {
        Network::RailOnly(arguments) => rail_only::run(arguments, printer),
    }
}
