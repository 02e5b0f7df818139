//! `keys` and `schema`: keys and values of a run file.

use crate::args::Listing;
use crate::exit::{Failure, Outcome};
use crate::input::Pattern;
use crate::printer::Printer;
use railwright_reports::keys::Keys;
use railwright_spec::run::keys;

/// Lists the keys.
pub(crate) fn list(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let patterns: Vec<Pattern> = listing.patterns.iter().map(|p| Pattern::new(p)).collect();
    let chosen = keys().into_iter().filter(|key| {
        patterns.is_empty() || patterns.iter().any(|p| p.matches(&key.path()) || p.matches(key.doc))
    });
    let answer = Keys(chosen.collect());
    printer.answer(&answer, &listing.output)?;
    Ok(if answer.0.is_empty() { Outcome::No } else { Outcome::Yes })
}

/// Prints the schema of a run file.
pub(crate) fn schema(path: Option<&str>, printer: &Printer) -> Result<Outcome, Failure> {
    let mut text = serde_json::to_string_pretty(&railwright_spec::run::schema()).unwrap_or_default();
    text.push('\n');
    printer.data(&text, path)?;
    Ok(Outcome::Yes)
}
