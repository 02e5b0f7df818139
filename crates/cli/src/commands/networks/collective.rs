//! `network collective`: one collective over message sizes on a network.

use crate::args::collective::CollectiveOn as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::{Printer, is_svg};
use clap::ValueEnum as _;
use railwright_commands::{CollectiveOn, collective};

/// Computes a curve.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let name = arguments.operation.to_possible_value();
    let request = CollectiveOn {
        operation: arguments.operation.into(),
        name: name.map_or_else(String::new, |value| value.get_name().to_owned()),
        bytes: arguments.bytes.clone(),
        factor: arguments.factor,
        gpus: arguments.gpus,
        cluster: arguments.cluster.clone(),
        ranks: arguments.ranks.clone(),
        nodelist: arguments.nodelist.clone(),
        first_node: arguments.first_node,
        network: arguments.network.specified(
            arguments.routing.as_ref(),
            &arguments.broken.failed,
            &arguments.broken.recovery,
        ),
        seeds: arguments.seeds,
    };
    let answer = collective(&request, printer);
    let path = arguments.output.output.as_deref();
    match answer {
        Ok(answer) if arguments.svg || is_svg(path) => {
            printer.data(&answer.svg(), path)?;
            Ok(Outcome::Yes)
        }
        answer => printer.reported(answer, &arguments.output),
    }
}
