//! `network cost`: bills of several designs side by side.

use crate::args::network::Cost as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_commands::{Cost, cost};

/// Compares designs by cost.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let request = Cost {
        designs: arguments.designs.clone(),
        settings: arguments.flags.settings.clone(),
        prices: arguments.prices.clone(),
        accelerator: arguments.accelerator.clone(),
        tokens_per_second: arguments.tokens_per_second,
        run: arguments.run.clone(),
        set: arguments.set.clone(),
        years: arguments.years,
        electricity_price: arguments.electricity_price,
        grow_to: arguments.grow_to,
        lines: arguments.lines,
    };
    printer.reported(cost(&request, printer), &arguments.output)
}
