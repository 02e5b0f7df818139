//! `models`: entries of the catalogue, and the structure of a model.

pub(crate) mod show;

use crate::args::Listing;
pub(crate) use crate::commands::catalogues::models::show::show;
use crate::exit::{Failure, Outcome};
use crate::input::Pattern;
use crate::printer::Printer;
use railwright_reports::models::Models;
use railwright_spec::model::{self, CatalogueEntry};

/// Lists models.
pub(crate) fn list(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let patterns: Vec<Pattern> = listing.patterns.iter().map(|p| Pattern::new(p)).collect();
    let is_chosen = |entry: &&CatalogueEntry| {
        let mut names = entry.aliases.iter().map(String::as_str).chain([entry.name, entry.family.as_str()]);
        patterns.is_empty() || names.any(|name| patterns.iter().any(|p| p.matches(name)))
    };
    let mut models = Vec::new();
    for entry in model::catalogue().iter().filter(is_chosen) {
        let model = model::by_name(entry.name)?;
        let count = model.parameters();
        models.push((entry, model, count));
    }
    if models.is_empty() {
        printer.note("no model matches; `railwright models list` shows all");
    }
    let is_empty = models.is_empty();
    printer.answer(&Models(models), &listing.output)?;
    Ok(if is_empty { Outcome::No } else { Outcome::Yes })
}
