//! `network topologies`: kinds, their keys, and part counts of published systems.

use crate::args::network::Topologies;
use crate::exit::{Failure, Outcome};
use crate::input::networks::kind;
use crate::printer::Printer;
use railwright_network::topology::published;
use railwright_reports::network::topologies::{Kinds, OneKind, Published};

/// Lists kinds, keys or published systems.
pub(crate) fn run(arguments: &Topologies, printer: &Printer) -> Result<Outcome, Failure> {
    let output = &arguments.output;
    if arguments.published {
        let answer = Published(published::rows()?);
        printer.answer(&answer, output)?;
    } else if let Some(word) = &arguments.kind {
        printer.answer(&OneKind(kind(word)?), output)?;
    } else {
        printer.answer(&Kinds, output)?;
    }
    Ok(Outcome::Yes)
}
