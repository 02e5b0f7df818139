//! `clusters`: presets, and a template for new ones.

use crate::args::{Listing, Showing};
use crate::exit::{Failure, Outcome};
use crate::input::Pattern;
use crate::printer::Printer;
use railwright_reports::clusters::{Clusters, Preset, SHOWN_DEVICES};
use railwright_spec::cluster::{by_name, preset_names, preset_text};

/// Lists the presets.
pub(crate) fn list(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let patterns: Vec<Pattern> = listing.patterns.iter().map(|p| Pattern::new(p)).collect();
    let mut chosen = Vec::new();
    for name in preset_names() {
        let cluster = by_name(name, SHOWN_DEVICES)?;
        let matches = |p: &Pattern| p.matches(name) || p.matches(&cluster.accelerator.id);
        if patterns.is_empty() || patterns.iter().any(matches) {
            chosen.push(cluster);
        }
    }
    if chosen.is_empty() {
        printer.note("no cluster matches; `railwright clusters list` shows all");
    }
    let end = if chosen.is_empty() { Outcome::No } else { Outcome::Yes };
    printer.answer(&Clusters(chosen), &listing.output)?;
    Ok(end)
}

/// Shows one preset, with the text to copy from.
pub(crate) fn show(showing: &Showing, printer: &Printer) -> Result<Outcome, Failure> {
    let cluster = by_name(&showing.name, SHOWN_DEVICES)?;
    let text = preset_text(&cluster.name);
    printer.answer(&Preset { cluster, text }, &showing.output)?;
    Ok(Outcome::Yes)
}
