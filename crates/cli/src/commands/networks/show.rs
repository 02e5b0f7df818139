//! `network show`: one design in numbers, or as a diagram.

use crate::args::network::Show as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::{Printer, is_svg};
use railwright_commands::{Show, ShowAnswer, show};

/// Shows a design.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.output.as_deref();
    let request = Show {
        design: arguments.design.clone(),
        settings: arguments.flags.settings.clone(),
        is_picture: arguments.svg || is_svg(path),
        cables: arguments.cables.clone(),
        netbox: arguments.netbox.clone(),
        floor: arguments.floor.clone(),
    };
    match show(&request, printer) {
        Ok(ShowAnswer::Report(shown)) => printer.answer(&*shown, &arguments.output)?,
        Ok(ShowAnswer::Picture(svg)) => printer.data(&svg, path)?,
        Err(ended) => return printer.ended(ended),
    }
    Ok(Outcome::Yes)
}
