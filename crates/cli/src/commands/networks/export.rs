//! `network export`: a step, a network or flows as files of other simulators.

use crate::args::export_network::Export;
use crate::exit::{Failure, Outcome};
use crate::input::networks::on_network;
use crate::printer::Printer;
use railwright_commands::{ExportNetwork, export_network};

/// Writes the files.
pub(crate) fn run(arguments: &Export, printer: &Printer) -> Result<Outcome, Failure> {
    let request = ExportNetwork {
        run: (&arguments.run).into(),
        on: on_network::routed(&arguments.on, arguments.routing.as_deref()),
        to: arguments.to.into(),
        flows: arguments.flows.clone(),
        output: arguments.output.clone(),
    };
    match export_network(&request, printer) {
        Ok(()) => Ok(Outcome::Yes),
        Err(ended) => printer.ended(ended),
    }
}
