//! `network simulate`: a step of a run with its exchanges as flows on a topology.

use crate::args::simulate::Simulate as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_commands::{Simulate, simulate};

/// Simulates a step.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let request = Simulate {
        run: (&arguments.run).into(),
        network: arguments.network.specified(
            arguments.routing.as_ref(),
            &arguments.broken.failed,
            &arguments.broken.recovery,
        ),
        hosts: (&arguments.hosts).into(),
        job: arguments.job.clone(),
        job_nodelist: arguments.job_nodelist.clone(),
        background: arguments.background.clone(),
        seeds: arguments.seeds,
        reordered: arguments.reordered.clone(),
        loads: arguments.loads.clone(),
    };
    printer.reported(simulate(&request, printer), &arguments.output)
}
