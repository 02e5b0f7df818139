//! `models show`: layers, weights, counts in every convention, sources.

use crate::args::Showing;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::printer::Printer;
use railwright_calculator::model_flop::{Convention, per_token};
use railwright_reports::models::show::Shown;
use railwright_spec::model;

/// Shows one model.
pub(crate) fn show(showing: &Showing, printer: &Printer) -> Result<Outcome, Failure> {
    let model = input::model(&showing.name)?;
    let count = model.parameters();
    let entry = model::catalogue().iter().find(|entry| entry.name == model.name);
    let sequence = if model.max_positions == 0 { 4096 } else { model.max_positions.min(8192) };
    let flop =
        [Convention::CausalAttention, Convention::FullAttention].map(|c| per_token(&model, sequence, c));
    printer.answer(&Shown { model, count, entry, sequence, flop }, &showing.output)?;
    Ok(Outcome::Yes)
}
