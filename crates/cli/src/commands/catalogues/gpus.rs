//! `gpus`: accelerators, their data and its sources.

use crate::args::{Listing, Showing};
use crate::exit::{Failure, Outcome};
use crate::input::Pattern;
use crate::printer::Printer;
use railwright_reports::gpus::{Gpu, Gpus};
use railwright_spec::cluster::{Accelerator, accelerator_by_name, accelerators};

/// Lists accelerators.
pub(crate) fn list(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let patterns: Vec<Pattern> = listing.patterns.iter().map(|p| Pattern::new(p)).collect();
    let chosen: Vec<Accelerator> = accelerators()
        .into_iter()
        .filter(|a| {
            let names = [&a.id, &a.name, &a.vendor, &a.architecture];
            patterns.is_empty() || names.iter().any(|name| patterns.iter().any(|p| p.matches(name)))
        })
        .collect();
    if chosen.is_empty() {
        printer.note("no accelerator matches; `railwright gpus list` shows all");
    }
    let end = if chosen.is_empty() { Outcome::No } else { Outcome::Yes };
    printer.answer(&Gpus(chosen), &listing.output)?;
    Ok(end)
}

/// Shows one accelerator.
pub(crate) fn show(showing: &Showing, printer: &Printer) -> Result<Outcome, Failure> {
    let accelerator = accelerator_by_name(&showing.name)?;
    printer.answer(&Gpu(accelerator), &showing.output)?;
    Ok(Outcome::Yes)
}
