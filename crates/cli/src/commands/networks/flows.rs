//! `network flows`: a table of flows, or a folder of execution traces, on a topology or on a fabric from a
//! file.

use crate::args::flows::FlowsOn as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_commands::{FlowsOn, flows};

/// Simulates a table.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let request = FlowsOn {
        flows: arguments.flows.clone(),
        cluster: arguments.cluster.clone(),
        network: arguments.network.specified(arguments.routing.as_ref(), &arguments.failed, ""),
        seeds: arguments.seeds,
        ends: arguments.ends.clone(),
    };
    printer.reported(flows(&request, printer), &arguments.output)
}
