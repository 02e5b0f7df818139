//! `validate`: prediction of a table of measured runs, and its errors.

use crate::args::{self, NetworkModel, Output};
use crate::exit::{Failure, Outcome};
use crate::input::{self, CONFIG_LIMIT, TABLE_LIMIT};
use crate::printer::Printer;
use railwright_calculator::validation::{regret, validate_watched};
use railwright_commands::Work as _;
use railwright_reports::validate::Validated;
use railwright_reports::validate::network::Measured;
use railwright_reports::validate::regret::Judged;
use railwright_spec::calibration::Calibration;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_tuner::collective::{Predictor, validate_network};
use std::sync::Arc;

/// Validates a table.
pub(crate) fn run(arguments: &args::Validate, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.table.as_str();
    let text = input::read(path, TABLE_LIMIT)?;
    let label = if path == "-" { "standard input" } else { path };
    if let Some(model) = arguments.network {
        return collectives((&text, label), model, printer, &arguments.output);
    }
    let read = |path: &String| Calibration::parse(&input::read(path, CONFIG_LIMIT)?, path).map(Arc::new);
    let calibration = arguments.calibration.as_ref().map(read).transpose()?;
    let watching = printer.watching(BAR, "predicting");
    let validation =
        validate_watched(&text, label, calibration.as_ref(), &mut |done, all| watching.advance(done, all))
            .map_err(|problem| problem.in_file(label))?;
    watching.finish();
    if validation.rows.is_empty() && watching.is_stopped() {
        return printer.stopped(Problem::new("stopped before a row was predicted").in_file(label));
    }
    if validation.rows.is_empty() {
        return Err(Problem::new("the table has a header, but no rows").in_file(label).into());
    }
    if let Some(used) = validation.calibration.as_ref().filter(|used| used.other_software > 0) {
        let own = calibration.as_ref().map_or("", |c| c.software.as_str());
        printer.note(&format!(
            "{} of {} rows on {} have a software generation other than that of the calibration (`{own}`), so its host and element-wise rates are not applied",
            human::whole(used.other_software as u64),
            human::whole((used.rows + used.unchanged) as u64),
            used.accelerator
        ));
    }
    if arguments.regret {
        printer.answer(&Judged(regret(&validation)), &arguments.output)?;
    } else {
        printer.answer(&Validated(validation), &arguments.output)?;
    }
    Ok(if watching.is_stopped() { Outcome::Interrupted } else { Outcome::Yes })
}

const BAR: &str = "predicting {bar:30} {pos} of {len} rows, {eta} left";

/// Validates a table of collectives.
fn collectives(
    (text, label): (&str, &str),
    model: NetworkModel,
    printer: &Printer,
    output: &Output,
) -> Result<Outcome, Failure> {
    let predictor = match model {
        NetworkModel::Closed => Predictor::Closed,
        NetworkModel::Flow => Predictor::Flow,
    };
    let watching = printer.watching(BAR, "predicting");
    let validation = validate_network(text, label, predictor, &mut |done, all| watching.advance(done, all));
    watching.finish();
    match validation {
        Ok(validation) if validation.rows.is_empty() => {
            Err(Problem::new("the table has a header, but no rows").in_file(label).into())
        }
        Ok(validation) => {
            printer.answer(&Measured(validation), output)?;
            Ok(Outcome::Yes)
        }
        Err(problem) if watching.is_stopped() => printer.stopped(problem),
        Err(problem) => Err(problem.into()),
    }
}
