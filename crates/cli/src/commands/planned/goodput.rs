//! `goodput`: share of the calendar time with training progress, with failures, checkpoints and restarts.

use crate::args::goodput::Goodput as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_commands::{Checkpoints, Goodput, goodput};

/// Computes the goodput of a job.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let request = Goodput {
        model: arguments.model.clone(),
        run: arguments.run.clone(),
        gpus: arguments.gpus,
        cluster: arguments.cluster.clone(),
        nics: arguments.nics,
        price_per_device_hour: arguments.price_per_device_hour,
        checkpoints: Checkpoints {
            time: arguments.checkpoint_time.clone(),
            bytes: arguments.checkpoint_bytes.clone(),
            bandwidth: arguments.storage_bandwidth.clone(),
            stall: arguments.checkpoint_stall.clone(),
            interval: arguments.interval.clone(),
        },
        mtbf: arguments.mtbf.clone(),
        component_mtbf: arguments.component_mtbf.clone(),
        detection_time: arguments.detection_time.clone(),
        restart_time: arguments.restart_time.clone(),
        spares: arguments.spares,
        repair_time: arguments.repair_time.clone(),
        slow_share: arguments.slow_share,
        slow_factor: arguments.slow_factor,
        rates: arguments.rates.clone(),
    };
    printer.reported(goodput(&request), &arguments.output)
}
