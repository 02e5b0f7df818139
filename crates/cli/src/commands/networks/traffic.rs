//! `network traffic`: traffic of a step between ranks, and on links.

use crate::args::traffic::{AllToAll, Rotation, Traffic as Arguments, TrafficBy as By};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_commands::{Files, TrafficBy, TrafficOf, traffic};
use railwright_network::traffic::Algorithm;

/// Sums up the traffic of a run.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let request = TrafficOf {
        run: (&arguments.run).into(),
        on: (&arguments.on).into(),
        hosts: (&arguments.hosts).into(),
        by: match arguments.by {
            By::Kind => TrafficBy::Kind,
            By::Pair => TrafficBy::Pair,
            By::Domain => TrafficBy::Domain,
            By::Rail => TrafficBy::Rail,
            By::Link => TrafficBy::Link,
            By::Matrix => TrafficBy::Matrix,
        },
        algorithm: match arguments.algorithm {
            Rotation::Ring => Algorithm::Ring,
            Rotation::Direct => Algorithm::Direct,
            Rotation::Hierarchical => Algorithm::Hierarchical,
        },
        all_to_all: match arguments.all_to_all {
            AllToAll::Direct => Algorithm::Direct,
            AllToAll::Hierarchical => Algorithm::Hierarchical,
        },
        files: Files {
            matrix: arguments.matrix.clone(),
            heat: arguments.heat.clone(),
            cells: arguments.cells,
        },
    };
    printer.reported(traffic(&request, printer), &arguments.output)
}
