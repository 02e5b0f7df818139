//! `models`, `gpus`, `clusters`, `keys` and `explain`: entries of the bundled catalogues, keys of a run file,
//! and topics.

use crate::args::{Explain, Listing, Showing};
use crate::exit::{Failure, Outcome};
use crate::input::{self, Pattern};
use crate::printer::Printer;
use railwright_calculator::model_flop::{Convention, per_token};
use railwright_report::Answer;
use railwright_reports::clusters::{Clusters, Preset, SHOWN_DEVICES};
use railwright_reports::explain::{Explained, Generations, Topics, all, find};
use railwright_reports::gpus::{Gpu, Gpus};
use railwright_reports::keys::Keys;
use railwright_reports::models::Models;
use railwright_reports::models::show::Shown;
use railwright_spec::cluster::{
    Accelerator, accelerator_by_name, accelerators, by_name, instances, preset_names, preset_text,
};
use railwright_spec::model::{self, CatalogueEntry};
use railwright_spec::run::keys;

/// Tests whether a listing wants an entry with such names.
fn is_chosen<'a>(listing: &Listing, mut names: impl Iterator<Item = &'a str>) -> bool {
    let patterns: Vec<Pattern> = listing.patterns.iter().map(|p| Pattern::new(p)).collect();
    patterns.is_empty() || names.any(|name| patterns.iter().any(|p| p.matches(name)))
}

/// Prints a listing. The outcome is `No` if it is empty.
fn listed<A: Answer>(
    answer: &A,
    empty: Option<&str>,
    listing: &Listing,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    if let Some(note) = empty.filter(|note| !note.is_empty()) {
        printer.note(note);
    }
    printer.answer(answer, &listing.output)?;
    Ok(if empty.is_some() { Outcome::No } else { Outcome::Yes })
}

/// Lists models.
pub(crate) fn models(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let names = |entry: &&'static CatalogueEntry| {
        let aliases = entry.aliases.iter().map(String::as_str);
        is_chosen(listing, aliases.chain([entry.name, entry.family.as_str()]))
    };
    let mut models = Vec::new();
    for entry in model::catalogue().iter().filter(names) {
        let model = model::by_name(entry.name)?;
        let count = model.parameters();
        models.push((entry, model, count));
    }
    let empty = models.is_empty().then_some("no model matches; `railwright models list` shows all");
    listed(&Models(models), empty, listing, printer)
}

/// Shows one model.
pub(crate) fn model(showing: &Showing, printer: &Printer) -> Result<Outcome, Failure> {
    let model = input::model(&showing.name)?;
    let count = model.parameters();
    let entry = model::catalogue().iter().find(|entry| entry.name == model.name);
    let sequence = if model.max_positions == 0 { 4096 } else { model.max_positions.min(8192) };
    let flop =
        [Convention::CausalAttention, Convention::FullAttention].map(|c| per_token(&model, sequence, c));
    printer.answer(&Shown { model, count, entry, sequence, flop }, &showing.output)?;
    Ok(Outcome::Yes)
}

/// Lists accelerators.
pub(crate) fn gpus(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let names = |a: &Accelerator| {
        is_chosen(listing, [&a.id, &a.name, &a.vendor, &a.architecture].into_iter().map(String::as_str))
    };
    let chosen: Vec<Accelerator> = accelerators().into_iter().filter(names).collect();
    let empty = chosen.is_empty().then_some("no accelerator matches; `railwright gpus list` shows all");
    listed(&Gpus(chosen), empty, listing, printer)
}

/// Shows one accelerator.
pub(crate) fn gpu(showing: &Showing, printer: &Printer) -> Result<Outcome, Failure> {
    let accelerator = accelerator_by_name(&showing.name)?;
    printer.answer(&Gpu(accelerator), &showing.output)?;
    Ok(Outcome::Yes)
}

/// Lists the presets.
pub(crate) fn clusters(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let mut chosen = Vec::new();
    for name in preset_names() {
        let cluster = by_name(name, SHOWN_DEVICES)?;
        let rented = instances().iter().find(|instance| instance.cluster == name);
        let types = rented.iter().flat_map(|instance| instance.types.iter().map(String::as_str));
        if is_chosen(listing, [name, cluster.accelerator.id.as_str()].into_iter().chain(types)) {
            chosen.push(cluster);
        }
    }
    let empty = chosen.is_empty().then_some("no cluster matches; `railwright clusters list` shows all");
    listed(&Clusters(chosen), empty, listing, printer)
}

/// Shows one preset, with the text to copy from.
pub(crate) fn cluster(showing: &Showing, printer: &Printer) -> Result<Outcome, Failure> {
    let cluster = by_name(&showing.name, SHOWN_DEVICES)?;
    let text = preset_text(&cluster.name);
    printer.answer(&Preset { cluster, text }, &showing.output)?;
    Ok(Outcome::Yes)
}

/// Lists the keys of a run file.
pub(crate) fn keys_of_a_run(listing: &Listing, printer: &Printer) -> Result<Outcome, Failure> {
    let mut chosen = keys();
    chosen.retain(|key| is_chosen(listing, [key.path().as_str(), key.doc].into_iter()));
    let empty = chosen.is_empty().then_some("");
    listed(&Keys(chosen), empty, listing, printer)
}

/// Prints the schema of a run file.
pub(crate) fn schema(path: Option<&str>, printer: &Printer) -> Result<Outcome, Failure> {
    let mut text = serde_json::to_string_pretty(&railwright_spec::run::schema()).unwrap_or_default();
    text.push('\n');
    printer.data(&text, path)?;
    Ok(Outcome::Yes)
}

/// Explains a number, a warning or a convention.
pub(crate) fn explain(arguments: &Explain, printer: &Printer) -> Result<Outcome, Failure> {
    let output = &arguments.output;
    match arguments.id.as_deref() {
        None => printer.answer(&Topics(all()), output)?,
        Some("software") => printer.answer(&Generations, output)?,
        Some(id) => printer.answer(&Explained(find(id)?), output)?,
    }
    Ok(Outcome::Yes)
}
