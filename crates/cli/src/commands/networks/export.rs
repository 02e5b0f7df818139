//! `network export`: a step, a network or flows as files of other simulators.

use crate::args::export_network::{Export, Simulator as Named};
use crate::exit::{Failure, Outcome};
use crate::input::networks::on_network;
use crate::printer::Printer;
use railwright_commands::{ExportNetwork, Simulator, export_network};

/// Writes the files.
pub(crate) fn run(arguments: &Export, printer: &Printer) -> Result<Outcome, Failure> {
    let request = ExportNetwork {
        run: (&arguments.run).into(),
        on: on_network::routed(&arguments.on, arguments.routing.as_deref()),
        to: match arguments.to {
            Named::AstraSim => Simulator::AstraSim,
            Named::Simgrid => Simulator::Simgrid,
            Named::Htsim => Simulator::Htsim,
            Named::Circuits => Simulator::Circuits,
        },
        flows: arguments.flows.clone(),
        output: arguments.output.clone(),
    };
    match export_network(&request, printer) {
        Ok(()) => Ok(Outcome::Yes),
        Err(ended) => printer.ended(ended),
    }
}
