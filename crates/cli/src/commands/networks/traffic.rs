//! `network traffic`: traffic of a step between ranks, and on links.

use crate::args::traffic::Traffic as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_commands::{Files, TrafficOf, traffic};

/// Sums up the traffic of a run.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let request = TrafficOf {
        run: (&arguments.run).into(),
        on: (&arguments.on).into(),
        hosts: (&arguments.hosts).into(),
        by: arguments.by.into(),
        algorithm: arguments.algorithm.into(),
        all_to_all: arguments.all_to_all.into(),
        files: Files {
            matrix: arguments.matrix.clone(),
            heat: arguments.heat.clone(),
            cells: arguments.cells,
        },
    };
    printer.reported(traffic(&request, printer), &arguments.output)
}
